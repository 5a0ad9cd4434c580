"""Going back to a moment: the same bits from then on."""

import numpy as np
import pytest

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.sim import World


def everything(world) -> bytes:
    data = world.data
    return b"".join(
        a.tobytes() for a in (data.qpos, data.qvel, data.qacc, data.ctrl, data.tree_asleep, data.sensordata)
    )


def continue_twice(world, seconds: float = 1.0) -> tuple[bytes, bytes]:
    start = world.snapshot()
    results = []
    for _ in range(2):
        world.restore(start)
        world.engine.step(round(seconds / world.clock.tick_s))
        results.append(everything(world))
    return results[0], results[1]


def test_a_moving_arm_and_a_falling_gear_go_on_alike(lab_world):
    lab_world.data.ctrl[lab_world.robots["fanuc"].ctrl_position] += 0.3
    lab_world.place("medium_gear_1", Pose.from_xyz_rpy([0.5, -1.1, 1.1], [0.5, 0.2, 0]))
    lab_world.engine.step(50)
    first, second = continue_twice(lab_world)
    assert first == second


def test_going_back_undoes_everything(lab_world):
    start, before = lab_world.snapshot(), everything(lab_world)
    lab_world.data.ctrl[lab_world.robots["motoman"].ctrl_position] += 0.2
    lab_world.place("small_gear_1", Pose.from_xyz_rpy([0.5, -1.1, 1.1]))
    lab_world.engine.step(200)
    lab_world.clock.tick = 200
    assert everything(lab_world) != before
    lab_world.restore(start)
    assert everything(lab_world) == before
    assert lab_world.clock.tick == 0
    assert lab_world.data.time == 0.0


def test_who_slept_sleeps(lab_world):
    start = lab_world.snapshot()
    lab_world.place("fanuc_medium_tray", lab_world.pose_of("fanuc_medium_tray"))
    lab_world.engine.step(2)
    assert (np.asarray(lab_world.data.tree_asleep)[2:] < 0).any()
    lab_world.restore(start)
    assert (np.asarray(lab_world.data.tree_asleep)[2:] >= 0).all()
    objects = np.concatenate([np.arange(o.qpos, o.qpos + 7) for o in lab_world.objects.values()])
    before = lab_world.data.qpos[objects].tobytes()
    lab_world.engine.step(100)
    assert lab_world.data.qpos[objects].tobytes() == before
    assert (np.asarray(lab_world.data.tree_asleep)[2:] >= 0).all()


def test_random_streams_go_back(lab_world):
    rng = lab_world.streams.stream("test")
    rng.random(3)
    start = lab_world.snapshot()
    first = rng.random(5).tolist()
    late = lab_world.streams.stream("made after the snapshot").random(2).tolist()
    lab_world.restore(start)
    assert rng.random(5).tolist() == first
    assert lab_world.streams.stream("made after the snapshot").random(2).tolist() == late


def test_a_snapshot_can_be_restored_many_times_and_in_any_order(bench):
    world = World(bench)
    world.place("gear", Pose.from_xyz_rpy([0.3, -0.35, 0.3], [0.3, 0, 0]))
    moments = []
    for _ in range(4):
        moments.append((world.snapshot(), everything(world)))
        world.engine.step(40)
    for index in (2, 0, 3, 1, 1):
        snapshot, state = moments[index]
        world.restore(snapshot)
        assert everything(world) == state
        if index < 3:
            world.engine.step(40)
            assert everything(world) == moments[index + 1][1]


def test_a_held_gear_goes_on_alike(open_lab, bench, grasp):
    """Held by friction alone, and shaken by a command to the arm that lasts through both continuations."""
    lab = open_lab(bench)
    lab.perform(grasp(lab, "arm", "gear"))
    world = lab.world
    world.data.ctrl[world.robots["arm"].ctrl_position] += 0.25
    first, second = continue_twice(world)
    assert first == second
    assert world.pose_of("gear").position[2] > 0.05


def test_bodies_that_came_or_went_make_a_snapshot_useless(bench):
    world = World(bench)
    start = world.snapshot()
    world.add("guest", "small_gear", Pose.from_xyz_rpy([0.2, -0.4, 0]))
    with pytest.raises(BadInput, match="bodies were added or removed since it was taken"):
        world.restore(start)
    world.restore(world.snapshot())
