"""The judge: sees the truth, makes things go wrong, and says what was achieved.

Its parts are imported when they are used: a fault's text can be checked without a simulator.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright.judge.allowed_contact import AllowedContact
    from cellwright.judge.collision import CollisionMonitor, Hit
    from cellwright.judge.drops import DropEvent, DropMonitor
    from cellwright.judge.faults import AnyFault, FaultCfg, FaultScheduler, parse_fault
    from cellwright.judge.hand_events import HandEvent, HandMoment, HeldObject
    from cellwright.judge.hands import HandWatch
    from cellwright.judge.judge import Judge
    from cellwright.judge.kit import KitItem, KitVerdict, judge_kit
    from cellwright.judge.kitting_contacts import kitting_permits
    from cellwright.judge.oracle import Reaches, Recoverability, judge_recoverable
    from cellwright.judge.score import Points, Score, ScoreItem, score_run
    from cellwright.judge.seating import Seating, judge_slot, judge_slots

__all__ = [
    "AllowedContact",
    "AnyFault",
    "CollisionMonitor",
    "DropEvent",
    "DropMonitor",
    "FaultCfg",
    "FaultScheduler",
    "HandEvent",
    "HandMoment",
    "HandWatch",
    "HeldObject",
    "Hit",
    "Judge",
    "KitItem",
    "KitVerdict",
    "Points",
    "Reaches",
    "Recoverability",
    "Score",
    "ScoreItem",
    "Seating",
    "judge_kit",
    "judge_recoverable",
    "judge_slot",
    "judge_slots",
    "kitting_permits",
    "parse_fault",
    "score_run",
]

_HOMES = {
    "AnyFault": "faults",
    "CollisionMonitor": "collision",
    "DropEvent": "drops",
    "DropMonitor": "drops",
    "FaultCfg": "faults",
    "FaultScheduler": "faults",
    "HandEvent": "hand_events",
    "HandWatch": "hands",
    "Hit": "collision",
    "HeldObject": "hand_events",
    "Judge": "judge",
    "KitItem": "kit",
    "KitVerdict": "kit",
    "HandMoment": "hand_events",
    "AllowedContact": "permit",
    "Points": "score",
    "Reaches": "oracle",
    "Recoverability": "oracle",
    "Score": "score",
    "ScoreItem": "score",
    "Seating": "seating",
    "judge_kit": "kit",
    "judge_recoverable": "oracle",
    "judge_slot": "seating",
    "judge_slots": "seating",
    "kitting_permits": "permits",
    "parse_fault": "faults",
    "score_run": "score",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
