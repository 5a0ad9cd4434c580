"""The note on a run at the end of its log: order, verdict, configuration, and how to do it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.judge import ScoreItem
from cellwright.judge.faults.spec import fault_text
from cellwright.lab.lab import Lab
from cellwright.trials.cfg import TrialCfg
from cellwright.trials.pick_run import PickReport
from cellwright.trials.report import Report

__all__ = ["RUN_NOTE", "note_pick", "note_run", "note_trial", "run_command"]

RUN_NOTE = "run"
"""Name of the record in a log."""
USUAL = {"recovery": "full", "quantity": 1, "cell": "aprs"}
OPTIONS = ("order", "quantity", "robots", "recovery", "planner", "source", "calibration", "seed", "fidelity", "targets")


def run_command(asked: Mapping[str, Any], faults: Iterable[str] = ()) -> str:
    """Returns the command that does a run again, without the files that it wrote.

    Args:
        asked: Options of `cellwright run` by name, with the cell.
        faults: As they are written on the command line.
    """
    words = ["cellwright", "run", *([_from_here(asked["cell"])] if asked.get("cell") else [])]
    for name in OPTIONS:
        value = asked.get(name)
        if value is not None and value != USUAL.get(name):
            words += [f"--{name}", ",".join(value) if isinstance(value, list | tuple) else _from_here(value)]
    for fault in faults:
        words += ["--fault", fault]
    return shlex.join(words)


def note_run(lab: Lab, report: Report, asked: Mapping[str, Any], faults: Iterable[str]) -> None:
    """Notes a run of Cellwright's own controller in all logs of a laboratory."""
    faults = tuple(faults)
    settings = {name: asked.get(name) for name in OPTIONS if name != "seed"} | {"fidelity": lab.cell.fidelity}
    content = _content(lab, report, asked.get("cell"), run_command(asked, faults))
    _note(lab, content, {**settings, "faults": faults})


def note_trial(
    lab: Lab,
    report: Report,
    cfg: TrialCfg,
    file: Path | None,
    controller: str,
    *,
    failure: str = "",
    command: str = "",
) -> None:
    """Notes a trial in all logs of a laboratory.

    Args:
        lab: The laboratory.
        report: On the trial.
        cfg: What was asked for.
        file: The trial's; None of one that has none.
        controller: Its name.
        failure: Why the test failed that it was for, whatever the judge says of its orders.
        command: Repeats it, where it has no file.
    """
    words = ["cellwright", "trial", _from_here(file)]
    words += ["--controller", controller] if controller != cfg.controller else []
    for name in ("source", "calibration"):
        if name in cfg.model_fields_set and getattr(cfg, name) is not None:
            words += [f"--{name}", _from_here(getattr(cfg, name))]
    settings = {
        "trial": cfg.trial, "orders": [order.order for order in cfg.orders], "controller": controller,
        "source": cfg.source, "calibration": cfg.calibration, "time limit": f"{cfg.time_limit_s:g} s",
        "fidelity": lab.cell.fidelity, "faults": tuple(map(fault_text, cfg.faults)),
    }  # fmt: skip
    content = _content(lab, report, cfg.cell, shlex.join(words) if file else command)
    if failure:
        content |= {"status": "failed", "reason": failure}
        if report.done:  # all that was ordered is there: what the test did not like is what it saw last
            content["failure_s"] = f"{report.time_s:.6g}"
    _note(lab, content, settings)


def note_pick(
    lab: Lab, report: PickReport, cell: str, asked: Mapping[str, Any], steps: Sequence[tuple[float, str]] = ()
) -> None:
    """Notes a run of an order to pick in all logs of a laboratory.

    Args:
        lab: The laboratory.
        report: On the run.
        cell: As it was asked for.
        asked: Options of `cellwright run` by name.
        steps: When each step began, and what it was: no message tells of them.
    """
    ends = [*(time_s for time_s, _ in steps[1:]), report.time_s]
    told = [{"start_s": s, "end_s": end_s, "text": text} for (s, text), end_s in zip(steps, ends, strict=False)]
    content = {
        "cell": _from_here(cell),
        "order": report.order,
        "controller": "internal",
        "status": "done" if report.done else report.status.value,
        "reason": report.reason,
        "ending": "the controller has ended",
        "command": run_command({"cell": cell, "order": report.order, "seed": lab.seed} | dict(asked)),
        "steps": json.dumps(told),
    }
    _note(lab, content, {"order": report.order, "fidelity": lab.cell.fidelity} | dict(asked))


def _content(lab: Lab, report: Report, cell: Any, command: str) -> dict[str, str]:
    return {
        "cell": _from_here(cell or lab.cell.where),
        "order": ", ".join(order.order for order in report.orders),
        "controller": report.controller,
        "status": "done" if report.done else report.status.value,
        "reason": report.reason,
        "ending": report.ending_text,
        "score": f"{report.score:.6g}",
        "items": json.dumps([_item(item) for item in report.scored.items]),
        "command": command,
        "notes": json.dumps([*report.notes, *(f"fault that never came: {fault}" for fault in report.not_applied)]),
    }


def _from_here(value: Any) -> str:
    """Returns a value as text; a file below the working folder as from there, so that logs are alike everywhere."""
    text, here = str(value), Path.cwd()
    return str(Path(text).relative_to(here)) if Path(text).is_relative_to(here) else text


def _item(item: ScoreItem) -> dict[str, Any]:
    return {"name": item.name, "points": item.points, "most": item.most}


def _note(lab: Lab, content: dict[str, str], settings: Mapping[str, Any]) -> None:
    said: dict[str, str] = {}
    for key, value in settings.items():
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else _from_here(value)
        if value is not None and text:
            said[key] = text
    lab.note(RUN_NOTE, {**content, "configuration": json.dumps(said)})
