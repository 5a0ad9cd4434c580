"""Every spatial predicate is true where it should be, and flips when the object is moved behind everybody's back."""

from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.execution.predicates import (
    Evaluator,
    Truth,
    effects_of,
    flags_after,
    initial_flags,
    preconditions_of,
    vocabulary,
)

GEAR, HELD = "sku_part_medium_gear", (0.3, 0.3, 1.2)

# Predicate, its objects, what is moved by how much. The objects fit before;
CASES = {
    "part-has-physicalLocation-refObject-endEffector": (("gear_3", "tool"), "gear_3", {"z": -0.05}),
    "part-has-physicalLocation-refObject-partsTray": (("gear_1", "tray"), "gear_1", {"x": 0.03}),
    "part-has-physicalLocation-refObject-kit": (("gear_2", "kit"), "gear_2", {"z": 0.03}),
    "partsVessel-has-part": (("tray", "gear_1"), "gear_1", {"y": -0.03}),
    "kitTray-has-physicalLocation-refObject-workTable": (("kit_tray", "table"), "kit_tray", {"z": 0.05}),
    "kitTray-has-physicalLocation-refObject-lbwekt": (("stacked", "supply"), "stacked", {"y": -1.0}),
    "kit-has-physicalLocation-refObject-workTable": (("kit", "table"), "kit", {"x": 1.5}),
    "kit-has-physicalLocation-refObject-lbwk": (("done", "outlet"), "done", {"z": 0.5}),
    "lbwk-has-kit": (("outlet", "done"), "done", {"x": 1.0}),
    "workTable-has-objectOnTable-kit": (("table", "kit"), "kit", {"z": 0.02}),
    "workTable-has-objectOnTable-kitTray": (("table", "kit_tray"), "kit_tray", {"x": 1.0}),
    "workTable-has-no-objectOnTable": (("bare",), "kit", {"x": 2.7}),
    "endEffector-has-heldObject-part": (("tool", "gear_3"), "gear_3", {"x": 0.04}),
    "endEffector-has-no-heldObject": (("tool",), "gear_3", {"y": 0.2}),
    "endEffector-has-physicalLocation-refObject-robot": (("tool", "robot"), "tool", {}),
    "endEffector-has-physicalLocation-refObject-endEffectorHolder": (("spare", "holder"), "spare", {"z": 0.3}),
    "endEffectorHolder-has-endEffector": (("holder", "spare"), "spare", {"x": 0.3}),
    "endEffectorHolder-has-no-endEffector": (("empty_holder",), "spare", {"y": 1.0, "z": 0.09}),
    "endEffectorHolder-has-physicalLocation-refObject-changingStation": (("holder", "station"), "holder", {"z": 0.1}),
    "endEffectorChangingStation-has-endEffectorHolder": (("station", "holder"), "holder", {"x": 1.5}),
    "robot-has-endEffector": (("robot", "tool"), "tool", {}),
    "robot-has-no-endEffector": (("bare_robot",), "spare", {"x": 7.0, "y": 5.0, "z": 0.89}),
}
TRAYS_IN_HAND = {
    "kitTray-has-physicalLocation-refObject-endEffector": ("stacked", "cups"),
    "kit-has-physicalLocation-refObject-endEffector": ("done", "cups"),
    "endEffector-has-heldObject-kit": ("cups", "done"),
    "endEffector-has-heldObject-kitTray": ("cups", "stacked"),
}
"""Predicate, its objects; what hangs from the cups is what is not they."""


def test_every_spatial_predicate_has_a_case():
    used = {n for a in vocabulary().actions.values() for n in (*a.preconditions, *a.positive_effects)}
    assert {n for n in used if vocabulary().predicate(n).spatial} == {*CASES, *TRAYS_IN_HAND}


@pytest.mark.parametrize("predicate", [name for name, (_, _, step) in CASES.items() if step])
def test_moving_the_object_flips_the_predicate(scene, predicate):
    names, moved, step = CASES[predicate]
    before = Evaluator(scene).evaluate(predicate, *names)
    expected = Truth.UNKNOWN if predicate == "endEffector-has-no-heldObject" else Truth.TRUE
    if predicate == "endEffector-has-no-heldObject":  # the other way round: it holds gear 3 at first
        assert before.value is Truth.FALSE, before
        scene.move(moved, **step)
        assert scene.value(predicate, *names) is expected  # it feels something, and nothing is seen there
        scene.grip(*HELD, width_m=0.02, holding=False)
        assert scene.value(predicate, *names) is Truth.TRUE
        return
    assert before.value is Truth.TRUE, before
    scene.move(moved, **step)
    after = Evaluator(scene).evaluate(predicate, *names)
    assert after.value is Truth.FALSE, after
    assert after.evidence != before.evidence


@pytest.mark.parametrize("predicate", TRAYS_IN_HAND)
def test_a_tray_that_leaves_the_cups_is_not_held(scene, predicate):
    names = TRAYS_IN_HAND[predicate]
    thing = next(name for name in names if name != "cups")
    scene.hang(thing)
    before = Evaluator(scene).evaluate(predicate, *names)
    assert before.value is Truth.TRUE, before
    assert scene.value("endEffector-has-no-heldObject", "cups") is Truth.FALSE
    scene.move(thing, z=-0.06)
    after = Evaluator(scene).evaluate(predicate, *names)
    assert after.value is Truth.FALSE, after
    scene.move(thing, z=0.06)
    scene.suck(holding=False)
    assert scene.value(predicate, *names) is Truth.FALSE, "there is no vacuum"
    assert scene.value("endEffector-has-no-heldObject", "cups") is Truth.TRUE


def test_a_tray_under_the_cups_that_still_stands_on_another_is_not_held(scene):
    scene.hang("stacked")
    held = "endEffector-has-heldObject-kitTray", "cups", "stacked"
    assert scene.value(*held) is Truth.TRUE
    below = scene.things["stacked"]
    scene.things["lower"] = replace(below, pose=Pose.from_xyz_rpy([0.0, 0.0, -0.017]) @ below.pose)
    assert scene.value(*held) is Truth.FALSE
    scene.move("lower", z=-0.01)
    assert scene.value(*held) is Truth.TRUE


def test_the_tray_tool_is_on_its_robot(scene):
    scene.hang("stacked")
    assert scene.value("robot-has-endEffector", "carrier", "cups") is Truth.TRUE
    assert scene.value("endEffector-has-physicalLocation-refObject-robot", "cups", "carrier") is Truth.TRUE


def test_a_tool_that_leaves_the_flange_is_not_on_the_robot(scene):
    assert scene.value("robot-has-endEffector", "robot", "tool") is Truth.TRUE
    assert scene.value("endEffector-has-physicalLocation-refObject-robot", "tool", "robot") is Truth.TRUE
    assert scene.value("robot-has-no-endEffector", "robot") is Truth.FALSE
    flange = scene.tools["robot"]
    scene.grip(1.0, 1.0, 1.2)
    scene.tools = {"tool": replace(scene.tools["tool"], robot="other"), "robot": flange}
    assert scene.value("robot-has-endEffector", "robot", "tool") is Truth.FALSE
    assert scene.value("robot-has-no-endEffector", "robot") is Truth.TRUE


def test_a_gear_in_the_fingers_that_still_stands_in_its_slot_is_not_held(scene):
    x, y, z = scene.things["gear_1"].pose.position
    scene.grip(x, y, z + 0.0266)
    result = Evaluator(scene).evaluate("endEffector-has-heldObject-part", "tool", "gear_1")
    assert result.value is Truth.FALSE
    assert "tray" in result.evidence
    scene.move("gear_1", z=0.05)
    scene.grip(x, y, z + 0.0766)
    assert scene.value("endEffector-has-heldObject-part", "tool", "gear_1") is Truth.TRUE


def test_fingers_that_feel_nothing_hold_nothing(scene):
    scene.grip(*HELD, width_m=0.02, holding=False)
    assert scene.value("endEffector-has-heldObject-part", "tool", "gear_3") is Truth.FALSE
    scene.grip(*HELD, holding=None)
    assert scene.value("endEffector-has-heldObject-part", "tool", "gear_3") is Truth.UNKNOWN
    assert scene.value("endEffector-has-no-heldObject", "tool") is Truth.UNKNOWN


def test_a_part_that_hangs_by_the_end_of_its_peg_is_held_as_long_as_nothing_else_can_be_what_is_felt(scene):
    held, empty = ("endEffector-has-heldObject-part", "tool", "gear_3"), ("endEffector-has-no-heldObject", "tool")
    scene.move("gear_3", z=-0.0135)  # 1.5 mm of its peg are between the pads: by sight alone it may be below them
    result = Evaluator(scene).evaluate(*held)
    assert result.value is Truth.TRUE
    assert "tool feels it" in result.evidence
    assert scene.value(*empty) is Truth.FALSE
    scene.grip(*HELD, width_m=0.014)  # that is no peg
    assert scene.value(*held) is Truth.UNKNOWN
    scene.grip(*HELD, holding=None)
    assert scene.value(*held) is scene.value(*empty) is Truth.UNKNOWN
    scene.grip(*HELD)
    scene.things["gear_1"] = replace(scene.things["gear_3"])
    assert scene.value(*held) is Truth.UNKNOWN  # it could be the other one
    scene.move("gear_3", z=-0.05)
    assert scene.value(*held) is Truth.FALSE


# ------------------------------------------------------------ what cannot be told


def test_what_was_never_seen_is_unknown(scene):
    scene.things["gear_1"].seen_s = None
    result = Evaluator(scene).evaluate("partsVessel-has-part", "tray", "gear_1")
    assert result.value is Truth.UNKNOWN
    assert "never seen" in result.evidence


def test_age_alone_makes_nothing_unknown_and_what_it_does_to_a_pose_does(scene):
    scene.things["gear_1"].seen_s = -100.0
    assert scene.value("partsVessel-has-part", "tray", "gear_1") is Truth.TRUE
    scene.things["gear_1"].variances = (1e-5,) * 6  # it may be 3 mm elsewhere
    result = Evaluator(scene).evaluate("partsVessel-has-part", "tray", "gear_1")
    assert result.value is Truth.UNKNOWN
    assert "seen 110.00 s ago" in result.evidence


def test_a_margin_within_the_uncertainty_is_unknown(scene):
    """Whether it is still in the slot cannot be told where the edge of the tolerance is."""
    scene.move("gear_1", x=0.0068)
    assert scene.value("part-has-physicalLocation-refObject-partsTray", "gear_1", "tray") is Truth.UNKNOWN
    scene.things["gear_1"].variances = (1e-12,) * 6
    scene.things["tray"].variances = (1e-12,) * 6
    assert scene.value("part-has-physicalLocation-refObject-partsTray", "gear_1", "tray") is not Truth.UNKNOWN


def test_a_robot_that_went_silent_is_unknown(scene):
    scene.grip(*HELD, time_s=5.0)
    assert scene.value("endEffector-has-no-heldObject", "tool") is Truth.UNKNOWN


def test_something_out_of_sight_elsewhere_disturbs_nobody(scene):
    scene.things["gear_2"].seen_s = None
    assert scene.value("endEffector-has-heldObject-part", "tool", "gear_3") is Truth.TRUE


def test_evidence_says_where_and_by_whom(scene):
    scene.move("gear_1", x=0.0004)
    evidence = Evaluator(scene).evaluate("partsVessel-has-part", "tray", "gear_1").evidence
    assert evidence == ("gear_1 is 0.4 mm beside slot_1 of tray and 0.0 mm above its bottom, seen 0.10 s ago by camera")


def test_seat_says_how_well_a_part_is_seated(scene):
    scene.move("gear_1", x=0.001, z=0.0005)
    seat = Evaluator(scene).seat("gear_1", "tray")
    assert seat.room == "slot_1"
    assert seat.beside_m == pytest.approx(0.001, abs=1e-9)
    assert seat.above_m == pytest.approx(0.0005, abs=1e-9)
    assert seat.tilt_rad == pytest.approx(0.0, abs=1e-6)


# ------------------------------------------------------------ whole actions


def test_action_before_and_after(scene):
    bound = {
        "robot": "robot",
        "part": "gear_1",
        "sku": GEAR,
        "partsVessel": "tray",
        "endEffector": "tool",
        "kit": "kit",
    }
    scene.links = {
        ("sku", "gear_1"): [GEAR],
        ("^usableEndEffector/!^kitTraySku", "tool"): [GEAR],
        ("exists/!^kit", "kit"): ["kit"],
    }
    scene.grip(*HELD, width_m=0.02, holding=False)
    flags = initial_flags(["robot"])
    for action in ("look-for-part", "set-grasp"):
        flags = flags_after(action, bound, flags)
    assert ("part-is-found", "gear_1", "robot") in flags
    before = Evaluator(scene).evaluate_action("take-part", bound, "precondition", flags=flags)
    assert {e.predicate for e in before} == set(preconditions_of("take-part"))
    assert {str(e) for e in before if e.value is not Truth.TRUE} == set()
    x, y, z = scene.things["gear_1"].pose.position
    scene.move("gear_1", z=0.05)
    scene.grip(x, y, z + 0.0766)
    flags = flags_after("take-part", bound, flags)
    after = Evaluator(scene).evaluate_action("take-part", bound, "effect", flags=flags)
    true, false = effects_of("take-part")
    assert {e.predicate for e in after} == {*true, *(f"not {name}" for name in false)}
    assert {str(e) for e in after if e.value is not Truth.TRUE} == set()


def test_counts_know_what_is_certain(scene):
    scene.designs = {"kit": {GEAR: 2}}
    bound = {"sku": GEAR, "kit": "kit", "partsVessel": "tray"}
    evaluator = Evaluator(scene)
    assert evaluator.count("kit-wants-part", bound).value is Truth.TRUE
    scene.designs = {"kit": {GEAR: 1}}
    assert evaluator.count("kit-wants-part", bound).value is Truth.FALSE
    assert evaluator.count("parts-left", bound).value is Truth.TRUE
    assert evaluator.count("vessel-has-room", bound).value is Truth.TRUE  # one of four
    scene.things["gear_1"].seen_s = None
    assert evaluator.count("parts-left", bound).value is Truth.UNKNOWN
    assert evaluator.count("kit-is-complete", bound).value is Truth.TRUE


def test_what_does_not_fit_is_refused(scene):
    evaluator = Evaluator(scene)
    with pytest.raises(UnknownName, match="did you mean 'part-is-found'"):
        evaluator.evaluate("part-is-fond", "gear_1", "robot")
    with pytest.raises(BadInput, match="is about 2 objects, not 1"):
        evaluator.evaluate("partsVessel-has-part", "tray")
    with pytest.raises(BadInput, match="no object is given for 'endEffector'"):
        evaluator.evaluate_action("place-part", {"robot": "robot"}, "precondition")
