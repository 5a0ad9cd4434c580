"""Trays among the circles that were found: slots and parts in them as a pattern, and the edges of a plate around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TrayFigures
from cellwright.perception.recognition.clean import SmallPicture
from cellwright.perception.recognition.lens import CalibratedLens
from cellwright.perception.recognition.middle import middle_of
from cellwright.perception.recognition.model import RecognitionModel
from cellwright.perception.recognition.round_fit import FittedCircle, parabola_peak
from cellwright.perception.support import Surface

__all__ = ["FoundTray", "TrayFinder"]

Array = npt.NDArray[np.float64]
RIM_OFF, PART_OFF = 0.05, 0.075  # of the radius of a slot's rim, of a part in it: what is farther off is another
SHADOWED_OFF = 0.1  # the same for a part that seems larger by its shadow
PAIR_M, SLOT_M = 0.003, 0.003  # how far a pair of circles may be off its distance, a circle off its slot
SAME_M, SAME_RAD = 0.004, 0.05
SIDE_SAMPLES, SIDE_OFFSETS, SIDE_REACH_M, SIDE_WINDOW_M = 28, 25, 0.009, 0.0035
EDGE_M = 0.0035  # how far the edge of a plate may be off its place
ROUNDED_M = 0.0007  # how far inside a plate's outline its rounded upper edge is seen
SIDE_ALONG = 7  # neighbouring samples that are taken together: an edge is straight
LEAST_STEP, STEPS_OF_NOISE = 0.035, 0.8
LEAST_SIDES = 0.5  # share of the plate's edge that must be seen
LEAST_SLOTS = 0.5
LEAST_SCORE = 0.65  # few slots need many edges around them
IN_MOUTH = 1.035  # of the radius of a slot: a part that closes it is larger
AT_ONCE = 8  # fits whose plates are looked for together
SIDE_SD_M = 0.0012  # of one side of a plate against 0.3 mm of a circle


@dataclass(frozen=True)
class FoundTray:
    """A tray as it was found on a table.

    Attributes:
        tray: Its figures.
        xy_m: Its origin.
        yaw_rad: Its rotation.
        slots: Share of its slots that were seen, empty or filled.
        sides: Share of the plate's edge that was seen.
        shift_m: How far the plate's edges are off those that the slots tell.
        residual_m: Standard deviation of slots off the pattern.
    """

    tray: TrayFigures
    xy_m: Array
    yaw_rad: float
    slots: float
    sides: float
    shift_m: float
    residual_m: float

    @property
    def score(self) -> float:
        """The share of it that was seen, 0 to 1."""
        return 0.5 * self.slots + 0.5 * self.sides

    @property
    def weight(self) -> float:
        """Its likelihood against another at the same place: slots that were seen, edges, and both at one place."""
        return len(self.tray.slots) * self.slots + 3 * self.sides - 400 * self.shift_m

    def inside(self, xy_m: Array, margin_m: float = 0.0) -> bool:
        """Returns whether a point is on it."""
        c, s = np.cos(self.yaw_rad), np.sin(self.yaw_rad)
        beside = np.abs(np.array([[c, s], [-s, c]]) @ (xy_m - self.xy_m))
        return bool((beside <= np.array(self.tray.size_m) / 2 + margin_m).all())

    def has_floor_at(self, xy_m: Array, radius_m: float) -> bool:
        """Returns whether a circle lies in the mouth of a slot: the rim or the floor of an empty one."""
        for slot in self.tray.slots:
            off_m = float(np.hypot(*(self.xy_m + _turned(np.array(slot.xy_m), self.yaw_rad) - xy_m)))
            if off_m + radius_m < 1.15 * slot.mouth_radius_m and radius_m < IN_MOUTH * slot.mouth_radius_m:
                return True
        return False

    def corners_m(self, height_m: float) -> Array:
        """Returns the corners of its outline, (4, 3)."""
        c, s = np.cos(self.yaw_rad), np.sin(self.yaw_rad)
        half = np.array(self.tray.size_m) / 2
        flat = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half @ np.array([[c, s], [-s, c]]) + self.xy_m
        return np.column_stack([flat, np.full(4, height_m)])


class _Fit(NamedTuple):
    """The slots of a tray as they were fitted: its place, its rotation, how far they are off, how many are seen."""

    xy_m: Array
    yaw_rad: float
    residual_m: float
    seen: int


class TrayFinder:
    """Finds the trays of one table.

    Args:
        drawn: The figures.
        small: The picture in which edges are looked for.
        lens: Its lens.
        surface: The table.
        height_m: The height at which circles were fitted.
    """

    def __init__(
        self, drawn: RecognitionModel, small: SmallPicture, lens: CalibratedLens, surface: Surface, height_m: float
    ) -> None:
        self._drawn, self._small, self._lens = drawn, small, lens
        self._surface, self._height_m = surface, height_m
        self._outlines = {outline.sku: outline for outline in drawn.outlines}

    def find(self, circles: Sequence[FittedCircle]) -> list[FoundTray]:
        """Returns the trays whose slots are among these circles."""
        if len(circles) < 2:
            return []
        places = np.array([circle.xy_m for circle in circles])
        radii = np.array([circle.radius_m for circle in circles])
        found = []
        for tray in self._drawn.trays:
            marks = [self._marks(tray, slot, places, radii) for slot in range(len(tray.slots))]
            tried: list[tuple[Array, float]] = []
            fits: list[_Fit] = []
            for xy_m, yaw_rad in self._guesses(tray, marks):
                if any(np.hypot(*(xy_m - p)) < SAME_M and _turn(yaw_rad - y) < SAME_RAD for p, y in tried):
                    continue
                tried.append((xy_m, yaw_rad))
                fit = _fit(tray, marks, xy_m, yaw_rad)
                if fit is not None:
                    fits.append(fit)
            for first in range(0, len(fits), AT_ONCE):
                found += self._boards(tray, fits[first : first + AT_ONCE])
        return self._best(found)

    def _marks(self, tray: TrayFigures, number: int, places: Array, radii: Array) -> Array:
        """Returns where a slot may be, (n, 2): circles that are its rim, its floor, or a part in it."""
        slot = tray.slots[number]
        found = []
        eye_m = self._lens.eye_m[2]
        marks = [
            (slot.mouth_radius_m, tray.thickness_m, RIM_OFF, RIM_OFF),
            (slot.bottom_radius_m, slot.floor_m, RIM_OFF, RIM_OFF),
        ]
        outline = self._outlines.get(slot.accepts)
        if outline is not None and outline.seat_m is not None:
            marks.append((outline.radius_m, outline.seat_m + outline.middle_m, PART_OFF, SHADOWED_OFF))
        for radius_m, above_m, less, more in marks:
            height_m = self._surface.height_m + above_m
            scale = (eye_m - height_m) / (eye_m - self._height_m)
            off = radii * scale / radius_m - 1
            fits = (-less < off) & (off < more)
            found.append(self._lens.at_height(places[fits], self._height_m, height_m))
        return np.concatenate(found)

    def _guesses(self, tray: TrayFigures, marks: Sequence[Array]) -> list[tuple[Array, float]]:
        """Returns places and rotations by pairs of circles that are as far apart as two slots."""
        slots = np.array([slot.xy_m for slot in tray.slots])
        guesses = []
        for k in range(len(slots)):
            for m in range(k + 1, len(slots)):
                way = slots[m] - slots[k]
                ways = marks[m][None] - marks[k][:, None]
                fits = np.abs(np.hypot(ways[..., 0], ways[..., 1]) - np.hypot(*way)) < PAIR_M
                for a, b in np.argwhere(fits):
                    yaw_rad = float(np.arctan2(*ways[a, b][::-1]) - np.arctan2(*way[::-1]))
                    middle = (marks[k][a] + marks[m][b]) / 2
                    guesses.append((middle - _turned((slots[k] + slots[m]) / 2, yaw_rad), yaw_rad))
        return guesses

    def _boards(self, tray: TrayFigures, fits: Sequence[_Fit]) -> list[FoundTray]:
        """Returns those fits around which there is enough of a plate, at the place that slots and plate tell."""
        boards = []
        for fit, (share, shift) in zip(fits, self._sides(tray, fits), strict=True):
            if share < LEAST_SIDES:
                continue
            part = 0.3**2 / (0.3**2 + fit.seen * (1000 * SIDE_SD_M) ** 2)
            xy_m, slots = fit.xy_m + _turned(shift * part, fit.yaw_rad), fit.seen / len(tray.slots)
            off_m = float(np.hypot(*shift))
            boards.append(FoundTray(tray, xy_m, fit.yaw_rad, slots, share, off_m, fit.residual_m))
        return [board for board in boards if board.score >= LEAST_SCORE]

    def _sides(self, tray: TrayFigures, fits: Sequence[_Fit]) -> list[tuple[float, Array]]:
        """Returns the share of each plate's edge that is seen, and how far it is off, in the tray's frame."""
        half = np.array(tray.size_m) / 2
        along = np.linspace(-1, 1, SIDE_SAMPLES)
        offsets = np.linspace(-SIDE_REACH_M, SIDE_REACH_M, SIDE_OFFSETS)
        wide = round(SIDE_WINDOW_M / (offsets[1] - offsets[0]))
        normals = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        spots = np.zeros((len(normals), SIDE_SAMPLES, SIDE_OFFSETS, 2))
        for side, normal in zip(spots, normals, strict=True):
            axis = int(normal[0] == 0)
            side[..., axis] = normal[axis] * (half[axis] + offsets)
            side[..., 1 - axis] = (along * (half[1 - axis] - 1.2 * tray.corner_radius_m))[:, None]
        points = np.empty((len(fits), *spots.shape[:-1], 3))
        turns = np.array([_rotation(fit.yaw_rad) for fit in fits])
        flat = spots.reshape(len(normals), -1, 2) @ turns[:, None]
        points[..., :2] = np.array([fit.xy_m for fit in fits])[:, None, None, None] + flat.reshape(-1, *spots.shape)
        points[..., 2] = self._surface.height_m + tray.thickness_m
        found = self._small.sampled(self._lens.pixels(points)).astype(float)
        total = np.cumsum(np.concatenate([np.zeros_like(found[..., :1, :]), found], axis=3), axis=3)
        means = (total[..., wide:, :] - total[..., :-wide, :]) / wide
        step = means[..., :-wide, :] - means[..., wide:, :]
        step[~np.isfinite(step)] = 0.0
        step = sum(np.roll(step, k, axis=2) for k in range(-(SIDE_ALONG // 2), SIDE_ALONG // 2 + 1)) / SIDE_ALONG
        sizes = np.linalg.norm(step, axis=4)
        middles = (offsets[wide - 1 : -wide] + offsets[wide : len(offsets) - wide + 1]) / 2
        sizes *= np.exp(-((middles / 0.005) ** 2) / 2)
        best = sizes.argmax(axis=3)
        inner = np.clip(best, 1, sizes.shape[3] - 2)
        low, mid, high = (np.take_along_axis(sizes, (inner + k)[..., None], axis=3)[..., 0] for k in (-1, 0, 1))
        places = middles[inner] + (offsets[1] - offsets[0]) * parabola_peak(low, mid, high)
        strength = np.take_along_axis(sizes, best[..., None], axis=3)[..., 0]
        seen = (strength > LEAST_STEP + STEPS_OF_NOISE * self._small.noise) & (np.abs(middles[best]) < EDGE_M)
        return [(float(one.mean()), _shift(off_m, one)) for off_m, one in zip(places, seen, strict=True)]

    def _best(self, boards: Sequence[FoundTray]) -> list[FoundTray]:
        """Returns the best of those that lie at the same place, turned as the drawings have them where that is open."""
        chosen: list[FoundTray] = []
        for board in sorted(boards, key=lambda one: -one.weight - 0.02 * self._usual(one)):
            if not any(_overlap(board, other) for other in chosen):
                chosen.append(board)
        return [_turned_as_drawn(board, self._drawn.tray_yaws_rad.get(board.tray.sku, (0.0,))) for board in chosen]

    def _usual(self, board: FoundTray) -> float:
        yaws = self._drawn.tray_yaws_rad.get(board.tray.sku, (0.0,))
        return max(float(np.cos(board.yaw_rad - yaw)) for yaw in yaws)


def _fit(tray: TrayFigures, marks: Sequence[Array], xy_m: Array, yaw_rad: float) -> _Fit | None:
    """Returns the pattern of a tray's slots fitted to the marks about a guess; None where too few are there."""
    slots = np.array([slot.xy_m for slot in tray.slots])
    residual_m = 0.0
    for _ in range(2):
        wanted = xy_m + _turned(slots, yaw_rad)
        seen, told = [], []
        for number, spot in enumerate(wanted):
            off = np.hypot(*(marks[number] - spot).T) if len(marks[number]) else np.array([np.inf])
            if off.min() < SLOT_M:
                seen.append(marks[number][off.argmin()])
                told.append(slots[number])
        if len(seen) < max(2, LEAST_SLOTS * len(slots)):
            return None
        xy_m, yaw_rad, residual_m = _rigid(np.array(told), np.array(seen))
    return _Fit(xy_m, yaw_rad, residual_m, len(seen))


def _shift(off_m: Array, seen: npt.NDArray[np.bool_]) -> Array:
    """Returns how far a plate is off along its axes, by its four sides where they are seen."""
    shift = np.zeros(2)
    for axis in range(2):
        ends = [
            sign * (middle_of(off_m[k][seen[k]]) + ROUNDED_M)
            for k, sign in ((2 * axis, 1), (2 * axis + 1, -1))
            if np.count_nonzero(seen[k]) > SIDE_SAMPLES // 3
        ]
        shift[axis] = np.mean(ends) if ends else 0.0
    return shift


def _rotation(yaw_rad: float) -> Array:
    """Returns the matrix that turns rows."""
    c, s = np.cos(yaw_rad), np.sin(yaw_rad)
    return np.array([[c, s], [-s, c]])


def _turned(points: Array, yaw_rad: float) -> Array:
    result: Array = points @ _rotation(yaw_rad)
    return result


def _turn(yaw_rad: float) -> float:
    return abs(float(np.angle(np.exp(1j * yaw_rad))))


def _rigid(told: Array, seen: Array) -> tuple[Array, float, float]:
    """Returns place and rotation that bring points of a drawing onto seen ones, and how far they are off."""
    a, b = told - told.mean(axis=0), seen - seen.mean(axis=0)
    yaw_rad = float(np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum()))
    xy_m = seen.mean(axis=0) - _turned(told.mean(axis=0), yaw_rad)
    off = seen - xy_m - _turned(told, yaw_rad)
    return xy_m, yaw_rad, float(np.sqrt((off**2).sum(axis=1).mean()))


def _overlap(one: FoundTray, other: FoundTray) -> bool:
    """Returns whether two trays are at the same place: a point of a grid on one is well inside the other."""
    if np.hypot(*(one.xy_m - other.xy_m)) > (np.hypot(*one.tray.size_m) + np.hypot(*other.tray.size_m)) / 2:
        return False
    half = np.array(one.tray.size_m) / 2 * 0.85
    grid = np.array([(x, y) for x in (-1, -0.5, 0, 0.5, 1) for y in (-1, -0.5, 0, 0.5, 1)]) * half
    return any(other.inside(one.xy_m + _turned(point, one.yaw_rad), -0.005) for point in grid)


def _turned_as_drawn(board: FoundTray, yaws_rad: Sequence[float]) -> FoundTray:
    """Returns the board with that of the rotations which look alike that is next to a drawn one."""
    tray = board.tray
    slots = {(round(s.xy_m[0], 4), round(s.xy_m[1], 4), s.accepts) for s in tray.slots}
    turns = [0.0]
    for quarter in (1, 2, 3):
        if quarter % 2 and abs(tray.size_m[0] - tray.size_m[1]) > 1e-4:
            continue
        moved = {
            (*(np.round(_turned(np.array(s.xy_m), quarter * np.pi / 2), 4) + 0.0).tolist(), s.accepts)
            for s in tray.slots
        }
        if moved == slots:
            turns.append(quarter * np.pi / 2)
    yaws = [board.yaw_rad + turn for turn in turns]
    best = min(yaws, key=lambda yaw: min(_turn(yaw - drawn) for drawn in yaws_rad))
    return FoundTray(
        tray,
        board.xy_m,
        float(np.angle(np.exp(1j * best))),
        board.slots,
        board.sides,
        board.shift_m,
        board.residual_m,
    )
