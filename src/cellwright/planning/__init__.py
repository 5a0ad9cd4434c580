"""Planning: from orders and belief to steps for the robots, checked before anybody moves."""

from cellwright.planning.actions import MOVES, NEEDS, Action, Durations, Verb
from cellwright.planning.external import CommandPlanner, PlannerFailed, make_planner
from cellwright.planning.gantt import write_gantt
from cellwright.planning.planner import (
    PLANNERS,
    KitJob,
    Planner,
    PlanRequest,
    PlanResult,
    PlanStatus,
    Unfinished,
    named_kits,
    plan,
)
from cellwright.planning.progress import state_after
from cellwright.planning.report import as_json
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
    "MOVES",
    "NEEDS",
    "PLANNERS",
    "Action",
    "CellState",
    "CommandPlanner",
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
    "PlannerFailed",
    "RobotState",
    "Scheduler",
    "Sequencer",
    "Tool",
    "TrayStack",
    "Unfinished",
    "Verb",
    "Verdict",
    "as_json",
    "make_planner",
    "named_kits",
    "plan",
    "state_after",
    "validate_sequence",
    "validate_timed",
    "write_gantt",
]
