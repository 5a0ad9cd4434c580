"""The judge: sees the truth, makes things go wrong, and says what was achieved.

Its parts are imported when they are used: a fault's text can be checked without a simulator.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright.judge.collision import CollisionMonitor, Hit
    from cellwright.judge.drops import Drop, DropMonitor
    from cellwright.judge.faults import AnyFault, FaultCfg, FaultScheduler, parse_fault
    from cellwright.judge.hand_events import HandEvent, Hold, Moment
    from cellwright.judge.hands import HandWatch
    from cellwright.judge.judge import Judge
    from cellwright.judge.kit import KitItem, KitVerdict, judge_kit
    from cellwright.judge.oracle import Reaches, Recovery, judge_recoverable
    from cellwright.judge.permit import Permit
    from cellwright.judge.permits import kitting_permits
    from cellwright.judge.score import Points, Score, ScoreItem, score_run
    from cellwright.judge.seating import Seating, judge_slot, judge_slots

__all__ = [
    "AnyFault",
    "CollisionMonitor",
    "Drop",
    "DropMonitor",
    "FaultCfg",
    "FaultScheduler",
    "HandEvent",
    "HandWatch",
    "Hit",
    "Hold",
    "Judge",
    "KitItem",
    "KitVerdict",
    "Moment",
    "Permit",
    "Points",
    "Reaches",
    "Recovery",
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
    "Drop": "drops",
    "DropMonitor": "drops",
    "FaultCfg": "faults",
    "FaultScheduler": "faults",
    "HandEvent": "hand_events",
    "HandWatch": "hands",
    "Hit": "collision",
    "Hold": "hand_events",
    "Judge": "judge",
    "KitItem": "kit",
    "KitVerdict": "kit",
    "Moment": "hand_events",
    "Permit": "permit",
    "Points": "score",
    "Reaches": "oracle",
    "Recovery": "oracle",
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
