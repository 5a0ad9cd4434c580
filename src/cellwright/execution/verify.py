"""Final verification: which kits are seen to be as they should, and why the rest is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cellwright.execution.outcome import KitReport, OrderStatus, SlotReport
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.surroundings import box_of, extras
from cellwright.knowledge import Belief, BelievedPart, BelievedSlot, Unknown
from cellwright.orders import KitDesign
from cellwright.planning import named_kits

__all__ = ["conclusion", "kit_reports"]

NO_KIT = "there is no such kit"


def kit_reports(
    belief: Belief, wanted: Mapping[str, KitDesign], since_s: float, now_s: float, settings: ExecutionSettings
) -> tuple[KitReport, ...]:
    """Returns the kits as they were seen after a moment."""
    believed = belief.state
    parts = believed.parts()
    reports = []
    for kit, design in wanted.items():
        slots = believed.slots_of_kit(kit, design) if kit in believed.tree.index else []
        rows = [_slot(belief, slot, believed.part_in(slot, parts), since_s, now_s, settings) for slot in slots]
        if not slots:
            rows = [SlotReport(slot=slot.name, wanted=slot.sku, reason=NO_KIT) for slot in design.slots]
        on_it = tuple(part.name for part in extras(believed, kit, parts))
        box = box_of(believed, kit) if slots else ""
        goes_there = bool(slots) and bool(believed.relations.capacity) and kit not in believed.stationary
        elsewhere = f"is not seen in {' or '.join(believed.relations.capacity)}" if goes_there and not box else ""
        reports.append(KitReport(kit, design.name, tuple(rows), on_it, box, elsewhere))
    return tuple(reports)


def conclusion(kits: Sequence[KitReport], wanted: int, reasons: Sequence[str], hands: str) -> tuple[OrderStatus, str]:
    """Returns the outcome of an order, by what was seen last, and its reason in one line.

    Args:
        kits: As they were seen.
        wanted: How many were ordered.
        reasons: Why the work ended, and what else is known to be wrong.
        hands: What is still in a hand.
    """
    slots = [slot for kit in kits for slot in kit.slots]
    missed = [kit.name for kit in kits if kit.slots and all(slot.reason == NO_KIT for slot in kit.slots)]
    seen = [kit for kit in kits if kit.name not in missed]
    wrong = [f"{kit.name}/{slot.slot}: {slot.reason}" for kit in seen for slot in kit.slots if not slot.filled]
    wrong += [f"{named_kits(missed)}: {NO_KIT}"] if missed else []
    wrong += [f"{part} lies on {kit.name}" for kit in kits for part in kit.extras]
    wrong += [f"{kit.name} {kit.elsewhere}" for kit in kits if kit.elsewhere]
    if len(kits) == wanted and slots and not wrong and not hands:
        where = "one kit" if len(kits) == 1 else f"{len(kits)} kits"
        boxes = dict.fromkeys(kit.box for kit in kits if kit.box)
        there = f", put into {' and '.join(boxes)}" if boxes else ""
        return OrderStatus.DONE, f"{len(slots)} parts seen seated in {where}{there}"
    said = dict.fromkeys(text for text in (*reasons, *wrong, hands) if text)
    status = OrderStatus.PARTIAL if any(slot.filled for slot in slots) else OrderStatus.FAILED
    return status, "; ".join(said)


def _slot(
    belief: Belief,
    slot: BelievedSlot,
    part: BelievedPart | None,
    since_s: float,
    now_s: float,
    settings: ExecutionSettings,
) -> SlotReport:
    if part is None:
        return SlotReport(slot=slot.name, wanted=slot.sku, reason="empty")
    offset = part.position - slot.position
    across_m, above_m = float(np.hypot(*offset[:2])), float(offset[2])
    belief.watch([part.name], now_s)
    known_s = belief.state.seen_s(part.name)
    seen_s = -np.inf if isinstance(known_s, Unknown) else known_s
    reason = ""
    if part.sku != slot.sku:
        reason = f"holds {part.sku}"
    elif seen_s < since_s:
        reason = f"{part.name} was not seen since {since_s:.1f} s"
    elif across_m > settings.seated.beside_m:
        reason = f"{part.name} is {across_m * 1000:.1f} mm beside its place"
    elif abs(above_m) > settings.seated.above_m:
        reason = f"{part.name} is {above_m * 1000:.1f} mm above its seat"
    elif part.tilt_rad > settings.seated.tilt_rad:
        reason = f"{part.name} leans by {np.degrees(part.tilt_rad):.1f} deg"
    return SlotReport(
        slot=slot.name,
        wanted=slot.sku,
        sku=part.sku,
        part=part.name,
        offset_m=across_m,
        height_m=above_m,
        seen_s=seen_s,
        filled=not reason,
        reason=reason,
    )
