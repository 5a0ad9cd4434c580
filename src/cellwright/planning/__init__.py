"""Planning: from orders and belief to steps for the robots, checked before anybody moves."""

from cellwright.planning.actions import NEEDS, Action, Durations, Verb
from cellwright.planning.planner import (
    PLANNERS,
    KitJob,
    Planner,
    PlanRequest,
    PlanResult,
    PlanStatus,
    Unfinished,
    plan,
)
from cellwright.planning.scheduler import Scheduler
from cellwright.planning.sequencer import Sequencer
from cellwright.planning.state import (
    CellState,
    Hand,
    HandKind,
    Holder,
    KitState,
    Outlet,
    PartsTray,
    RobotState,
    Tool,
    TrayStack,
)
from cellwright.planning.validator import Verdict, validate_sequence, validate_timed

__all__ = [
    "NEEDS",
    "PLANNERS",
    "Action",
    "CellState",
    "Durations",
    "Hand",
    "HandKind",
    "Holder",
    "KitJob",
    "KitState",
    "Outlet",
    "PartsTray",
    "PlanRequest",
    "PlanResult",
    "PlanStatus",
    "Planner",
    "RobotState",
    "Scheduler",
    "Sequencer",
    "Tool",
    "TrayStack",
    "Unfinished",
    "Verb",
    "Verdict",
    "plan",
    "validate_sequence",
    "validate_timed",
]
