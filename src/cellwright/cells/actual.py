"""Deviations of the actual layout of a cell from its drawings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BeforeValidator, model_validator

from cellwright.cells.error_sizes import ERROR_SIZES, ErrorSize
from cellwright.core.camera import LensError
from cellwright.core.config import Cfg, Number, draw
from cellwright.core.pose import Pose

__all__ = ["Actual", "ActualCfg", "LensErrorCfg", "PoseErrorCfg", "about", "draw_error"]


def _at_most(limit: float, least: float | None = None) -> Callable[[Number], Number]:
    """Returns a check that an error, or every figure of its distribution, is within a limit to both sides."""
    low = -limit if least is None else least

    def check(number: Number) -> Number:
        figures = [number] if isinstance(number, int | float) else number.model_dump(exclude={"distribution"}).values()
        for figure in figures:
            if not low <= figure <= limit:
                raise ValueError(f"should be between {low:g} and {limit:g}")
        return number

    return check


Length = Annotated[Number, AfterValidator(_at_most(1.0))]
Turn = Annotated[Number, AfterValidator(_at_most(180.0))]
Tilt = Annotated[Number, AfterValidator(_at_most(45.0))]
Pixels = Annotated[Number, AfterValidator(_at_most(500.0))]


class PoseErrorCfg(Cfg):
    """The deviation of a pose from its drawing: numbers and standard deviations up to 1 m and 180 degrees.

    Attributes:
        x_m: Along the object's own x axis.
        y_m: Along its y axis.
        z_m: Along its z axis.
        roll_deg: About its x axis, up to 45 degrees.
        pitch_deg: About its y axis, up to 45 degrees.
        yaw_deg: About its z axis.
    """

    x_m: Length = 0.0
    y_m: Length = 0.0
    z_m: Length = 0.0
    roll_deg: Tilt = 0.0
    pitch_deg: Tilt = 0.0
    yaw_deg: Turn = 0.0


class LensErrorCfg(Cfg):
    """The deviation of a camera's lens from the perfect one that it is taken for.

    Attributes:
        edge_px: Radial distortion (the first term of Brown's model, k1): how far the middle of the picture's left and
            right edge is displaced outwards; it grows with the third power of the distance from the middle.
        centre_column_px: How far the lens's axis meets the picture beside its middle, to the right.
        centre_row_px: The same downwards.
    """

    edge_px: Pixels = 0.0
    centre_column_px: Pixels = 0.0
    centre_row_px: Pixels = 0.0


Backlash = Annotated[Number, AfterValidator(_at_most(5.0, least=0.0))]


class ActualCfg(Cfg):
    """The errors from which the actual layout is drawn, once per seed; only the simulation knows the result.

    The name of a size alone, `actual: as_built`, stands for all of its errors.

    Attributes:
        size: A named size of all errors, from which the other keys differ: `as_built`, before calibration, or
            `calibrated`, what a good calibration leaves.
        robot_base: Of each robot's base.
        tool: Of each robot's tool on its flange.
        joint_zero_deg: Of the zero of each joint.
        backlash_deg: The whole play of a joint's gear, for every joint or one by one; a draw below zero counts as far
            above it.
        table: Of each table, turned about the middle of its top. What stands on it moves with it, but for robots and
            cameras, which are surveyed on their own.
        holder: Of each tool holder, turned about the place where its tool hangs, besides that of its table.
        box: Of each box for trays, turned about the middle of its underside, besides that of its table; lifted
            until no corner is below that.
        tray: Of each tray, besides that of what it stands on. One that is tilted is lifted until it is clear, and falls
            flat; in a box it keeps within the walls.
        camera: Of each camera, along the axes of the piece that carries it, turned about its centre of projection.
        lens: Of each camera's lens.
        mobile: Of each mobile robot.
        wheel_radius_m: Of the radius of each wheel of a mobile robot.
        wheel_base_m: Of the distance of a mobile robot's wheels.
        wheel_friction: Of the friction of each of its tyres, by which they slip.
        motor_torque_nm: Of the largest torque of each of its motors, beyond which they lose steps.
    """

    size: ErrorSize | None = None
    robot_base: PoseErrorCfg = PoseErrorCfg()
    tool: PoseErrorCfg = PoseErrorCfg()
    joint_zero_deg: Annotated[Number, AfterValidator(_at_most(10.0))] = 0.0
    backlash_deg: Backlash | tuple[Backlash, ...] = 0.0
    table: PoseErrorCfg = PoseErrorCfg()
    holder: PoseErrorCfg = PoseErrorCfg()
    box: PoseErrorCfg = PoseErrorCfg()
    tray: PoseErrorCfg = PoseErrorCfg()
    camera: PoseErrorCfg = PoseErrorCfg()
    lens: LensErrorCfg = LensErrorCfg()
    mobile: PoseErrorCfg = PoseErrorCfg()
    wheel_radius_m: Annotated[Number, AfterValidator(_at_most(0.1))] = 0.0
    wheel_base_m: Annotated[Number, AfterValidator(_at_most(0.1))] = 0.0
    wheel_friction: Annotated[Number, AfterValidator(_at_most(1.0))] = 0.0
    motor_torque_nm: Annotated[Number, AfterValidator(_at_most(0.1))] = 0.0

    @model_validator(mode="after")
    def _fill_in_size(self) -> Self:
        """Takes what is not said from the named size."""
        if self.size is not None:
            for key, value in ActualCfg.model_validate(ERROR_SIZES[self.size]):
                if key != "size":
                    object.__setattr__(self, key, _said(getattr(self, key), value, key in self.model_fields_set))
        return self


def _said(own: Any, usual: Any, is_said: bool) -> Any:
    """Returns an error where it is said, and the usual one where it is not; of poses and lenses key by key."""
    if not is_said or not isinstance(own, PoseErrorCfg | LensErrorCfg):
        return own if is_said else usual
    return usual.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})


def _mapping(value: Any) -> Any:
    return {"size": value} if isinstance(value, str) else value


Actual = Annotated[ActualCfg, BeforeValidator(_mapping, json_schema_input_type=ActualCfg | ErrorSize)]
"""The section `actual` of a cell: the mapping, or the name of a size."""


def draw_error(errors: PoseErrorCfg, rng: np.random.Generator) -> Pose:
    """Returns one draw of an object's deviation from its drawing, in its own frame."""
    xyz = [draw(errors.x_m, rng), draw(errors.y_m, rng), draw(errors.z_m, rng)]
    yaw, roll, pitch = (draw(angle, rng) for angle in (errors.yaw_deg, errors.roll_deg, errors.pitch_deg))
    return Pose.from_xyz_rpy(xyz, np.radians([roll, pitch, yaw]))


def draw_lens(errors: LensErrorCfg, rng: np.random.Generator) -> LensError | None:
    """Returns one draw of a lens's deviation; None from errors of zero."""
    edge, column, row = (draw(error, rng) for error in (errors.edge_px, errors.centre_column_px, errors.centre_row_px))
    return LensError(edge, (column, row)) if edge or column or row else None


def about(pivot_m: npt.ArrayLike, error: Pose) -> Pose:
    """Returns an error that turns about a point of the object, in the object's frame, and not about its origin."""
    pivot = np.asarray(pivot_m, float)
    shift = pivot - error.rotation_matrix @ pivot
    return Pose(error.position + shift, error.quaternion) if shift.any() else error
