"""Touching a mark: closed fingers come down on its top and against its sides, slowly, until the wrist feels it.

Opposite sides cancel the extent of fingers and mark, and the middle of both is its axis. What is taken is the pose that
the robot reports for the moment at which its guard felt the contact, not that of its rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GripperFigures
from cellwright.catalogue.objects import TurnedFigures
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.execution.arm import TOUCH_MPS, ArmClient, ArmFailed, raised, tool_down

__all__ = [
    "ABOVE_M",
    "HALF_TURN_RAD",
    "OVER_M",
    "SIDE_NEAR_M",
    "SIDE_START_M",
    "Fingers",
    "MarkToucher",
    "TouchFailed",
    "first_side",
]

Array = npt.NDArray[np.float64]

HALF_TURN_RAD = float(np.pi)
ABOVE_M = 0.05  # above a mark, where a hand comes from and goes to
LIFTS_M = (ABOVE_M, 0.03, 0.015)  # the same where reach ends
HOP_M = 0.10  # as far as a hand goes straight from one place above a mark to another
TOP_START_M = 0.020  # above where the top should be, from where slow motion begins; as far below it ends
TOP_NEAR_M = 0.008  # the same after another mark was felt
SIDE_START_M = 0.034  # beside where a side should be, before any other was felt: as far as the top was felt from it
SIDE_KNOWN_M = 0.010  # the same of a mark whose place follows from others
SIDE_NEAR_M = 0.004  # the same once the opposite side was felt
OVER_M = 0.006  # above the top, where fingers go from one side to the other
BACK_M = 0.0006  # after the first contact, before the second, finer one
FINE_MPS = 0.001  # of that: at 50 readings a second, 0.02 mm and 0.6 N from one to the next
SLOW_MPS = 0.05
CONTACT_N = 1.5
WIDTH_M = 0.0015  # by which a mark may seem wider or narrower than it is: gears have play, fingers lean
RING_M = ((0.0, 0.0), *((0.024 * np.cos(k * np.pi / 3), 0.024 * np.sin(k * np.pi / 3)) for k in range(6)))
"""Where the top of a mark is looked for, from where it should be: a mark that is seen up to 45 mm aside is met."""
AXES = ("Fx", "Fy", "Fz")


class TouchFailed(JobFailed):
    """A mark that was not felt as it should be."""


@dataclass(frozen=True)
class Fingers:
    """The extent of closed fingers about their tool's centre point.

    Attributes:
        tip_m: How far their tips are below it.
        half_m: Their extent to each side, along x and y of the tool.
    """

    tip_m: float
    half_m: tuple[float, float]

    @classmethod
    def of(cls, tool: GripperFigures) -> Self:
        """Returns those of a gripper."""
        x_m = tool.closed_m + tool.pad_size_m[0] + tool.finger_size_m[0]
        return cls(
            tool.pad_offset_m + tool.pad_size_m[2] / 2, (x_m, max(tool.pad_size_m[1], tool.finger_size_m[1]) / 2)
        )

    @property
    def depth_m(self) -> float:
        """The depth of the tips below a rim, which is then as far above the centre point: so leaning cancels."""
        return 2 * self.tip_m


class MarkToucher:
    """One robot with bare, closed fingers.

    Args:
        arm: The robot, prepared.
        fingers: Their extent.
        mark: The figures of marks.
        base_m: Where the robot stands: sides that face it are felt first, from as far as is needed to miss a mark that
            is not where it was seen; behind it, where reach ends, its place is known.
    """

    def __init__(self, arm: ArmClient, fingers: Fingers, mark: TurnedFigures, base_m: Array) -> None:
        self._arm = arm
        self._base_m = base_m
        self._fingers = fingers
        self._mark = mark

    async def touch(self, name: str, top_m: Array, yaws_rad: Sequence[float], *, near: bool = False) -> Pose:
        """Feels the axis and the top of a mark; the hand ends above it.

        Args:
            name: Its name, for messages.
            top_m: Where the middle of its upper face should be, in the world by the drawn base.
            yaws_rad: Turns of the tool: the first with which the robot gets to all sides along lines is taken.
            near: Whether that is known to a few millimetres.

        Returns:
            The pose of the tool in the world by the drawn base, with its tips on the middle of the top.

        Raises:
            TouchFailed: It is not there, or gives way; or the robot gets to its sides in no way.
            ArmFailed: The robot is lost.
        """
        problem = "no turn of the tool is left to try"
        for yaw_rad in yaws_rad:
            try:
                return await self._touch(name, top_m, yaw_rad, near)
            except ArmFailed as error:
                if error.is_lost_robot:
                    raise
                problem = str(error)
                await self._arm.prepare()
                await self.rise()
        raise TouchFailed(
            f"{self._arm.name} does not get to all sides of {name}: {problem}; choose another place for it"
        )

    async def _touch(self, name: str, top_m: Array, yaw_rad: float, near: bool) -> Pose:
        middle = tool_down(np.array([*top_m[:2], top_m[2] + self._fingers.tip_m]), yaw_rad)
        await self._go_above(middle)
        middle = await self._top(name, middle, near=near)
        if near:
            middle = await self._both_sides(name, middle, 1, SIDE_KNOWN_M)
        else:
            coarse = await self._one_side(name, middle, 0)
            centred = await self._both_sides(name, coarse, 1, SIDE_START_M)
            middle = self._inwards(centred, float((coarse.inverse() @ centred).position[1]))
        middle = await self._both_sides(name, middle, 0, SIDE_KNOWN_M if near else SIDE_NEAR_M)
        await self._lift(middle)
        return middle

    async def _go_above(self, middle: Pose) -> None:
        """Goes above a place; one that is not near, by way of the rest position turned towards it, above everything."""
        arm, above = self._arm, raised(middle, float(middle.position[2]) + ABOVE_M)
        here = (await arm.read()).pose_tool_in_world
        if here.distance_m(above) <= HOP_M:
            await arm.move(raised(here, float(above.position[2])), arm.recipe.slow_mps)
            await arm.move(above, arm.recipe.fast_mps, straight=False)
            return
        await self.rise()
        await arm.rest(self._aside_rad(above.position))
        await arm.move(above, arm.recipe.fast_mps, straight=False)

    async def rise(self) -> None:
        """Leaves a mark upwards, to the height of the rest position."""
        here = (await self._arm.read()).pose_tool_in_world
        if self._arm.rest_point is not None and here.position[2] < self._arm.rest_point[2] - ABOVE_M:
            await self._lift(here)
            await self._arm.rest(self._aside_rad(here.position))

    async def _lift(self, pose: Pose) -> None:
        """Goes above a pose, at the edge of its reach less high than elsewhere."""
        for up_m in LIFTS_M:
            try:
                await self._arm.move(raised(pose, float(pose.position[2]) + up_m), self._arm.recipe.slow_mps)
            except ArmFailed as error:
                if error.is_lost_robot or up_m == LIFTS_M[-1]:
                    raise
                await self._arm.prepare()
            else:
                return

    def _aside_rad(self, point_m: Array) -> float:
        """Returns how far the rest position is turned when it points there."""
        rest_m = np.array(self._arm.rest_point if self._arm.rest_point is not None else point_m)
        (x, y), (rest_x, rest_y) = (point_m - self._base_m)[:2], (rest_m - self._base_m)[:2]
        turn_rad = np.arctan2(y, x) - np.arctan2(rest_y, rest_x)
        return float((turn_rad + np.pi) % (2 * np.pi) - np.pi)

    async def _top(self, name: str, middle: Pose, *, near: bool) -> Pose:
        """Feels the top, where it should be or, if that is not known well, about there; returns the pose there."""
        arm, height_m = self._arm, float(middle.position[2])
        for offset_m in RING_M[: 1 if near else None]:
            place = middle @ Pose.from_xyz_rpy([*offset_m, 0.0])
            await arm.move(raised(place, height_m + (TOP_NEAR_M if near else TOP_START_M)), arm.recipe.slow_mps)
            felt = await arm.touch(raised(place, height_m - TOP_START_M), TOUCH_MPS, CONTACT_N, AXES)
            top_m = height_m if felt is None else float(felt.position[2])
            await arm.move(raised(place, top_m + OVER_M), SLOW_MPS)
            if felt is not None:
                return raised(place, top_m)
        x, y, _ = middle.position
        raise TouchFailed(
            f"{arm.name} felt nothing where {name} should be, at {x:.3f}, {y:.3f} m, within "
            f"{1000 * TOP_START_M:g} mm of its height: put the mark there, or correct the drawing"
        )

    async def _one_side(self, name: str, middle: Pose, axis: int) -> Pose:
        """Moves the believed middle to where one side was felt; coarse."""
        shift_m = await self._side_m(name, middle, axis, self._first(middle, axis), SIDE_START_M, fine=False)
        return _shifted(middle, axis, shift_m)

    def _inwards(self, centred: Pose, beside_m: float) -> Pose:
        """Returns the middle after its first side was felt so far beside it, where a cylinder is not as wide."""
        radius_m = self._mark.radius_m
        across_m = min(max(abs(beside_m) - self._fingers.half_m[1], 0.0), radius_m)
        short_m = radius_m - float(np.sqrt(radius_m**2 - across_m**2))
        return _shifted(centred, 0, self._first(centred, 0) * short_m)

    async def _both_sides(self, name: str, middle: Pose, axis: int, start_m: float) -> Pose:
        sign = self._first(middle, axis)
        first_m = await self._side_m(name, middle, axis, sign, start_m)
        second_m = await self._side_m(name, _shifted(middle, axis, first_m), axis, -sign, SIDE_NEAR_M) + first_m
        wider_m = sign * (first_m - second_m)
        if abs(wider_m) > WIDTH_M:
            raise TouchFailed(
                f"{name} feels {abs(1000 * wider_m):.2f} mm {'wider' if wider_m > 0 else 'narrower'} than it is, "
                f"between two touches of {self._arm.name}: it was moved, or is no {self._mark.name}; put it down again"
            )
        return _shifted(middle, axis, (first_m + second_m) / 2)

    def _first(self, middle: Pose, axis: int) -> float:
        return first_side(middle.rotation_matrix[:, axis], self._base_m - middle.position)

    async def _side_m(
        self, name: str, middle: Pose, axis: int, sign: float, start_m: float, *, fine: bool = True
    ) -> float:
        """Feels one side; returns how far the mark is from the believed middle, along an axis of the tool."""
        arm, depth_m = self._arm, self._fingers.depth_m
        reach_m = self._mark.outer_radius_m(self._mark.height_m - depth_m) + self._fingers.half_m[axis]
        over_m, down_m = float(middle.position[2]) + OVER_M, float(middle.position[2]) - depth_m
        start = _shifted(middle, axis, sign * (reach_m + start_m))
        stop = _shifted(middle, axis, sign * (reach_m - start_m))
        await arm.move(raised(start, over_m), arm.recipe.slow_mps)
        if await arm.touch(raised(start, down_m), SLOW_MPS, 2 * CONTACT_N, ("Fz",)) is not None:
            await arm.move(raised(start, over_m), SLOW_MPS)
            raise TouchFailed(
                f"{arm.name} met something beside {name} on the way down, where nothing should be: the mark is more "
                f"than {1000 * start_m:g} mm from where it was seen, or something stands too near; put it down again"
            )
        felt = await arm.touch(raised(stop, down_m), TOUCH_MPS, CONTACT_N, AXES)
        if felt is not None and fine:
            await arm.move(raised(_shifted(felt, axis, sign * BACK_M), down_m), FINE_MPS * 5)
            felt = await arm.touch(raised(_shifted(felt, axis, -2 * sign * BACK_M), down_m), FINE_MPS, CONTACT_N, AXES)
        await arm.move(raised(start, down_m), SLOW_MPS)
        await arm.move(raised(start, over_m), arm.recipe.slow_mps)
        if felt is None:
            raise TouchFailed(
                f"{arm.name} felt no side of {name} within {1000 * start_m:g} mm of where it was seen: it was moved, "
                f"or it is no {self._mark.name}; put it down again"
            )
        along_m = float((middle.inverse() @ felt).position[axis])
        return along_m - sign * reach_m


def first_side(axis: Array, towards_base: Array) -> float:
    """Returns the side of a mark, by its sign along an axis of the tool, that faces the robot."""
    return 1.0 if float(np.dot(axis[:2], towards_base[:2])) >= 0.0 else -1.0


def _shifted(pose: Pose, axis: int, by_m: float) -> Pose:
    """Returns a pose moved along an axis of its own."""
    return pose @ Pose.from_xyz_rpy(by_m * np.eye(3)[axis])
