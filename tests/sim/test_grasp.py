"""Holding a gear: by friction alone unless the cell asks for the lock, which is counted and breaks under load."""

import mujoco
import numpy as np
import pytest

from cellwright.bench.gear_transfer import transfer_gear
from cellwright.core.pose import Pose
from cellwright.sim import World

SWING_RAD = np.array([1.2, -0.3, 0.3, 0.0, -0.3, 0.0])


def active_constraints(world) -> set[str]:
    return {world.model.equality(i).name for i in range(world.model.neq) if world.data.eq_active[i]}


def pose_in_hand(world, part: str = "gear", robot: str = "arm") -> Pose:
    return world.tcp_pose(robot).inverse() @ world.pose_of(part)


def swung(lab, grasp) -> tuple[float, float]:
    """Takes the gear and swings it at full speed; how far it strayed in the hand, at most and in the end."""
    world, arm = lab.world, lab.robots["arm"]
    strayed = []

    async def work() -> None:
        await grasp(lab, "arm", "gear")
        await lab.clock.sleep(0.2)
        start, home = pose_in_hand(world), arm.joints_rad.copy()
        for goal in (home + SWING_RAD, home):
            task = lab.loop.create_task(arm.move_joints(goal))
            while not task.done():
                await lab.clock.sleep(0.01)
                strayed.append(pose_in_hand(world).distance_m(start))
            await task

    lab.perform(work())
    return max(strayed), strayed[-1]


@pytest.fixture
def locked_lab(open_lab, make_bench, grasp):
    """The bench with a gear in a locked grip."""
    lab = open_lab(make_bench(grasp_lock=True))
    lab.perform(grasp(lab, "arm", "gear"))
    assert "arm/grasp_lock" in active_constraints(lab.world)
    return lab


@pytest.mark.parametrize("robot", ["fanuc", "motoman"])
def test_a_gear_is_carried_by_friction_alone(open_lab, aprs, robot):
    """The real job in the real cell: no equality but the gear between the fingers is ever active."""
    lab = open_lab(aprs, seed=3)
    seen, heights = set(), []
    gear = "medium_gear_1" if robot == "fanuc" else "medium_gear_5"

    def watch() -> None:
        seen.update(active_constraints(lab.world))
        heights.append(max(lab.world.pose_of(n).position[2] for n in lab.world.objects if n.startswith("medium")))

    lab.stepper.every(25, watch, order=35, name="watch")
    before = lab.world.pose_of(gear).position[2]
    report = transfer_gear(lab, robot, f"{robot}_medium_tray/slot_1", f"{robot}_kit_m2l1/slot_1")
    assert report.done, report.reason
    assert lab.grasp_lock is None
    assert seen == {"fanuc/tool/fingers_move_alike", "motoman/tool/fingers_move_alike"}
    assert max(heights) > before + 0.04
    assert lab.world.model.neq == 2


def test_a_held_gear_hangs_between_the_pads_and_falls_when_they_open(open_lab, bench, grasp):
    lab = open_lab(bench)
    width_m = lab.perform(grasp(lab, "arm", "gear"))
    assert width_m == pytest.approx(0.008, abs=6e-4)
    assert lab.world.pose_of("gear").position[2] > 0.09
    lab.advance(1.0)
    assert lab.world.pose_of("gear").position[2] > 0.09
    lab.perform(lab.robots["arm"].gripper.open())
    lab.advance(0.5)
    assert lab.world.pose_of("gear").position[2] < 0.03


def test_a_held_gear_stays_held_when_bodies_come_and_go(open_lab, bench, grasp):
    lab = open_lab(bench)
    lab.perform(grasp(lab, "arm", "gear"))
    before = pose_in_hand(lab.world)
    lab.world.add("guest", "small_gear", Pose.from_xyz_rpy([0.2, -0.4, 0]))
    lab.advance(0.3)
    lab.world.remove("other")
    lab.advance(0.3)
    assert pose_in_hand(lab.world).distance_m(before) < 1e-4


def test_friction_gives_way_to_a_load_beyond_it(open_lab, bench, grasp):
    """Coulomb: two pads of 5 N and 0.8 carry 8 N. A gear of 0.7 kg is held, one of 0.95 kg is not."""
    for mass_kg, held in ((0.7, True), (0.95, False)):
        lab = open_lab(bench)
        lab.perform(grasp(lab, "arm", "gear"))
        world = lab.world
        world.data.xfrc_applied[world.objects["gear"].body, 2] = -9.81 * (mass_kg - 0.020)
        lab.advance(0.5)
        assert (world.pose_of("gear").position[2] > 0.06) == held


def test_the_lock_keeps_a_gear_from_creeping(open_lab, make_bench, grasp):
    friction = open_lab(make_bench())
    locked = open_lab(make_bench(grasp_lock=True))
    free_most_m, free_end_m = swung(friction, grasp)
    most_m, end_m = swung(locked, grasp)
    assert most_m < 1e-4
    assert end_m < 5e-5
    assert free_most_m > 10 * most_m  # what the lock is for
    assert free_end_m < 0.02  # held all the same
    assert locked.grasp_lock.uses == 1
    assert locked.grasp_lock.breaks == 0
    assert active_constraints(friction.world) == {"arm/tool/fingers_move_alike"}


def test_the_lock_opens_with_the_gripper(locked_lab):
    world = locked_lab.world
    locked_lab.perform(locked_lab.robots["arm"].gripper.open())
    assert active_constraints(world) == {"arm/tool/fingers_move_alike"}
    locked_lab.advance(0.5)
    assert world.pose_of("gear").position[2] < 0.03
    assert locked_lab.grasp_lock.uses == 1


def test_a_gear_falls_when_the_fingers_have_left_it_before_the_lock_opens(locked_lab):
    """At rest in the hand for long, it is as ready to sleep as a gear on a table; only the weld kept it awake."""
    world = locked_lab.world
    tool = world.robots["arm"].gripper
    world.data.ctrl[tool.ctrl] = 0.49 * (tool.figures.open_m + tool.figures.closed_m)  # off the peg, and not yet open
    locked_lab.advance(0.5)
    assert "arm/grasp_lock" in active_constraints(world)
    world.data.ctrl[tool.ctrl] = tool.figures.open_m
    locked_lab.advance(0.5)
    assert active_constraints(world) == {"arm/tool/fingers_move_alike"}
    assert world.pose_of("gear").position[2] < 0.03


def test_a_locked_gear_does_not_turn_about_its_foot(open_lab, make_bench, grasp):
    """The weld holds it between the pads. Held at its foot, a small gear turns by half a degree as the pads creep."""
    parts = {"gear": {"model": "small_gear", "pose": {"xyz_m": [0.45, 0.12, 0]}}}
    lab = open_lab(make_bench(grasp_lock=True, trays={}, parts=parts))
    world, arm = lab.world, lab.robots["arm"]
    turned = []

    async def work() -> None:
        await grasp(lab, "arm", "gear")
        await lab.clock.sleep(0.2)
        start, home = pose_in_hand(world), arm.joints_rad.copy()
        for goal in (home + np.array([1.2, 0, 0, 0, 0, 0]), home):
            await arm.move_joints(goal)
            turned.append(pose_in_hand(world).angle_rad(start))

    lab.perform(work())
    assert lab.grasp_lock.uses == 1
    assert max(turned) < np.radians(0.2)


def test_an_empty_grip_locks_nothing(open_lab, make_bench):
    lab = open_lab(make_bench(grasp_lock=True))
    lab.perform(lab.robots["arm"].gripper.close())
    lab.advance(0.3)
    assert lab.grasp_lock.uses == 0
    assert active_constraints(lab.world) == {"arm/tool/fingers_move_alike"}


def test_uses_are_counted_and_a_job_is_done_with_the_lock(open_lab, aprs):
    lab = open_lab(aprs.model_copy(update={"grasp_lock": True}), seed=3)
    report = transfer_gear(lab)
    assert report.done, report.reason
    assert lab.grasp_lock.uses == 1


@pytest.mark.parametrize("load", ["force down", "force aside", "mass"])
def test_the_lock_breaks_under_a_load_that_friction_could_not_carry(locked_lab, load):
    world, body = locked_lab.world, locked_lab.world.objects["gear"].body
    if load == "mass":
        world.model.body_mass[body] = 1.5
        mujoco.mj_setConst(world.model, mujoco.MjData(world.model))
    else:
        world.data.xfrc_applied[body, 2 if load == "force down" else 1] = -30.0
    locked_lab.advance(0.05)
    assert locked_lab.grasp_lock.breaks == 1
    assert active_constraints(world) == {"arm/tool/fingers_move_alike"}
    locked_lab.advance(0.5)
    assert locked_lab.grasp_lock.uses == 1  # it does not close again on the part that slips away
    assert pose_in_hand(world).distance_m(Pose.from_xyz_rpy([0, 0, 0.0266])) > 0.02


def test_the_lock_carries_what_friction_could_carry(locked_lab):
    world = locked_lab.world
    before = pose_in_hand(world)
    world.data.xfrc_applied[world.objects["gear"].body, 2] = -6.0
    locked_lab.advance(0.5)
    assert locked_lab.grasp_lock.breaks == 0
    assert pose_in_hand(world).distance_m(before) < 1e-4


def test_the_lock_breaks_when_the_part_is_pressed_onto_something(locked_lab, tool_above):
    """The arm is strong; without a break-off it would press the part with all its force."""
    world, arm = locked_lab.world, locked_lab.robots["arm"]

    async def press() -> None:
        await arm.move_tool(tool_above([0.3, -0.4, 0.1]))
        await arm.move_tool(tool_above([0.3, -0.4, 0.0266 - 0.0009]), 0.2)

    locked_lab.perform(press())
    assert locked_lab.grasp_lock.breaks == 1
    assert world.pose_of("gear").position[2] > -5e-4


def test_a_broken_lock_closes_again_after_the_gripper_opened(locked_lab, grasp):
    world, body = locked_lab.world, locked_lab.world.objects["gear"].body
    world.data.xfrc_applied[body, 2] = -30.0
    locked_lab.advance(0.4)
    world.data.xfrc_applied[body, 2] = 0.0
    locked_lab.advance(0.5)
    world.place("gear", Pose.from_xyz_rpy([0.3, -0.4, 0]))
    locked_lab.advance(0.3)
    locked_lab.perform(grasp(locked_lab, "arm", "gear"))
    assert locked_lab.grasp_lock.uses == 2
    assert world.pose_of("gear").position[2] > 0.08


def test_the_lock_works_with_everything_else_asleep(locked_lab):
    world = locked_lab.world
    locked_lab.advance(1.0)
    asleep = {n: bool(world.data.tree_asleep[world.model.body_treeid[o.body]] >= 0) for n, o in world.objects.items()}
    assert asleep == {"supply": True, "kit": True, "gear": False, "other": True, "large": True}


def test_a_locked_gear_goes_on_alike_after_a_snapshot(locked_lab):
    world = locked_lab.world
    world.data.ctrl[world.robots["arm"].ctrl_position] += 0.2
    start = world.snapshot()
    runs = []
    for _ in range(2):
        world.restore(start)
        world.engine.step(500)
        runs.append(world.data.qpos.tobytes())
    assert runs[0] == runs[1]
    assert world.pose_of("gear").position[2] > 0.05


def test_a_snapshot_brings_back_a_lock_that_was_opened_or_moved_to_another_part(locked_lab, grasp):
    world = locked_lab.world
    start, before = locked_lab.world.snapshot(), pose_in_hand(world)
    locked_lab.perform(locked_lab.robots["arm"].gripper.open())
    locked_lab.advance(0.5)
    locked_lab.perform(grasp(locked_lab, "arm", "other"))
    assert locked_lab.grasp_lock.uses == 2
    world.restore(start)
    assert locked_lab.grasp_lock.uses == 1
    assert "arm/grasp_lock" in active_constraints(world)
    world.engine.step(500)
    assert pose_in_hand(world).distance_m(before) < 5e-5
    assert world.pose_of("other").position[2] < 0.03


def test_a_locked_gear_stays_locked_when_bodies_come_and_go(locked_lab):
    world = locked_lab.world
    before = pose_in_hand(world)
    world.add("guest", "small_gear", Pose.from_xyz_rpy([0.2, -0.4, 0]))
    world.remove("supply")  # the first object, before the gear in every array
    assert "arm/grasp_lock" in active_constraints(world)
    locked_lab.advance(0.5)
    assert pose_in_hand(world).distance_m(before) < 5e-5
    assert locked_lab.grasp_lock.uses == 1


def test_a_locked_gear_can_be_taken_away(locked_lab):
    world = locked_lab.world
    world.remove("gear")
    assert active_constraints(world) == {"arm/tool/fingers_move_alike"}
    locked_lab.advance(0.3)


def test_a_locked_gear_can_be_put_elsewhere(locked_lab):
    world = locked_lab.world
    place = Pose.from_xyz_rpy([0.3, -0.4, 0.0])
    world.place("gear", place)
    locked_lab.advance(0.3)
    assert world.pose_of("gear").distance_m(place) < 1e-3
    assert active_constraints(world) == {"arm/tool/fingers_move_alike"}


def test_a_cell_without_objects_may_have_the_lock(make_bench):
    world = World(make_bench(grasp_lock=True, trays={}, parts={}))
    world.add("gear", "small_gear", Pose.from_xyz_rpy([0.3, -0.4, 0]))
    world.engine.step(10)
