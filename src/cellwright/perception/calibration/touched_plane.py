"""A table's height and tilt from the heights at which it was touched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.core.registration_points import check_points

__all__ = ["TouchedPlane", "fit_plane"]

FAR_OFF_M = 0.005  # of a touched point from the plane through all of them: then one of them touched something else


@dataclass(frozen=True)
class TouchedPlane:
    """A plane ``z = height + slope_x (x - x0) + slope_y (y - y0)``, in metres.

    Attributes:
        xy_m: x0 and y0, the middle of the touched points.
        height_m: z there.
        slope_x: Rise along x.
        slope_y: Rise along y.
        residuals_m: How much higher each point was touched.
    """

    xy_m: tuple[float, float]
    height_m: float
    slope_x: float
    slope_y: float
    residuals_m: tuple[float, ...]

    @property
    def tilt_deg(self) -> tuple[float, float]:
        """The angles about x and y of the world that tilt a level plane into this one."""
        return float(np.degrees(np.arctan(self.slope_y))), float(-np.degrees(np.arctan(self.slope_x)))


def fit_plane(points_m: npt.ArrayLike, far_off_m: float = FAR_OFF_M) -> TouchedPlane:
    """Returns the plane of least squares in z through touched points, (n, 3).

    Raises:
        BadInput: Fewer than three points, a line of points, a point twice, one far off the others' plane.
    """
    points = np.array(points_m, float)
    flat = points * [1.0, 1.0, 0.0] if points.ndim == 2 and points.shape[1:] == (3,) else points
    check_points(flat, "touched points")
    middle = points.mean(axis=0)
    xy = points[:, :2] - middle[:2]
    (slope_x, slope_y), *_ = np.linalg.lstsq(xy, points[:, 2] - middle[2], rcond=None)
    above = points[:, 2] - middle[2] - xy @ [slope_x, slope_y]
    worst = int(np.abs(above).argmax())
    if abs(above[worst]) > far_off_m:
        raise BadInput(
            f"touched points: number {worst + 1} is {abs(above[worst]) * 1e3:.1f} mm off the plane of all "
            f"(allowed {far_off_m * 1e3:g} mm): it touched something else; touch the bare table there again"
        )
    x, y, z = middle.tolist()
    return TouchedPlane((x, y), z, float(slope_x), float(slope_y), tuple(above.tolist()))
