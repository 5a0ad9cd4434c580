"""Gears that lean in a direction that nobody sees: pressed down round their rims, over CRCL, guarded by force."""

import asyncio
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from cellwright.catalogue import PARTS, TOOLS, seated_pose
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.drawings.prior import Drawings
from cellwright.execution import Hold, PickPlace, Recipe, RobotHand, StraightWay
from cellwright.execution.arm import ArmClient, tool_down
from cellwright.execution.failure import StepFailed
from cellwright.execution.grasps import GraspChoice
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.upright import START_M, _can_move, press_points, press_upright
from cellwright.interfaces import CrclInterface
from cellwright.judge.collision import CollisionMonitor
from cellwright.judge.kitting_contacts import allowed_kitting_contacts
from cellwright.knowledge import BelievedPart
from cellwright.lab import Lab

FREE_M = {"fanuc": (0.32, -1.20), "motoman": (-0.36, -0.60)}  # on their tables, away from trays


def tilt_deg(lab: Lab, part: str) -> float:
    return float(np.degrees(np.arccos(np.clip(lab.world.pose_of(part).rotation_matrix[2, 2], -1.0, 1.0))))


def lay_on_its_cone(lab: Lab, gear: str, place_m: tuple[float, float], towards_rad: float) -> float:
    """Lays a gear on the table there, leaning; returns the height of the table."""
    world, figures = lab.world, lab.world.object(gear).figures
    height_m = 1.5 - world.ray([*place_m, 1.5], [0.0, 0.0, -1.0])
    lean = Pose.exp([0, 0, 0, *(np.radians(38.0) * np.array([-np.sin(towards_rad), np.cos(towards_rad), 0.0]))])
    rim = [
        lean.apply([radius * np.cos(a), radius * np.sin(a), z])[2]
        for a in np.linspace(0, 2 * np.pi, 64)
        for radius, z in ((figures.tip_radius_m, figures.cone_height_m), (figures.cone_bottom_radius_m, 0.0))
    ]
    world.place(gear, Pose.from_xyz_rpy([*place_m, height_m - min(rim) + 0.0005]) @ lean)
    lab.advance(1.0)
    return height_m


def seen(lab: Lab, gear: str, height_m: float) -> BelievedPart:
    """What an overhead detector tells: the middle of the upper face, and nothing of height and lean."""
    figures = lab.world.object(gear).figures
    x, y, _ = lab.world.pose_of(gear).apply([0.0, 0.0, figures.disc_top_m])
    return BelievedPart(gear, figures.sku, Pose.from_xyz_rpy([x + 0.001, y - 0.001, height_m]).matrix, 0.0)


async def manipulator_of(lab: Lab, robot: str, belief) -> Manipulator:
    client = CrclClient(partial(CrclInterface(lab).connect, robot), peer=robot)
    await client.__aenter__()
    sensor = Drawings.of(lab.cell).force_sensors[robot]
    arm = ArmClient(robot, client, lab.nominal.bases[robot], Recipe(), force_sensor=sensor)
    await arm.prepare()
    return Manipulator(arm, RobotHand(arm, lab.clock), belief, belief.state.tool_of[robot])


async def take(worker: Manipulator, part: BelievedPart) -> None:
    grasp = GraspChoice(gripper=(await worker.hand.read()).gripper)
    pose, hold = grasp.pose_tool(part), Hold.of_part(part, grasp.gripper, worker.recipe.grip_tolerance_m)
    await worker.go_above(pose)
    await PickPlace(worker.hand).pick(StraightWay.from_above(worker.arm, pose), hold)


def test_points_lie_on_the_rim_and_the_fingers_along_it():
    gear, tool = PARTS.get("small_gear"), TOOLS.get("aprs_motoman_gripper")
    points = press_points(np.array([0.4, 0.1, 0.9]), gear, tool, near_rad=0.3)
    assert len(points) == 6
    sides = [np.arctan2(*(pose.position[1::-1] - [0.1, 0.4])) for pose in points]
    assert sorted(np.degrees(np.diff(sorted(sides)))) == pytest.approx([60.0] * 5)
    for pose, side in zip(points, sides, strict=True):
        assert np.hypot(*(pose.position[:2] - [0.4, 0.1])) == pytest.approx(0.8 * gear.tip_radius_m)
        jaw = pose.rotation_matrix[:2, 0]
        assert abs(jaw @ [np.cos(side), np.sin(side)]) < 1e-9  # along the rim, not across
        tips_m = pose.position[2] - tool.pad_offset_m - tool.pad_size_m[2] / 2
        assert tips_m == pytest.approx(0.9 + gear.disc_top_m + 0.001)  # an upright gear is not touched
        assert START_M + tips_m > 0.9 + gear.height_m


def test_only_empty_fingers_press_and_only_gears_are_pressed(still):
    cell = still()

    class Hand:
        async def read(self):
            return type("Reading", (), {"gripper": "aprs_fanuc_gripper"})

    arm = ArmClient("fanuc", None, Pose.identity(), Recipe())
    worker = Manipulator(arm, Hand(), cell.belief, "tool")
    bottle = BelievedPart("bottle", PARTS.get("bottle").sku, np.eye(4), 0.0)
    with pytest.raises(StepFailed, match="fanuc cannot press bottle upright: it takes empty fingers, and a gear"):
        asyncio.run(press_upright(worker, bottle))


def test_between_two_presses_nothing_moves_into_what_is_drawn_there():
    moved = []

    class Arm:
        async def move(self, pose, _speed_mps):
            moved.append(pose)

    recipe = SimpleNamespace(fast_mps=0.5)
    for blocked, can in (("the straight way of fanuc is blocked: tool touches board", False), ("", True)):
        worker = SimpleNamespace(arm=Arm(), recipe=recipe, detours=SimpleNamespace(blocked=lambda _, why=blocked: why))
        assert asyncio.run(_can_move(worker, Pose.identity())) is can
    assert len(moved) == 1


def test_a_press_ends_where_something_does_not_give_way(still):
    """Down onto the bare table, guarded by the force at the wrist; in the air it goes all the way."""
    belief = still().belief
    with Lab.from_cell("aprs", 0) as lab:
        height_m = 1.5 - lab.world.ray([*FREE_M["fanuc"], 1.5], [0.0, 0.0, -1.0])

        async def work() -> tuple[bool, bool, float]:
            worker = await manipulator_of(lab, "fanuc", belief)
            await worker.hand.close()
            above = tool_down(np.array([*FREE_M["fanuc"], height_m + 0.03]))
            await worker.go_above(above)
            free = await worker.arm.press(above, 0.05, 4.0)
            stopped = await worker.arm.press(tool_down(above.position - [0.0, 0.0, 0.04]), 0.03, 4.0)
            tips_m = lab.world.tcp_pose("fanuc").position[2] - 0.007 - height_m
            await worker.arm.move(above, 0.1)
            return free, stopped, tips_m

        free, stopped, tips_m = lab.perform(work())
    assert not free
    assert stopped
    assert abs(tips_m) < 0.002


@pytest.mark.slow
@pytest.mark.parametrize("towards_deg", [20.0, 140.0, 265.0])
@pytest.mark.parametrize("robot", ["fanuc", "motoman"])
def test_a_small_gear_on_its_cone_is_set_upright_and_taken(still, robot, towards_deg):
    belief, gear = still().belief, "small_gear_1" if robot == "fanuc" else "small_gear_5"
    with Lab.from_cell("aprs", 3) as lab:
        height_m = lay_on_its_cone(lab, gear, FREE_M[robot], np.radians(towards_deg))
        assert tilt_deg(lab, gear) > 30
        others = {name: lab.world.pose_of(name) for name in lab.world.objects if name != gear}
        judge = CollisionMonitor(lab.world, lab.stepper, allowed_kitting_contacts(lab.world))

        async def work() -> None:
            worker = await manipulator_of(lab, robot, belief)
            await press_upright(worker, seen(lab, gear, height_m))
            assert tilt_deg(lab, gear) < 1.0
            await take(worker, seen(lab, gear, height_m))

        lab.perform(work())
        assert lab.world.pose_of(gear).position[2] > height_m + 0.03
        assert judge.hits == []
        assert max(pose.distance_m(lab.world.pose_of(name)) for name, pose in others.items()) < 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "gear", "tray", "off_mm"),
    [
        ("fanuc", "medium_gear_3", "fanuc_kit_m2l1", (10.0, 4.0)),
        ("fanuc", "large_gear_1", "fanuc_kit_s2l2", (-16.0, 3.0)),
        ("motoman", "small_gear_5", "motoman_kit_s2l2", (0.0, 16.0)),
        ("motoman", "large_gear_3", "motoman_kit_m2l1", (9.0, -13.0)),
    ],
)
def test_a_gear_on_the_edge_of_its_slot_is_pressed_in_and_taken(still, robot, gear, tray, off_mm):
    belief = still().belief
    with Lab.from_cell("aprs", 3) as lab:
        world, figures = lab.world, lab.world.object(gear).figures
        trayed = world.object(tray).figures
        slot = next(slot for slot in trayed.slots if slot.accepts == figures.sku)
        seat = world.pose_of(tray) @ seated_pose(trayed, slot, figures)
        world.place(gear, Pose.from_xyz_rpy([off_mm[0] / 1000, off_mm[1] / 1000, 0.018]) @ seat)
        lab.advance(1.0)
        assert tilt_deg(lab, gear) > 5
        height_m = float(seat.position[2])

        async def work() -> None:
            worker = await manipulator_of(lab, robot, belief)
            await press_upright(worker, seen(lab, gear, height_m))
            await take(worker, seen(lab, gear, height_m))

        lab.perform(work())
        assert world.pose_of(gear).position[2] > height_m + 0.03
