"""The robots of an order: made ready at the beginning, asked what they hold, sent out of the way at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.execution.arm import ArmFailed
from cellwright.execution.failure import StepFailed
from cellwright.execution.hands import held_by
from cellwright.execution.progress import OrderProgress
from cellwright.execution.worker import Worker
from cellwright.knowledge import Belief

__all__ = ["Robots"]


class Robots:
    """All robots: those that work, those that only make way, and those that do neither any more.

    Args:
        workers: All of them.
        names: Who works.

    Attributes:
        notes: What was found out about them on the way.
    """

    def __init__(self, workers: Mapping[str, Worker], names: Sequence[str]) -> None:
        self.workers, self._names = workers, names
        self.notes: list[str] = []

    def in_service(self) -> list[Worker]:
        """Returns those that can move."""
        return [worker for worker in self.workers.values() if not worker.out_of_service]

    def working(self) -> dict[str, Worker]:
        """Returns those that have work and can do it."""
        return {name: self.workers[name] for name in self._names if not self.workers[name].out_of_service}

    @property
    def trouble(self) -> str:
        """Why none of them works; empty while one does."""
        return "" if self.working() else "; ".join(f"{n}: {self.workers[n].out_of_service}" for n in self._names)

    async def prepare(self, belief: Belief, progress: OrderProgress) -> None:
        """Gets them ready; where they rest is what is known of earlier work, else where they stand."""
        held = held_by(belief)
        for worker in self.workers.values():
            known, point = progress.rest_rad.get(worker.name), progress.rest_point.get(worker.name)
            if known and point:
                worker.arm.rest_rad, worker.arm.rest_point = tuple(known), (point[0], point[1], point[2])
            worker.held = held.get(worker.tool, "")
            try:
                worker.reading = await worker.arm.prepare()
            except ArmFailed as error:
                worker.out_of_service = str(error)
                continue
            progress.rest_rad[worker.name] = list(worker.arm.rest_rad or ())
            progress.rest_point[worker.name] = list(worker.arm.rest_point or ())

    async def sort_out(self, worker: Worker) -> None:
        """Finds out what a robot has in its hand; one that cannot even rise does not work any more."""
        if worker.out_of_service:
            return
        try:
            found = await worker.sort_out()
        except StepFailed as failure:
            worker.out_of_service = str(failure)
            return
        if found:
            self.notes.append(f"{worker.name}: {found}")

    async def withdraw(self) -> str:
        """Sends them out of the way; says what is still in a hand."""
        hands = []
        for worker in self.in_service():
            try:
                await worker.withdraw()
                reading = await worker.read()
            except StepFailed as failure:
                worker.out_of_service = str(failure)
                continue
            if worker.held or reading.holding:
                hands.append(f"{worker.name} holds {worker.held or 'something'}")
        return "; ".join(hands)
