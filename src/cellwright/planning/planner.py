"""One interface for all planners: a request goes in, a result with status, bound and reasons comes out."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from cellwright.core.errors import BadInput
from cellwright.core.plugin_errors import plugin_error
from cellwright.core.registry import Registry
from cellwright.orders import KitDesign, Order
from cellwright.planning.actions import Action, Durations
from cellwright.planning.state import CellState, KitState

__all__ = [
    "TASK_PLANNERS",
    "KitJob",
    "PlanRequest",
    "PlanResult",
    "PlanStatus",
    "Planner",
    "Unfinished",
    "conclude",
    "garbage_collection_off",
    "knows_paces",
    "named_kits",
    "new_planner",
    "plan",
]

NAMED = 3  # kits that are named, of many


class PlanStatus(StrEnum):
    """The outcome of planning."""

    SOLVED = "solved"
    OPTIMAL = "optimal"
    UNSOLVABLE = "unsolvable"
    NOT_FOUND = "not found"
    TIMEOUT = "timeout"


@dataclass(frozen=True)
class KitJob:
    """One kit that is wanted.

    Attributes:
        name: Name of the kit, the same in every plan from the same request.
        design: Its design.
        order: The name of the order.
        priority: The priority of the order.
        started: The kit on the tray that it is built on, also an empty one that stays in place; None when a tray has to
            be fetched first.
    """

    name: str
    design: KitDesign
    order: str
    priority: int
    started: KitState | None = None


@dataclass(frozen=True)
class PlanRequest:
    """A planning problem.

    Attributes:
        state: The state of the cell.
        orders: The orders, in all: kits of these designs that are already in the cell count.
        durations: The duration of each step.
        iterations: Budget for improving the plan.
    """

    state: CellState
    orders: tuple[Order, ...]
    durations: Durations = field(default_factory=Durations)
    iterations: int = 400

    def __post_init__(self) -> None:
        """Refuses a request without an order or a robot, and two different kits of one name."""
        if not self.orders:
            raise BadInput("nothing to plan: give at least one order")
        if not self.state.robots:
            raise BadInput("there is no robot to plan for; add one, in a cell file under robots")
        known: dict[str, KitDesign] = {}
        lines = [line.design for order in self.orders for line in order.lines]
        for design in (*lines, *(kit.design for kit in self.state.kits)):
            if known.setdefault(design.name, design) != design:
                raise BadInput(f"two different kits are called '{design.name}'")

    @cached_property
    def jobs(self) -> tuple[KitJob, ...]:
        """The wanted kits, most urgent first; what is in the cell already serves the most urgent order first."""
        present: dict[str, list[KitState]] = {}
        for there in sorted((kit for kit in self.state.kits if not kit.apart), key=self._nearly_finished):
            present.setdefault(there.design.name, []).append(there)
        taken = {kit.name for kit in self.state.kits}
        numbers: dict[str, int] = {}
        jobs = []
        for order in sorted(self.orders, key=lambda order: -order.priority):
            for line in order.lines:
                waiting = present.get(line.design.name, [])
                for _ in range(line.quantity):
                    kit = waiting.pop() if waiting else None
                    name = kit.name if kit else _free_name(line.design.name, numbers, taken)
                    jobs.append(KitJob(name, line.design, order.name, order.priority, kit))
        return tuple(jobs)

    def _nearly_finished(self, kit: KitState) -> tuple[bool, bool, int, str]:
        outlets = {outlet.name for outlet in self.state.outlets}
        return (kit.place in outlets, not kit.misplaced, -sum(kit.open_slots.values()), kit.name)


def _free_name(design: str, numbers: dict[str, int], taken: set[str]) -> str:
    while True:
        numbers[design] = numbers.get(design, 0) + 1
        name = f"{design}_{numbers[design]}"
        if name not in taken:
            return name


@dataclass(frozen=True)
class Unfinished:
    """A kit that is left out, and why.

    Attributes:
        kit: Its name.
        reason: The reason why it is left out.
        proven: No plan at all completes it, whatever else is left undone; without that, none was found.
    """

    kit: str
    reason: str
    proven: bool = False

    def __str__(self) -> str:
        return f"kit {self.kit}: {self.reason}"


def named_kits(names: Sequence[str]) -> str:
    """Returns `kit a`, or the number of kits and the first few of them."""
    if len(names) == 1:
        return f"kit {names[0]}"
    more = ", ..." if len(names) > NAMED else ""
    return f"{len(names)} kits ({', '.join(names[:NAMED])}{more})"


@dataclass(frozen=True, kw_only=True)
class PlanResult:
    """The result of a planner.

    Attributes:
        status: `optimal` when the plan reaches the bound and every kit that it leaves out provably cannot be completed;
            `unsolvable` when that is so of every wanted kit, `not found` when nothing was found and nothing is proven.
        planner: The name of the planner.
        actions: The steps, by start time.
        cost: Sum of all steps' durations, in seconds.
        makespan_s: The end of the last step.
        lower_bound: A bound that no plan can beat: of `cost` with one robot, of `makespan_s` with several; 0
            when it is not known.
        unfinished: Kits that are left out.
        iterations: The part of the budget that was used.
    """

    status: PlanStatus
    planner: str
    actions: tuple[Action, ...] = ()
    cost: float = 0.0
    makespan_s: float = 0.0
    lower_bound: float = 0.0
    unfinished: tuple[Unfinished, ...] = ()
    iterations: int = 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """The kits that are left out and why, a line for each reason."""
        kits: dict[str, list[str]] = {}
        for left in self.unfinished:
            kits.setdefault(left.reason, []).append(left.kit)
        return tuple(f"{named_kits(names)}: {why}" for why, names in kits.items())

    @property
    def ratio(self) -> float:
        """Makespan over the bound; 1 is optimal. With one robot, makespan and cost are the same."""
        return self.makespan_s / self.lower_bound if self.lower_bound > 0 else 1.0


class Planner(Protocol):
    """The interface of a planner."""

    def plan(self, request: PlanRequest) -> PlanResult:
        """Returns a plan, or why there is none; never raises for a state that is merely hopeless."""
        ...


def _wrong_with(planner: object) -> str:
    """Returns why something cannot be a task planner."""
    if isinstance(planner, type) and callable(getattr(planner, "plan", None)):
        return ""
    return f"should be a class with a method `plan(self, request)`, got {getattr(planner, '__name__', planner)!s:.80}"


TASK_PLANNERS: Registry[type[Planner]] = Registry("planner", "cellwright.planners", of_plugins=True, check=_wrong_with)
"""Name -> class of task planners; `@TASK_PLANNERS.register("name")` adds one for `cellwright plan --planner`."""


def plan(request: PlanRequest, planner: str | Planner | None = None) -> PlanResult:
    """Plans with the given or named planner; by default the sequencer for one robot, the scheduler for several."""
    in_service = sum(robot.available for robot in request.state.robots)
    name = planner or ("scheduler" if in_service > 1 else "sequencer")
    chosen = new_planner(name) if isinstance(name, str) else name
    with garbage_collection_off():
        return conclude(request, _checked(request, chosen))


def knows_paces(name: str | None) -> bool:
    """Returns whether a planner is told that robots differ; planning files (PDDL) have one duration per step."""
    return name is None or getattr(TASK_PLANNERS.get(name), "knows_paces", True)


def new_planner(name: str) -> Planner:
    """Returns a planner of a registered class.

    Raises:
        BadInput: There is none of that name, or it cannot be made; with its place.
    """
    kind = TASK_PLANNERS.get(name)
    try:
        return kind()
    except Exception as error:
        raise plugin_error(f"planner {kind.__name__} cannot be made", error, kind) from error


def _checked(request: PlanRequest, planner: Planner) -> PlanResult:
    """Returns the result of a planner, which may be a plugin's: what it raises, and what is no result, is told.

    Raises:
        PluginError: It fails, or returns something else; with its place.
    """
    from cellwright.planning.result_check import check_result  # which needs what a result is

    kind = type(planner)
    try:
        result = planner.plan(request)
        check_result(request, result)
    except Exception as error:
        raise plugin_error(f"planner {kind.__name__} fails in plan", error, getattr(kind, "plan", kind)) from error
    return result


def conclude(request: PlanRequest, result: PlanResult) -> PlanResult:
    """Returns the result with what is proven of the kits that it leaves out, and the status that follows from that."""
    if not result.unfinished or result.status is PlanStatus.TIMEOUT:
        return result
    from cellwright.planning.relaxed_reachability import RelaxedReachability  # which needs what a request is

    cell, jobs = RelaxedReachability(request), {job.name: job for job in request.jobs}
    left = tuple(
        kit if kit.proven or cell.may_complete(jobs[kit.kit]) else replace(kit, proven=True)
        for kit in result.unfinished
    )
    proven, status = all(kit.proven for kit in left), result.status
    if len(left) == len(jobs):
        status = PlanStatus.UNSOLVABLE if proven else PlanStatus.NOT_FOUND
    elif not result.actions or (status is PlanStatus.OPTIMAL and not proven):
        status = PlanStatus.SOLVED  # what can be done is done, or planned; of the rest nothing better is known
    return replace(result, unfinished=left, status=status)


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Turns garbage collection off: a plan is thousands of small objects without cycles, among which it takes long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
