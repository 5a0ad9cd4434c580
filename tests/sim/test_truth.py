"""The truth as messages: what moved, what touches, for the judge and the recorder alone."""

import numpy as np
import pytest

from cellwright.core.bus import Role
from cellwright.core.errors import TruthLeak
from cellwright.core.pose import Pose

TOPIC = "/truth/poses"


@pytest.fixture
def heard(open_lab, bench):
    """A laboratory, and the messages of truth that its judge hears."""
    lab, messages = open_lab(bench), []
    lab.bus.subscribe(TOPIC, lambda _, message: messages.append(message), subscriber="test", role=Role.JUDGE)
    return lab, messages


def test_controllers_may_not_listen(open_lab, bench):
    lab = open_lab(bench)
    with pytest.raises(TruthLeak, match=TOPIC):
        lab.bus.subscribe(TOPIC, print, subscriber="controller")


def test_the_first_message_has_everything_and_then_only_what_moves(heard):
    lab, messages = heard
    lab.advance(0.5)
    assert set(messages[0].names) == set(lab.world.objects)
    assert len(messages) == 1
    lab.world.place("large", Pose.from_xyz_rpy([0.3, 0.35, 0.2]))
    lab.advance(0.15)
    assert all(message.names == ("large",) for message in messages[1:])
    assert len(messages) == 4


def test_poses_and_contacts_are_those_of_the_world(heard):
    lab, messages = heard
    lab.advance(0.06)
    lab.world.place("large", Pose.from_xyz_rpy([0.3, 0.35, 0.004], [0, 0, 0.5]))
    lab.advance(0.045)
    message = messages[-1]
    at = lab.world.objects["large"].qpos
    row = message.names.index("large")
    assert lab.world.clock.tick * 2_000_000 - message.time_ns < 10_000_000
    assert np.abs(message.positions[row] - lab.world.data.qpos[at : at + 3]).max() < 1e-3
    assert "floor|large" in message.contact_pairs
    assert len(message.contact_forces) == len(message.contact_pairs)


def test_messages_are_numbered_and_do_not_change_afterwards(heard):
    lab, messages = heard
    lab.advance(0.06)
    lab.world.place("large", Pose.from_xyz_rpy([0.3, 0.35, 0.3]))
    lab.advance(0.1)
    copies = [message.positions.copy() for message in messages]
    lab.advance(0.1)
    assert [message.sequence for message in messages] == list(range(len(messages)))
    assert all(np.array_equal(m.positions, c) for m, c in zip(messages, copies, strict=False))
