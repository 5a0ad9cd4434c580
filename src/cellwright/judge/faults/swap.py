"""Two parts, or two trays, change places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cellwright.judge.faults.cfg import FaultCfg, Pattern, matches, need_object
from cellwright.judge.faults.exchange import exchange
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.fault_state import FaultState
from cellwright.judge.tray_contents import poses_on_tray

if TYPE_CHECKING:
    from cellwright.sim import World

__all__ = ["SwapCfg", "SwapFault"]


class SwapCfg(FaultCfg):
    """A part, or an empty tray, and the nearest one of another SKU change places.

    Attributes:
        other: The parts or trays of which the nearest is taken, by name, SKU or model, with `*` and `?`.
    """

    kind: Literal["swap"] = "swap"
    other: Pattern = "*"


class SwapFault(Fault[SwapCfg]):
    """Two parts, or two trays, change places."""

    Cfg = SwapCfg

    @classmethod
    def check(cls, cfg: SwapCfg, world: World) -> None:
        """Refuses another object that is not there."""
        items = [item for item in world.objects.values() if item.is_tray == (cfg.tray is not None)]
        need_object(f"fault {cfg.kind}", "other", cfg.other, items)

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when no hand holds either."""
        part = self.choose(fault_state)
        if part is None:
            return None
        world, here = self.world, self.world.pose_of(part)
        others = [
            (here.distance_m(world.pose_of(name)), name)
            for name in self._candidates()
            if world.objects[name].sku != world.objects[part].sku and matches(world.objects[name], self.cfg.other)
        ]
        if not others:
            return None
        exchange(world, part, min(others)[1])
        return f"changed places with {min(others)[1]}"

    def free_ones(self) -> list[str]:
        """Returns free parts, or free empty trays: what lay in them would hang in the air."""
        return [name for name in super().free_ones() if self.cfg.tray is None or not poses_on_tray(self.world, name)]

    def _candidates(self) -> list[str]:
        """Returns the objects that may come in its place."""
        anything = self.cfg.model_copy(update={"part": "*", "tray": None if self.cfg.tray is None else "*"})
        return SwapFault(anything, self.world, self.hand_monitor, self.rng).free_ones()
