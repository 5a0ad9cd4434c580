"""The world on disk: what it keeps, that it repeats, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.lab.versions import model_hash
from cellwright.lab.world_file import WorldFile, WorldState
from cellwright.motion import LineSpeed

GEAR = "medium_gear_1"


async def take(lab: Lab, height_m: float) -> None:
    """The gear into the Fanuc's hand, and up."""
    gear, robot = lab.world.pose_of(GEAR), lab.robot("fanuc")
    down = Pose.from_xyz_rpy(gear.apply(lab.world.object(GEAR).figures.grasp_xyz_m), [np.pi, 0.0, 0.0])
    high = Pose(down.position + [0.0, 0.0, height_m], down.quaternion)
    await robot.move_tool(high, 0.5)
    await robot.move_tool_straight(down, LineSpeed(0.1))
    await robot.gripper.close()
    await robot.move_tool_straight(high, LineSpeed(0.1))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A world in the middle of a motion with a gear in the hand, one part gone and one added, and its file."""
    path = tmp_path_factory.mktemp("world") / "run.world"
    with Lab.from_cell("aprs", seed=4) as lab:
        file = WorldFile(path, lab, lambda: {"order": "kit_m2l1"})
        lab.world.remove("large_gear_2")
        lab.world.add("extra", "small_gear", Pose.from_xyz_rpy([0.3, -1.5, 0.95]))

        async def work() -> None:
            await take(lab, 0.1)
            moving = lab.loop.create_task(lab.robot("fanuc").move_joints([0.8, 0.0, 0.0, 0.0, -1.57, 0.0], 0.3))
            await lab.clock.sleep(0.4)
            assert lab.robot("fanuc").moving
            file.write()
            moving.cancel()

        lab.perform(work())
        yield path, WorldState.read(path)


def held_m(lab: Lab) -> float:
    """How far the gear is from the tool's centre point."""
    figures = lab.world.object(GEAR).figures
    grasp = lab.world.pose_of(GEAR).apply(figures.grasp_xyz_m)
    return float(np.linalg.norm(grasp - lab.world.tcp_pose("fanuc").position))


def restored(state: WorldState, seed: int = 4) -> Lab:
    lab = Lab.from_cell("aprs", seed=seed)
    state.restore(lab)
    return lab


def test_the_world_goes_on_where_it_was(stored):
    _, state = stored
    assert state.header == {"order": "kit_m2l1"}
    with restored(state) as lab:
        assert lab.world.clock.tick == state.tick
        assert "large_gear_2" not in lab.world.objects
        assert "extra" in lab.world.objects
        before = lab.robot("fanuc").joints_rad
        assert held_m(lab) < 0.002
        lab.advance(1.0)
        assert np.abs(lab.robot("fanuc").joints_rad - before).max() < 0.003  # it holds
        assert held_m(lab) < 0.002  # and so does its hand
        lab.perform(lab.robot("fanuc").move_home(0.3))
        assert held_m(lab) < 0.003
        lab.perform(lab.robot("fanuc").gripper.open())
        lab.advance(1.0)
        assert held_m(lab) > 0.05


@pytest.mark.slow
def test_the_same_file_gives_the_same_world(stored):
    path, state = stored
    ends = []
    for _ in range(2):
        with restored(WorldState.read(path)) as lab:
            lab.advance(0.5)
            ends.append(lab.world.data.qpos.tobytes())
    assert ends[0] == ends[1]
    again = WorldState.of(restored(state), state.model, state.header)
    assert json.dumps(vars(again)) == json.dumps(vars(state))


def test_another_world_is_refused(stored):
    _, state = stored
    with Lab.from_cell("aprs", seed=5) as lab, pytest.raises(BadInput, match=r"not that of .*seed 5"):
        state.restore(lab)


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"format": "x"}', '{"format": "cellwright-world-2"}'])
def test_what_is_no_world_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "bad.world"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"bad\.world"):
        WorldState.read(path)


def test_kinematic_hand_keeps_what_it_holds(tmp_path):
    with Lab.from_cell("aprs", seed=4, fidelity="kinematic") as lab:
        state_of = lambda: WorldState.of(lab, model_hash(lab.world.model), {})  # noqa: E731
        lab.perform(take(lab, 0.1))
        state = state_of()
    with Lab.from_cell("aprs", seed=4, fidelity="kinematic") as lab:
        state.restore(lab)
        lab.perform(lab.robot("fanuc").move_home(0.3))
        assert held_m(lab) < 0.002
