"""Checks of what a planner, which may be a plugin's, returns: what every reader of a result takes for granted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cellwright.core.errors import BadInput, UnknownName
from cellwright.planning.actions import Action, Verb
from cellwright.planning.planner import PlanRequest, PlanResult, PlanStatus, Unfinished

__all__ = ["check_result"]

_VERBS = frozenset(Verb)


def check_result(request: PlanRequest, result: object) -> None:
    """Refuses what is not the result of planning a request; whether its steps keep the rules is for the validator.

    Raises:
        BadInput: It says what should have been returned.
    """
    if not isinstance(result, PlanResult):
        raise BadInput(f"should return a PlanResult, returned {type(result).__name__}")
    if result.status not in list(PlanStatus):
        raise UnknownName("status", str(result.status)[:80], PlanStatus)
    _check_entries("actions", result.actions, Action)
    _check_entries("unfinished", result.unfinished, Unfinished)
    names = [job.name for job in request.jobs]
    for left in result.unfinished:
        if left.kit not in names:
            raise UnknownName("kit in `unfinished`", str(left.kit)[:80], names)
    if not _all_sound(result.actions):
        for number, action in enumerate(result.actions):
            if action.verb not in list(Verb):
                raise UnknownName(f"verb of `actions[{number}]`", str(action.verb)[:80], Verb)
            for key in ("start_s", "duration_s"):
                _check_number(f"`{key}` of `actions[{number}]`", getattr(action, key))
    for key in ("cost", "makespan_s", "lower_bound"):
        _check_number(f"`{key}`", getattr(result, key))


def _all_sound(actions: Sequence[Action]) -> bool:
    """Returns whether nothing is wrong with any action; plans are long, and nearly all of them are sound."""
    try:
        return {action[0] for action in actions} <= _VERBS and math.isfinite(
            sum(action[7] + action[8] for action in actions)
        )
    except TypeError:
        return False


def _check_entries(key: str, entries: object, kind: type) -> None:
    if not isinstance(entries, Sequence) or not all(isinstance(entry, kind) for entry in entries):
        raise BadInput(f"`{key}` should be a tuple of {kind.__name__}, is {entries!s:.80}")


def _check_number(what: str, value: object) -> None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInput(f"{what} should be a finite number, is {value!s:.80}")
