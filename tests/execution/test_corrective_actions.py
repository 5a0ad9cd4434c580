"""What is done beside a plan: a part that is in the way goes where it belongs, one in a hand goes back."""

from __future__ import annotations

import asyncio

from cellwright.core.pose import Pose
from cellwright.execution.arm import ArmClient
from cellwright.execution.corrective_actions import Corrections
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.settings import Recipe
from cellwright.knowledge.belief_writer import note_held
from cellwright.planning import Verb

from .conftest import SKUS, small_kit

REACH = {"fanuc": frozenset({"fanuc_medium_tray", "fanuc_small_tray", "fanuc_kit_m2l1"})}


def team(cell):
    """What is believed, and a robot that nobody commands."""
    asyncio.run(cell.sleep(0.5))
    view = cell.belief.state
    arm = ArmClient("fanuc", None, Pose.from_xyz_rpy([0.0, 0.0, 0.0]), Recipe())  # type: ignore[arg-type]
    return view, {"fanuc": Manipulator(arm, RobotHand(arm, cell), cell.belief, "fanuc_tool")}


def test_a_part_in_a_hand_that_nobody_needs_goes_back_into_a_tray_with_room(still):
    cell = still()
    view, manipulators = team(cell)
    assert Corrections(view, {}, manipulators, REACH, {}).put_back() == []
    note_held(cell.belief, "fanuc_tool", "medium_gear_1")
    manipulators["fanuc"].held = "medium_gear_1"
    steps = Corrections(view, {}, manipulators, REACH, {}).put_back()
    assert [(step.verb, step.place, step.sku) for step in steps] == [(Verb.RETURN_PART, "fanuc_medium_tray", SKUS["m"])]
    manipulators["fanuc"].out_of_service = "it does not answer"
    assert Corrections(view, {}, manipulators, REACH, {}).put_back() == []


def test_a_part_across_a_slot_goes_into_the_slot_it_fits_or_back(still):
    cell = still()
    design = small_kit("mml").lines[0].design
    view, manipulators = team(cell)
    seat = view.slots_of_kit("fanuc_kit_m2l1", design)[0]
    for part, last in {"medium_gear_1": Verb.PLACE_PART, "small_gear_1": Verb.RETURN_PART}.items():
        matrix = seat.pose_part_in_world.matrix
        matrix[:3, 3] += [0.02, 0.02, 0.013]
        cell.moved = {part: matrix}
        view, manipulators = team(cell)
        steps = Corrections(view, {"fanuc_kit_m2l1": design}, manipulators, REACH, {}).clearing()
        assert [step.verb for step in steps][:3] == [Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART]
        assert steps[0].place == part
        assert steps[-1].verb is last
    failed = {"small_gear_1": "failed"}
    assert Corrections(view, {"fanuc_kit_m2l1": design}, manipulators, REACH, failed).clearing() == []
