"""Named sizes of the errors of a real cell: before it was calibrated, and what a good calibration leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

__all__ = ["ERROR_SIZES", "ErrorSize"]

ErrorSize = Literal["as_built", "calibrated"]


def _normal(sd: float) -> dict[str, float]:
    return {"sd": sd}


def _pose(along_m: float, about_deg: float, *, up_m: float | None = None) -> dict[str, Any]:
    """Returns errors in all six degrees of freedom, by their standard deviations.

    Args:
        along_m: Along the axes.
        about_deg: About them.
        up_m: Along z, if that is another.
    """
    keys_m, keys_deg = ("x_m", "y_m", "z_m"), ("roll_deg", "pitch_deg", "yaw_deg")
    errors = {key: _normal(along_m) for key in keys_m} | {key: _normal(about_deg) for key in keys_deg}
    return errors if up_m is None else errors | {"z_m": _normal(up_m)}


def _in_plane(along_m: float, yaw_deg: float) -> dict[str, Any]:
    return {"x_m": _normal(along_m), "y_m": _normal(along_m), "yaw_deg": _normal(yaw_deg)}


ERROR_SIZES: Mapping[ErrorSize, Mapping[str, Any]] = {
    "as_built": {  # set up with tape measure and spirit level; estimated
        "robot_base": _pose(0.004, 0.3),
        "tool": _pose(0.001, 0.3),
        "joint_zero_deg": _normal(0.05),
        "backlash_deg": 0.02,
        "table": _pose(0.004, 0.2, up_m=0.003),
        "holder": _pose(0.003, 0.3),
        "box": _pose(0.004, 0.5),
        "tray": _in_plane(0.003, 1.0),
        "camera": _pose(0.005, 0.3),
        "lens": {"edge_px": _normal(3.0), "centre_column_px": _normal(4.0), "centre_row_px": _normal(4.0)},
        "mobile": _in_plane(0.003, 1.0),
        "wheel_radius_m": _normal(0.00008),
        "wheel_base_m": _normal(0.001),
        "wheel_friction": _normal(0.15),
        "motor_torque_nm": _normal(0.0009),
    },
    "calibrated": {  # estimated; trays are still put down by hand
        "robot_base": _pose(0.0003, 0.03),
        "tool": _pose(0.0002, 0.03),
        "joint_zero_deg": _normal(0.005),
        "backlash_deg": 0.01,
        "table": _pose(0.0004, 0.05),
        "holder": _pose(0.0004, 0.05),
        "box": _pose(0.0004, 0.05),
        "tray": _in_plane(0.003, 1.0),
        "camera": _pose(0.0004, 0.03),
        "lens": {"edge_px": _normal(0.3), "centre_column_px": _normal(0.3), "centre_row_px": _normal(0.3)},
        "mobile": _in_plane(0.001, 0.5),
        "wheel_radius_m": _normal(0.00002),
        "wheel_base_m": _normal(0.0002),
        "wheel_friction": _normal(0.1),
        "motor_torque_nm": _normal(0.0006),
    },
}
"""Name -> the section `actual` that it stands for."""
