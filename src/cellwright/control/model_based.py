"""Controllers that know the arm's dynamics: computed torque in joint space and in Cartesian space, compiled."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cellwright.control import laws
from cellwright.control.compiled import compiled_tick
from cellwright.control.control_block import make_block
from cellwright.control.controller import CHECK_HZ, CONTROLLERS, Array, Controller, ControllerContext
from cellwright.core.errors import UnknownName
from cellwright.sim import ScheduledCall, TickOrder

__all__ = ["CartesianController", "ComputedTorqueController"]

PROFILES = ("full", "paper")


class ModelBasedController(Controller):
    """The base of both: a block of memory, and a compiled tick that works on it.

    Args:
        context: The arm.
        stiffness: Kp of the reference's error.
        damping: Kd of it.
        profile: `full` models the tool; `paper` does not, and has the drive carry its weight, as the ROVI paper does.
    """

    law: ClassVar[str]

    def __init__(
        self, context: ControllerContext, *, stiffness: float = 800.0, damping: float = 400.0, profile: str = "full"
    ) -> None:
        if profile not in PROFILES:
            raise UnknownName("profile", profile, PROFILES)
        self.weightless_tool = profile == "paper"
        self.block = make_block(
            context.world.robot(context.robot),
            context.pose_base_in_world,
            context.payload,
            with_tool=not self.weightless_tool,
            gravity_mps2=-float(context.world.model.opt.gravity[2]),
        )
        self.row: Any = self.block[0]
        self.row["stiffness"], self.row["damping"] = stiffness, damping
        super().__init__(context)
        self.row["zeros"][: self.joints] = context.drive.zeros_rad
        self.row["play"] = 0 if context.drive.backlash is None else context.drive.backlash.state.ctypes.data
        self._function = compiled_tick(self.law)
        self.look_up()

    def look_up(self) -> None:
        """Looks up the addresses of the drives' numbers."""
        drive = self.drive
        for name, view in (("qpos", drive.qpos), ("qvel", drive.qvel), ("ctrl", drive.ctrl_position)):
            self.row[name] = view.ctypes.data

    @property
    def count(self) -> int:
        """The number of rows of the reference that are done."""
        return int(self.row["count"])

    @count.setter
    def count(self, value: int) -> None:
        self.row["count"] = value

    def command(self, reference: Array, position_rad: Array, velocity_radps: Array) -> npt.ArrayLike:
        """Returns the commands by the same law in Python: slow, for comparison with the compiled one."""
        getattr(laws, self.law)(self.row, position_rad, velocity_radps, reference)
        return np.array(self.row["effort"][: self.joints])

    def follow(self, reference: Array) -> None:
        """Begins with another reference."""
        super().follow(reference)
        self.row["rows"], self.row["reference"] = len(self.reference), self.reference.ctypes.data

    def _schedule(self) -> list[ScheduledCall]:
        name, world, stepper = f"{self.context.robot} {self.law}", self.context.world, self.context.stepper
        user, address = self.block.ctypes.data, self._function.address
        return [
            stepper.every_compiled(self.period_ticks, address, order=TickOrder.CONTROL, name=name, user=user),
            stepper.every(
                world.clock.period_ticks(CHECK_HZ), self._check, order=TickOrder.CONTROL, name=f"{name} watch"
            ),
        ]

    def _check(self) -> None:
        self.watch()


@CONTROLLERS.register("computed_torque")
class ComputedTorqueController(ModelBasedController):
    """Each joint a damped spring on its reference, the arm's dynamics cancelled (ROVI, equations 5 to 8)."""

    law = "computed_torque"


@CONTROLLERS.register("cartesian")
class CartesianController(ModelBasedController):
    """The flange a damped spring on its reference pose (ROVI, equations 9 to 12).

    Args:
        context: The arm.
        stiffness: Kp of the pose's error.
        damping: Kd of it.
        profile: As for computed torque.
        epsilon: Damping of the inverse; the larger, the calmer near singular configurations, and the less exact.
    """

    law = "cartesian"

    def __init__(
        self,
        context: ControllerContext,
        *,
        stiffness: float = 800.0,
        damping: float = 400.0,
        profile: str = "full",
        epsilon: float = 0.05,
    ) -> None:
        super().__init__(context, stiffness=stiffness, damping=damping, profile=profile)
        self.row["epsilon"] = epsilon
        self.row["null_share"] = float(self.joints > 6)
