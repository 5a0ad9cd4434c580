"""The uncertainty of what is drawn: its own errors, and those of all that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, radians

from cellwright.cells.actual import PoseErrorCfg
from cellwright.drawings.prior import deviation
from cellwright.knowledge.workstation import Spread

__all__ = ["Carrier", "spread_of"]

Carrier = tuple[PoseErrorCfg, Sequence[float]]
"""The errors of what carries something, and where on it that is, from the point about which it is turned."""


def spread_of(errors: PoseErrorCfg, *carriers: Carrier) -> Spread:
    """Returns the standard deviations of a pose in the cell, by its own errors and by those of what carries it.

    A carrier that is turned moves what is away from its middle: aside by yaw, up and down by roll and pitch.
    """
    x_m, y_m, z_m = deviation(errors.x_m), deviation(errors.y_m), deviation(errors.z_m)
    roll, pitch, yaw = (radians(deviation(angle)) for angle in (errors.roll_deg, errors.pitch_deg, errors.yaw_deg))
    for other, (aside_x_m, aside_y_m, *_) in carriers:
        if other == PoseErrorCfg():
            continue
        along_m, about = spread_of(other).position_m, spread_of(other).orientation_rad
        x_m = hypot(x_m, along_m[0], about[2] * aside_y_m)
        y_m = hypot(y_m, along_m[1], about[2] * aside_x_m)
        z_m = hypot(z_m, along_m[2], about[0] * aside_y_m, about[1] * aside_x_m)
        roll, pitch, yaw = hypot(roll, about[0]), hypot(pitch, about[1]), hypot(yaw, about[2])
    return Spread((x_m, y_m, z_m), (roll, pitch, yaw))
