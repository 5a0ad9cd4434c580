"""Plans for the robots from belief: loose parts are supplies, what is not there is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.messages import Plan
from cellwright.execution.binding import exclusion_reason
from cellwright.execution.outcome import Unobtainable
from cellwright.execution.plan_requests import PlanRequestBuilder, left_out_parts, partial_name
from cellwright.execution.settings import Recipe
from cellwright.execution.tray_places import misplaced_trays
from cellwright.knowledge import BeliefState
from cellwright.orders import KitDesign, Order
from cellwright.planning import (
    PlanRequest,
    PlanResult,
    PlanStatus,
    knows_paces,
    plan,
    validate_sequence,
    validate_timed,
)
from cellwright.planning.external_plan import ExternalPlan, translate_plan

__all__ = ["ExecutionPlan", "adopt_plan", "make_plan"]

SAME_S = 1e-6


@dataclass(frozen=True)
class ExecutionPlan:
    """A plan with the kits, zones and places it is for.

    Attributes:
        result: The plan.
        kits: Kit -> what it shall become, in all that was ordered.
        zones: Place -> zone.
        reach: Robot -> places.
        missing: Parts that were left out of the plan because they cannot be had.
    """

    result: PlanResult
    kits: Mapping[str, KitDesign]
    zones: Mapping[str, str]
    reach: Mapping[str, frozenset[str]]
    missing: tuple[Unobtainable, ...] = ()

    def texts(self, robots: Sequence[str]) -> dict[str, list[str]]:
        """Returns robot -> its actions as in a plan file."""
        found: dict[str, list[str]] = {name: [] for name in robots}
        for action in self.result.actions:
            found[action.robot].append(str(action))
        return found

    def message(self, time_s: float, number: int) -> Plan:
        """Returns the plan as a message for the bus; `number` counts the plans of an order."""
        result = self.result
        actions = tuple(str(action) for action in result.actions)
        return Plan(round(time_s * 1e9), number, "planning", planner=result.planner, actions=actions, cost=result.cost)


def make_plan(
    believed: BeliefState,
    orders: Sequence[Order],
    robots: Sequence[str],
    left_out: Mapping[str, str],
    recipe: Recipe,
    planner: str | None = None,
    kits: Collection[str] | None = None,
    paces: Mapping[str, float] | None = None,
) -> ExecutionPlan:
    """Plans all that can be had of the orders.

    Where robots differ, another kit tray that stays in place is chosen if the robot that works there is done sooner.

    Args:
        believed: What is believed.
        orders: What is wanted.
        robots: The robots that work.
        left_out: Part -> why it is not to be taken.
        recipe: Which parts can be taken.
        planner: A name of `TASK_PLANNERS`.
        kits: The kits that were begun; others are left alone.
        paces: Robot -> how many times as long as the quickest it takes; planning files do not have them.

    Raises:
        JobFailed: The plan breaks a rule: planner and rules disagree.
    """
    excluded = {part.name: why for part in believed.parts() if (why := exclusion_reason(part, recipe, left_out))}
    leaning = {part.name: "leans" for part in believed.parts() if part.tilt_rad > recipe.upright_rad}
    trays = [tray for tray in misplaced_trays(believed) if tray not in left_out]
    known = dict(paces or {}) if knows_paces(planner) else {}
    upright = PlanRequestBuilder(believed, robots, {**leaning, **excluded}, planner, kits, trays, known)
    builder = PlanRequestBuilder(believed, robots, excluded, planner, kits, trays, known)
    whole = builder.request(orders)
    chosen = {job.name: job.design for job in whole.jobs}
    wanted, missing = builder.without_blocked(orders, whole)
    if missing:  # another kit is no way out: this one is begun
        upright, builder = replace(upright, kits=list(chosen)), replace(builder, kits=list(chosen))
    if not wanted:
        return _execution_plan(whole, PlanResult(status=PlanStatus.UNSOLVABLE, planner=planner or ""), chosen, missing)
    attempts = [
        upright.alone,
        upright.request,
        *([builder.alone, builder.request] if leaning.keys() - excluded.keys() else []),
    ]
    for attempt in attempts:  # what leans is taken when nothing else will do
        request = attempt(wanted)
        result = plan(request, planner)
        if not result.unfinished:
            break
    if not result.unfinished and upright.kits is None and len({known.get(robot, 1.0) for robot in robots}) > 1:
        request, result = _quicker(upright, wanted, request, result)
    if result.unfinished and result.actions and len(result.unfinished) < len(request.jobs):
        missing += left_out_parts(request, result)  # what can be completed comes first, and then what remains partial
    elif result.unfinished:
        smaller, more = builder.without(wanted, request, result)
        missing += more
        if smaller:
            request = builder.request(smaller)
            result = plan(request, planner)
    verdict = validate_timed(request, result)
    if not verdict.valid:
        raise JobFailed(f"the plan cannot be carried out: {verdict.reason}")
    return _execution_plan(request, result, _kits(request, chosen), missing)


def _quicker(
    builder: PlanRequestBuilder, orders: Sequence[Order], request: PlanRequest, result: PlanResult
) -> tuple[PlanRequest, PlanResult]:
    """Returns the plan that ends first, of the one given and those with the kit trays of one robot alone."""
    for robot in builder.robots:
        own = builder.own_kits(robot)
        other = replace(builder, kits=own).alone(orders) if own else request
        made = plan(other, builder.planner) if other is not request else result
        if not made.unfinished and made.makespan_s < result.makespan_s - SAME_S:
            request, result = other, made
    return request, result


def adopt_plan(
    believed: BeliefState,
    orders: Sequence[Order],
    robots: Sequence[str],
    left_out: Mapping[str, str],
    recipe: Recipe,
    external: ExternalPlan,
) -> ExecutionPlan:
    """Translates an external plan for the orders and checks it like one of the internal planners.

    Raises:
        BadInput: It names what is not there, breaks a rule, or does not do what is ordered.
    """
    excluded = {part.name: why for part in believed.parts() if (why := exclusion_reason(part, recipe, left_out))}
    trays = [tray for tray in misplaced_trays(believed) if tray not in left_out]
    request = PlanRequestBuilder(believed, robots, excluded, None, external.kits(believed) or None, trays).request(
        orders
    )
    new = [job.name for job in request.jobs if job.name not in believed.objects]
    actions = translate_plan(external, believed, new, request.durations)
    result = PlanResult(
        status=PlanStatus.SOLVED,
        planner=external.where,
        actions=actions,
        cost=sum(action.duration_s for action in actions),
    )
    verdict = validate_sequence(request, result)
    if not verdict.valid:
        raise BadInput(f"{external.where}: this plan does not do what is ordered here: {verdict.reason}")
    return _execution_plan(request, result, {job.name: job.design for job in request.jobs}, ())


def _kits(request: PlanRequest, chosen: Mapping[str, KitDesign]) -> dict[str, KitDesign]:
    """Returns kit -> its whole design: as planned, and as first chosen for kits that the plan leaves out."""
    designs = {design.name: design for design in chosen.values()}
    whole = {partial_name(name): design for name, design in designs.items()} | designs
    found = {job.name: whole[job.design.name] for job in request.jobs}
    left = Counter(d.name for d in chosen.values()) - Counter(d.name for d in found.values())
    for kit, design in chosen.items():
        if kit not in found and left[design.name] > 0:
            found[kit] = design
            left[design.name] -= 1
    return found


def _execution_plan(
    request: PlanRequest, result: PlanResult, kits: Mapping[str, KitDesign], missing: Sequence[Unobtainable]
) -> ExecutionPlan:
    """Returns the plan with its kits, zones and reach."""
    reach = {robot.name: robot.reach for robot in request.state.robots}
    return ExecutionPlan(result, kits, dict(request.state.zones), reach, tuple(missing))
