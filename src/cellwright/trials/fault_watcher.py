"""Records of applied faults, and whether they could be recovered from once things were at rest."""

from __future__ import annotations

from collections.abc import Callable

from cellwright.core.bus import Role
from cellwright.core.messages import FaultEvent
from cellwright.judge import Recoverability
from cellwright.lab.lab import Lab
from cellwright.sim import World
from cellwright.trials.report import FaultRecord

__all__ = ["STILL_MPS", "FaultWatcher", "speed_mps"]

REST_S, LONGEST_REST_S = 0.5, 4.0  # how long what a fault has moved is given to come to rest
STILL_MPS = 0.01


def speed_mps(world: World, name: str) -> float:
    """Returns the speed of a loose object along its fastest axis."""
    dof = world.objects[name].dof
    return float(abs(world.data.qvel[dof : dof + 3]).max())


class FaultWatcher:
    """Records the faults that are told on the bus, and asks an oracle about each.

    Attributes:
        records: What was applied, in order.

    Args:
        lab: The laboratory.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.records: list[FaultRecord] = []
        lab.bus.subscribe("/judge/faults", self._hear, subscriber="judge", role=Role.JUDGE)

    def ask(self, oracle: Callable[[], Recoverability]) -> None:
        """Asks an oracle about every fault that it was not asked about and whose subject is at rest by now."""
        for record in self.records:
            if record.recovery is None and not record.is_end and self._at_rest(record):
                record.recovery, record.asked_s = oracle(), self._lab.clock.time_s

    def _at_rest(self, record: FaultRecord) -> bool:
        passed_s = self._lab.clock.time_s - record.time_s
        is_there = record.subject in self._lab.world.objects
        slow = not is_there or speed_mps(self._lab.world, record.subject) < STILL_MPS
        return passed_s > LONGEST_REST_S or (passed_s > REST_S and slow)

    def _hear(self, _topic: str, event: FaultEvent) -> None:
        self.records.append(FaultRecord(event.time_s, event.fault, event.subject, event.detail))
