"""Contact physics: MuJoCo with the settings under which friction alone holds a gear."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from cellwright.core.errors import SimulationError
from cellwright.sim.backlash import Backlash
from cellwright.sim.turning_hands import TurningHands
from cellwright.sim.wheels import Wheels

__all__ = ["PhysicsEngine", "apply_options"]

_FAILURES = {
    mujoco.mjtWarning.mjWARN_BADQPOS: "physics diverged",
    mujoco.mjtWarning.mjWARN_BADQVEL: "physics diverged",
    mujoco.mjtWarning.mjWARN_BADQACC: "physics diverged",
    mujoco.mjtWarning.mjWARN_BADCTRL: "a command that is not a number",
    mujoco.mjtWarning.mjWARN_CONTACTFULL: "more contacts than memory",
    mujoco.mjtWarning.mjWARN_CNSTRFULL: "more constraints than memory",
}

# MuJoCo would write its warnings to stderr and to a file in whatever folder the user happens to be.
mujoco.set_mju_user_warning(logging.getLogger("cellwright.mujoco").info)


def apply_options(spec: Any, timestep_s: float, *, sleep: bool = True, grips: bool = True) -> None:
    """Applies solver settings: discrete integrator, elliptic cones, high impedance ratio, sleeping islands.

    With MuJoCo's defaults a held gear is lost in every trial; with these it is held in every one. `discrete`
    solves contact and servo stiffness together, so a part does not run ahead of the fingers that carry it.

    Where nothing `grips`, a ratio of 10 and MuJoCo's Euler integrator do: wheels roll as truly with them, and fifty
    robots take half the time. With a ratio of 1, soft tyres creep under load. `implicitfast` would not do: it slows
    wheels down after friction was solved for.
    """
    option = spec.option
    option.timestep = timestep_s
    integrators = mujoco.mjtIntegrator
    option.integrator = integrators.mjINT_DISCRETE if grips else integrators.mjINT_EULER
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 100.0 if grips else 10.0
    if sleep:
        option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP


class PhysicsEngine:
    """Steps a model; notices when the state is no longer a number.

    Args:
        model: MuJoCo's model.
        data: MuJoCo's data.
        backlash: The backlash of the arms' gears.
        hands: The hands whose contacts must turn with them, if there are any.
        wheels: The wheels of mobile robots, if there are any.
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        backlash: Sequence[Backlash] = (),
        hands: TurningHands | None = None,
        wheels: Wheels | None = None,
    ) -> None:
        self._backlash = backlash
        self._hands = hands
        self._wheels = None if wheels is None or wheels.is_idle else wheels
        self.replace(model, data)

    def replace(self, model: Any, data: Any) -> None:
        """Continues with another model and data, after bodies were added or removed."""
        self.model = model
        self.data = data
        self._warnings = data.warning.number  # a live view
        self._known = self._warnings.tobytes()

    def addresses(self) -> tuple[int, int]:
        """Returns the memory addresses of model and data."""
        return self.model._address, self.data._address

    def step(self, count: int) -> None:
        """Takes so many steps in one call.

        Raises:
            SimulationError: when physics has diverged or lost contacts; the world is of no use then.
        """
        start_s = self.data.time
        for one in self._backlash:
            one.engage(count * self.model.opt.timestep)
        if self._wheels is not None:
            self._roll(self._wheels, count)
        else:
            self._move(count)
        for one in self._backlash:
            one.release()
        if self._warnings.tobytes() != self._known:
            self.check(start_s)

    def _roll(self, wheels: Wheels, count: int) -> None:
        wheels.engage(count)
        for number in range(count):
            wheels.drive(number)
            self._move(1)
        wheels.release()

    def _move(self, count: int) -> None:
        if self._hands is None:
            mujoco.mj_step(self.model, self.data, count)
        else:
            self._hands.step(count)

    def check(self, since_s: float = 0.0) -> None:
        """Raises an error when MuJoCo warned of a failure since that time."""
        for kind, what in _FAILURES.items():
            if self._warnings[kind]:
                place = self._place(kind, int(self.data.warning[kind].lastinfo))
                raise SimulationError(f"{what} after {since_s:.3f} s{place}")
        self._known = self._warnings.tobytes()  # a warning that changes nothing

    def _place(self, kind: mujoco.mjtWarning, number: int) -> str:
        """Returns the place of a failure, as text: a body or an actuator."""
        if kind in (mujoco.mjtWarning.mjWARN_CONTACTFULL, mujoco.mjtWarning.mjWARN_CNSTRFULL):
            return ""
        if kind == mujoco.mjtWarning.mjWARN_BADCTRL:
            actuator = np.searchsorted(self.model.actuator_ctrladr, number, side="right") - 1
            return f", to actuator '{self.model.actuator(int(actuator)).name}'"
        if kind == mujoco.mjtWarning.mjWARN_BADQPOS:
            body = self.model.jnt_bodyid[np.searchsorted(self.model.jnt_qposadr, number, side="right") - 1]
        else:
            body = self.model.dof_bodyid[number]
        return f", first seen at body '{self.model.body(int(body)).name}'"
