"""The calibration of cameras in a cell: a board is shown, tags are looked at, robots move one or the other.

All it uses is what a person in the laboratory has: pictures, the robots' own reports over CRCL, and the drawings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.printed import CALIBRATION_BOARD, CALIBRATION_TAGS
from cellwright.core.camera import Camera
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.crcl import ClientOptions
from cellwright.execution.arm import ArmClient, ArmFailed
from cellwright.execution.settings import Recipe
from cellwright.perception.calibration import DrawnCamera
from cellwright.perception.camera_calibration import BoardFinder, PatternView, TagFinder, tag_corners_m
from cellwright.trials.camera_calibration.ports import BoardHands
from cellwright.trials.camera_calibration.poses import HALF_M, HandView, HandViews, shown_poses
from cellwright.trials.controller_ports import ControllerPorts

__all__ = ["CameraMeasurements", "HandSeries", "measure_cameras"]

SETTLE_S = 0.4  # after a motion, before a picture
TAG_PICTURES = 4  # of tags, whose corners are averaged: nothing moves


@dataclass(frozen=True)
class HandSeries:
    """Views that a robot made by moving.

    Attributes:
        robot: The robot.
        camera_moves: Whether it carries the camera; else the board.
        poses_tool_in_world: Where it reported its tool, by the drawn base, at each view.
        views: What was seen then.
    """

    robot: str
    camera_moves: bool
    poses_tool_in_world: tuple[Pose, ...]
    views: tuple[PatternView, ...]


@dataclass
class CameraMeasurements:
    """All that was seen.

    Attributes:
        cameras: The cameras.
        moments: For each moment, camera -> how it sees the board.
        hands: Camera -> the views that a robot made.
        tags: Camera -> the corners of the tags that it sees, in the world.
        duration_s: Simulated, or real, time that it took.
    """

    cameras: tuple[DrawnCamera, ...]
    moments: list[dict[str, PatternView]] = field(default_factory=list)
    hands: dict[str, HandSeries] = field(default_factory=dict)
    tags: dict[str, PatternView] = field(default_factory=dict)
    duration_s: float = 0.0

    def views_of(self, camera: str) -> list[PatternView]:
        """Returns all views of the board by a camera."""
        return [moment[camera] for moment in self.moments if camera in moment]


async def measure_cameras(
    ports: ControllerPorts,
    hands: BoardHands,
    cameras: Sequence[DrawnCamera],
    holder: str | None = None,
    tags: Mapping[int, Pose] | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> CameraMeasurements:
    """Shows the board to cameras, and looks at what tells where they are.

    Args:
        ports: Of a controller: drawings, robots over CRCL.
        hands: Of the person.
        cameras: To calibrate.
        holder: The robot that holds the board for fixed cameras; without one, they look at tags.
        tags: Number of a tag -> where it lies in the world, by the drawings.
        say: Told what is going on.

    Raises:
        BadInput: A robot that cannot show anything to a camera.
        JobFailed: A robot that could not move.
    """
    start_s = ports.clock.time_s
    measured, finder = CameraMeasurements(tuple(cameras)), BoardFinder(CALIBRATION_BOARD)
    plans = {camera.name: _plan(ports, camera, holder) for camera in cameras}
    if tags and holder is None:
        corners_m = {n: pose.apply(tag_corners_m(CALIBRATION_TAGS[n])) for n, pose in tags.items()}
        for camera in cameras:
            if camera.robot is None:
                measured.tags[camera.name] = _mean_of_tags(hands, camera.name, corners_m)
                found = len(np.unique(measured.tags[camera.name].numbers))
                say(f"{camera.name}: {found} of {len(tags)} tags in view")
    for camera in cameras:
        eye = _eye(ports, camera)
        for pose in shown_poses(eye, ports.drawings):
            hands.show(pose)
            seeing = [c.name for c in cameras if c is camera or _sees(_eye(ports, c), pose)]
            pictures = hands.take(seeing)
            measured.moments.append({name: finder.find(picture) for name, picture in pictures.items()})
        hands.put_away()
        views = measured.views_of(camera.name)
        say(f"{camera.name}: the board seen in {sum(view.is_found for view in views)} of {len(views)} pictures")
    robots = dict.fromkeys(plan[0] for plan in plans.values() if plan is not None)
    async with AsyncExitStack() as stack:
        arms = {}
        for robot in robots:
            client = await stack.enter_async_context(ports.client(robot, ClientOptions(poll_s=ports.poll_s)))
            arms[robot] = ArmClient(robot, client, ports.drawings.layout.bases[robot], Recipe())
            await arms[robot].prepare()
        for camera in cameras:
            plan = plans[camera.name]
            if plan is not None:
                robot, place, views_wanted = plan
                if camera.robot is None:
                    hands.mount(robot, place)
                else:
                    hands.show(place)
                measured.hands[camera.name] = await _series(arms[robot], hands, finder, camera, views_wanted, measured)
                hands.put_away()
                found = sum(view.is_found for view in measured.hands[camera.name].views)
                say(f"{camera.name}: {robot} moved through {len(views_wanted)} poses, the board seen in {found}")
    measured.duration_s = ports.clock.time_s - start_s
    return measured


def _plan(ports: ControllerPorts, camera: DrawnCamera, holder: str | None) -> tuple[str, Pose, list[HandView]] | None:
    """Returns the robot that moves, where the board is in its hand or in the cell, and its configurations."""
    if camera.robot is not None:
        return camera.robot, *HandViews(ports.drawings, camera.robot).with_camera(camera)
    return None if holder is None else (holder, *HandViews(ports.drawings, holder).with_board(camera.camera))


def _eye(ports: ControllerPorts, camera: DrawnCamera) -> Camera:
    """Returns a camera in the world, with the arms where they begin, by the drawings."""
    return camera.camera if camera.robot is None else HandViews(ports.drawings, camera.robot).eye_at_home(camera)


def _sees(eye: Camera, pose_board: Pose) -> bool:
    return bool(eye.sees(pose_board.position[None], HALF_M / 2)[0])


async def _series(
    arm: ArmClient,
    hands: BoardHands,
    finder: BoardFinder,
    camera: DrawnCamera,
    wanted: Sequence[HandView],
    measured: CameraMeasurements,
) -> HandSeries:
    """Moves a robot through configurations, takes a picture at each, and brings it back to where it was."""
    poses: list[Pose] = []
    views: list[PatternView] = []
    try:
        for view in wanted:
            await arm.turn(view.joints_rad)
            await arm.dwell(SETTLE_S)
            poses.append((await arm.read()).pose_tool_in_world)
            views.append(finder.find(hands.take([camera.name])[camera.name]))
            measured.moments.append({camera.name: views[-1]})
        await arm.rest()
    except ArmFailed as error:
        raise JobFailed(f"{arm.name} could not move to show the board: {error}") from error
    return HandSeries(arm.name, camera.robot is not None, tuple(poses), tuple(views))


def _mean_of_tags(hands: BoardHands, camera: str, corners_m: Mapping[int, npt.NDArray[np.float64]]) -> PatternView:
    """Returns the corners of tags, each the mean of some pictures; of those that all of the pictures show."""
    hands.put_away()
    views = [TagFinder().find(hands.take([camera])[camera], corners_m) for _ in range(TAG_PICTURES)]
    bad = next((view for view in views if not view.is_found), None)
    if bad is not None:
        return bad
    common = sorted(set.intersection(*({int(n) for n in view.numbers} for view in views)))
    if not common:
        return PatternView(source=camera, reason=f"no tag is in all pictures of {camera}")
    pixels = [np.concatenate([view.pixels[view.numbers == n] for n in common]) for view in views]
    return PatternView(
        source=camera,
        size_px=views[0].size_px,
        numbers=np.repeat(common, 4).astype(np.intp),
        points_m=np.concatenate([corners_m[n] for n in common]),
        pixels=np.mean(pixels, axis=0),
    )
