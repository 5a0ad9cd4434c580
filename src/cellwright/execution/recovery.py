"""What is concluded from failures: which parts are left alone, which robots work on, and whether to go on at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cellwright.execution.binding import blockers, unfit
from cellwright.execution.crew import Failure
from cellwright.execution.failure import FailureKind
from cellwright.execution.outcome import KitReport
from cellwright.execution.settings import ExecutionSettings, RecoveryMode
from cellwright.execution.view import CellView, Seen
from cellwright.execution.worker import Worker
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["Recovery", "clearing", "mending"]

MOST_MISSES = 6  # grasps in a row that fail before a robot's hand is given up
MOST_OF_A_KIND = 3  # failures of one kind with one part or place before that is left alone


@dataclass
class Recovery:
    """The memory of one order.

    Attributes:
        settings: What is allowed.
        left_out: Part -> why it is not taken any more.
        failures: All of them.
    """

    settings: ExecutionSettings
    left_out: dict[str, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def conclude(self, failures: Sequence[Failure], workers: Mapping[str, Worker]) -> str:
        """Draws conclusions; says why the work ends, or nothing when it goes on with a new plan."""
        self.failures += failures
        if not failures:
            return ""
        last = failures[-1]
        told = f"{last.action.verb} by {last.robot}: {last.reason}"
        if self.settings.recovery is not RecoveryMode.FULL:
            return told
        for failure in failures:
            self._blame(failure, workers[failure.robot])
        unable = [failure for failure in failures if failure.kind in (FailureKind.UNABLE, FailureKind.UNSEEN)]
        if unable:
            return f"{unable[0].action.verb} by {unable[0].robot}: {unable[0].reason}"
        if all(worker.out_of_service for worker in workers.values()):
            return "; ".join(f"{worker.name}: {worker.out_of_service}" for worker in workers.values())
        return ""

    def _blame(self, failure: Failure, worker: Worker) -> None:
        if failure.is_lost_robot:
            worker.out_of_service = failure.reason
            return
        if worker.misses >= MOST_MISSES:
            worker.out_of_service = f"{worker.misses} grasps in a row failed; the last: {failure.reason}"
        subject = failure.part or failure.action.place
        self._counts[subject, failure.kind] += 1
        often = self._counts[subject, failure.kind]
        at_once = failure.kind in (FailureKind.MISSED, FailureKind.ARM)
        if failure.part and (at_once or often >= MOST_OF_A_KIND):
            self.left_out[failure.part] = failure.reason
        elif often > 2 * MOST_OF_A_KIND:
            worker.out_of_service = f"{failure.action.verb} failed {often} times: {failure.reason}"


def clearing(
    designs: Mapping[str, KitDesign],
    view: CellView,
    workers: Mapping[str, Worker],
    reach: Mapping[str, frozenset[str]],
    left_out: Mapping[str, str],
) -> list[Action]:
    """Steps that take a part away that lies on a kit, or across its slots: into the slot it belongs to, or back."""
    parts = view.parts()
    for kit, design in designs.items():
        able = [w for name, w in workers.items() if kit in reach.get(name, ()) and not w.out_of_service]
        if not able or kit not in view.facts.tree.index:
            continue
        worker, empty = able[0], [s for s in view.seats_of_kit(kit, design) if view.in_seat(s, parts) is None]
        across = [part for seat in empty for part in blockers(view, seat, parts)]
        for part in {part.name: part for part in (*across, *view.extras(kit, parts))}.values():
            if unfit(part, worker.recipe, left_out) or not view.reaches(worker.name, part.position):
                continue
            hand = _put_back(view, worker, view.part(worker.held), reach) if worker.held else []
            step = Action(Verb.LOOK_PART, worker.name, worker.tool, part.sku, part.name, kit)
            fetch = [step, *(step._replace(verb=verb) for verb in (Verb.SET_GRASP, Verb.TAKE_PART))]
            put = _put_back(view, worker, part, reach)
            if any(seat.sku == part.sku for seat in empty):
                put = [step._replace(verb=verb, place=kit) for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART)]
            if put and (hand or not worker.held):
                return [*hand, *fetch, *put]
    return []


def _put_back(view: CellView, worker: Worker, part: Seen, reach: Mapping[str, frozenset[str]]) -> list[Action]:
    """A part that is held into a parts tray of its kind, if one has room."""
    parts = view.parts()
    for tray in sorted(reach.get(worker.name, frozenset()) & set(view.facts.part_sku)):
        empty = any(view.in_seat(seat, parts) is None for seat in view.seats_of_tray(tray))
        if view.facts.part_sku[tray] == part.sku and empty:
            return [Action(Verb.RETURN_PART, worker.name, worker.tool, part.sku, tray)]
    return []


def mending(
    kits: Sequence[KitReport],
    designs: Mapping[str, KitDesign],
    view: CellView,
    workers: Mapping[str, Worker],
    reach: Mapping[str, frozenset[str]],
    left_out: Mapping[str, str],
) -> list[Action]:
    """Steps that seat the parts that are in their slots and not seated: out and in again."""
    found: list[Action] = []
    for kit in kits:
        able = [name for name, w in workers.items() if kit.name in reach.get(name, ()) and not w.out_of_service]
        for slot in kit.slots:
            if slot.filled or slot.sku != slot.wanted or not slot.part or slot.part in left_out or not able:
                continue
            part = view.part(slot.part)
            if part.tilt_rad > workers[able[0]].recipe.max_tilt_rad or workers[able[0]].held:
                continue
            step = Action(Verb.LOOK_PART, able[0], workers[able[0]].tool, slot.wanted, slot.part, kit.name)
            put = step._replace(place=kit.name)
            found += [step, *(step._replace(verb=verb) for verb in (Verb.SET_GRASP, Verb.TAKE_PART))]
            found += [put._replace(verb=Verb.LOOK_SLOT), put._replace(verb=Verb.PLACE_PART)]
    return found
