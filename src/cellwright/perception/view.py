"""The view model: what of the cell a detector's frame can show, by the drawings and by where the arms were.

A controller knows where its cameras are and where its arms were when a frame was taken. What may have been hidden then
is not clear: that it is not in the frame says nothing about it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from math import inf

import numpy as np
import numpy.typing as npt

from cellwright.core.camera import Camera
from cellwright.core.errors import BadInput, UnknownName
from cellwright.perception.furniture_view import FurnitureBoxes, hidden_by_furniture
from cellwright.perception.sight_lines import Boxes, extent_of, hidden_by_boxes, hidden_by_capsules, swept

__all__ = ["DetectorView", "ViewModel", "Visibility"]

Array = npt.NDArray[np.float64]
Seen = npt.NDArray[np.int8]
KEPT = 200  # readings of an arm: frames are processed within a second
BETWEEN_S = 0.25  # readings that are no farther apart show an arm's way; between others it may have been elsewhere


class Visibility(IntEnum):
    """The answer to how a frame can show a place."""

    CLEAR = 0
    """Nothing is in the way: what is not in the frame is not there, but for a chance miss."""
    HIDDEN = 1
    """Something is, or may be, in the way."""
    OUTSIDE = 2
    """It is out of the picture."""


@dataclass(frozen=True)
class DetectorView:
    """The camera of a detector, and what it looks at.

    Attributes:
        camera: As calibrated.
        min_xy_m: One corner of the rectangle of the cell within which it reports objects.
        max_xy_m: The other.
        furniture: What never moves and may stand in its way, without what carries the camera; None: nothing.
    """

    camera: Camera
    min_xy_m: tuple[float, float] = (-inf, -inf)
    max_xy_m: tuple[float, float] = (inf, inf)
    furniture: FurnitureBoxes | None = None


@dataclass
class _ArmReadings:
    """Readings of an arm in the order of time."""

    times_s: list[float] = field(default_factory=list)
    capsules: list[Array] = field(default_factory=list)
    still: list[bool] = field(default_factory=list)


class ViewModel:
    """Answers what detectors can see of the cell.

    Args:
        detectors: Detector -> its view, by the drawings.
        arms: All arms of the cell; one that has not reported yet may hide everything.
        margin_m: By how much arms may be thicker, and cameras elsewhere, than they are drawn.
        speed_mps: The fastest that any point of an arm goes.
    """

    def __init__(
        self,
        detectors: Mapping[str, DetectorView],
        arms: Iterable[str] = (),
        *,
        margin_m: float = 0.01,
        speed_mps: float = 2.0,
    ) -> None:
        self._detectors = dict(detectors)
        self._arms = {arm: _ArmReadings() for arm in arms}
        self._margin_m = margin_m
        self._speed_mps = speed_mps
        self._objects: tuple[list[str], Array, Array] = [], np.zeros((0, 3)), np.zeros((0, 4))
        self._known_boxes: Boxes | None = None

    @property
    def detectors(self) -> tuple[str, ...]:
        """The detectors whose cameras are known."""
        return tuple(self._detectors)

    def has(self, detector: str) -> bool:
        """Returns whether the camera of a detector is known; of another it cannot be told what it sees."""
        return detector in self._detectors

    def eye(self, detector: str) -> Array | None:
        """Returns the centre of projection of a detector's camera; None when that is not known."""
        return self._detectors[detector].camera.pose_in_world.position if detector in self._detectors else None

    def note_arm(self, arm: str, time_s: float, capsules: npt.ArrayLike, *, still: bool = False) -> None:
        """Notes where an arm is, with its tool and what it holds; what is older than the last reading is left out.

        Args:
            arm: Which.
            time_s: When its joints were read, by the cell's clock.
            capsules: Two end points and a radius each, k x 7, in the world; always in one order, what it holds last.
            still: Whether it stands there until the next reading.

        Raises:
            UnknownName: There is no such arm.
            BadInput: Capsules that are none.
        """
        if arm not in self._arms:
            raise UnknownName("arm", arm, self._arms, "view model")
        rows, readings = _checked(arm, capsules), self._arms[arm]
        if readings.times_s and time_s < readings.times_s[-1]:
            return
        readings.times_s.append(time_s)
        readings.capsules.append(rows)
        readings.still.append(still)
        if len(readings.times_s) > 2 * KEPT:
            del readings.times_s[:KEPT], readings.capsules[:KEPT], readings.still[:KEPT]

    def note_objects(self, skus: Iterable[str], positions: Array, quaternions: Array) -> None:
        """Notes trays and parts that are believed to be there: they hide what is below them."""
        self._objects = list(skus), np.array(positions, float).reshape(-1, 3), np.array(quaternions, float)
        self._known_boxes = None

    def _boxes(self) -> Boxes:
        """Returns the trays and parts that were noted last, as boxes; made when they are asked for."""
        if self._known_boxes is None:
            skus, centres, quaternions = self._objects
            extents = [extent_of(sku) for sku in skus]
            halves = [(e.half_x_m, e.half_y_m, (e.top_m - e.bottom_m) / 2) for e in extents]
            middles = np.array([(e.top_m + e.bottom_m) / 2 for e in extents])
            w, x, y, z = quaternions.reshape(-1, 4).T
            yaws = np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
            trays = np.array([e.is_tray for e in extents], bool)
            raised = np.column_stack([centres[:, :2], centres[:, 2] + middles])
            self._known_boxes = Boxes(raised, np.array(halves).reshape(-1, 3), yaws, trays)
        return self._known_boxes

    def visibility(
        self,
        detector: str,
        time_s: float,
        points: npt.ArrayLike,
        radius_m: npt.ArrayLike = 0.0,
        *,
        by_parts: npt.ArrayLike = True,
    ) -> Seen:
        """Returns how a frame that was taken at some time can show discs about points, as `Visibility`.

        Args:
            detector: Whose frame.
            time_s: When it was taken.
            points: n x 3, in the world.
            radius_m: Of the discs, one or n.
            by_parts: Whether parts hide a point, too: not a tray, in whose slots they lie; one or n.
        """
        return self._look(detector, points, radius_m, by_parts, lambda readings, _arm: self._at(readings, time_s))

    def visibility_from(
        self,
        detector: str,
        points: npt.ArrayLike,
        radius_m: npt.ArrayLike = 0.0,
        arms: Mapping[str, npt.ArrayLike] | None = None,
        *,
        by_parts: npt.ArrayLike = True,
    ) -> Seen:
        """Returns how a frame would show points if arms stood as given; the others where they were noted last."""
        given = {arm: _checked(arm, capsules) for arm, capsules in (arms or {}).items()}
        for arm in given:
            if arm not in self._arms:
                raise UnknownName("arm", arm, self._arms, "view model")

        def stands(readings: _ArmReadings, arm: str) -> Array | None:
            return given[arm] if arm in given else readings.capsules[-1] if readings.capsules else None

        return self._look(detector, points, radius_m, by_parts, stands)

    def _look(
        self,
        detector: str,
        points: npt.ArrayLike,
        radius_m: npt.ArrayLike,
        by_parts: npt.ArrayLike,
        stands: Callable[[_ArmReadings, str], Array | None],
    ) -> Seen:
        if detector not in self._detectors:
            raise UnknownName("detector with a camera", detector, self._detectors, "view model")
        view, places = self._detectors[detector], np.asarray(points, float).reshape(-1, 3)
        radii: Array = np.broadcast_to(np.asarray(radius_m, float), (len(places),))
        found = np.full(len(places), Visibility.OUTSIDE, np.int8)
        (low_x, low_y), (high_x, high_y), edge = view.min_xy_m, view.max_xy_m, self._margin_m
        x, y = places[:, 0], places[:, 1]
        inside = (x >= low_x + edge) & (x <= high_x - edge) & (y >= low_y + edge) & (y <= high_y - edge)
        if inside.any():
            inside &= view.camera.sees(places, radii)
        if not inside.any():
            return found
        # What stands in the way matters only for what is in the picture at all.
        eye, places, radii = view.camera.pose_in_world.position, places[inside], radii[inside]
        arms = [stands(readings, arm) for arm, readings in self._arms.items()]
        in_the_way = [capsules for capsules in arms if capsules is not None and len(capsules)]
        hidden = np.full(len(places), any(capsules is None for capsules in arms))
        if in_the_way and not hidden.all():
            capsules = np.concatenate(in_the_way)
            capsules[:, 6] += self._margin_m
            hidden = hidden_by_capsules(eye, places, radii, capsules)
        boxes = self._boxes()
        if len(boxes.yaws) and not hidden.all():
            parts = np.broadcast_to(np.asarray(by_parts, bool), inside.shape)[inside]
            hidden |= hidden_by_boxes(eye, places, radii, boxes, parts)
        if view.furniture is not None and not hidden.all():
            hidden |= hidden_by_furniture(eye, places, radii, view.furniture, self._margin_m)
        found[inside] = np.where(hidden, Visibility.HIDDEN, Visibility.CLEAR)
        return found

    def _at(self, readings: _ArmReadings, time_s: float) -> Array | None:
        """Returns all that an arm may have filled at some time; None when it may have been anywhere."""
        if not readings.times_s:
            return None
        after = bisect_right(readings.times_s, time_s)
        if after == 0:
            return self._grown(readings.capsules[0], readings.times_s[0] - time_s)
        before = after - 1
        if readings.still[before]:
            return readings.capsules[before]
        if after == len(readings.times_s):
            return self._grown(readings.capsules[before], time_s - readings.times_s[before])
        capsules = swept(readings.capsules[before], readings.capsules[after])
        late_s = readings.times_s[after] - readings.times_s[before] - BETWEEN_S
        return self._grown(capsules, late_s / 2) if late_s > 0.0 else capsules

    def _grown(self, capsules: Array, seconds: float) -> Array:
        grown = capsules.copy()
        grown[:, 6] += self._speed_mps * seconds
        return grown


def _checked(what: str, capsules: npt.ArrayLike) -> Array:
    rows = np.asarray(capsules, float)
    if rows.ndim != 2 or rows.shape[1] != 7 or not np.isfinite(rows).all() or (rows[:, 6] < 0.0).any():
        raise BadInput(
            f"view model: capsules of {what} are k x 7 finite numbers, two end points and a radius of 0 or more each, "
            f"not {rows.shape}"
        )
    return rows
