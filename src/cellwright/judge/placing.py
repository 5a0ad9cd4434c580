"""The verdict on an object that was to be set down on an area, by the truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cellwright.catalogue import PartFigures
from cellwright.judge.support import TOUCH_M, geoms_of, nearest_m
from cellwright.shapes.part_shape import part_shape
from cellwright.sim import World

__all__ = ["PlaceVerdict", "judge_placed"]

TILT_RAD = float(np.radians(2.0))
HEIGHT_M = 0.002
FOOT_M = 0.0005  # what is no higher above its lowest point is its foot
STILL_MPS, STILL_RADPS = 0.01, 0.05


@dataclass(frozen=True, kw_only=True)
class PlaceVerdict:
    """The state of one object against what was ordered.

    Attributes:
        thing: Its name.
        upright: Whether it leans by at most 2 degrees and stands on the area's face.
        at_rest: Whether it does not move.
        inside: Whether its whole foot is on the area.
        released: Whether no robot touches it.
        error_m: Of its axis from the area's middle, in the plane.
        tilt_rad: How far it leans.
        reason: What is wrong, or how well it stands.
    """

    thing: str
    upright: bool
    at_rest: bool
    inside: bool
    released: bool
    error_m: float
    tilt_rad: float
    reason: str

    @property
    def placed(self) -> bool:
        """Whether it is as it was ordered."""
        return self.upright and self.at_rest and self.inside and self.released

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return asdict(self) | {"placed": self.placed}


def judge_placed(world: World, thing: str, corners_m: np.ndarray) -> PlaceVerdict:
    """Returns the verdict on an object now.

    Args:
        world: What is really there.
        thing: The object's name.
        corners_m: The corners (4, 3) of the area in the world, in turn.
    """
    item, pose = world.object(thing), world.pose_of(thing)
    figures = item.figures
    assert isinstance(figures, PartFigures)
    middle = corners_m.mean(axis=0)
    tilt_rad = float(np.arccos(np.clip(pose.rotation_matrix[2, 2], -1.0, 1.0)))
    points = pose.apply(part_shape(figures).corners)
    foot = points[points[:, 2] <= points[:, 2].min() + FOOT_M]
    above_m = float(foot[:, 2].min() - middle[2])
    speed = np.abs(world.data.qvel[item.dof : item.dof + 6])
    robots = [body for robot in world.robots.values() for body in _bodies(world, robot.base_body)]
    facts = {
        "upright": bool(tilt_rad <= TILT_RAD and abs(above_m) <= HEIGHT_M),
        "at_rest": bool(speed[:3].max() <= STILL_MPS and speed[3:].max() <= STILL_RADPS),
        "inside": _all_inside(foot[:, :2], corners_m[:, :2]),
        "released": nearest_m(world, geoms_of(world, [item.body]), geoms_of(world, robots), TOUCH_M) > TOUCH_M,
    }
    error_m = float(np.hypot(*(pose.position - middle)[:2]))
    wrong = {
        "upright": f"it leans by {np.degrees(tilt_rad):.1f} deg, {1000 * above_m:.1f} mm above the area",
        "at_rest": f"it moves at {speed[:3].max():.2f} m/s",
        "inside": f"it is not on the area: {1000 * error_m:.0f} mm from its middle",
        "released": "a robot touches it",
    }
    problems = [text for fact, text in wrong.items() if not facts[fact]]
    well = f"it stands on the area, {1000 * error_m:.1f} mm from its middle"
    return PlaceVerdict(thing=thing, error_m=error_m, tilt_rad=tilt_rad, reason="; ".join(problems) or well, **facts)


def _bodies(world: World, root: int) -> list[int]:
    return [int(body) for body in np.flatnonzero(world.model.body_rootid == world.model.body_rootid[root])]


def _all_inside(points: np.ndarray, corners: np.ndarray) -> bool:
    """Returns whether all points are inside a convex polygon, whose corners run counter-clockwise."""
    along = np.roll(corners, -1, axis=0) - corners
    apart = points[:, None] - corners
    return bool((along[:, 0] * apart[..., 1] - along[:, 1] * apart[..., 0] >= 0).all())
