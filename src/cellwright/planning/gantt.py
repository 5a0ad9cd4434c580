"""A picture of a plan: a row for each robot, a bar for each step, coloured by what it is for."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from cellwright.core.errors import BadInput, MissingExtra, OutputError
from cellwright.planning.actions import Action, Verb
from cellwright.planning.planner import PlanResult

__all__ = ["write_gantt"]

_GROUPS: dict[str, tuple[str, frozenset[Verb]]] = {
    "tools": ("#8c8c8c", frozenset((Verb.ATTACH, Verb.DETACH))),
    "kit trays": ("#2f6fb0", frozenset((Verb.TAKE_TRAY, Verb.PLACE_TRAY, Verb.RETURN_TRAY, Verb.CREATE_KIT))),
    "looking": ("#e8c547", frozenset((Verb.LOOK_PART, Verb.SET_GRASP, Verb.LOOK_SLOT))),
    "parts": ("#3a9d5d", frozenset((Verb.TAKE_PART, Verb.PLACE_PART))),
    "putting right": ("#c8452f", frozenset((Verb.REMOVE_PART, Verb.RETURN_PART))),
    "finished kits": ("#7a4fa3", frozenset((Verb.TAKE_KIT, Verb.PLACE_KIT))),
}
_BAR, _STRIP = 0.5, 0.22  # heights of steps and of the kit's name below them, in rows
_WIDTH_IN, _ROW_IN = 14.0, 1.1
_TINTS = ("#dfe7ee", "#f3e6d4")


def write_gantt(result: PlanResult, path: Path | str) -> None:
    """Draws the plan into a PNG file."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError:
        raise MissingExtra("drawing a plan", "plots") from None
    if not result.actions:
        raise BadInput("the plan has no steps, so there is nothing to draw")
    robots = sorted({action.robot for action in result.actions})
    figure = Figure(figsize=(_WIDTH_IN, 1.4 + _ROW_IN * len(robots)), layout="constrained", dpi=120)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    edge = 0.3 if len(result.actions) < 400 else 0.0  # with more, edges would be all that is seen
    for row, robot in enumerate(robots):
        own = [action for action in result.actions if action.robot == robot]
        for colour, verbs in _GROUPS.values():
            bars = [(action.start_s, action.duration_s) for action in own if action.verb in verbs]
            axes.broken_barh(bars, (row - _BAR / 2, _BAR), facecolors=colour, edgecolor="white", linewidth=edge)
        _name_kits(axes, row, own, result.makespan_s)
    axes.set_yticks(range(len(robots)), robots)
    axes.set_ylim(len(robots) - 0.4, -0.5)
    axes.set_xlim(0.0, max(result.makespan_s, 1e-3))
    axes.set_xlabel("time in s")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)
    used = {action.verb for action in result.actions}
    shown = [Patch(color=colour, label=name) for name, (colour, verbs) in _GROUPS.items() if verbs & used]
    figure.legend(handles=shown, loc="outside upper right", ncols=len(shown), frameon=False, fontsize=9)
    kits = len({action.kit for action in result.actions if action.kit})
    bound = f", bound {result.lower_bound:g} s" if result.lower_bound > 0 else ""
    title = f"{kits} kit{'s' * (kits != 1)}, {result.makespan_s:g} s{bound} ({result.planner})"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    try:
        figure.savefig(path, metadata={"Software": None})
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def _name_kits(axes: Any, row: int, actions: Iterable[Action], end_s: float) -> None:
    """Draws strips below the steps that name their kit; names that do not fit are shortened to their number."""
    per_letter_s = end_s / 190.0  # of the small print, over the whole width
    named = (action for action in actions if action.kit)
    for number, (kit, steps) in enumerate(groupby(named, key=lambda action: action.kit)):
        own = list(steps)
        start_s, length_s = own[0].start_s, own[-1].end_s - own[0].start_s
        low = row + _BAR / 2 + 0.03
        axes.broken_barh([(start_s, length_s)], (low, _STRIP), facecolors=_TINTS[number % 2])
        fitting = [text for text in (kit, kit.rsplit("_", 1)[-1]) if len(text) * per_letter_s <= length_s]
        if fitting:
            middle_s = start_s + length_s / 2
            axes.text(middle_s, low + _STRIP / 2, fitting[0], ha="center", va="center", fontsize=7)
