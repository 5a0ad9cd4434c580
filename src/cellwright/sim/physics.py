"""Contact physics: MuJoCo with the settings under which friction alone holds a gear."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.core.errors import SimulationError

__all__ = ["PhysicsEngine", "apply_options"]


def apply_options(spec: Any, timestep_s: float, *, sleep: bool = True) -> None:
    """Solver settings: discrete integrator, elliptic cones, high impedance ratio, sleeping islands.

    With MuJoCo's defaults a held gear is lost in every trial; with these it is held in every one. `discrete`
    solves contact and servo stiffness together, so a part does not run ahead of the fingers that carry it.
    """
    option = spec.option
    option.timestep = timestep_s
    option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 100.0
    if sleep:
        option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP


class PhysicsEngine:
    """Steps a model; notices when the state is no longer a number."""

    def __init__(self, model: Any, data: Any) -> None:
        self.replace(model, data)

    def replace(self, model: Any, data: Any) -> None:
        """Goes on with another model and data, after bodies were added or removed."""
        self.model, self.data = model, data

    def addresses(self) -> tuple[int, int]:
        """Where model and data lie in memory."""
        return self.model._address, self.data._address

    def step(self, count: int) -> None:
        """Takes so many steps in one call."""
        mujoco.mj_step(self.model, self.data, count)

    def check(self) -> None:
        """Raises when physics has diverged: a body that flew off tells nobody anything."""
        for kind in (
            mujoco.mjtWarning.mjWARN_BADQPOS,
            mujoco.mjtWarning.mjWARN_BADQVEL,
            mujoco.mjtWarning.mjWARN_BADQACC,
        ):
            warning = self.data.warning[kind]
            if warning.number:
                dof = min(int(warning.lastinfo), self.model.nv - 1)
                body = self.model.body(int(np.atleast_1d(self.model.dof_bodyid[dof])[0])).name
                raise SimulationError(f"physics diverged near body '{body}' at {self.data.time:.3f} s")
