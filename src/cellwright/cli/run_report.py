"""The report of a run for people: what was done, what was not so, what the judge says; 80 columns wide."""

from __future__ import annotations

from rich.text import Text

from cellwright.cli.output import err, say, table
from cellwright.core.messages import ActionEvent, Plan
from cellwright.execution import ActionRecord
from cellwright.lab.kitting_report import KittingReport, KittingStatus

__all__ = ["print_report", "tell_action", "tell_plan"]

COLOURS = {KittingStatus.DONE: "green", KittingStatus.PARTIAL: "yellow"}
TO_KIT, NOWHERE = ("look-for-slot", "place-part"), ("set-grasp",)


def short(action: str, part: str = "") -> str:
    """A step of a plan as a person says it: without the tool, and with the part that was chosen."""
    verb, *words = action.strip("()").split()
    named = [word for word in words[1:] if not word.endswith("_tool")]
    sku = named[0].removeprefix("sku_").removeprefix("part_") if named else ""
    places = named[1:]
    if verb in TO_KIT and places:
        return f"{verb} {part or sku} in {places[-1]}"
    return f"{verb} {part or sku}" + (f" at {places[0]}" if places and verb not in NOWHERE else "")


def tell_plan(_topic: str, plan: Plan) -> None:
    """A plan, as it is made."""
    say(f"{plan.time_s:8.2f} s  {plan.planner}: a plan of {len(plan.actions)} steps", to=err)


def tell_action(_topic: str, event: ActionEvent) -> None:
    """An action, as it ends."""
    if event.phase != "start":
        reason = f" failed: {event.reason}" if event.phase == "fail" else ""
        say(f"{event.time_s:8.2f} s  {event.robot:8}{short(event.action)}{reason}", to=err)


def print_report(report: KittingReport, wall_s: float) -> None:
    """All of it."""
    _actions(report)
    rows = [(item.name, f"{round(item.points, 2):g}", f"{item.most:g}", item.reason) for item in report.scored.items]
    say()
    table("score", ["item", "points", "of", "reason"], rows, markup=False)
    for fault in report.faults:
        if not fault.is_end:
            could = fault.recovery.reason if fault.recovery else "the run ended before that could be asked"
            say(f"fault at {fault.time_s:.2f} s: {fault.fault} {fault.subject}: {fault.detail}; {could}")
    for text in report.not_applied:
        say(f"fault that never came: {text}")
    for lost in report.order.unobtainable:
        say(f"not to be had: {lost.part or lost.sku}: {lost.reason}")
    say()
    say(Text(report.status.value.replace("_", " "), COLOURS.get(report.status, "red")), f": {report.reason}")
    order = report.order
    tried = f"{len(order.actions)} actions, {order.retries} retries, {order.plans} plans"
    grip = "friction alone" if not report.grasp_lock_uses else f"grasp lock used {report.grasp_lock_uses} times"
    say(f"score {report.score:.2f}; {tried}; held by {grip}")
    took_s = report.time_s - report.start_s
    say(f"{took_s:.2f} s simulated in {wall_s:.2f} s")


def _actions(report: KittingReport) -> None:
    """A line for each action; below it what was not true, in full."""
    actions = report.order.actions
    wide = max((len(action.robot) for action in actions), default=5)
    said = [short(action.action, action.part) for action in actions]
    long = max(map(len, said), default=6)
    say(Text(f"{'at [s]':>7} {'took':>5} {'robot':{wide}} {'action':{long}} true", "bold"))
    for action, what in zip(actions, said, strict=True):
        times = f"{action.start_s:7.2f} {action.end_s - action.start_s:5.2f} {action.robot:{wide}} {what:{long}} "
        say(times, Text(_result(action), "" if action.phase == "end" else "red"))
        for line in _doubts(action):
            say(Text(f"         {line}", "red" if action.phase == "fail" else "yellow"))


def _result(action: ActionRecord) -> str:
    """How many of its predicates were true."""
    count = sum(one.value == "true" for one in action.predicates)
    return f"{count}/{len(action.predicates)}" + ("" if action.phase == "end" else " failed")


def _doubts(action: ActionRecord) -> list[str]:
    lines = [
        f"{one.predicate}({', '.join(one.arguments)}) is {one.value}: {one.evidence}"
        for one in action.predicates
        if one.value != "true"
    ]
    told = action.phase == "end" or any(action.reason.endswith(line) for line in lines)
    return lines if told else [*lines, f"failed: {action.reason}"]
