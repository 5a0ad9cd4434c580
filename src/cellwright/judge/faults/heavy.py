"""Parts or trays that are heavier, or lighter, than their figures say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cellwright.judge.faults.cfg import LastingFaultCfg
from cellwright.judge.faults.fault import LastingFault
from cellwright.judge.faults.fault_state import FaultState

__all__ = ["HeavyCfg", "HeavyFault"]


class HeavyCfg(LastingFaultCfg):
    """All matching parts, or trays, have another mass, for a while or for good.

    Attributes:
        factor: How many times their own.
    """

    kind: Literal["heavy"] = "heavy"
    factor: Annotated[float, Field(gt=0, le=1000)] = 2.0


class HeavyFault(LastingFault[HeavyCfg]):
    """Scaled masses and moments of inertia, from the event on."""

    Cfg = HeavyCfg
    needs_physics = True

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins at once."""
        names = sorted(name for name, item in self.world.objects.items() if self.cfg.is_about(item))
        fault_state.subject = fault_state.subject if fault_state.subject in names else ""
        return f"{len(names)} of them have {self.cfg.factor:g} times their mass {self.cfg.duration_text}"

    def apply(self, fault_state: FaultState) -> None:
        """Sets the masses; what they are without this fault is in the figures, and in the specification."""
        self._scale(self.cfg.factor)

    def end(self, fault_state: FaultState) -> None:
        """Restores the masses."""
        self._scale(1.0)

    def _scale(self, factor: float) -> None:
        import mujoco  # not at the start: faults are parsed before the simulator is loaded

        model = self.world.model
        for item in self.world.objects.values():
            if self.cfg.is_about(item):
                ratio = factor * item.figures.mass_kg / model.body_mass[item.body]
                model.body_mass[item.body] *= ratio
                model.body_inertia[item.body] *= ratio
        locks = model.eq_data.copy()
        mujoco.mj_setConst(model, mujoco.MjData(model))  # what the solver derives from masses
        model.eq_data[:] = locks  # it also sets locks of tool changers anew, as the cell is drawn
