"""Time: actions that take a while, and tokens so that two robots never use one thing at once.

What an action takes is gone at its start, what it gives is there at its end. A robot does one thing at a time, and
where it works no other robot does until it has left.
"""

from __future__ import annotations

from dataclasses import replace

from cellwright.knowledge.pddl.model import Atom, PddlAction, PddlDomain, Symbol

__all__ = ["FREE", "IDLE", "IN_ZONE", "with_durations"]

IDLE = "robot-is-idle"
FREE = "zone-is-free"
IN_ZONE = "place-is-in-zone"
BODY = "SolidObject"


def with_durations(domain: PddlDomain) -> PddlDomain:
    """Returns the same domain with tokens; an action that takes no time stays an action at one instant."""
    tokens = (
        Symbol(IDLE, (("robot", "Robot"),)),
        Symbol(FREE, (("zone", BODY),)),
        Symbol(IN_ZONE, (("place", BODY), ("zone", BODY))),
    )
    return replace(
        domain,
        predicates=(*domain.predicates, *tokens),
        actions=tuple(_action(action) for action in domain.actions),
    )


def _action(action: PddlAction) -> PddlAction:
    if not action.duration_s:
        return replace(action, duration_s=None)
    tokens = []
    parameters, conditions = dict(action.parameters), list(action.conditions)
    if "robot" in parameters:
        tokens.append(Atom(IDLE, ("?robot",)))
    if action.place:
        parameters["zone"] = BODY
        conditions.append(Atom(IN_ZONE, (f"?{action.place}", "?zone")))
        tokens.append(Atom(FREE, ("?zone",)))
    return replace(
        action,
        parameters=parameters,
        conditions=(*conditions, *tokens),
        adds=(*action.adds, *tokens),
        deletes=(*action.deletes, *tokens),
    )
