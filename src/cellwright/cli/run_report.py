"""The printed report of a run: actions, failed predicates, the judge's verdict; 80 columns wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from rich.text import Text

from cellwright.cli.output import counted, is_quiet, say, table, tell
from cellwright.core.messages import ActionEvent, Plan
from cellwright.execution import ActionRecord, Evaluated
from cellwright.judge import ScoreItem
from cellwright.planning import named_kits, short_action
from cellwright.trials.report import Report, TrialStatus

__all__ = ["ActionLines", "print_report", "tell_action", "tell_plan"]

COLOURS = {TrialStatus.DONE: "green", TrialStatus.PARTIAL: "yellow"}
ACTION = 50  # columns for an action


def tell_plan(_topic: str, plan: Plan) -> None:
    """Prints a plan, as it is made."""
    steps = f"a plan of {counted(len(plan.actions), 'step')}" if plan.actions else "nothing is left to do"
    tell(f"{plan.time_s:8.2f} s  {plan.planner}: {steps}")


def tell_action(_topic: str, event: ActionEvent) -> None:
    """Prints an action, as it ends, on stderr: for a run whose stdout is for a program."""
    if event.phase in ("end", "fail"):
        reason = f" failed: {event.reason}" if event.phase == "fail" else ""
        tell(f"{event.time_s:8.2f} s  {event.robot:8}{short_action(event.action, event.part)}{reason}")


def print_report(report: Report) -> None:
    """Prints the result; the actions were printed as they ended."""
    say()
    table("score", ["item", "points", "of", "reason"], _score(report), markup=False)
    for fault in report.faults:
        if not fault.is_end:
            could = fault.recovery.reason if fault.recovery else "the run ended before that could be asked"
            say(f"fault at {fault.time_s:.2f} s: {fault.fault} {fault.subject}: {fault.detail}; {could}")
    for text in report.not_applied:
        say(f"fault that never came: {text}")
    for text in report.notes:
        say(text)
    for why, group in groupby(report.order.unobtainable, lambda lost: lost.reason):
        counts = Counter(lost.part or lost.sku for lost in group)
        what = ", ".join(f"{count} of {name}" if count > 1 else name for name, count in counts.items())
        say(f"not to be had: {what}: {why}")
    say()
    say(Text(report.status.value.replace("_", " "), COLOURS.get(report.status, "red")), f": {report.reason}")
    order = report.order
    words = {"action": len(order.actions), "retry": order.retries, "plan": order.plans}
    tried = ", ".join(counted(number, word) for word, number in words.items())
    cups = any(record.action.startswith("(take-kit") for record in order.actions)
    grip = "friction and suction" if cups else "friction alone"
    say(f"score {100 * report.score:.0f} of 100; {tried}; held by {grip}")
    took_s = report.time_s - report.start_s
    say(f"{took_s:.2f} s simulated in {report.wall_s:.2f} s")


def _score(report: Report) -> list[tuple[str, str, str, str]]:
    """Returns a row for each item; one for all kits whose items all say the same, as those of missing trays."""
    rows = []
    kits = [(kit, list(group)) for kit, group in groupby(report.scored.items, lambda i: i.name.rpartition("/")[0])]
    for why, together in groupby(kits, lambda kit: _in_one(*kit)):
        same = list(together)
        items = [item for _, group in same for item in group]
        if why:
            names = [kit for kit, _ in same]
            what = names[0] if len(names) == 1 else named_kits(names)
            items = [ScoreItem(what, sum(item.points for item in items), sum(item.most for item in items), why)]
        rows += [(i.name, i.points_text, f"{i.most:g}", i.reason) for i in items]
    return rows


def _in_one(kit: str, items: list[ScoreItem]) -> str:
    """Returns the reason that all items of a kit share; empty when they differ, or belong to none."""
    return items[0].reason if kit and len({item.reason for item in items}) == 1 else ""


class ActionLines:
    """Prints a line for each action as it ends; below it the predicates that failed, or all.

    Args:
        robots: The robots that work.
        predicates: Whether all predicates are printed, and not only those that failed.
    """

    def __init__(self, robots: Iterable[str], *, predicates: bool = False) -> None:
        self._wide = max(map(len, robots), default=5)
        self._predicates = predicates
        self._told = 0

    def __call__(self, action: ActionRecord) -> None:
        """Prints an action that has ended or failed."""
        if is_quiet():
            return
        if not self._told:
            say(Text(f"{'at [s]':>7} {'took':>5} {'robot':{self._wide}} {'action':{ACTION}} true", "bold"))
        self._told += 1
        what = short_action(action.action, action.part)
        times = f"{action.start_s:7.2f} {action.end_s - action.start_s:5.2f}"
        result = Text(_result(action), "" if action.phase == "end" else "red")
        say(f"{times} {action.robot:{self._wide}} {what:{ACTION}} ", result)
        failed = action.phase == "fail"
        for one in action.predicates:
            if self._predicates or one.value != "true":
                colour = "" if one.value == "true" else "red" if failed else "yellow"
                when = "before" if one.when == "precondition" else "after"
                say(Text(f"         {when:6} {_evidence_line(one)}", colour))
        if failed and not any(action.reason.endswith(_evidence_line(one)) for one in action.predicates):
            say(Text(f"         failed: {action.reason}", "red"))


def _result(action: ActionRecord) -> str:
    """Returns the number of its predicates that were true."""
    count = sum(one.value == "true" for one in action.predicates)
    return f"{count}/{len(action.predicates)}" + ("" if action.phase == "end" else " failed")


def _evidence_line(one: Evaluated) -> str:
    return f"{one.predicate}({', '.join(one.arguments)}) is {one.value}: {one.evidence}"
