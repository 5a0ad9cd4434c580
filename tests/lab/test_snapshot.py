"""A laboratory gone back in time does the same again, messages included."""

import numpy as np
import pytest

from cellwright.core import Role
from cellwright.core.errors import BadInput
from cellwright.core.ros import encode
from cellwright.lab import Lab


def record(lab: Lab) -> list[bytes]:
    heard: list[bytes] = []
    lab.bus.subscribe(None, lambda topic, message: heard.append(topic.encode() + encode(message)), subscriber="test",
                      role=Role.RECORDER)  # fmt: skip
    return heard


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_the_same_messages_again(fidelity):
    with Lab.from_cell("aprs", seed=5, fidelity=fidelity) as lab:
        heard = record(lab)
        arm = lab.robot("fanuc")
        goal = arm.joints_rad + np.array([0.4, 0.1, 0.0, 0.0, 0.0, 0.2])
        lab.advance(0.333)
        moment = lab.snapshot()
        runs = []
        for _ in range(2):
            heard.clear()
            lab.perform(arm.move_joints(goal))
            lab.advance(0.4)
            runs.append(list(heard))
            lab.restore(moment)
        assert len(runs[0]) > 100
        assert runs[0] == runs[1]


def test_not_while_a_robot_moves():
    with Lab.from_cell("aprs", seed=5, fidelity="kinematic") as lab:
        arm = lab.robot("motoman")

        async def try_it() -> str:
            task = lab.loop.create_task(arm.move_joints(arm.joints_rad + 0.2))
            await lab.clock.sleep(0.05)
            with pytest.raises(BadInput, match="between motions") as caught:
                lab.snapshot()
            await task
            return str(caught.value)

        assert "motoman" in lab.perform(try_it())
