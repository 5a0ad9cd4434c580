"""The state that predicates are evaluated on: objects as they are sensed, robots as they report themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from cellwright.core.pose import Pose

__all__ = ["PoseEstimate", "PredicateSettings", "SensedState", "ToolState"]


@dataclass(frozen=True, slots=True)
class PoseEstimate:
    """The pose of an object with its variances, time and source.

    Attributes:
        pose_in_world: The pose.
        variances: Of x, y, z (m2) and yaw (rad2), along the world's axes.
        seen_s: Time of the last detection; None without any, infinity for what never moves.
        source: Which sensor, or where else it is known from.
    """

    pose_in_world: Pose
    variances: tuple[float, float, float, float]
    seen_s: float | None
    source: str


@dataclass(frozen=True, slots=True)
class ToolState:
    """The state of a tool as its robot reports it over CRCL.

    Attributes:
        robot: The robot that has the tool.
        model: Its name in the catalogue.
        pose_tool_in_world: Of its tool centre point, z out of the tool.
        width_m: Distance of the fingers.
        holding: Whether it feels something between them; None when it cannot tell.
        time_s: When it was reported.
        sd_m: How far the place that the robot reports may be from where cameras see it.
    """

    robot: str
    model: str
    pose_tool_in_world: Pose
    width_m: float
    holding: bool | None
    time_s: float
    sd_m: float = 0.001


class SensedState(Protocol):
    """The cell as a controller knows it; belief offers this, and so does plain data in tests."""

    @property
    def now_s(self) -> float:
        """The cell's clock."""

    def refresh(self) -> None:
        """Reads anew what does not come from sensors: which tool is on which robot."""

    def names(self) -> Iterable[str]:
        """Returns all solid objects."""

    def kind(self, name: str) -> str:
        """Returns the object's class in the kitting ontology."""

    def sku(self, name: str) -> str:
        """Returns the SKU of an object; for a kit that of its tray; empty without one."""

    def size_m(self, name: str) -> tuple[float, float, float] | None:
        """Returns the extent of an object without a SKU, its origin at the middle of its bottom."""

    def estimate(self, name: str) -> PoseEstimate | None:
        """Returns the pose of an object; None when it is unknown."""

    def tool(self, name: str) -> ToolState | None:
        """Returns the state of an end effector by its or its robot's name; None without a report."""

    def related(self, path: str, first: str) -> Collection[str]:
        """Returns the objects at the end of an ontology path from an object, by the database."""

    def wanted(self, kit: str) -> Mapping[str, int]:
        """Returns SKU -> number of parts that a kit shall have."""

    def capacity(self, box: str) -> int | None:
        """Returns the number of kits that a box takes."""


@dataclass(frozen=True)
class PredicateSettings:
    """Tolerances of predicates: distance of touching, age of detections.

    Attributes:
        touch_m: Ends of extents that are no farther apart count as equal: what touches, touches within this. It is four
            standard deviations of the height that the lab's detectors see in one frame (0.5 mm), and more than
            contacts give way; the shallowest slot is six times as deep.
        deviations: By how many standard deviations of where it is sensed an object may be elsewhere; a relation that
            is not the same in all that range is unknown.
        max_age_s: A thing that was not seen for longer may be anywhere.
        tool_age_s: The same for what a robot reports.
    """

    touch_m: float = 0.002
    deviations: float = 3.0
    max_age_s: float = 1.0
    tool_age_s: float = 1.0
