"""Bodies that come, go and are moved while the world runs."""

import numpy as np
import pytest

from cellwright.core.bus import Role
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.sim import World

FREE_PLACE = Pose.from_xyz_rpy([0.2, -0.4, 0.0005])


def states(world) -> dict[str, bytes]:
    """Every body's state, to the bit."""
    data = world.data
    found = {
        name: data.qpos[o.qpos : o.qpos + 7].tobytes() + data.qvel[o.dof : o.dof + 6].tobytes()
        for name, o in world.objects.items()
    }
    for name, robot in world.robots.items():
        found[name] = data.qpos[robot.qpos].tobytes() + data.qvel[robot.dof].tobytes()
        found[f"{name} ctrl"] = data.ctrl[robot.ctrl_position].tobytes() + data.ctrl[robot.ctrl_velocity].tobytes()
        found[f"{name} tool"] = data.qpos[robot.gripper.qpos].tobytes() + data.ctrl[robot.gripper.ctrl].tobytes()
    return found


@pytest.fixture
def world(bench) -> World:
    """The bench with an arm on the move and everything else asleep."""
    world = World(bench)
    arm = world.robots["arm"]
    world.data.ctrl[arm.ctrl_position] += 0.2
    world.data.ctrl[arm.gripper.ctrl] = 0.004
    world.engine.step(20)
    assert np.abs(world.data.qvel[arm.dof]).max() > 0.1
    return world


@pytest.mark.parametrize("model", ["small_gear", "kit_s2l2_tray"])
def test_a_body_that_is_added_leaves_all_others_as_they_were(world, model):
    before, time_s = states(world), world.data.time
    world.add("guest", model, FREE_PLACE)
    after = states(world)
    guest = after.pop("guest")
    assert after == before
    assert world.data.time == time_s
    assert np.frombuffer(guest)[:3] == pytest.approx(FREE_PLACE.position)
    assert world.objects["guest"].figures.name == model
    world.engine.step(100)
    assert world.pose_of("guest").position == pytest.approx(FREE_PLACE.position, abs=1e-3)


def test_a_body_that_is_clamped_hangs_in_the_air_wherever_it_is_placed(world):
    """Without the clamp it would fall 49 mm in 0.1 s."""
    world.add("board", "calibration_board", Pose.from_xyz_rpy([0.2, -0.4, 1.0]), clamped=True)
    for place in (Pose.from_xyz_rpy([0.2, -0.4, 1.0]), Pose.from_xyz_rpy([0.1, -0.6, 1.3], [0.5, 0.2, 0.0])):
        world.place("board", place)
        world.engine.step(50)
        assert world.pose_of("board").distance_m(place) < 1e-3
    world.remove("board")
    assert "board" not in world.objects


def test_a_body_that_is_removed_leaves_all_others_as_they_were(world):
    before = states(world)
    world.remove("other")
    del before["other"]
    assert states(world) == before
    with pytest.raises(UnknownName):
        world.pose_of("other")
    world.engine.step(100)


def test_everything_comes_to_rest_again_where_it_was(bench):
    world = World(bench)
    before = {n: world.pose_of(n) for n in world.objects}
    world.add("guest", "small_gear", FREE_PLACE)
    assert world.settle(3.0)
    for name, pose in before.items():
        assert world.pose_of(name).distance_m(pose) < 2e-5, name
    world.remove("guest")
    assert world.settle(3.0)
    for name, pose in before.items():
        assert world.pose_of(name).distance_m(pose) < 4e-5, name


def test_a_tray_taken_from_under_its_gears_lets_them_fall(bench):
    world = World(bench)
    assert np.asarray(world.data.tree_asleep).max() >= 0
    height_m = world.pose_of("gear").position[2]
    world.remove("supply")
    world.engine.step(300)
    assert world.pose_of("gear").position[2] < height_m - 0.003


def test_bodies_come_and_go_many_times(bench):
    world = World(bench)
    for number in range(4):
        world.add(f"guest_{number}", "small_gear", Pose.from_xyz_rpy([0.2, -0.4 - 0.06 * number, 0.0]))
        world.remove("other" if number == 0 else f"guest_{number - 1}")
        world.engine.step(5)
    assert set(world.objects) == {"supply", "kit", "gear", "large", "guest_3"}
    world.add("other", "medium_gear", Pose.from_xyz_rpy([0.2, 0.6, 0]))
    assert world.settle(3.0)


@pytest.mark.parametrize("name", ["gear", "supply", "arm", "floor", "world"])
def test_a_name_that_is_taken_is_refused(world, name):
    before = states(world)
    with pytest.raises(BadInput, match=f"cannot add '{name}': the name is taken"):
        world.add(name, "small_gear", FREE_PLACE)
    assert states(world) == before


@pytest.mark.parametrize("name", ["", "Gear", "a/b", "1st", "x" * 49])
def test_a_name_that_is_none_is_refused(world, name):
    with pytest.raises(BadInput, match=r"cannot add '.*': a name is a small letter"):
        world.add(name, "small_gear", FREE_PLACE)


def test_an_unknown_model_is_refused_with_trays_and_parts_to_choose_from(world):
    with pytest.raises(UnknownName, match=r"did you mean 'small_gear'\? \(available: .*kit_m2l1_tray.*small_gear"):
        world.add("guest", "smal_gear", FREE_PLACE)


def test_a_place_that_is_taken_is_refused_and_nothing_changes(world):
    before = states(world)
    with pytest.raises(BadInput, match=r"cannot add 'guest' there: '.*' and '.*' overlap by \d+\.\d mm$"):
        world.add("guest", "large_gear", world.pose_of("large"))
    assert states(world) == before
    world.add("guest", "large_gear", FREE_PLACE)


def test_removing_nothing_is_refused(world):
    with pytest.raises(UnknownName, match="unknown object 'nobody'"):
        world.remove("nobody")


def test_controllers_and_sensors_go_on_after_bodies_came_and_went(open_lab, make_bench, tool_above):
    sensors = [
        {"type": "joint_state", "robot": "arm", "rate_hz": 50},
        {"type": "tool_status", "robot": "arm", "rate_hz": 50},
        {"type": "logical_detector", "name": "eye", "rate_hz": 10},
    ]
    lab = open_lab(make_bench(sensors=sensors))
    seen, joints, truth = [], [], []
    lab.bus.subscribe("/eye/detections", lambda _, m: seen.append(m), subscriber="test")
    lab.bus.subscribe("/arm/joint_states", lambda _, m: joints.append(m), subscriber="test")
    lab.bus.subscribe("/truth/poses", lambda _, m: truth.append(m), subscriber="test", role=Role.JUDGE)
    goal = tool_above([0.45, -0.1, 0.3])

    async def work() -> None:
        task = lab.loop.create_task(lab.robots["arm"].move_tool(goal, 0.3))
        await lab.clock.sleep(0.25)
        lab.world.add("guest", "small_gear", FREE_PLACE)  # while the arm moves
        await lab.clock.sleep(0.25)
        lab.world.remove("other")
        await task
        await lab.robots["arm"].gripper.close()
        await lab.clock.sleep(0.3)

    lab.perform(work())
    assert lab.world.tcp_pose("arm").distance_m(goal) < 1e-3
    assert [len(m.skus) for m in (seen[0], seen[-1])] == [5, 5]
    assert "sku_part_small_gear" in seen[-1].skus
    assert joints[-1].position == pytest.approx(lab.robots["arm"].joints_rad, abs=1e-3)
    assert any("guest" in message.names for message in truth)
    assert lab.world.data.qpos[lab.world.robots["arm"].gripper.qpos].sum() < 0.003


def test_a_placed_object_is_there_at_rest_and_falls(bench):
    world = World(bench)
    assert np.asarray(world.data.tree_asleep)[world.model.body_treeid[world.objects["large"].body]] >= 0
    pose = Pose.from_xyz_rpy([0.3, -0.35, 0.05], [0, 0, 1.0])
    world.place("large", pose)
    assert world.pose_of("large").is_close(pose)
    assert not world.data.qvel[world.objects["large"].dof : world.objects["large"].dof + 6].any()
    world.engine.step(10)
    fallen_m = 0.05 - world.pose_of("large").position[2]
    assert fallen_m == pytest.approx(9.81 * (10 * 0.002) ** 2 / 2, rel=0.12)


def test_an_object_placed_where_it_is_wakes(bench):
    world = World(bench)
    world.place("large", world.pose_of("large"))
    assert np.asarray(world.data.tree_asleep)[world.model.body_treeid[world.objects["large"].body]] < 0


def test_a_tray_moved_away_wakes_the_gears_in_it(bench):
    world = World(bench)
    height_m = world.pose_of("gear").position[2]
    world.place("supply", Pose.from_xyz_rpy([0.3, -0.6, 0]))
    world.engine.step(300)
    assert world.pose_of("gear").position[2] < height_m - 0.003
