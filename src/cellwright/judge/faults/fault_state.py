"""One fault in one run: whether it is due, what it is about, how far it has come."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cellwright.judge.faults.carrying import CarryMotion
from cellwright.judge.faults.cfg import FaultCfg, matches, matches_name
from cellwright.judge.faults.detector_offset import DetectorOffset
from cellwright.judge.faults.grip import WeakenedGrip
from cellwright.judge.faults.trays import carried_trays
from cellwright.judge.hand_events import HandEvent, HandEventKind

if TYPE_CHECKING:
    from cellwright.sim import World

__all__ = ["FaultPhase", "FaultState", "count_event"]

COUNTED = {"grasp": HandEventKind.GRASP, "transfer": HandEventKind.TRANSFER, "place": HandEventKind.RELEASE}
ENDS = {
    "before": (HandEventKind.GRASP,),  # too late: the part is in the hand
    "during": (HandEventKind.RELEASE, HandEventKind.LOSS),
    "after": (),
}


class FaultPhase(StrEnum):
    """The phases of a fault."""

    WAITING = "waiting"
    DUE = "due"
    ACTIVE = "active"
    OVER = "over"


@dataclass
class FaultState:
    """The state of a fault; plain data, for snapshots.

    Attributes:
        phase: How far it has come.
        count: How often its event has happened.
        subject: The part or tray that it is about, once that is known.
        robot: The robot whose hand the event was of.
        tool: The tool whose grip is changed, as `grip.tool_of` names it.
        start_s: When it was applied.
        grip: What it leaves of the robot's grip.
        motion: Of the hand that carries something.
        offset: Of a detector.
        memory: What a kind of one's own has to remember.
    """

    phase: FaultPhase = FaultPhase.WAITING
    count: int = 0
    subject: str = ""
    robot: str = ""
    tool: str = ""
    start_s: float = 0.0
    grip: WeakenedGrip | None = None
    motion: CarryMotion | None = None
    offset: DetectorOffset | None = None
    memory: dict[str, Any] = field(default_factory=dict)


def _counts(cfg: FaultCfg, name: str, world: World) -> bool:
    """Returns whether events of a thing are counted: of what `on` names, or of what the fault is about.

    Hands tell nothing of a tray that no tool carries: of a fault about such trays, any part's events are counted.
    """
    item = world.objects[name]
    if cfg.on is not None:
        return matches(item, cfg.on)
    return cfg.is_about(item) or (cfg.tray is not None and not item.is_tray and not carried_trays(world, cfg))


def count_event(fault_state: FaultState, cfg: FaultCfg, event: HandEvent, world: World) -> None:
    """Counts an event of a hand, and makes the fault due when it is the one that was waited for.

    What passes before the fault could be applied, as a part that is set down before it was far enough to be dropped,
    is left: the next such event serves.
    """
    if cfg.event is None or fault_state.phase in (FaultPhase.ACTIVE, FaultPhase.OVER):
        return
    key, wanted = cfg.event
    if event.tray or not (_counts(cfg, event.part, world) and matches_name(event.robot, cfg.robot)):
        return
    if fault_state.phase is FaultPhase.DUE and event.part == fault_state.subject and event.moment in ENDS[key]:
        fault_state.phase, fault_state.subject, fault_state.robot = FaultPhase.WAITING, "", ""
    happens = event.moment is COUNTED[wanted.what] and (event.lifted or wanted.what != "place")
    fault_state.count += happens
    if key == "before":
        happens = event.moment is HandEventKind.APPROACH and fault_state.count >= wanted.count - 1
    elif fault_state.count < wanted.count:
        happens = False
    if happens and fault_state.phase is FaultPhase.WAITING:
        fault_state.phase, fault_state.subject, fault_state.robot = FaultPhase.DUE, event.part, event.robot
