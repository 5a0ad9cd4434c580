"""Final verification: which kits are seen to be as they should, and why the rest is not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.catalogue import GearFigures
from cellwright.catalogue.seating import SEATED, SEEN_SEATED, SlotTolerance
from cellwright.execution.outcome import KitReport, OrderStatus, SlotReport
from cellwright.execution.settings import ExecutionSettings
from cellwright.execution.surroundings import box_of, extras
from cellwright.knowledge import Belief, BeliefState, BelievedPart, BelievedSlot, SlotContent, Unknown
from cellwright.orders import KitDesign
from cellwright.planning import named_kits

__all__ = ["SeenSeat", "conclusion", "kit_reports", "seat_of", "unseen_parts"]

CAMERAS_M = 0.0007  # by which two cameras may be off each other: one may show the part, the other its tray
DEVIATIONS = 2.0  # by which a part may be seen farther off than it is
CAUGHT_M = 0.003  # a part that is seen farther off than this is not in its seat: slots catch what is let go 5 mm off
NO_KIT = "there is no such kit"


@dataclass(frozen=True)
class SeenSeat:
    """A part in a slot as detectors see it; what they do not measure is None.

    Attributes:
        across_m: From the slot's middle.
        above_m: Above its seat.
        tilt_rad: Between its axis and the vertical.
        sd_m: How well its place in the slot is known.
        is_centred: Whether the slot centres such a part, as a cone does; where it does not, nothing but the place that
            is seen tells how far off the part is.
    """

    across_m: float
    above_m: float | None
    tilt_rad: float | None
    sd_m: float = 0.0
    is_centred: bool = True

    def reason(self, allowed: SlotTolerance) -> str:
        """Returns why it is not seated, by what is measured; empty when it is."""
        limit_m = min(allowed.beside_m + DEVIATIONS * self.sd_m, max(CAUGHT_M, allowed.beside_m))
        if not self.is_centred:
            limit_m = min(allowed.beside_m, max(SEATED.beside_m - self.sd_m, SEATED.beside_m / 2))
        if self.across_m > limit_m:
            return f"is {self.across_m * 1000:.1f} mm beside its place"
        if self.above_m is not None and abs(self.above_m) > allowed.above_m:
            return f"is {self.above_m * 1000:.1f} mm above its seat"
        if self.tilt_rad is not None and self.tilt_rad > allowed.tilt_rad:
            return f"leans by {np.degrees(self.tilt_rad):.1f} deg"
        return ""

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The names of what no detector measures of it."""
        return tuple(name for name, value in (("height", self.above_m), ("tilt", self.tilt_rad)) if value is None)


def seat_of(
    believed: BeliefState, owner: str, part: BelievedPart, slot: BelievedSlot, flat: Collection[str] = ()
) -> SeenSeat:
    """Returns how a part is seen in a slot.

    Args:
        believed: What is believed.
        owner: The tray or the kit that the slot is of.
        part: The part.
        slot: The slot.
        flat: Detectors that measure neither heights nor leans.
    """
    source, is_centred = believed.source(part.name), isinstance(part.figures, GearFigures)
    spread = np.sqrt(believed.variances(part.name))
    is_high, is_tilted = spread[2] <= SEEN_SEATED.above_m, spread[3:5].max() <= SEEN_SEATED.tilt_rad
    above_m = float(part.position[2] - slot.position[2])
    is_one_camera = not is_centred and source == believed.source(believed.detected_as(owner))
    return SeenSeat(
        part.across_m(slot.position),
        above_m if source not in flat and is_high else None,
        part.tilt_rad if source not in flat and is_tilted else None,
        float(np.hypot(believed.sd_m(part.name), 0.0 if is_one_camera else CAMERAS_M)),
        is_centred,
    )


def kit_reports(
    belief: Belief,
    wanted: Mapping[str, KitDesign],
    since_s: float,
    settings: ExecutionSettings,
    felt: Mapping[str, str] | None = None,
) -> tuple[KitReport, ...]:
    """Returns the kits as they were seen after a moment.

    Args:
        belief: What is believed.
        wanted: Kit -> what it shall be.
        since_s: The moment.
        settings: What counts as seated.
        felt: Part -> why it is not in its seat, whatever detectors see: by touch.
    """
    believed, touched = belief.state, felt or {}
    parts = believed.parts()
    reports = []
    for kit, design in wanted.items():
        slots = believed.slots_of_kit(kit, design) if kit in believed.tree.index else []
        rows = [_slot(belief, kit, slot, believed.part_in(slot, parts), since_s, settings, touched) for slot in slots]
        if not slots:
            rows = [SlotReport(slot=slot.name, wanted=slot.sku, reason=NO_KIT) for slot in design.slots]
        on_it = tuple(part.name for part in extras(believed, kit, design, parts))
        box = box_of(believed, kit) if slots else ""
        goes_there = bool(slots) and bool(believed.relations.capacity) and kit not in believed.stationary
        elsewhere = f"is not seen in {' or '.join(believed.relations.capacity)}" if goes_there and not box else ""
        reports.append(KitReport(kit, design.name, tuple(rows), on_it, box, elsewhere))
    return tuple(reports)


def unseen_parts(believed: BeliefState, skus: Collection[str]) -> str:
    """Returns which parts of these kinds nobody has seen, or sees any more, in words; empty when all were seen."""
    names = [
        thing.name
        for thing in believed.of_kind("Part")
        if thing.sku in skus
        and believed.has_pose(thing.name)
        and (believed.is_missing(thing.name) or isinstance(believed.seen_s(thing.name), Unknown))
    ]
    return f"not seen: {', '.join(names)}" if names else ""


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
    kit: str,
    slot: BelievedSlot,
    part: BelievedPart | None,
    since_s: float,
    settings: ExecutionSettings,
    felt: Mapping[str, str],
) -> SlotReport:
    if part is None:
        view = belief.state.slot_view(kit, slot.name, since_s)
        is_empty = view.content is SlotContent.EMPTY
        reason = "empty" if is_empty else f"not verified: it was not in view since {since_s:.1f} s"
        return SlotReport(slot=slot.name, wanted=slot.sku, reason=reason, verified=is_empty)
    seat = seat_of(belief.state, kit, part, slot, settings.flat_detectors)
    known_s = belief.state.seen_s(part.name)
    seen_s = -np.inf if isinstance(known_s, Unknown) else known_s
    reason, is_seen = "", seen_s >= since_s
    if not is_seen:
        reason = f"not verified: {part.name} was not seen since {since_s:.1f} s"
    elif part.sku != slot.sku:
        reason = f"holds {part.sku}"
    elif why := seat.reason(settings.seated) or felt.get(part.name, ""):
        reason = f"{part.name} {why}"
    return SlotReport(
        slot=slot.name,
        wanted=slot.sku,
        sku=part.sku,
        part=part.name,
        offset_m=seat.across_m,
        height_m=seat.above_m,
        seen_s=seen_s,
        filled=not reason,
        reason=reason,
        verified=is_seen,
        unmeasured=seat.unmeasured,
    )
