"""The base of every kind of fault. A fault waits until it is possible, then begins, lasts for a while, and ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, get_args

import numpy as np

from cellwright.core.errors import BadInput
from cellwright.judge.faults.cfg import FaultCfg, LastingFaultCfg
from cellwright.judge.faults.detector_offset import FilteredSensor
from cellwright.judge.faults.fault_state import FaultState
from cellwright.judge.faults.trays import free_trays

if TYPE_CHECKING:
    from cellwright.judge.hand_monitor import HandMonitor
    from cellwright.sim import World

__all__ = ["Fault", "FaultTarget", "LastingFault"]

C = TypeVar("C", bound=FaultCfg)
L = TypeVar("L", bound=LastingFaultCfg)
FaultTarget = Literal["object", "hand", "detector"]

CLEAR_M = 0.030  # a tool nearer to a part than this is about to take it, or has just let it go


class Fault(ABC, Generic[C]):
    """One fault of one run. What it remembers is in its state, which snapshots keep; all else follows from that.

    A kind of fault is a subclass that is registered in `FAULTS`: its configuration, `begin`, and where they are needed
    `go_on`, `apply` and `end`.

    Attributes:
        Cfg: The configuration of the kind: its keys.
        applies_to: What must be there, by the patterns of the configuration: an object (`part` or `tray`), a hand
            (`robot`), a detector (`detector`).
        needs_physics: Whether it works by forces, which a kinematic cell does not have.
        every_step: Whether `go_on` is called at every physics step while it lasts, and not fifty times a second.
        lasts: Whether its end is told as well.
    """

    Cfg: ClassVar[type[FaultCfg]] = FaultCfg
    applies_to: ClassVar[tuple[FaultTarget, ...]] = ("object",)
    needs_physics: ClassVar[bool] = False
    every_step: ClassVar[bool] = False
    lasts: ClassVar[bool] = False

    def __init__(
        self,
        cfg: C,
        world: World,
        hand_monitor: HandMonitor,
        rng: np.random.Generator,
        detectors: Sequence[FilteredSensor] = (),
    ) -> None:
        self.cfg = cfg
        self.world = world
        self.hand_monitor = hand_monitor
        self.rng = rng
        self.detectors = detectors
        self.draw_values()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        allowed = get_args(FaultTarget)
        if not (isinstance(cls.applies_to, tuple) and all(target in allowed for target in cls.applies_to)):
            listed = ", ".join(f"'{target}'" for target in allowed)
            raise BadInput(f"class {cls.__name__}: applies_to is {cls.applies_to!r}, should be a tuple of {listed}")

    def draw_values(self) -> None:
        """Draws from `rng`, once, what the configuration leaves to chance."""

    @classmethod
    def check(cls, cfg: C, world: World) -> None:
        """Refuses what the kind cannot do in this cell, beyond what `applies_to` says.

        Raises:
            BadInput: What is wrong, and what is allowed.
        """

    @abstractmethod
    def begin(self, fault_state: FaultState) -> str | None:
        """Does what is done once and says what was done; None when it is not possible yet: then it is asked again."""

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it is still at work."""
        return False

    def apply(self, fault_state: FaultState) -> None:
        """Changes what stays changed while the fault lasts.

        Called after it began, and again when another fault has ended, a snapshot is restored in which it was at work,
        or the world was built anew because something was added or removed.
        """

    def end(self, fault_state: FaultState) -> None:
        """Restores what `apply` changed: it is over, the run has ended, or a snapshot is restored."""

    def choose(self, fault_state: FaultState) -> str | None:
        """Returns the object of the event; if that does not match or is in a hand, a free one that matches."""
        world, free = self.world, self.free_ones()
        known = world.objects.get(fault_state.subject)
        if known is None or not self.cfg.is_about(known) or self.hand_monitor.holds(fault_state.subject):
            if not free:
                return None
            fault_state.subject = free[int(self.rng.integers(len(free)))]
        return fault_state.subject if fault_state.subject in free else None

    def free_ones(self) -> list[str]:
        """Returns parts, or trays, that match and that a person could take now."""
        if self.cfg.tray is not None:
            return free_trays(self.world, self.hand_monitor, self.cfg)
        return sorted(n for n, i in self.world.objects.items() if self.cfg.is_about(i) and self._is_free(n))

    def _is_free(self, part: str) -> bool:
        return not self.hand_monitor.holds(part) and self.hand_monitor.distance_m(part) > CLEAR_M


class LastingFault(Fault[L]):
    """A fault that lasts as long as its configuration says."""

    Cfg = LastingFaultCfg
    lasts = True

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it still lasts: until its time is over."""
        return self.cfg.for_s is None or self.world.clock.time_s < fault_state.start_s + self.cfg.for_s
