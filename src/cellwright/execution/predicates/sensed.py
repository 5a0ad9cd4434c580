"""What predicates are evaluated on: objects as they are sensed, robots as they report themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from cellwright.core.pose import Pose

__all__ = ["PoseEstimate", "PredicateSettings", "SensedState", "ToolState"]


@dataclass(frozen=True, slots=True)
class PoseEstimate:
    """Where an object is, and how that is known.

    Attributes:
        pose_in_world: Where.
        variances: Of x, y, z (m2) and yaw (rad2), along the world's axes.
        seen_s: When a sensor saw it; None when none ever did. What stands still by its nature has infinity.
        source: Which sensor, or where else it is known from.
    """

    pose_in_world: Pose
    variances: tuple[float, float, float, float]
    seen_s: float | None
    source: str


@dataclass(frozen=True, slots=True)
class ToolState:
    """What a robot reports of its tool over CRCL.

    Attributes:
        robot: Whose tool it is.
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
        """Returns what it is; for a kit what its tray is; empty for what has none."""

    def size_m(self, name: str) -> tuple[float, float, float] | None:
        """Extent of an object that is no SKU, its origin at the middle of its bottom."""

    def sight(self, name: str) -> PoseEstimate | None:
        """Returns where it is; None when nobody knows."""

    def tool(self, name: str) -> ToolState | None:
        """Returns what a robot says of its end effector, by the name of either; None when there is nothing to say."""

    def related(self, path: str, first: str) -> Collection[str]:
        """Returns where a path of the ontology leads from an object, by what the database says."""

    def wanted(self, kit: str) -> Mapping[str, int]:
        """Returns how many parts of each SKU a kit shall have."""

    def capacity(self, box: str) -> int | None:
        """Returns how many kits a box takes."""


@dataclass(frozen=True)
class PredicateSettings:
    """How near is touching, and how old is too old.

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
