"""Planning: from orders and belief to steps for the robots, checked before any robot moves."""

from cellwright.planning.action_text import short_action
from cellwright.planning.actions import MOVES, NEEDS, Action, Durations, Verb
from cellwright.planning.external import CommandPlanner, PlannerFailed, make_planner
from cellwright.planning.gantt import write_gantt
from cellwright.planning.planner import (
    TASK_PLANNERS,
    KitJob,
    Planner,
    PlanRequest,
    PlanResult,
    PlanStatus,
    Unfinished,
    knows_paces,
    named_kits,
    plan,
)
from cellwright.planning.progress import state_after
from cellwright.planning.report import as_json
from cellwright.planning.scheduler import Scheduler
from cellwright.planning.sequencer import Sequencer
from cellwright.planning.state import (
    CellState,
    HeldItem,
    HeldKind,
    KitState,
    Outlet,
    PartSupply,
    PlannerRobot,
    Tool,
    ToolHolderState,
    TrayStack,
)
from cellwright.planning.validator import PlanValidation, validate_sequence, validate_timed

__all__ = [
    "MOVES",
    "NEEDS",
    "TASK_PLANNERS",
    "Action",
    "CellState",
    "CommandPlanner",
    "Durations",
    "HeldItem",
    "HeldKind",
    "KitJob",
    "KitState",
    "Outlet",
    "PartSupply",
    "PlanRequest",
    "PlanResult",
    "PlanStatus",
    "PlanValidation",
    "Planner",
    "PlannerFailed",
    "PlannerRobot",
    "Scheduler",
    "Sequencer",
    "Tool",
    "ToolHolderState",
    "TrayStack",
    "Unfinished",
    "Verb",
    "as_json",
    "knows_paces",
    "make_planner",
    "named_kits",
    "plan",
    "short_action",
    "state_after",
    "validate_sequence",
    "validate_timed",
    "write_gantt",
]
