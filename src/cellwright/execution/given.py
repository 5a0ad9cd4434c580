"""A plan that somebody else made, for what is believed now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.core.errors import BadInput
from cellwright.execution.binding import unfit
from cellwright.execution.planned import Desk, Planned, planned_of
from cellwright.execution.settings import Recipe
from cellwright.execution.tray_places import lying_about
from cellwright.execution.view import CellView
from cellwright.orders import Order
from cellwright.planning import PlanResult, PlanStatus, validate_sequence
from cellwright.planning.external_plan import ExternalPlan, translate_plan

__all__ = ["given_plan"]


def given_plan(
    view: CellView,
    orders: Sequence[Order],
    robots: Sequence[str],
    left_out: Mapping[str, str],
    recipe: Recipe,
    given: ExternalPlan,
) -> Planned:
    """Somebody else's plan for the orders, checked like one of ours.

    Raises:
        BadInput: It names what is not there, breaks a rule, or does not do what is ordered.
    """
    shy = {part.name: why for part in view.parts() if (why := unfit(part, recipe, left_out))}
    trays = [tray for tray in lying_about(view) if tray not in left_out]
    request = Desk(view, robots, shy, None, given.kits(view.facts) or None, trays).request(orders)
    new = [job.name for job in request.jobs if job.name not in view.facts.things]
    actions = translate_plan(given, view.facts, new, request.durations)
    result = PlanResult(PlanStatus.SOLVED, given.where, actions, sum(action.duration_s for action in actions))
    verdict = validate_sequence(request, result)
    if not verdict.valid:
        raise BadInput(f"{given.where}: this plan does not do what is ordered here: {verdict.reason}")
    return planned_of(request, result, {job.name: job.design for job in request.jobs}, ())
