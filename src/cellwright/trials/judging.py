"""Verdicts on a session: the whole, one kit, one part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cellwright.core.config import Uniform
from cellwright.core.errors import UnknownName
from cellwright.judge import FaultCfg, KitVerdict, Points, Recoverability
from cellwright.judge.faults.cfg import matches
from cellwright.judge.seating import judge_slots
from cellwright.lab.versions import versions
from cellwright.orders import DESIGNS
from cellwright.trials.session import TrialSession
from cellwright.trials.verdict import Ending, OrderVerdict, TrialVerdict

__all__ = ["VerdictInputs", "fault_text", "find_kits", "find_part", "make_verdict"]


@dataclass(frozen=True)
class VerdictInputs:
    """The parts of a verdict that do not come from the judge.

    Attributes:
        trial: Its name.
        controller: The controller's name.
        limit_s: The time limit.
        par_s: Up to here the time has all its points; a third of the limit when None.
        points: Item of the score -> its worth.
    """

    trial: str
    controller: str
    limit_s: float
    par_s: float | None = None
    points: Mapping[str, float] | None = None


def make_verdict(
    session: TrialSession,
    facts: VerdictInputs,
    ending: tuple[Ending, str],
    *,
    wall_s: float,
    possible: Recoverability,
    notes: Iterable[str] = (),
) -> TrialVerdict:
    """Returns the whole verdict as of now."""
    kits = session.kits()
    orders = tuple(
        OrderVerdict(
            order.name,
            order.priority,
            order.announced_s,
            order.submitted_s,
            tuple(kits[kit] for kit in order.kits),
            order.claimed,
        )
        for order in session.book.orders.values()
    )
    wanted = {verdict.tray: kit.design for kit, verdict in kits.items() if verdict is not None}
    score = session.judge.score(
        wanted,
        par_s=facts.par_s or facts.limit_s / 3,
        limit_s=facts.limit_s,
        points=Points(**(facts.points or {})),
    )
    flood = f"{session.control.flooded} clients of the control door were disconnected: they said too much"
    return TrialVerdict(
        facts.trial,
        session.lab.cell.name,
        session.lab.seed,
        facts.controller,
        *ending,
        session.lab.clock.time_s,
        wall_s,
        possible,
        orders,
        tuple(session.faults),
        tuple(map(fault_text, session.pending)),
        tuple(session.judge.collisions.hits),
        tuple(session.judge.drops.drops),
        score,
        (*notes, *session.said, *([flood] if session.control.flooded else ())),
        versions(),
    )


def fault_text(fault: FaultCfg) -> str:
    """Returns a fault as it is written on the command line."""
    words = []
    for key in sorted(fault.model_fields_set - {"kind"}):
        value = getattr(fault, key)
        if isinstance(value, Uniform):
            value = f"{value.low:g}..{value.high:g}"
        elif isinstance(value, tuple):
            value = "/".join(f"{number:g}" for number in value)
        words.append(f"{key}={value}")
    return f"{fault.kind}:{','.join(words)}"


def find_kits(session: TrialSession, name: str) -> list[KitVerdict]:
    """Returns the verdicts on what a name means now: the kits of an order, the kit on a tray, or a kit of a design.

    Of a design that no order names, the tray that is nearest to it counts.

    Raises:
        UnknownName: with all names that mean something in this cell.
    """
    kits, trays = session.kits(), session.book.kit_trays
    ours = [verdict for kit, verdict in kits.items() if kit.order == name and verdict is not None]
    if ours or name in session.book.orders:
        return ours
    if name in trays:
        mine = [verdict for verdict in kits.values() if verdict is not None and verdict.tray == name]
        fitting = [design for design in map(DESIGNS.get, DESIGNS) if design.tray_sku == trays[name]]
        return mine or list(session.judge.kits({name: fitting[-1]}))
    designs = [design.name for design in map(DESIGNS.get, DESIGNS) if design.tray_sku in trays.values()]
    if name not in designs:
        raise UnknownName("kit", name, {*session.book.orders, *trays, *designs})
    design = DESIGNS.get(name)
    found = session.judge.kits({tray: design for tray, sku in trays.items() if sku == design.tray_sku})
    return [max(found, key=lambda verdict: sum(item.passed for item in verdict.items))]


def find_part(session: TrialSession, pattern: str, slot: str, known: Sequence[str]) -> tuple[bool, str]:
    """Returns whether a part that matches is seated in the slot, `tray/slot`; and why not, or how well.

    Args:
        session: The session.
        pattern: A part's name, SKU or model, with `*` and `?`.
        slot: Which slot.
        known: Names of the parts that were there at the beginning.

    Raises:
        UnknownName: A part, a tray or a slot that does not exist.
    """
    objects = session.lab.world.objects
    trays = [name for name, item in objects.items() if item.is_tray]
    tray = slot.partition("/")[0]
    if tray not in trays:
        raise UnknownName("tray", tray, trays)
    slots = {seating.slot: seating for seating in judge_slots(session.lab.world, tray)}
    if slot not in slots:
        raise UnknownName("slot", slot, slots)
    parts = [name for name, item in objects.items() if not item.is_tray and matches(item, pattern)]
    if not parts and pattern in known:
        return False, f"{pattern} has been taken out of the cell"
    if not parts:
        raise UnknownName("part", pattern, known)
    seating = slots[slot]
    if seating.part in parts:
        return seating.seated, f"{seating.part}: {seating.reason}"
    if seating.part:
        return False, f"{seating.part} is there instead"
    return False, f"{seating.reason}; {_where(session, parts)}"


def _where(session: TrialSession, parts: Sequence[str]) -> str:
    if len(parts) > 1:
        return f"{len(parts)} such parts are elsewhere"
    held = {hold.part: robot for robot, hold in session.judge.hands.held.items()}
    if parts[0] in held:
        return f"{held[parts[0]]} holds {parts[0]}"
    x, y, z = session.lab.world.pose_of(parts[0]).position.tolist()
    return f"{parts[0]} is at {x:.3f} {y:.3f} {z:.3f} m"
