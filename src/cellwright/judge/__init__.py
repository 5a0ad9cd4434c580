"""The judge: sees the truth, makes things go wrong, and says what was achieved."""

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
