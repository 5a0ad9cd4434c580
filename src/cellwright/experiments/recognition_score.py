"""The score of recognised objects against the truth of their scene."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cellwright.catalogue import tray_of_sku
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.recognition_scenes import TrueObject
from cellwright.perception.recognition import Recognised

__all__ = ["RecognitionScore", "score_scene"]

SAME_M = 0.010  # a detection farther off any object of its class is of something that is not there
VISIBLE = 0.8
FLIPPED_DEG = 45.0


@dataclass
class RecognitionScore:
    """The score of some scenes.

    Attributes:
        seen: Objects that could be seen and were found.
        could: Objects that could be seen.
        true: Detections of something that is there.
        told: All detections.
        errors_mm: Of places.
        turns_deg: Of rotations of trays; a tray looks the same at some of them.
        wrong: What went wrong, one line each.
    """

    seen: int = 0
    could: int = 0
    true: int = 0
    told: int = 0
    errors_mm: list[float] = field(default_factory=list)
    turns_deg: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def total(cls, scores: Iterable[RecognitionScore]) -> RecognitionScore:
        """Returns the sum."""
        result = cls()
        for one in scores:
            result.seen, result.could = result.seen + one.seen, result.could + one.could
            result.true, result.told = result.true + one.true, result.told + one.told
            result.errors_mm += one.errors_mm
            result.turns_deg += one.turns_deg
            result.wrong += one.wrong
        return result

    def metrics(self, name: str) -> dict[str, float]:
        """Returns the figures, with a name before each."""
        return {
            **rate_of(f"{name}.recall", self.seen, self.could),
            f"{name}.n": float(self.could),
            **rate_of(f"{name}.precision", self.true, self.told),
            **quantile_of(f"{name}.position_mm_median", self.errors_mm),
            **quantile_of(f"{name}.position_mm_p95", self.errors_mm, 0.95),
            **quantile_of(f"{name}.rotation_deg_p95", self.turns_deg, 0.95),
            f"{name}.flips": float(sum(turn > FLIPPED_DEG for turn in self.turns_deg)),
        }


def score_scene(found: Recognised, truth: Sequence[TrueObject], label: str = "") -> RecognitionScore:
    """Returns the score of one picture: each object is found by at most one detection, the nearest of its class."""
    score = RecognitionScore(told=len(found))
    free = set(range(len(found)))
    for true in sorted(truth, key=lambda one: -one.visible):
        gaps = {
            row: float(np.hypot(*(found.positions[row, :2] - true.pose.position[:2])))
            for row in free
            if found.skus[row] == true.sku
        }
        row = min(gaps, key=lambda k: gaps[k], default=None)
        is_found = row is not None and gaps[row] < SAME_M
        if true.visible >= VISIBLE:
            score.could += 1
            score.seen += is_found
            if not is_found:
                score.wrong.append(f"{label}: missed {_told(true.sku, true.pose.position)}")
        if row is None or not is_found:
            continue
        free.remove(row)
        score.true += 1
        if true.visible >= VISIBLE:
            score.errors_mm.append(1000 * gaps[row])
            turn = _turn_deg(true.sku, found.quaternions[row], float(true.pose.rpy[2]))
            if turn is not None:
                score.turns_deg.append(turn)
    score.wrong += [
        f"{label}: false {_told(found.skus[row], found.positions[row])}, score {found.scores[row]:.2f}" for row in free
    ]
    return score


def _turn_deg(sku: str, quaternion: np.ndarray, yaw_rad: float) -> float | None:
    """Returns the error of a tray's rotation; of a tray that repeats, against the next rotation that looks alike."""
    tray = tray_of_sku(sku)
    if tray is None:
        return None
    off = float(np.degrees(2 * np.arctan2(quaternion[3], quaternion[0]) - yaw_rad))
    xy = np.round([slot.xy_m for slot in tray.slots], 4)
    repeats = [360.0]
    for turn in (90.0, 180.0):
        c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        moved = np.round(xy @ np.array([[c, s], [-s, c]]), 4)
        if {tuple(row) for row in moved + 0.0} == {tuple(row) for row in xy + 0.0}:
            repeats.append(turn)
    step = min(repeats)
    return abs((off + step / 2) % step - step / 2)


def _told(sku: str, position: np.ndarray) -> str:
    return f"{sku} at {position[0]:.3f}, {position[1]:.3f}"


def _quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else float("nan")
