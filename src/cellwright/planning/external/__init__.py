"""External planners behind our interface: they get PDDL files, and their plans are checked like ours."""

from cellwright.planning.external.base import ExternalPlanner, PlannerFiles
from cellwright.planning.external.command import CommandPlanner, make_planner
from cellwright.planning.external.counters import PlannerDialect
from cellwright.planning.external.decode import decode
from cellwright.planning.external.enhsp import Enhsp
from cellwright.planning.external.errors import PlannerFailed
from cellwright.planning.external.fast_downward import FastDownward, OptimalFastDownward
from cellwright.planning.external.pddl import Encoding, encode
from cellwright.planning.external.plan_text import PlanLine, read_plan_file, read_printed_plan
from cellwright.planning.external.process import ProcessLimits, ProcessResult
from cellwright.planning.external.task import CountedTask, choose_work, task_of

__all__ = [
    "CommandPlanner",
    "CountedTask",
    "Encoding",
    "Enhsp",
    "ExternalPlanner",
    "FastDownward",
    "OptimalFastDownward",
    "PlanLine",
    "PlannerDialect",
    "PlannerFailed",
    "PlannerFiles",
    "ProcessLimits",
    "ProcessResult",
    "choose_work",
    "decode",
    "encode",
    "make_planner",
    "read_plan_file",
    "read_printed_plan",
    "task_of",
]
