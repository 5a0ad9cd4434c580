"""Fusion of what is known of objects at rest with what a frame shows of them: six coordinates, each with its variance.

What a detector does not measure, where its variance is infinite, stays as it was known. A turn, a lean or another kind
than the known one is a mistake of the frame, unless it is seen alike for some frames more than what is known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.kalman import gain
from cellwright.perception.cfg import TrackerCfg
from cellwright.perception.table import TrackTable
from cellwright.perception.yaw import swing_between, swung, turned, twist_between

__all__ = ["fuse", "restart", "turns_to"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
TILT, YAW = slice(3, 5), 5
FOLLOWED = 0.9  # a detector whose lean is taken over by more than this measures it: no vote is needed
ALIKE_RAD = 0.2


def fuse(
    table: TrackTable,
    rows: Rows,
    known: Array,
    positions: Array,
    quaternions: Array,
    variances: Array,
    bias_rad2: Array,
    cfg: TrackerCfg,
) -> None:
    """Fuses detections with objects that have not moved.

    Args:
        table: The objects.
        rows: Which of them.
        known: Their variances now, k x 6.
        positions: Of the detections, k x 3.
        quaternions: Likewise.
        variances: Likewise, infinite where nothing was measured.
        bias_rad2: By how much more turns may differ, as a variance, k: another detector saw the object last.
        cfg: Settings.
    """
    share = gain(known, variances)
    turn, unseen = turns_to(table, rows, quaternions)
    measures_lean = bool(np.isfinite(variances[:, TILT]).any())
    lean = np.zeros((len(rows), 2))
    if measures_lean:
        lean = swing_between(table.quaternions[rows], turned(quaternions, -unseen - turn))
    is_other_turn = turn**2 > cfg.gate * (known[:, YAW] + variances[:, YAW] + bias_rad2)
    spread = known[:, TILT] + variances[:, TILT]
    is_other_lean = ((lean**2 / spread).sum(axis=1) > cfg.gate) & (share[:, 3] < FOLLOWED)
    if is_other_turn.any() or table.turn_votes[rows].any():
        share[:, YAW] = np.where(is_other_turn, _voted_turn(table, rows, turn, is_other_turn, cfg), share[:, YAW])
    if is_other_lean.any() or table.tilt_votes[rows].any():
        share[:, TILT] = np.where(
            is_other_lean[:, None], _voted_lean(table, rows, is_other_lean, cfg)[:, None], share[:, TILT]
        )
    after = table.quaternions[rows]
    if measures_lean:
        after = swung(after, share[:, TILT] * lean)
    table.quaternions[rows] = turned(after, share[:, YAW] * turn)
    table.positions[rows] += share[:, :3] * np.where(np.isinf(variances[:, :3]), 0.0, positions - table.positions[rows])
    # What is seen where it was is as high as it was: only what is measured has become less certain meanwhile.
    after_variances = np.where(np.isinf(variances), table.variances[rows], (1.0 - share) * known)
    taken = share >= 1.0
    table.variances[rows] = np.where(taken & np.isfinite(variances), variances, after_variances)
    table.moving[rows] = False


def restart(
    table: TrackTable, rows: Rows, positions: Array, quaternions: Array, variances: Array, cfg: TrackerCfg
) -> None:
    """Restarts tracks where objects are seen now; what is not measured there is what they lie on."""
    _, unseen = turns_to(table, rows, quaternions)
    table.positions[rows] = positions
    table.quaternions[rows] = turned(quaternions, -unseen)
    table.variances[rows] = finite(variances, cfg)
    for votes in (table.turn_votes, table.tilt_votes, table.kind_votes):
        votes[rows] = 0
    table.supported_at[rows], table.anchors[rows] = np.nan, -1


def finite(variances: Array, cfg: TrackerCfg) -> Array:
    """Returns variances of a new track: large ones for what was not measured."""
    most = np.array([cfg.max_sd_m] * 3 + [cfg.max_lean_rad] * 2 + [np.pi]) ** 2
    return np.where(np.isinf(variances), most, variances)


def turns_to(table: TrackTable, rows: Rows, quaternions: Array) -> tuple[Array, Array]:
    """Returns the turns from what is known to what is seen, and the part of them that looks like none."""
    turn = twist_between(table.quaternions[rows], quaternions)
    unseen = table.periods[rows] * np.round(turn / table.periods[rows])
    return turn - unseen, unseen


def _voted_turn(table: TrackTable, rows: Rows, turn: Array, is_other: Mask, cfg: TrackerCfg) -> Array:
    """Returns 1 for the turns that have lasted, 0 for the others, which may be mistakes."""
    apart = np.abs((turn - table.turns[rows] + np.pi) % (2 * np.pi) - np.pi)
    votes = table.turn_votes[rows]
    alike = is_other & (apart < ALIKE_RAD) & (votes > 0)
    votes = np.where(alike, votes + 1, np.where(is_other & (votes <= 1), 1, np.maximum(votes - 1, 0)))
    anew = is_other & ~alike & (votes == 1)
    table.turns[rows] = np.where(anew, turn, table.turns[rows])
    lasted = is_other & (alike | anew) & ((votes >= cfg.lasting) | (table.sightings[rows] == 0))
    table.turn_votes[rows] = np.where(lasted, 0, votes)
    return np.where(lasted, 1.0, 0.0)


def _voted_lean(table: TrackTable, rows: Rows, is_other: Mask, cfg: TrackerCfg) -> Array:
    votes = np.where(is_other, table.tilt_votes[rows] + 1, np.maximum(table.tilt_votes[rows] - 1, 0))
    lasted = is_other & ((votes >= cfg.confirm) | (table.sightings[rows] == 0))
    table.tilt_votes[rows] = np.where(lasted, 0, votes)
    return np.where(lasted, 1.0, 0.0)
