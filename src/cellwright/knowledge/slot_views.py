"""Views of slots: when each was last seen clearly, and so whether it is filled, empty or unknown.

That no part is believed to be in a slot does not make it empty: something may be before it.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, part_of_sku
from cellwright.core.errors import UnknownName
from cellwright.knowledge.tray_layout import SlotPlace, tray_layout

if TYPE_CHECKING:
    from cellwright.knowledge.belief_state import BeliefState

__all__ = ["FrameView", "SlotContent", "SlotView", "SlotViews"]

Array = npt.NDArray[np.float64]
CLEAR = 0
FRAMES = 3  # in which a slot must be clear to be empty: by then a tracker has told what it sees there
NEVER = -np.inf
ANY_PART_M = (0.040, 0.025)  # height and radius of a part that is not in the catalogue


class FrameView(Protocol):
    """Tells what a frame of a detector can show; `perception.ViewModel` does."""

    def has(self, detector: str) -> bool:
        """Returns whether the camera of a detector is known."""

    def visibility(
        self, detector: str, time_s: float, points: npt.ArrayLike, radius_m: npt.ArrayLike = 0.0
    ) -> npt.NDArray[np.int8]:
        """Returns 0 for points that the frame of a time shows clearly."""


class SlotContent(StrEnum):
    """The content of a slot, as far as it is known."""

    EMPTY = "empty"
    FILLED = "filled"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class SlotView:
    """A slot as it was seen.

    Attributes:
        content: Whether something is in it.
        part: What; empty for nothing that is known.
        clear_s: When it was last seen clearly; minus infinity for never.
        reason: Why its content is not known; empty when it is.
    """

    content: SlotContent
    part: str = ""
    clear_s: float = NEVER
    reason: str = ""


class SlotViews:
    """The slots of all trays and kits, and the last few frames in which each was clear."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], int] = {}
        self._clear_s = np.full((0, FRAMES), NEVER)
        self._arranged = -1
        self._owners: list[str] = []
        self._of_owner = np.zeros(0, np.intp)
        self._points: Array = np.zeros((0, 3))
        self._radii: Array = np.zeros(0)
        self._rows = np.zeros(0, np.intp)

    def take(self, state: BeliefState, view: FrameView | None, source: str, time_s: float, seen: Set[str]) -> None:
        """Notes which slots a frame showed clearly.

        Args:
            state: What is believed.
            view: What detectors with cameras can see; None when no camera is known.
            source: The detector.
            time_s: When the frame was taken.
            seen: The objects in it; of a detector without a camera every slot of these trays counts as seen clearly.
        """
        self._arrange(state)
        if not len(self._rows):
            return
        held = {*state.held.values()}
        usable = [state.has_pose(owner) and not state.is_missing(owner) and owner not in held for owner in self._owners]
        if view is not None and view.has(source):
            tree = state.tree
            matrices = np.array(
                [tree.in_world[tree.index[o]] if u else np.eye(4) for o, u in zip(self._owners, usable, strict=True)]
            )
            turned = np.einsum("nij,nj->ni", matrices[self._of_owner, :3, :3], self._points)
            points = turned + matrices[self._of_owner, :3, 3]
            clear = (view.visibility(source, time_s, points, self._radii) == CLEAR) & np.array(usable)[self._of_owner]
        else:
            shown = [u and state.detected_as(o) in seen for o, u in zip(self._owners, usable, strict=True)]
            clear = np.array(shown, bool)[self._of_owner]
        rows = self._rows[clear]
        rows = rows[self._clear_s[rows, 0] < time_s]
        self._clear_s[rows] = np.column_stack([np.full(len(rows), time_s), self._clear_s[rows, :-1]])

    def clear_s(self, owner: str, slot: str) -> Array:
        """Returns the times of the last frames in which a slot was clear, the latest first; minus infinity for none."""
        row = self._keys.get((owner, slot))
        return np.full(FRAMES, NEVER) if row is None else self._clear_s[row]

    def _arrange(self, state: BeliefState) -> None:
        """Lists all slots, after objects were added or moved to another reference."""
        if self._arranged == state.model.arrangement:
            return
        self._arranged = state.model.arrangement
        owners = [*(tray.name for tray in state.of_kind("PartsTray")), *state.tray_of]
        slots: list[tuple[int, SlotPlace]] = []
        self._owners = []
        for owner in owners:
            try:
                places = tray_layout(state.sku(owner)).slots
            except UnknownName:
                continue
            slots += [(len(self._owners), place) for place in places]
            self._owners.append(owner)
        keys = [(self._owners[number], place.name) for number, place in slots]
        for key in keys:
            self._keys.setdefault(key, len(self._keys))
        missing = len(self._keys) - len(self._clear_s)
        self._clear_s = np.concatenate([self._clear_s, np.full((missing, FRAMES), NEVER)])
        self._rows = np.array([self._keys[key] for key in keys], np.intp)
        self._of_owner = np.array([number for number, _ in slots], np.intp)
        seats = [(place.pose_part_in_tray.position, *_part_extent(place.sku)) for _, place in slots]
        self._points = np.array([(x, y, z + top_m) for (x, y, z), top_m, _ in seats]).reshape(-1, 3)
        self._radii = np.array([radius_m for _, _, radius_m in seats])


def _part_extent(sku: str) -> tuple[float, float]:
    """Returns the height of the upper face of a seated part above its origin, and its radius."""
    try:
        part = part_of_sku(sku)
    except UnknownName:
        return ANY_PART_M
    return part.disc_top_m if isinstance(part, GearFigures) else part.bottom_m + part.height_m, part.radius_m
