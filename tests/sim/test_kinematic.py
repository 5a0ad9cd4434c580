"""Fidelity kinematic: the same interface and the same jobs, without forces."""

import numpy as np
import pytest

from cellwright.bench.gear_transfer import transfer_gear
from cellwright.bench.tools_trays import try_tray
from cellwright.catalogue import PARTS, TRAYS, part_grasp, seated_height_m
from cellwright.core.pose import Pose
from cellwright.judge import judge_slot
from cellwright.sim import World


@pytest.fixture
def lab(open_lab, bench):
    return open_lab(bench, fidelity="kinematic")


@pytest.fixture
def holding(lab, grasp):
    """The laboratory with the gear in the gripper, 10 cm above its slot."""
    lab.perform(grasp(lab, "arm", "gear"))
    assert lab.world.pose_of("gear").position[2] > 0.09
    return lab


def release_above(lab, tool_above, xy, height_m: float = 0.05) -> None:
    """Carries the held gear there, upright, and opens the gripper."""

    async def work() -> None:
        await lab.robots["arm"].move_tool(tool_above([*xy, 0.0266 + height_m]))
        await lab.robots["arm"].gripper.open()

    lab.perform(work())


def slot_xy(world, tray: str, slot: int) -> np.ndarray:
    return world.pose_of(tray).apply([*world.objects[tray].figures.slots[slot].xy_m, 0])[:2]


@pytest.mark.parametrize("robot", ["fanuc", "motoman"])
def test_the_same_job_succeeds(open_lab, aprs, robot):
    lab = open_lab(aprs, fidelity="kinematic")
    report = transfer_gear(lab, robot, f"{robot}_medium_tray/slot_1", f"{robot}_kit_m2l1/slot_1")
    assert report.done, report.reason
    assert report.seating.centre_error_m < 1e-6


def test_nothing_settles_and_nothing_moves_by_itself(aprs):
    world = World(aprs.model_copy(update={"fidelity": "kinematic"}))
    for name, placement in world.layout.objects.items():
        assert world.pose_of(name).is_close(placement.pose_in_world, tolerance_m=1e-12, tolerance_rad=1e-9)
    before = world.data.qpos.tobytes()
    world.engine.step(1000)
    assert world.data.qpos.tobytes() == before
    assert world.data.time == pytest.approx(2.0)


def test_robots_are_where_they_are_told_to_be(lab):
    goal = np.radians([10, 20, 30, 40, -50, 60])
    lab.perform(lab.robots["arm"].move_joints(goal))
    lab.advance(0.01)
    index = lab.world.robots["arm"]
    assert lab.world.data.qpos[index.qpos] == pytest.approx(goal, abs=1e-12)
    assert lab.world.data.qvel[index.dof] == pytest.approx(np.zeros(6), abs=1e-9)


def test_a_part_sticks_to_the_gripper_without_slipping(holding):
    arm, world = holding.robots["arm"], holding.world
    before = world.tcp_pose("arm").inverse() @ world.pose_of("gear")
    holding.perform(arm.move_joints(arm.joints_rad + np.array([1.0, -0.3, 0.2, 0.5, 0.3, 1.0])))
    after = world.tcp_pose("arm").inverse() @ world.pose_of("gear")
    assert after.is_close(before, tolerance_m=1e-9, tolerance_rad=1e-7)


def test_a_wrist_feels_the_weight_of_tool_and_load(lab, grasp):
    """As in physics, at rest: a controller weighs what hangs in the hand."""

    def pull_n() -> float:
        at = lab.world.robot("arm").force_sensor
        return float(np.linalg.norm(lab.world.data.sensordata[at : at + 3]))

    lab.advance(0.1)
    empty_n = pull_n()
    assert empty_n > 1.0
    lab.perform(grasp(lab, "arm", "gear"))
    lab.advance(0.1)
    weight_n = 9.81 * float(lab.world.model.body_mass[lab.world.objects["gear"].body])
    assert pull_n() - empty_n == pytest.approx(weight_n, rel=0.01)


def test_the_gripper_closes_to_the_width_of_what_it_holds(lab, grasp):
    assert lab.perform(grasp(lab, "arm", "gear")) == pytest.approx(0.008)
    assert lab.perform(lab.robots["arm"].gripper.open()) == pytest.approx(0.020)
    assert lab.perform(lab.robots["arm"].gripper.close()) == pytest.approx(0.002)


@pytest.mark.parametrize(("offset_m", "held"), [(0.004, True), (0.006, False)])
def test_a_grasp_beside_the_part_holds_nothing(lab, tool_above, offset_m, held):
    world = lab.world
    grasp = part_grasp(world.objects["gear"].figures, world.robots["arm"].gripper.figures)
    place = world.pose_of("gear").apply(grasp.xyz_m)

    async def work() -> float:
        await lab.robots["arm"].move_tool(tool_above(place + np.array([offset_m, 0, 0])))
        width_m = await lab.robots["arm"].gripper.close()
        await lab.robots["arm"].move_tool(tool_above(place, 0.1))
        return width_m

    width_m = lab.perform(work())
    assert width_m == pytest.approx(0.008 if held else 0.002)
    assert (lab.world.pose_of("gear").position[2] > 0.05) == held


@pytest.mark.parametrize("offset_m", [0.0, 0.0025])
def test_a_part_let_go_above_a_free_slot_is_seated(holding, tool_above, offset_m):
    x, y = slot_xy(holding.world, "kit", 0)
    release_above(holding, tool_above, (x + offset_m, y))
    verdict = judge_slot(holding.world, "kit/slot_1")
    assert verdict.seated, verdict.reason
    assert verdict.centre_error_m < 1e-9


def test_a_part_let_go_beside_a_slot_lies_on_the_tray(holding, tool_above):
    x, y = slot_xy(holding.world, "kit", 0)
    release_above(holding, tool_above, (x + 0.02, y))
    assert not judge_slot(holding.world, "kit/slot_1").seated
    resting_m = holding.world.pose_of("gear").position[2]
    assert (
        seated_height_m(TRAYS.get("kit_m2l1_tray"), TRAYS.get("kit_m2l1_tray").slots[0], PARTS.get("medium_gear"))
        < resting_m
    )
    assert 0.005 < resting_m <= 0.0171


def test_a_part_let_go_above_a_slot_for_another_does_not_sink_in(holding, tool_above):
    """A medium gear in a large gear's slot: it falls to the floor of the slot, upright, and is not seated."""
    release_above(holding, tool_above, slot_xy(holding.world, "kit", 2))
    verdict = judge_slot(holding.world, "kit/slot_3")
    assert not verdict.seated
    assert "it is a sku_part_medium_gear" in verdict.reason
    assert holding.world.pose_of("gear").position[2] == pytest.approx(0.004, abs=2e-4)


def test_a_part_let_go_above_a_taken_slot_lies_on_the_part_in_it(holding, tool_above):
    world = holding.world
    release_above(holding, tool_above, slot_xy(world, "supply", 0), 0.08)
    below, above = world.pose_of("other").position, world.pose_of("gear").position
    top_m = PARTS.get("medium_gear").height_m
    assert above[2] - below[2] == pytest.approx(top_m, abs=1e-3)
    assert judge_slot(world, "supply/slot_1").part == "other"
    assert judge_slot(world, "supply/slot_1").seated


def test_a_part_let_go_over_the_floor_lands_on_it(holding, tool_above):
    release_above(holding, tool_above, (0.3, -0.4), 0.2)
    pose = holding.world.pose_of("gear")
    assert pose.position == pytest.approx([0.3, -0.4, 0.0], abs=1e-6)
    assert pose.rotation_matrix[2, 2] == pytest.approx(1.0)


def test_a_part_let_go_half_over_an_edge_rests_on_it(holding, tool_above):
    """Its disc reaches over the tray's edge, its foot does not: it lies on the tray by its disc."""
    world = holding.world
    edge_x = world.pose_of("kit").position[0] + 0.08
    release_above(holding, tool_above, (edge_x + 0.033, -0.12 + 0.03))
    disc_m = PARTS.get("medium_gear").cone_height_m
    assert world.pose_of("gear").position[2] + disc_m == pytest.approx(0.017, abs=2e-4)


def test_a_snapshot_brings_back_what_was_held(holding, tool_above):
    world = holding.world
    start, before = world.snapshot(), world.tcp_pose("arm").inverse() @ world.pose_of("gear")
    release_above(holding, tool_above, (0.3, -0.4))
    world.restore(start)
    world.data.ctrl[world.robots["arm"].ctrl_position[0]] += 0.5
    world.engine.step(1)
    after = world.tcp_pose("arm").inverse() @ world.pose_of("gear")
    assert after.is_close(before, tolerance_m=1e-9, tolerance_rad=1e-7)
    assert abs(world.pose_of("gear").position[1]) > 0.1


def test_a_snapshot_brings_back_empty_hands(lab, grasp):
    start, before = lab.world.snapshot(), lab.world.pose_of("gear")
    lab.perform(grasp(lab, "arm", "gear"))
    lab.world.restore(start)
    lab.world.data.ctrl[lab.world.robots["arm"].ctrl_position] += 0.2
    lab.world.engine.step(5)
    assert lab.world.pose_of("gear").is_close(before, tolerance_m=1e-12, tolerance_rad=1e-9)


def test_what_is_held_stays_held_when_bodies_come_and_go(holding):
    world = holding.world
    before = world.tcp_pose("arm").inverse() @ world.pose_of("gear")
    world.add("guest", "small_gear", Pose.from_xyz_rpy([0.2, -0.4, 0]))
    world.remove("supply")
    world.data.ctrl[world.robots["arm"].ctrl_position[0]] += 0.5
    world.engine.step(1)
    after = world.tcp_pose("arm").inverse() @ world.pose_of("gear")
    assert after.is_close(before, tolerance_m=1e-9, tolerance_rad=1e-7)


def test_what_is_held_can_be_taken_away_or_put_elsewhere(holding):
    world = holding.world
    place = Pose.from_xyz_rpy([0.3, -0.4, 0])
    world.place("gear", place)
    world.engine.step(10)
    assert world.pose_of("gear").is_close(place)
    holding.perform(holding.robots["arm"].gripper.open())
    assert world.pose_of("gear").is_close(place)


def test_what_is_held_can_be_removed(holding):
    holding.world.remove("gear")
    holding.advance(0.1)
    assert holding.perform(holding.robots["arm"].gripper.open()) == pytest.approx(0.020)


def test_it_repeats_to_the_bit(open_lab, aprs):
    def run() -> bytes:
        lab = open_lab(aprs, fidelity="kinematic")
        transfer_gear(lab)
        return lab.world.data.qpos.tobytes()

    assert run() == run()


@pytest.mark.parametrize("number", [0, 2], ids=["empty", "full"])
def test_a_tray_is_carried_with_what_is_in_it(number):
    """From a stack onto the work table, and a kit into its box, by the very trial that physics passes."""
    assert try_tray(0, number, "kinematic") == ""
