"""Perception on a recording: pictures are recognised and detections tracked anew, without a simulation.

What perception gets is what any recording of a real cell may have: pictures with what was calibrated of their camera,
detections, joint states (an arm hides what is behind it), and what the executor told of its actions (what is in a
hand is nowhere to be missed). Nothing of the truth is read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellwright.catalogue import ROBOTS, TOOLS
from cellwright.cells import Cell
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import (
    ActionEvent,
    CameraInfo,
    CameraPose,
    Detections,
    Image,
    JointState,
    ToolStatus,
    Tracks,
)
from cellwright.drawings.prior import Drawings
from cellwright.execution.arm_capsules import ArmCapsules
from cellwright.knowledge import Belief, WorldModel
from cellwright.lab.cell_file import read_cell
from cellwright.perception import Tracker
from cellwright.perception.picture import read_picture
from cellwright.record.log import Log
from cellwright.trials.detector_views import surfaces_of, view_model
from cellwright.trials.kitting_controller import PERCEPTION_S, TRACKS_TOPIC, controller_database, expected_in
from cellwright.viewing.replay import NOTED_CELL

__all__ = ["Perceived", "perceive", "recorded_cell"]

EXTERNAL = "/external"
DETECTIONS = "/detections"
KEPT_PARTS = 8  # pictures that wait for their intrinsics and pose
PERCEPTION_NS = round(PERCEPTION_S * 1e9)


@dataclass
class Perceived:
    """The result of perception on a recording.

    Attributes:
        tracks: All messages of the tracker, one for each frame of a detector.
        recognised: What was recognised in each picture, in their order.
        frames: Detector -> its frames that were tracked.
        notes: What was not used, a line each.
    """

    tracks: list[Tracks] = field(default_factory=list)
    recognised: list[Detections] = field(default_factory=list)
    frames: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def perceive(
    recording: Log,
    cell: Cell | str | None = None,
    *,
    detectors: Iterable[str] | None = None,
    recognise: bool | None = None,
    with_arms: bool = True,
    with_hands: bool = True,
) -> Perceived:
    """Runs perception on what was recorded: recognition on pictures, the tracker on detections.

    Args:
        recording: A log, or a bag (`read_recording`).
        cell: The cell whose drawings perception knows; by default the one that the recording names.
        detectors: Those whose frames are tracked; all by default.
        recognise: Whether pictures are recognised, and their detections tracked in place of those of a detector of the
            camera's name; by default only where there are no detections at all.
        with_arms: Whether arms hide what is behind them, by their joint states.
        with_hands: Whether what actions have taken is in a hand, and not missed.

    Raises:
        BadInput: It has nothing to perceive, or its cell is not known.
    """
    loaded = recorded_cell(recording, cell)
    named = (name.strip("/").removesuffix(DETECTIONS) for name in _topics(recording, Detections))
    given = {name for name in named if not name.endswith(EXTERNAL)}  # as received, before their times were mapped
    pictures = _picture_topics(recording)
    if not given and not pictures:
        raise BadInput(
            f"{recording.path} has neither detections nor pictures with camera_info and camera_pose: "
            "nothing to perceive"
        )
    recognise = not given if recognise is None else recognise
    if recognise and not pictures:
        raise BadInput(f"{recording.path} has no pictures with camera_info and camera_pose: nothing to recognise")
    known = given | set(pictures) if recognise else given
    chosen = known if detectors is None else set(detectors)
    for name in chosen - known:
        raise UnknownName("detector", name, known, where=str(recording.path))
    run = _Perception(loaded, sorted(chosen), pictures if recognise else {})
    wanted = [name for kind in run.takes for name in _topics(recording, kind)]
    if not with_arms:
        wanted = [name for name in wanted if name not in _topics(recording, JointState)]
    if not with_hands:
        wanted = [name for name in wanted if name not in _topics(recording, ActionEvent)]
    ours = {kind.__name__ for kind in run.takes}
    run.notes += [
        f"{name}: {topic.type} as another version of Cellwright had it: not used"
        for name, topic in recording.topics.items()
        if recording.class_of(name) is None and topic.type.rpartition("/")[2] in ours
    ]
    for topic, time_ns, message in recording.entries(wanted):
        run.take(topic, time_ns, message)
    return run.end()


def recorded_cell(recording: Log, cell: Cell | str | None = None) -> Cell:
    """Returns the cell of a recording: the one that is given, or else the one that it names.

    Raises:
        BadInput: Neither; a bag of ROS 1 names none.
    """
    if isinstance(cell, Cell):
        return cell
    metadata = recording.metadata
    asked = cell or metadata.get(NOTED_CELL) or metadata.get("cell")
    if asked is None:
        raise BadInput(f"{recording.path} does not name its cell: give it with --cell")
    seed = metadata.get("seed", "0")
    return read_cell(asked, int(seed) if seed.isdecimal() else 0)


class _Perception:
    """Tracker and recogniser of a cell, fed with messages in the order in which they were recorded."""

    def __init__(self, cell: Cell, detectors: list[str], pictures: dict[str, str]) -> None:
        self.takes: tuple[type[Any], ...] = (Detections, JointState, ToolStatus, ActionEvent)
        if pictures:
            self.takes += (Image, CameraInfo, CameraPose)
        drawings = Drawings.of(cell)
        self._cell, self._detectors, self._pictures = cell, frozenset(detectors), pictures
        state = Belief(WorldModel(controller_database(drawings, [])), lambda _change: None).state
        self._view = view_model(drawings, detectors)
        self._tracker = Tracker(
            expected_in(state),
            views=drawings.views(detectors),
            view=self._view,
            surfaces=surfaces_of(state),
            registered=drawings.registered_detectors,
        )
        self._models = {**drawings.tool_models, **{name: tool.model for name, tool in cell.tools.items()}}
        self._tools = {name: robot.tool or "" for name, robot in cell.robots.items()}
        self._arms = {
            name: ArmCapsules(ROBOTS.get(robot.model), drawings.layout.bases[name])
            for name, robot in cell.robots.items()
        }
        self._recogniser = _recogniser(drawings) if pictures else None
        self._parts: dict[str, dict[int, dict[type[Any], Any]]] = {}
        self._held: dict[str, str] = {}
        self._waiting: deque[tuple[int, Detections]] = deque()
        self._made = Perceived()
        self.notes = self._made.notes

    def take(self, topic: str, time_ns: int, message: Any) -> None:
        """Takes in a message as it was recorded; a frame is tracked as much later as perception takes."""
        self._track_until(time_ns)
        if isinstance(message, Detections):
            source = topic.strip("/").removesuffix(DETECTIONS)
            if source in self._detectors and source not in self._pictures:
                self._waiting.append((time_ns + PERCEPTION_NS, message))
        elif isinstance(message, JointState):
            self._note_arm(topic.strip("/").partition("/")[0], message)
        elif isinstance(message, ToolStatus):
            self._tools[topic.strip("/").partition("/")[0]] = message.tool
        elif isinstance(message, ActionEvent):
            self._note_action(message)
        else:
            self._take_picture(topic.rpartition("/")[0], time_ns, message)

    def end(self) -> Perceived:
        """Tracks the frames that are left; returns everything."""
        self._track_until(None)
        made = self._made
        made.notes += [f"{name}: {status.reason}" for name, status in self._tracker.status.items() if status.reason]
        return made

    def _track_until(self, time_ns: int | None) -> None:
        while self._waiting and (time_ns is None or self._waiting[0][0] <= time_ns):
            _, frame = self._waiting.popleft()
            self._tracker.set_held(self._held.values())
            self._made.tracks.append(self._tracker.take(frame))
            self._made.frames[frame.source] = self._made.frames.get(frame.source, 0) + 1

    def _note_arm(self, robot: str, message: JointState) -> None:
        """Notes where an arm is; what another cell's robots are called, or have of joints, is left out."""
        arm = self._arms.get(robot)
        if arm is None or len(message.position) != len(ROBOTS.get(self._cell.robots[robot].model).joints):
            return
        tool = self._models.get(self._tools.get(robot, ""), self._tools.get(robot, ""))
        capsules = arm.at(message.position, tool if tool in TOOLS else "")
        if np.isfinite(capsules).all():
            self._view.note_arm(robot, message.time_s, capsules)

    def _note_action(self, event: ActionEvent) -> None:
        """Notes what an action has taken or let go."""
        verb = event.action.strip("( ").partition(" ")[0]
        if event.phase == "end" and verb.startswith("take-") and event.part:
            self._held[event.robot] = event.part
        elif event.phase in ("end", "fail") and verb.startswith(("place-", "return-")):
            self._held.pop(event.robot, None)

    def _take_picture(self, camera: str, time_ns: int, message: Any) -> None:
        """Keeps a picture until intrinsics and pose of its moment have come, in whatever order they do."""
        if camera.strip("/") not in self._pictures or self._recogniser is None:
            return
        moments = self._parts.setdefault(camera, {})
        parts = moments.setdefault(message.time_ns, {})
        parts[type(message)] = message
        while len(moments) > KEPT_PARTS:
            moments.pop(next(iter(moments)))
        if len(parts) == 3:
            moments.pop(message.time_ns)
            name, image = camera.strip("/"), parts[Image]
            image.source = name
            try:
                picture = read_picture(image, parts[CameraInfo], parts[CameraPose])
            except ValueError as error:
                raise BadInput(f"{camera} at {message.time_s:g} s: {error}") from None
            found = self._recogniser.recognise(picture).detections(len(self._made.recognised), name)
            self._made.recognised.append(found)
            if name in self._detectors:
                self._waiting.append((time_ns + PERCEPTION_NS, found))


def _recogniser(drawings: Drawings) -> Any:
    from cellwright.core.extras import need_extra

    need_extra("recognition in pictures", "vision", "cv2")
    from cellwright.drawings.recognition import recognition_model
    from cellwright.perception.recognition import OverheadRecogniser

    return OverheadRecogniser(recognition_model(drawings))


def _topics(recording: Log, kind: type[Any]) -> list[str]:
    return [name for name in recording.topics if recording.class_of(name) is kind and name != TRACKS_TOPIC]


def _picture_topics(recording: Log) -> dict[str, str]:
    """Returns camera -> topic of its pictures, of those that come with intrinsics and pose."""
    found = {}
    for name in _topics(recording, Image):
        camera = name.rpartition("/")[0]
        if {f"{camera}/camera_info", f"{camera}/camera_pose"} <= recording.topics.keys():
            found[camera.strip("/")] = name
    return found
