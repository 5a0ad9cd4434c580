"""Planning files (PDDL), generated: the domain from the ontology, the problem from a database and orders.

`planning_files` makes both texts; `read_plan` and `write_plan` are for plan files. `read_task` and `check_plan` take
any PDDL files.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cellwright.knowledge.belief_state import BeliefState
from cellwright.knowledge.database import Database
from cellwright.knowledge.pddl.domain import WITHOUT_SLOTS, build_domain
from cellwright.knowledge.pddl.model import (
    Atom,
    Compare,
    LevelPredicate,
    NumericChange,
    Parts,
    PddlAction,
    PddlDomain,
    PddlError,
    PddlForm,
    PddlProblem,
    PddlStep,
    Symbol,
)
from cellwright.knowledge.pddl.names import Names
from cellwright.knowledge.pddl.plan_files import read_plan, read_steps, write_plan
from cellwright.knowledge.pddl.problem import build_problem
from cellwright.knowledge.pddl.reading import PddlTask, read_task
from cellwright.knowledge.pddl.text import write_domain, write_problem
from cellwright.knowledge.pddl.validation import PlanCheck, check_plan
from cellwright.knowledge.planning_ontology import MAIN_VOCABULARY, PlanningOntology, planning_ontology
from cellwright.knowledge.world_model import WorldModel
from cellwright.orders import KitDesign, Order

__all__ = [
    "MAIN_VOCABULARY",
    "WITHOUT_SLOTS",
    "Atom",
    "Compare",
    "LevelPredicate",
    "Names",
    "NumericChange",
    "Parts",
    "PddlAction",
    "PddlDomain",
    "PddlError",
    "PddlForm",
    "PddlProblem",
    "PddlStep",
    "PddlTask",
    "PlanCheck",
    "PlanningFiles",
    "PlanningOntology",
    "Symbol",
    "build_domain",
    "build_problem",
    "check_plan",
    "planning_files",
    "planning_ontology",
    "read_plan",
    "read_steps",
    "read_task",
    "write_domain",
    "write_plan",
    "write_problem",
]


@dataclass(frozen=True)
class PlanningFiles:
    """Both files, the models they were written from, and the mapping of their names."""

    domain: PddlDomain
    problem: PddlProblem
    domain_text: str
    problem_text: str
    names: Names


def planning_files(
    source: BeliefState | WorldModel | Database,
    orders: Sequence[Order],
    *,
    vocabulary: str = MAIN_VOCABULARY,
    form: PddlForm | str = PddlForm.NUMERIC,
    parts: Parts | str = Parts.COUNTED,
    durations: Mapping[str, float] | None = None,
    without: Collection[str] = (),
    kits: Sequence[tuple[str, KitDesign]] | None = None,
    taken: Mapping[tuple[str, str], int] | None = None,
) -> PlanningFiles:
    """Returns domain and problem of finishing the orders from what is believed.

    Args:
        source: The belief about one workstation.
        orders: The orders.
        vocabulary: Year of the published vocabulary whose names are used.
        form: The features that planners must support: `numeric`, `classical` or `temporal`.
        parts: `counted` by kind, or `named` one by one.
        durations: Action of the vocabulary of 2016 -> seconds; costs where time is not planned.
        without: Objects that are left out, such as a robot out of service.
        kits: Names and designs of the wanted kits, where it is decided already which serve the orders.
        taken: Kit and parts vessel -> how many parts a plan takes for it there, where there is a plan already.
    """
    domain = build_domain(vocabulary, form, parts, durations)
    problem = build_problem(source, orders, domain, without=without, kits=kits, taken=taken)
    names = Names()
    return PlanningFiles(domain, problem, write_domain(domain), write_problem(problem, names), names)
