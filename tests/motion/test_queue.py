"""Motions in a row: one after the other, from rest to rest, added while the arm moves."""

import numpy as np
import pytest

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics, JointLimits, JointMove, LineMove, LineSpeed, MotionQueue, StopCategory

PERIOD_S = 0.004
ARM = ROBOTS.get("lr_mate_200id")
KINEMATICS = ArmKinematics(ARM)
HOME = np.array(ARM.home_rad)


def drain(queue: MotionQueue) -> list:
    samples = []
    while not queue.idle:
        samples.append(queue.tick())
        assert len(samples) < 20_000
    return samples


def test_an_empty_queue_has_nothing_to_say():
    queue = MotionQueue(PERIOD_S)
    assert queue.idle
    assert queue.tick() is None


def test_motions_added_on_the_way_follow_without_a_jump_and_each_ends_at_rest():
    queue = MotionQueue(PERIOD_S)
    there = HOME + 0.3
    queue.append(JointMove(ARM, HOME, there))
    samples = [queue.tick() for _ in range(40)]
    pose = KINEMATICS.forward(there)
    line = LineMove(KINEMATICS, there, Pose(pose.position + np.array([0, 0, -0.05]), pose.quaternion), LineSpeed())
    queue.append(line)
    queue.append(JointMove(ARM, line.path.at(1.0)[0], HOME))
    assert len(queue) == 2
    samples += drain(queue)
    position = np.array([s.position_rad for s in samples])
    velocity = np.array([s.velocity_radps for s in samples])
    rests = [HOME + 0.3, line.path.at(1.0)[0], HOME]
    for rest in rests:
        nearest = int(np.abs(position - rest).max(axis=1).argmin())
        assert position[nearest] == pytest.approx(rest, abs=1e-9)
        assert velocity[nearest] == pytest.approx(np.zeros(6), abs=1e-9)
    assert (np.abs(np.diff(velocity, axis=0)) <= JointLimits.of(ARM).acceleration_radps2 * PERIOD_S * 1.001).all()
    assert queue.tick().position_rad == pytest.approx(HOME, abs=1e-9)


def test_a_motion_that_starts_elsewhere_is_refused():
    queue = MotionQueue(PERIOD_S)
    queue.append(JointMove(ARM, HOME, HOME + 0.2))
    with pytest.raises(BadInput, match=r"starts 5\.73 deg away from where the one before it ends"):
        queue.append(JointMove(ARM, HOME + 0.1, HOME))
    drain(queue)
    with pytest.raises(BadInput, match="starts"):
        queue.append(JointMove(ARM, HOME, HOME + 0.2))
    queue.append(JointMove(ARM, HOME + 0.2, HOME))


@pytest.mark.parametrize("category", list(StopCategory), ids=lambda c: c.value)
def test_a_stop_forgets_what_was_to_come_and_work_goes_on_from_there(category):
    queue = MotionQueue(PERIOD_S)
    queue.append(JointMove(ARM, HOME, HOME + 0.8))
    queue.append(JointMove(ARM, HOME + 0.8, HOME))
    for _ in range(20):
        queue.tick()
    queue.stop(category)
    assert len(queue) == 0
    with pytest.raises(JobFailed, match="is stopping"):
        queue.append(JointMove(ARM, HOME, HOME + 0.8))
    rest = drain(queue)[-1].position_rad
    assert np.abs(rest - HOME - 0.8).max() > 0.05
    queue.append(JointMove(ARM, rest, HOME))
    assert drain(queue)[-1].position_rad == pytest.approx(HOME, abs=1e-9)


def test_an_override_and_a_pause_concern_the_motions_to_come():
    full, half = MotionQueue(PERIOD_S), MotionQueue(PERIOD_S)
    half.override = 0.25
    for queue in (full, half):
        queue.append(JointMove(ARM, HOME, HOME + 0.8))
        queue.append(JointMove(ARM, HOME + 0.8, HOME))
    quick = len(drain(full))
    half.pause()
    assert half.tick() is None
    half.resume()
    assert len(drain(half)) > 1.8 * quick
    assert half.override == 0.25
    with pytest.raises(OutOfRange, match="speed override"):
        half.override = 1.2
