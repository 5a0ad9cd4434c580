"""The state that predicates are evaluated on: objects as they are sensed, robots as they report themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from cellwright.knowledge import PoseEstimate, ToolState, Unknown

__all__ = ["PredicateSettings", "SensedState"]


class SensedState(Protocol):
    """The cell as a controller knows it; the belief state offers this, and so does plain data in tests."""

    @property
    def now_s(self) -> float:
        """The cell's clock."""

    def names(self) -> Iterable[str]:
        """Returns all solid objects."""

    def kind(self, name: str) -> str:
        """Returns the object's class in the kitting ontology."""

    def sku(self, name: str) -> str:
        """Returns the SKU of an object; for a kit that of its tray; empty without one."""

    def size_m(self, name: str) -> tuple[float, float, float] | None:
        """Returns the extent of an object without a SKU, its origin at the middle of its bottom."""

    def estimate(self, name: str) -> PoseEstimate | Unknown:
        """Returns the pose of an object."""

    def tool(self, name: str) -> ToolState | None:
        """Returns the state of an end effector by its or its robot's name; None without a report."""

    def related(self, path: str, first: str) -> Collection[str]:
        """Returns the objects at the end of an ontology path from an object, by the database."""

    def wanted(self, kit: str) -> Mapping[str, int]:
        """Returns SKU -> number of parts that a kit shall have."""

    def capacity(self, box: str) -> int | Unknown:
        """Returns the number of kits that a box takes."""


@dataclass(frozen=True)
class PredicateSettings:
    """Tolerances of predicates: distance of touching, age of reports.

    Attributes:
        touch_m: Ends of extents that are no farther apart count as equal: what touches, touches within this. It is four
            standard deviations of the height that the lab's detectors see in one frame (0.5 mm), and more than
            contacts give way; the shallowest slot is six times as deep.
        deviations: By how many standard deviations of where it is sensed an object may be elsewhere; a relation that
            is not the same in all that range is unknown.
        tool_age_s: A tool that was not reported for longer may be anywhere: robots move.
    """

    touch_m: float = 0.002
    deviations: float = 3.0
    tool_age_s: float = 1.0
