"""The four-point registration of a cell: marks are seen, touched by the robots, and the pairs fitted.

All it uses is what a person in the laboratory has: frames of the detectors, the robots' own reports of contacts over
CRCL, and the drawings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS, GripperFigures
from cellwright.catalogue.marks import CALIBRATION_MARK
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.crcl import ClientOptions
from cellwright.execution.arm import ArmClient, ArmFailed
from cellwright.execution.mark_touch import Fingers, MarkToucher
from cellwright.execution.settings import Recipe
from cellwright.perception.calibration import absolute_orientation
from cellwright.trials.controller_ports import ControllerPorts
from cellwright.trials.registration.places import AREA_M2, MarkPlace, MarkPlaces, largest_area_m2, spread_enough
from cellwright.trials.registration.sightings import Sighting, see_marks

__all__ = ["MarkMeasurements", "RobotTouches", "measure_marks"]

Array = npt.NDArray[np.float64]

LEAST_TURN = 0.01  # cosine of the angle between the two turns in which the first mark is felt: 90 degrees, or more
PREDICTING = 3  # marks from which the place of another follows
MOVED_M = 0.0015  # by which a mark may be seen elsewhere after all touches than before them


@dataclass(frozen=True)
class RobotTouches:
    """The marks that one robot felt.

    Attributes:
        points_in_base_m: Mark -> the middle of its upper face, in the robot's base frame as it reports it.
        tool_m: The middle of its closed fingers beside the tool's centre point, in the frame of the tool: what is left
            of a mark's place when the tool is turned by a half. The points are corrected by it.
    """

    points_in_base_m: Mapping[str, Array]
    tool_m: tuple[float, float]


@dataclass(frozen=True)
class MarkMeasurements:
    """All that was measured of a cell.

    Attributes:
        places: The marks, where they were meant to be.
        seen: Detector -> mark -> how it sees it.
        touched: Robot -> what it felt.
        duration_s: The simulated, or real, time that it took.
    """

    places: tuple[MarkPlace, ...]
    seen: Mapping[str, Mapping[str, Sighting]]
    touched: Mapping[str, RobotTouches]
    duration_s: float


async def measure_marks(
    ports: ControllerPorts,
    robots: Sequence[str],
    places: Sequence[MarkPlace],
    say: Callable[[str], None] = lambda _text: None,
) -> MarkMeasurements:
    """Looks at the marks and has each robot touch those that it reaches.

    Raises:
        BadInput: A robot that cannot touch, or has too few marks in reach.
        JobFailed: A mark that is not seen, not felt, or was moved; says which, and what to do.
    """
    start_s = ports.clock.time_s
    chooser = MarkPlaces(ports.drawings)
    turns = {robot: _turns(chooser, ports, robot, places) for robot in robots}
    _check_used(places, turns)
    detectors = list(dict.fromkeys(chooser.detector_of(robot) for robot in robots))
    async with AsyncExitStack() as stack:
        arms = {}
        for robot in ports.drawings.cell.robots:
            client = await stack.enter_async_context(ports.client(robot, ClientOptions(poll_s=ports.poll_s)))
            arms[robot] = _arm(ports, robot, client)
        for robot, arm in arms.items():
            await _make_ready(arm, touches=robot in robots)
            await arm.rest(chooser.aside_rad[robot])
        seen = await see_marks(ports, detectors, places)
        _check_seen(seen, places)
        say(f"seen: {', '.join(f'{len(marks)} marks by {detector}' for detector, marks in seen.items())}")
        touched = {}
        for robot in robots:
            touched[robot] = await _touch_all(
                ports, arms[robot], places, turns[robot], seen, chooser.aside_rad[robot], say
            )
        _check_still(seen, await see_marks(ports, detectors, places))
    return MarkMeasurements(tuple(places), seen, touched, ports.clock.time_s - start_s)


def _gripper(ports: ControllerPorts, robot: str) -> GripperFigures:
    name = ports.drawings.cell.robots[robot].tool
    tool = None if name is None else TOOLS.get(name)
    if not isinstance(tool, GripperFigures):
        where = ports.drawings.cell.where
        raise BadInput(f"{where}: {robot} has no gripper of its own on its flange, whose fingers could touch a mark")
    return tool


def _arm(ports: ControllerPorts, robot: str, client: object) -> ArmClient:
    drawings = ports.drawings
    return ArmClient(
        robot,
        client,  # type: ignore[arg-type]
        drawings.layout.bases[robot],
        Recipe(),
        drawings.tool_models,
        drawings.force_sensors.get(robot, ""),
    )


def _turns(
    chooser: MarkPlaces, ports: ControllerPorts, robot: str, places: Sequence[MarkPlace]
) -> dict[str, list[float]]:
    """Returns the marks that a robot reaches -> how its tool may be turned there."""
    _gripper(ports, robot)
    found = {place.name: chooser.turns_for(robot, place) for place in places}
    reached = {name: turns for name, turns in found.items() if turns}
    detector = chooser.detector_of(robot)
    feet = np.array([place.xyz_m for place in places]).reshape(-1, 3)
    usable = chooser.seen_by(detector, feet) & [place.name in reached for place in places]
    if not spread_enough(feet[usable]):
        raise BadInput(
            f"{robot} reaches {int(usable.sum())} marks that {detector} sees, by the drawings, and needs 4 or more "
            "that do not lie on a line: put more marks near the corners of its work volume"
        )
    return reached


def _check_used(places: Sequence[MarkPlace], turns: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    for place in places:
        if not any(place.name in reached for reached in turns.values()):
            x, y, _ = place.xyz_m
            raise BadInput(
                f"{place.name} at {x:g}, {y:g} m: out of reach of {' and '.join(turns)}, which must get to its four "
                "sides with the tool turned in two ways; choose another place"
            )


async def _make_ready(arm: ArmClient, *, touches: bool) -> None:
    reading = await arm.prepare()
    if touches and not arm.feels_force:
        raise BadInput(
            f"{arm.name} has no force sensor at its wrist to touch with; add a wrench sensor, and its CRCL name"
        )
    if touches and reading.holding:
        raise JobFailed(f"{arm.name} holds something: empty its hand, then calibrate")


def _check_seen(seen: Mapping[str, Mapping[str, Sighting]], places: Sequence[MarkPlace]) -> None:
    for place in places:
        if not any(place.name in marks for marks in seen.values()):
            x, y, _ = place.xyz_m
            raise JobFailed(
                f"{place.name} at {x:.3f}, {y:.3f} m was not seen by {' or '.join(seen)}: put a calibration_mark "
                "there, into the camera's view, or choose another place by --mark x,y"
            )


def _check_still(before: Mapping[str, Mapping[str, Sighting]], after: Mapping[str, Mapping[str, Sighting]]) -> None:
    for detector, marks in before.items():
        for name, sighting in marks.items():
            now = after[detector].get(name)
            if now is None:
                raise JobFailed(f"{name} is not seen by {detector} any more: it was taken away meanwhile; put it back")
            way_m = float(np.hypot(*(now.foot_m - sighting.foot_m)[:2]))
            if way_m > MOVED_M:
                raise JobFailed(
                    f"{name} was moved while it was measured, {1000 * way_m:.1f} mm by {detector}: calibrate "
                    "again, and leave the marks alone"
                )


async def _touch_all(
    ports: ControllerPorts,
    arm: ArmClient,
    places: Sequence[MarkPlace],
    turns: Mapping[str, Sequence[float]],
    seen: Mapping[str, Mapping[str, Sighting]],
    aside_rad: float,
    say: Callable[[str], None],
) -> RobotTouches:
    """Has one robot touch its marks, the first with the tool turned in two ways, and sends it aside."""
    fingers = Fingers.of(_gripper(ports, arm.name))
    toucher = MarkToucher(arm, fingers, CALIBRATION_MARK, ports.drawings.layout.bases[arm.name].position)
    tip = Pose.from_xyz_rpy([0.0, 0.0, fingers.tip_m])
    from_world = ports.drawings.layout.bases[arm.name].inverse()
    vision, felt = ports.drawings.cell.robots[arm.name].vision, dict[str, Pose]()
    own = vision.detector if vision is not None else ""
    pairs: dict[str, list[tuple[Array, Array]]] = {detector: [] for detector in seen}
    tool = Pose.identity()
    await arm.set_tool(0.0)
    try:
        for place in places:
            if place.name not in turns:
                continue
            detector = next(name for name in (own, *seen) if place.name in seen.get(name, {}))
            seen_m = np.array([*seen[detector][place.name].foot_m[:2], place.top_m[2]])
            top_m, near = _predicted(pairs[detector], seen_m)
            pose = await toucher.touch(place.name, top_m, turns[place.name], near=near)
            if not felt:
                others = [turn for turn in turns[place.name] if np.cos(turn - pose.rpy[2]) < LEAST_TURN]
                turned = await toucher.touch(place.name, pose.apply([0.0, 0.0, fingers.tip_m]), others)
                tool = _tool_offset(pose, turned)
            felt[place.name] = pose
            point_m = (pose @ tool @ tip).position
            pairs[detector].append((seen_m, point_m))
            where, off_m = ", ".join(f"{x:.4f}" for x in point_m), np.linalg.norm(point_m - seen_m)
            say(f"{arm.name}: {place.name} felt at {where} m, {1000 * off_m:.1f} mm from where {detector} sees it")
    except ArmFailed as error:
        raise JobFailed(f"{arm.name} could not touch a mark: {error}") from error
    finally:
        await _go_aside(arm, toucher, aside_rad)
    points = {name: (from_world @ pose @ tool @ tip).position for name, pose in felt.items()}
    x_m, y_m, _ = tool.position.tolist()
    return RobotTouches(points, (x_m, y_m))


def _predicted(pairs: Sequence[tuple[Array, Array]], seen_m: Array) -> tuple[Array, bool]:
    """Returns where a mark is to be felt, by those that were felt before, and whether that is known to millimetres."""
    if not pairs:
        return seen_m, False
    before_m, felt_m = (np.array(points) for points in zip(*pairs, strict=True))
    if len(pairs) >= PREDICTING and largest_area_m2(before_m) >= AREA_M2:
        return absolute_orientation(before_m, felt_m, scaled=True).apply(seen_m), True
    return seen_m + (felt_m - before_m).mean(axis=0), False


def _tool_offset(pose: Pose, turned: Pose) -> Pose:
    """Returns where the middle of the fingers is beside the tool's point, from one place felt with two turns of it."""
    difference = (pose.rotation_matrix - turned.rotation_matrix)[:2, :2]
    x_m, y_m = np.linalg.solve(difference, (turned.position - pose.position)[:2])
    return Pose.from_xyz_rpy([x_m, y_m, 0.0])


async def _go_aside(arm: ArmClient, toucher: MarkToucher, aside_rad: float) -> None:
    """Raises the hand and sends it aside; an arm that cannot is left where it is, and the failure before it is told."""
    try:
        await toucher.rise()
        await arm.set_tool(1.0)
        await arm.rest(aside_rad)
    except ArmFailed:
        await arm.prepare()
