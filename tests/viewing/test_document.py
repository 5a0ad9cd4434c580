"""The run document: what comes in as messages goes out as rows, each once, and only what is worth it."""

import numpy as np

from cellwright import crcl
from cellwright.cells import load_cell
from cellwright.core.messages import (
    ActionEvent,
    CrclCommand,
    CrclStatus,
    FaultEvent,
    JointState,
    TargetEvent,
    Tracks,
    WorldTruth,
    Wrench,
)
from cellwright.planning import short_action
from cellwright.viewing.document import RunDocument

HEAD = (0, 0, "fanuc")


def command(number, what, *rest):
    return CrclCommand(*HEAD, document=crcl.encode(crcl.CRCLCommandInstance(what(number, *rest))))


def status(number, state):
    told = crcl.CommandStatus(number, number, state)
    return CrclStatus(*HEAD, document=crcl.encode(crcl.CRCLStatus(told)))


def action(phase, predicates=(), values=(), evidence=(), part=""):
    text = "(take-part fanuc fanuc_tool sku_part_large_gear fanuc_large_tray kit_1)"
    return ActionEvent(
        *HEAD, robot="fanuc", action=text, phase=phase, reason="", predicates=predicates, values=values,
        evidence=evidence, part=part,
    )  # fmt: skip


def tracks(*positions):
    count = len(positions)
    return Tracks(
        *HEAD,
        identities=tuple(f"gear_{number}" for number in range(count)),
        skus=("sku",) * count,
        positions=np.array(positions, float).reshape(-1, 3),
        quaternions=np.tile([1.0, 0, 0, 0], (count, 1)),
        variances=np.tile([1e-8, 1e-8, np.inf, 1e-4, 1e-4, 1e-4], (count, 1)),
        ages_s=np.zeros(count),
        slots=("",) * count,
    )


def pose(x, y, z):
    return crcl.Pose(crcl.Point(x, y, z), crcl.Vector(1.0, 0.0, 0.0), crcl.Vector(0.0, 0.0, 1.0))


def test_polls_are_counted_and_not_listed():
    document = RunDocument()
    for number in range(5):
        document.take("/fanuc/crcl_command", 0.1, command(number, crcl.GetStatus))
        document.take("/fanuc/crcl_status", 0.1, status(0, crcl.CommandStateEnum.CRCL_READY))
    assert [row["name"] for row in document.take_new()["messages"]] == ["CRCL_Ready"]
    assert document.left_out == {"fanuc": 9}


def test_what_an_external_robot_says_itself_is_no_second_robot_and_its_targets_events_are_told():
    document = RunDocument(load_cell("aprs"))
    for number in range(1, 3):
        document.take("/fanuc/external/crcl_command", 0.1, command(number, crcl.Dwell, 0.5))
        document.take("/fanuc/external/crcl_status", 0.1, status(number, crcl.CommandStateEnum.CRCL_DONE))
    document.take("/fanuc/external/joint_states", 0.1, JointState(*HEAD, **angles(1.0)))
    event = TargetEvent(*HEAD, target="fanuc", at="localhost:1", change="external", reason="it is at localhost:1")
    document.take("/targets/events", 0.2, event)
    rows = document.whole()
    assert document.robots == ["fanuc", "motoman"]
    assert [rows[name] for name in ("messages", "actions", "series")] == [[], [], []]
    text = "fanuc: external: it is at localhost:1"
    assert rows["events"] == [{"time_s": 0.2, "kind": "target", "text": text, "subject": "fanuc"}]


def angles(value):
    return {"names": ("a",), "position": np.array([value]), "velocity": np.zeros(1), "effort": np.zeros(1)}


def test_commands_take_the_place_of_actions_that_nobody_tells():
    document = RunDocument(load_cell("aprs"))
    document.take("/fanuc/crcl_command", 1.0, command(1, crcl.MoveTo, True, pose(0.3, 0.1, 0.2)))
    (running,) = document.take_new()["actions"]
    document.take("/fanuc/crcl_status", 2.5, status(1, crcl.CommandStateEnum.CRCL_DONE))
    (ended,) = document.take_new()["actions"]
    assert running["text"].startswith("MoveTo ")
    assert (ended["id"], ended["phase"], ended["end_s"]) == (running["id"], "end", 2.5)


def test_ways_are_in_the_world_and_in_metres():
    cell = load_cell("aprs")
    document = RunDocument(cell)
    units = command(1, crcl.SetLengthUnits, crcl.LengthUnitEnum.MILLIMETER)
    document.take("/fanuc/crcl_command", 1.0, units)
    document.take("/fanuc/crcl_command", 1.0, command(2, crcl.MoveTo, True, pose(300.0, 100.0, 200.0)))
    (path,) = document.take_new()["paths"]
    expected = cell.robots["fanuc"].base.pose.apply(np.array([0.3, 0.1, 0.2]))
    assert np.abs(np.array(path["points"][-1]) - expected).max() < 1e-4


def test_an_action_is_one_row_that_grows():
    document = RunDocument()
    document.take("/execution/actions", 1.0, action("start"))
    (running,) = document.take_new()["actions"]
    predicates = ("part-is-found(large_gear_1, fanuc)", "not robot-has-no-heldPart(fanuc)")
    document.take("/execution/actions", 3.0, action("fail", predicates, ("true", "unknown"), ("seen", "not seen")))
    (failed,) = document.take_new()["actions"]
    assert running["id"] == failed["id"]
    assert failed["text"] == "take-part large_gear at fanuc_large_tray"
    assert (failed["phase"], failed["start_s"], failed["end_s"]) == ("failed", 1.0, 3.0)
    assert [(one["value"], one["when"]) for one in failed["predicates"]] == [(True, "before"), (None, "after")]


def test_an_action_under_way_has_its_predicates_and_its_part():
    document = RunDocument()
    document.take("/execution/actions", 1.0, action("start"))
    (begun,) = document.take_new()["actions"]
    assert (begun["text"], begun["predicates"]) == ("take-part large_gear at fanuc_large_tray", [])
    found = ("part-is-found(large_gear_1, fanuc)",)
    document.take("/execution/actions", 1.2, action("check", found, ("unknown",), ("hidden",), "large_gear_1"))
    (doubtful,) = document.take_new()["actions"]
    assert (doubtful["phase"], doubtful["end_s"]) == ("running", None)
    assert doubtful["predicates"] == [{"text": found[0], "value": None, "evidence": "hidden", "when": "before"}]
    document.take("/execution/actions", 1.4, action("check", found, ("true",), ("seen",), "large_gear_1"))
    (checked,) = document.take_new()["actions"]
    assert checked["id"] == begun["id"]
    assert (checked["predicates"][0]["value"], checked["start_s"]) == (True, 1.0)
    assert checked["step"] == "take-part large_gear at fanuc_large_tray"
    assert checked["text"] == "take-part large_gear_1 at fanuc_large_tray"


def test_belief_that_does_not_change_has_no_rows():
    document = RunDocument()
    document.take("/tracks", 1.0, tracks((0, 0, 1), (0.5, 0, 1)))
    assert len(document.take_new()["belief"]) == 2
    document.take("/tracks", 1.1, tracks((0.0001, 0, 1), (0.5, 0, 1)))
    assert document.take_new() == {}
    document.take("/tracks", 1.2, tracks((0.01, 0, 1)))
    rows = document.take_new()["belief"]
    assert {row["id"]: row["state"] for row in rows} == {"gear_0": "seen", "gear_1": "gone"}
    assert rows[0]["pose"][:3] == [0.01, 0.0, 1.0]
    assert rows[0]["sd"][2] is None


def test_belief_is_not_what_is_true():
    """A row of belief says where a track is, whatever the truth says of the same thing at the same moment."""
    document = RunDocument()
    at = {"positions": np.array([[0.3, 0.3, 1.0]]), "quaternions": np.array([[1.0, 0, 0, 0]])}
    truth = WorldTruth(*HEAD, names=("gear_0",), **at, contact_pairs=(), contact_forces=np.zeros(0))
    document.take("/truth/poses", 1.0, truth)
    document.take("/tracks", 1.0, tracks((0.0, 0.1, 1.0)))
    document.take("/truth/poses", 1.1, truth)
    (row,) = document.take_new()["belief"]
    assert row["pose"][:3] == [0.0, 0.1, 1.0]


def test_series_leave_out_what_stands_still_but_for_its_ends():
    document = RunDocument()
    for step in range(60):
        force = np.array([0.0 if step < 40 else 5.0, 0.0, 1.0])
        message = Wrench(*HEAD, frame="fanuc/flange", force=force, torque=np.zeros(3))
        document.take("/fanuc/wrench", step / 10, message)
    (series,) = document.whole()["series"]
    assert (series["unit"], series["times"]) == ("N", [0.0, 3.9, 4.0, 5.9])
    assert series["values"][0] == [0.0, 0.0, 5.0, 5.0]


def test_without_the_truth_nothing_tells_of_faults():
    fault = FaultEvent(*HEAD, fault="drop", subject="gear", detail="slips")
    for truth, kinds in ((True, ["fault"]), (False, [])):
        document = RunDocument(truth=truth)
        document.take("/judge/faults", 1.0, fault)
        assert [row["kind"] for row in document.whole()["events"]] == kinds


def test_an_action_with_a_part_that_fell_says_where_it_lies():
    text = "(take-part fanuc fanuc_tool sku_part_large_gear large_gear_1 kit_1)"
    assert short_action(text, "large_gear_1") == "take-part large_gear_1 where it lies"
    assert (
        short_action(text.replace(" large_gear_1", " large_tray"), "large_gear_1")
        == "take-part large_gear_1 at large_tray"
    )
