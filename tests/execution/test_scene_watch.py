"""What a plan relies on, and what is seen to be otherwise while it is carried out."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.execution.failure import FailureKind
from cellwright.execution.plan_runner import PlanRunner
from cellwright.execution.scene_watch import SceneWatch, moved_text
from cellwright.knowledge.belief_writer import note_held
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

KIT, TRAY, GEAR, OTHER = "fanuc_kit_m2l1", "fanuc_kit_m2l1_tray", "medium_gear_1", "medium_gear_2"
PLACE = Action(Verb.PLACE_PART, "fanuc", "fanuc_tool", "sku_part_medium_gear", KIT, KIT)


class Scene:
    """A kit with one gear in its first slot, and a watch over it."""

    def __init__(self, cell, design: KitDesign) -> None:
        self.cell, self.design = cell, design
        self.seat(GEAR, 0)
        self.watch = SceneWatch(cell.belief, {KIT: design})

    def seat(self, gear: str, slot: int) -> None:
        self.see()
        slots = self.cell.belief.state.slots_of_kit(KIT, self.design)
        self.cell.moved[gear] = slots[slot].pose_part_in_world.matrix
        self.see()

    def see(self) -> None:
        asyncio.run(self.cell.sleep(0.5))


@pytest.fixture
def scene(still):
    design = KitDesign.of("kit_mml", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 2, "sku_part_large_gear": 1})
    return Scene(still(), design)


def test_nothing_has_changed_while_all_stays(scene):
    scene.see()
    assert scene.watch.change() == ""


def test_a_placed_part_that_is_not_seen_any_more_is_a_change(scene):
    scene.cell.hidden.add(GEAR)
    scene.see()
    assert scene.watch.change() == f"{GEAR} is not seen in slot_1 of {KIT} any more"


def test_a_placed_part_that_is_pushed_out_of_its_slot_is_a_change(scene):
    scene.cell.moved[GEAR] = scene.cell.moved[GEAR].copy()
    scene.cell.moved[GEAR][0, 3] += 0.04
    scene.see()
    assert scene.watch.change() == f"{GEAR} was moved out of slot_1 of {KIT}, by 40 mm"


def test_a_part_that_lies_in_stock_is_none_and_neither_is_one_in_a_hand(scene):
    scene.cell.hidden.add("medium_gear_3")
    note_held(scene.cell.belief, "fanuc_tool", GEAR)
    scene.cell.hidden.add(GEAR)
    scene.see()
    assert scene.watch.change() == ""


def test_a_part_counts_once_it_was_placed_also_if_another_was_taken_away_meanwhile(scene):
    scene.seat(OTHER, 1)
    scene.cell.hidden.add(GEAR)
    scene.see()
    scene.watch.note_done(PLACE)
    assert GEAR in scene.watch.change()
    scene.cell.hidden = {OTHER}
    scene.see()
    assert OTHER in scene.watch.change()


@pytest.mark.parametrize(
    ("xy_m", "yaw_rad", "expected"),
    [((0.03, 0.0), 0.0, "moved by 30 mm"), ((0.0, 0.0), 0.3, "turned by 17 deg"), ((0.002, 0.0), 0.05, "")],
)
def test_a_tray_that_is_moved_or_turned_is_a_change(scene, xy_m, yaw_rad, expected):
    turned = Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, yaw_rad])
    for name in (TRAY, GEAR):
        before = scene.cell.moved.get(name, scene.cell.drawn[name])
        scene.cell.moved[name] = before @ turned.matrix if name == TRAY else before.copy()
        scene.cell.moved[name][:2, 3] += xy_m
    scene.see()
    assert scene.watch.change() == (f"{TRAY} was {expected}" if expected else "")


def test_a_tray_that_was_set_down_on_purpose_is_no_change(scene):
    scene.cell.moved[TRAY] = scene.cell.drawn[TRAY].copy()
    scene.cell.moved[TRAY][0, 3] += 0.1
    scene.cell.moved[GEAR][0, 3] += 0.1
    scene.see()
    place = scene.cell.belief.state.objects[KIT].reference
    scene.watch.note_done(Action(Verb.PLACE_KIT, "fanuc", "fanuc_tool", "", place, KIT))
    assert scene.watch.change() == ""


def test_what_looks_the_same_after_a_quarter_is_not_turned_by_one():
    quarter = Pose.from_xyz_rpy([0, 0, 0], [0, 0, np.pi / 2])
    assert moved_text(Pose.identity(), quarter, np.pi / 2) == ""
    assert moved_text(Pose.identity(), quarter) == "turned by 90 deg"


@pytest.mark.parametrize(("held", "acts"), [("", 0), (GEAR, 2)])
def test_robots_with_empty_hands_stop_when_something_has_changed_and_laden_ones_finish(held, acts):
    """A change that is there before the first action: nothing is begun; with a part in the hand it is placed."""

    class Robot:
        def __init__(self):
            self.name, self.held, self.found, self.out_of_service, self.done = "fanuc", held, "", "", []

    class Runner:
        def __init__(self):
            self.manipulator = Robot()

        async def act(self, action, upcoming):
            self.manipulator.done.append(action.verb)
            if action.verb is Verb.PLACE_PART:
                self.manipulator.held = ""

    runner = Runner()
    steps = [PLACE._replace(verb=verb) for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART, Verb.LOOK_PART, Verb.TAKE_PART)]
    plan_runner = PlanRunner({"fanuc": runner}, {}, changed=lambda: "gear was moved")
    failures = asyncio.run(plan_runner.perform(steps))
    assert [(failure.kind, failure.reason) for failure in failures] == [(FailureKind.CHANGED, "gear was moved")]
    assert len(runner.manipulator.done) == acts
