"""The judge: sees the true state, applies faults, and decides what was achieved.

Its parts are imported when they are used: a fault's text can be checked without a simulator.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.judge.allowed_contact import AllowedContact
    from cellwright.judge.collision import CollisionEvent, CollisionMonitor
    from cellwright.judge.drops import DropEvent, DropMonitor
    from cellwright.judge.faults import (
        FAULTS,
        AnyFault,
        DetectorFault,
        DetectorFaultCfg,
        Fault,
        FaultCfg,
        FaultScheduler,
        FaultState,
        LastingFault,
        LastingFaultCfg,
        Quantity,
        fault_kind,
        parse_fault,
    )
    from cellwright.judge.hand_events import HandEvent, HandEventKind, HeldObject
    from cellwright.judge.hand_monitor import HandMonitor
    from cellwright.judge.judge import Judge
    from cellwright.judge.kit import KitItem, KitVerdict, judge_kit
    from cellwright.judge.kitting_contacts import allowed_kitting_contacts
    from cellwright.judge.oracle import ReachTest, Recoverability, SightTest, judge_recoverable
    from cellwright.judge.score import Points, Score, ScoreItem, score_run
    from cellwright.judge.seating import Seating, judge_slot, judge_slots
    from cellwright.judge.tray_contents import poses_on_tray

__all__ = [
    "FAULTS",
    "AllowedContact",
    "AnyFault",
    "CollisionEvent",
    "CollisionMonitor",
    "DetectorFault",
    "DetectorFaultCfg",
    "DropEvent",
    "DropMonitor",
    "Fault",
    "FaultCfg",
    "FaultScheduler",
    "FaultState",
    "HandEvent",
    "HandEventKind",
    "HandMonitor",
    "HeldObject",
    "Judge",
    "KitItem",
    "KitVerdict",
    "LastingFault",
    "LastingFaultCfg",
    "Points",
    "Quantity",
    "ReachTest",
    "Recoverability",
    "Score",
    "ScoreItem",
    "Seating",
    "SightTest",
    "allowed_kitting_contacts",
    "fault_kind",
    "judge_kit",
    "judge_recoverable",
    "judge_slot",
    "judge_slots",
    "parse_fault",
    "poses_on_tray",
    "score_run",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".allowed_contact": "AllowedContact",
        ".collision": "CollisionMonitor CollisionEvent",
        ".drops": "DropEvent DropMonitor",
        ".faults": (
            "AnyFault DetectorFault DetectorFaultCfg FAULTS Fault FaultCfg FaultScheduler FaultState LastingFault "
            "LastingFaultCfg Quantity fault_kind parse_fault"
        ),
        ".hand_events": "HandEvent HandEventKind HeldObject",
        ".hand_monitor": "HandMonitor",
        ".judge": "Judge",
        ".kit": "KitItem KitVerdict judge_kit",
        ".kitting_contacts": "allowed_kitting_contacts",
        ".oracle": "ReachTest Recoverability SightTest judge_recoverable",
        ".score": "Points Score ScoreItem score_run",
        ".seating": "Seating judge_slot judge_slots",
        ".tray_contents": "poses_on_tray",
    },
)
