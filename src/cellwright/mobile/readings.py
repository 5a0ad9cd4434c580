"""The readings of a mobile robot: all that its control program knows, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2, inf, isfinite, nan, pi, remainder
from typing import Any

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose

__all__ = ["PROXIMITY_COUNT", "FrameTree", "RobotReadings", "two_speeds"]

PROXIMITY_COUNT = 8
FARTHEST_M = 0.05  # of an e-puck's proximity sensors, by all its drivers but one
DEEPEST = 100  # frames between one and the root of its tree


def two_speeds(answer: Any) -> tuple[float, float]:
    """Returns the speeds that a control program answered.

    Raises:
        BadInput: They are not two finite numbers.
    """
    try:
        speed, turn = (float(value) for value in answer)
    except (TypeError, ValueError, OverflowError):
        speed = turn = nan
    if not (isfinite(speed) and isfinite(turn)):
        needed = "two finite numbers, metres a second and radians a second"
        raise BadInput(f"update should return {needed}, not {answer!r:.200}")
    return speed, turn


class FrameTree:
    """The last known transforms, as `/tf` and `/tf_static` tell them, and the pose of any frame in any other.

    >>> tree = FrameTree()
    >>> tree.put("odom", "a/base_link", cw.Pose.from_xyz_rpy([1.0, 0.0, 0.0]), 0.0)
    >>> tree.put("odom", "b/base_link", cw.Pose.from_xyz_rpy([1.0, 0.5, 0.0], [0.0, 0.0, np.pi / 2]), 0.0)
    >>> tree.pose("a/base_link", "b/base_link").position.round(3).tolist()
    [-0.5, 0.0, 0.0]
    """

    def __init__(self) -> None:
        self._frames: dict[str, tuple[str, Pose, float]] = {}

    def put(self, parent: str, child: str, pose_child_in_parent: Pose, time_s: float = inf) -> None:
        """Takes a transform; without a time it is one that never changes."""
        self._frames[child] = parent, pose_child_in_parent, time_s

    def pose(self, frame: str, in_frame: str) -> Pose:
        """Returns the pose of a frame in another one, by the last transforms.

        Raises:
            UnknownName: There is no such frame.
            LookupError: Nothing connects the two.
        """
        (root, pose, _), (other_root, other, _) = self._up(frame), self._up(in_frame)
        if root != other_root:
            raise LookupError(f"nothing connects {frame}, which is in {root}, and {in_frame}, which is in {other_root}")
        return other.inverse() @ pose

    def time_s(self, frame: str) -> float:
        """Returns the time of the oldest transform between a frame and its root; endless when none ever changes."""
        return self._up(frame)[2]

    def __contains__(self, frame: str) -> bool:
        return frame in self._frames or any(parent == frame for parent, _, _ in self._frames.values())

    def _up(self, frame: str) -> tuple[str, Pose, float]:
        if frame not in self:
            raise UnknownName("frame", frame, {*self._frames, *(parent for parent, _, _ in self._frames.values())})
        pose, oldest_s = Pose.identity(), inf
        for _ in range(DEEPEST):
            if frame not in self._frames:
                return frame, pose, oldest_s
            frame, step, time_s = self._frames[frame]
            pose, oldest_s = step @ pose, min(oldest_s, time_s)
        raise LookupError(f"the frames about {frame} go round in a circle")


@dataclass
class RobotReadings:
    """All that a robot's program knows at a moment.

    Attributes:
        name: The robot's.
        time_s: Of its last odometry.
        x_m: Odometry in the frame `odom`.
        y_m: The same.
        yaw_rad: The same, counter-clockwise, between -pi and pi.
        speed_mps: Ahead, by odometry.
        turn_speed_radps: Counter-clockwise, by odometry.
        ranges_m: Of the proximity sensors 0 to 7, clockwise from the front right. A sensor that sees nothing
            tells its largest distance; one that has told nothing yet counts as such.
        max_range_m: That distance.
        frames: Transforms, those of other robots too where their odometry is to be had.
        task: Figures of an exercise, by name.
    """

    name: str
    time_s: float = 0.0
    x_m: float = 0.0
    y_m: float = 0.0
    yaw_rad: float = 0.0
    speed_mps: float = 0.0
    turn_speed_radps: float = 0.0
    ranges_m: list[float] = field(default_factory=lambda: [FARTHEST_M] * PROXIMITY_COUNT)
    max_range_m: float = FARTHEST_M
    frames: FrameTree = field(default_factory=FrameTree)
    task: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The frame of its own body."""
        return f"{self.name}/base_link"

    def take_odometry(
        self, time_s: float, xy_m: Sequence[float], quaternion: Sequence[float], speed_mps: float, turn_radps: float
    ) -> None:
        """Takes an odometry message's fields; the quaternion is w, x, y, z."""
        w, _, _, z = quaternion
        self.time_s, self.x_m, self.y_m = time_s, float(xy_m[0]), float(xy_m[1])
        self.yaw_rad = remainder(2 * atan2(z, w), 2 * pi)
        self.speed_mps, self.turn_speed_radps = speed_mps, turn_radps

    def sees(self, number: int) -> bool:
        """Returns whether a proximity sensor has something before it."""
        return self.ranges_m[number] < 0.98 * self.max_range_m

    def nearness(self, number: int) -> float:
        """Returns 0 where a proximity sensor sees nothing, and up to 1 the nearer something is."""
        return max(0.0, 1.0 - self.ranges_m[number] / self.max_range_m) if self.sees(number) else 0.0
