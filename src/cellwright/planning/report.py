"""A plan as plain data, for the command line's JSON."""

from __future__ import annotations

from typing import Any

from cellwright.planning.planner import PlanRequest, PlanResult
from cellwright.planning.validator import PlanValidation

__all__ = ["as_json"]


def as_json(request: PlanRequest, result: PlanResult, verdict: PlanValidation) -> dict[str, Any]:
    """Returns request, plan and validation as plain data; times in seconds."""
    reasons = [str(kit) for kit in result.unfinished]  # each, where people get a sum
    if not verdict.valid:
        reasons.append(verdict.reason)
    actions = [
        {
            "verb": str(action.verb),
            "robot": action.robot,
            "tool": action.tool,
            "sku": action.sku,
            "place": action.place,
            "kit": action.kit,
            "start_s": action.start_s,
            "duration_s": action.duration_s,
            "text": str(action),
        }
        for action in result.actions
    ]
    left_out = {kit.kit for kit in result.unfinished}
    return {
        "status": str(result.status),
        "valid": verdict.valid,
        "planner": result.planner,
        "kits": [job.name for job in request.jobs if job.name not in left_out],
        "cost": result.cost,
        "lower_bound": result.lower_bound,
        "makespan_s": result.makespan_s,
        "reasons": reasons,
        "actions": actions,
    }
