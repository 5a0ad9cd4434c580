"""Tools that a robot takes up and does not use: such steps are left out of a schedule."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.planning.actions import Action, Verb

__all__ = ["idle_tools", "without_idle_tools"]

_USES = (Verb.TAKE_PART, Verb.TAKE_TRAY, Verb.REMOVE_PART, Verb.TAKE_KIT)
_CHANGES = (Verb.ATTACH, Verb.DETACH)


def idle_tools(actions: Sequence[Action]) -> list[list[Action]]:
    """Returns steps that take up a tool which is not used, each with the one that puts it down again, if any.

    A tool that is carried to another holder, from which another robot takes it, serves that one.
    """
    found: list[list[Action]] = []
    last: dict[str, Action] = {}
    for action in sorted((a for a in actions if a.verb in (*_USES, *_CHANGES)), key=lambda a: a.start_s):
        before = last.get(action.robot)
        if before is not None and (before.verb, action.verb) == _CHANGES:
            later = (
                a for a in actions if a.verb is Verb.ATTACH and a.tool == action.tool and a.start_s > action.start_s
            )
            if before.place == action.place or next(later, before).robot == action.robot:
                found.append([before, action])
        last[action.robot] = action
    return found + [[action] for action in last.values() if action.verb is Verb.ATTACH]


def without_idle_tools(actions: Sequence[Action]) -> list[Action]:
    """Returns the same steps at the same times without them, as far as nothing else depends on them."""
    kept = list(actions)
    while True:
        idle = next((steps for steps in idle_tools(kept) if _is_free(kept, steps)), None)
        if idle is None:
            return kept
        kept = [action for action in kept if action not in idle]
        before = _put_down_before(kept, idle[0])
        kept = [action for action in kept if action != before]


def _is_free(actions: Sequence[Action], idle: Sequence[Action]) -> bool:
    """Returns whether the tool could have stayed: it goes back to its holder, which is not used meanwhile."""
    first, last = idle[0], idle[-1]
    until_s = last.start_s if len(idle) > 1 else float("inf")
    others = [a for a in actions if a.place == first.place and first.start_s < a.start_s < until_s and a not in idle]
    return first.place == last.place and not others


def _put_down_before(actions: Sequence[Action], attach: Action) -> Action | None:
    """Returns the step that put down the tool before only for the idle one; None when either is used later."""
    own = [a for a in actions if a.robot == attach.robot and a.verb in (*_USES, *_CHANGES)]
    before = [a for a in own if a.start_s < attach.start_s]
    after = [a for a in own if a.start_s > attach.start_s]
    last = max(before, key=lambda a: a.start_s, default=None)
    if last is None or last.verb is not Verb.DETACH or after:
        return None
    wanted = any(a.start_s > last.start_s and (a.tool == last.tool or a.place == last.place) for a in actions)
    return None if wanted else last
