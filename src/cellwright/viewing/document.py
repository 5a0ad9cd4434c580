"""The run document of the viewer: all that happened, message by message of a log or of a bus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.cells import Cell, drawn_layout
from cellwright.core.messages import (
    ActionEvent,
    BeliefChange,
    CameraInfo,
    CameraPose,
    CrclCommand,
    CrclStatus,
    Detections,
    FaultEvent,
    Image,
    JointState,
    JudgeEvent,
    Odometry,
    Order,
    Plan,
    SafetyStatus,
    TargetEvent,
    ToolStatus,
    Tracks,
    Verdict,
    Wrench,
)
from cellwright.core.pose import Pose
from cellwright.execution.predicates.evaluator import preconditions_of
from cellwright.planning import short_action
from cellwright.viewing.crcl_rows import CrclRows
from cellwright.viewing.picture_rows import PictureRows
from cellwright.viewing.rows import LISTS, Row, Rows
from cellwright.viewing.series_rows import SeriesRows
from cellwright.viewing.sight_rows import SightRows

__all__ = ["RunDocument"]

LAB_PROFILE = "aprs-lab"
VALUES = {"true": True, "false": False}
UNDER_WAY = ("start", "check")  # phases of an action that has not ended
EXTERNAL = "/external/"
STABLE = "stable"  # the subject of a change that only says that belief is settled


class RunDocument:
    """The course of a run, as rows.

    Args:
        cell: The cell: tells robots, the frames of commands, and which camera a picture is of; may be unknown.
        profile: The units and frames of the CRCL interfaces.
        truth: Whether what only the judge knows is told: faults, hits, drops.
    """

    def __init__(self, cell: Cell | None = None, *, profile: str = "spec", truth: bool = True) -> None:
        self._cell, self._profile, self._truth = cell, profile, truth
        self._rows = Rows()
        self._series, self._sight = SeriesRows(self._rows), SightRows(self._rows)
        self._pictures = PictureRows(self._rows, {} if cell is None else _cameras(cell))
        self._bases: Mapping[str, Pose] = {} if cell is None else drawn_layout(cell).bases
        self._crcl: dict[str, CrclRows] = {}
        self._doing: dict[str, Row] = {}
        self._actions = 0
        self._stop = ""

    @property
    def robots(self) -> list[str]:
        """The robots of the cell, and those that have said something."""
        known = [] if self._cell is None else [*self._cell.robots, *self._cell.mobile_names]
        return [*known, *(robot for robot in self._crcl if robot not in known)]

    @property
    def left_out(self) -> dict[str, int]:
        """Robot -> polls and repeated statuses that are in no row."""
        return {robot: rows.left_out for robot, rows in self._crcl.items() if rows.left_out}

    def take(self, topic: str, time_s: float, message: Any) -> None:
        """Takes a message.

        Args:
            topic: Where it was published.
            time_s: When it came.
            message: Its content; of a kind that is not known here, it is left out.
        """
        if EXTERNAL in topic:  # what an external robot itself says: its twin and its interface tell the same here
            return
        match message:
            case JointState() | ToolStatus() | Wrench() | Odometry():
                self._series.take(time_s, topic.strip("/").partition("/")[0], message)
            case CrclCommand():
                row = self._crcl_of(message.source).take_command(time_s, message.document)
                if row is not None and not self._actions:
                    self._rows.add("actions", row)
            case CrclStatus():
                ended = self._crcl_of(message.source).take_status(time_s, message.document)
                for row in ended if not self._actions else ():
                    self._rows.add("actions", row)
            case Tracks():
                self._sight.take_tracks(time_s, message)
            case Detections():
                self._sight.take_detections(time_s, message)
            case ActionEvent():
                self._take_action(time_s, message)
            case Plan():
                steps = [{"robot": _robot_of(one), "text": _short(one), "start_s": None, "end_s": None}
                         for one in message.actions]  # fmt: skip
                row = {"time_s": time_s, "planner": message.planner, "reason": "", "steps": steps}
                self._rows.add("plans", row)
            case Image():
                self._pictures.take_picture(time_s, topic, message, self._sight.newest.values())
            case CameraInfo() | CameraPose():
                self._pictures.take_facts(message)
            case _:
                self._take_event(time_s, message)

    def _take_event(self, time_s: float, message: Any) -> None:
        match message:
            case Order():
                kits = ", ".join(
                    f"{count} x {kit}" for kit, count in zip(message.kits, message.quantities, strict=True)
                )
                self.add_event(time_s, "order", f"{message.order} is announced: {kits}", message.order)
            case BeliefChange() if message.subject != STABLE:
                text = f"{message.subject} {message.change} ({message.evidence})"
                self.add_event(time_s, "belief", text, message.subject)
            case FaultEvent() if self._truth:
                self.add_event(time_s, "fault", f"{message.fault}: {message.detail}", message.subject)
            case JudgeEvent() if self._truth:
                self.add_event(message.time_s, message.kind, message.text, message.subject)
            case SafetyStatus():
                stop = " in ".join(filter(None, [message.stop_category, ", ".join(message.zones_entered)]))
                if stop != self._stop:
                    self.add_event(time_s, "safety", f"stop: {stop}" if stop else "no stop any more", "")
                self._stop = stop
            case TargetEvent():
                text = ": ".join(filter(None, [message.target or "targets", message.change, message.reason]))
                self.add_event(time_s, "target", text, message.target)
            case Verdict():
                self.add_event(time_s, "verdict", f"score {100 * message.score:.0f} of 100", "")
                for name, passed, reason in zip(message.items, message.passed, message.reasons, strict=True):
                    self.add_score(name, None, None, reason, passed)

    def add_event(self, time_s: float, kind: str, text: str, subject: str) -> None:
        """Adds an event.

        Args:
            time_s: When.
            kind: `fault`, `hit`, `drop`, `belief`, `verdict`, `order`, `safety`, `target` or `note`.
            text: One line.
            subject: The part, tray or robot that it is about; may be empty.
        """
        self._rows.add("events", {"time_s": time_s, "kind": kind, "text": text, "subject": subject})

    def add_score(self, name: str, points: float | None, most: float | None, reason: str, passed: bool) -> None:
        """Adds an item of the score; its points where they are known."""
        row = {"name": name, "points": points, "most": most, "reason": reason, "passed": bool(passed)}
        self._rows.add("score", row)

    def _crcl_of(self, robot: str) -> CrclRows:
        if robot not in self._crcl:
            frame = self._bases.get(robot)
            cfg = None if self._cell is None else self._cell.robots.get(robot)
            if frame is not None and cfg is not None and cfg.crcl.lab is not None and self._profile == LAB_PROFILE:
                frame = frame @ cfg.crcl.lab.pose.pose
            self._crcl[robot] = CrclRows(robot, self._rows, frame, self._profile)
        return self._crcl[robot]

    def _take_action(self, time_s: float, event: ActionEvent) -> None:
        row = self._doing.get(event.robot)
        if event.phase == "start" or row is None or row["action"] != event.action:
            self._actions += 1
            row = self._doing[event.robot] = {
                "id": f"action {self._actions}", "robot": event.robot, "step": _short(event.action), "text": "",
                "start_s": time_s, "end_s": None, "phase": "running", "reason": "", "predicates": [],
                "action": event.action,
            }  # fmt: skip
        row |= {"text": _short(event.action, event.part), "predicates": _predicates(event)}
        if event.phase not in UNDER_WAY:
            row |= {"end_s": time_s, "phase": "end" if event.phase == "end" else "failed", "reason": event.reason}
        self._rows.add("actions", row)

    def take_new(self) -> dict[str, list[Row]]:
        """Returns the rows that are new since it was asked last, list by list; nothing for lists without any."""
        new = self._rows.take()
        self._series.flush()
        if "actions" in new:
            new["actions"] = [{key: value for key, value in row.items() if key != "action"} for row in new["actions"]]
        return new

    def whole(self) -> dict[str, list[Row]]:
        """Returns all rows, once the last message was taken; those of each list in the order of time."""
        self._series.end()
        new = self.take_new()
        rows: dict[str, list[Row]] = {name: new.get(name, []) for name in LISTS}
        if self._actions:  # what commands were taken for, before there was word of an action
            rows["actions"] = [row for row in rows["actions"] if row["id"].startswith("action ")]
        for name in ("events", "messages"):
            rows[name] = sorted(rows[name], key=lambda row: row["time_s"])
        rows["actions"].sort(key=lambda row: row["start_s"])
        return rows


def _robot_of(action: str) -> str:
    """Returns the robot of a step, its first argument."""
    words = action.strip("()").split()
    return words[1] if len(words) > 1 else ""


def _short(action: str, part: str = "") -> str:
    """Returns a step in short, with the part that was chosen for it; one of another controller's words as it is."""
    try:
        return short_action(action, part)
    except (ValueError, IndexError):
        return action.strip("()")


def _predicates(event: ActionEvent) -> list[Row]:
    """Returns the predicates of an action; its preconditions were evaluated before it, and come first."""
    try:
        expected = list(preconditions_of(event.action.strip("()").partition(" ")[0]))
    except Exception:  # another controller's action
        expected = []
    rows, before = [], True
    for text, value, evidence in zip(event.predicates, event.values, event.evidence, strict=True):
        name = text.partition("(")[0]
        before = before and name in expected
        expected = expected[expected.index(name) + 1 :] if before else []
        when = "before" if before else "after"
        rows.append({"text": text, "value": VALUES.get(value), "evidence": evidence, "when": when})
    return rows


def _cameras(cell: Cell) -> dict[str, str]:
    """Returns the topic of a sensor's pictures -> the camera of the cell that takes them."""
    found = {}
    for _, line in cell.sensor_lines():
        name = line.get("name")
        for side, key in (("", "camera"), ("left/", "left"), ("right/", "right")):
            if isinstance(line.get(key), str):
                found[f"/{name}/{side}image_raw"] = str(line[key])
    return found
