"""The head of a trace: whose run it is, how it ended, when it went wrong, how to repeat it; all from the log itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cellwright.record import Log
from cellwright.trials.run_note import RUN_NOTE
from cellwright.viewing.document import RunDocument
from cellwright.viewing.rows import Row

__all__ = ["about_run", "run_note"]

OTHERS = ("cell", "seed", "fidelity", "model")  # keys of a log's metadata that are no versions
FAILED = "failed"


def run_note(log: Log) -> dict[str, str]:
    """Returns what the run noted at the end of its log; empty when it did not."""
    prefix = f"{RUN_NOTE}."
    return {key.removeprefix(prefix): text for key, text in log.metadata.items() if key.startswith(prefix)}


def about_run(
    log: Log, document: RunDocument, rows: Mapping[str, list[Row]], span_s: tuple[float, float], *, truth: bool
) -> dict[str, Any]:
    """Returns the entry `about` of a run document.

    Args:
        log: The log.
        document: Made of all its messages.
        rows: The rows of that.
        span_s: The first and the last moment that is shown.
        truth: Whether the truth is shown.
    """
    note, metadata = run_note(log), log.metadata
    if not truth:  # what tells of faults
        note = {key: text for key, text in note.items() if key not in ("command", "notes")}
    verdicts = [row for row in rows["events"] if row["kind"] == "verdict"]
    score = _number(note.get("score"))
    if score is None and verdicts:
        told = re.fullmatch(r"score (\d+) of 100", verdicts[-1]["text"])
        score = int(told[1]) / 100 if told else None
    status = note.get("status") or "ended"
    configuration = _loaded(note.get("configuration"), {})
    if not truth:
        configuration.pop("faults", None)
    seed = metadata.get("seed", "")
    return {
        "cell": _cell_name(note.get("cell"), metadata.get("cell")),
        "seed": int(seed) if seed.lstrip("-").isdigit() else None,
        "fidelity": metadata.get("fidelity"),
        "order": note.get("order") or _first_order(rows),
        "controller": note.get("controller"),
        "status": "done" if status == "done" else status if status == "ended" else FAILED,
        "reason": note.get("reason"),
        "score": score,
        "start_s": span_s[0],
        "end_s": span_s[1],
        "failure_s": None
        if status in ("done", "ended")
        else _number(note.get("failure_s")) or failure_s(rows, span_s[1]),
        "command": note.get("command"),
        "log": log.path.name,
        "versions": {key: text for key, text in metadata.items() if key not in OTHERS and "." not in key},
        "configuration": {key: str(text) for key, text in configuration.items()} | _ending(note, status),
        "is_truth_shown": truth,
        "notes": _notes(log, note, document),
    }


def failure_s(rows: Mapping[str, list[Row]], end_s: float) -> float:
    """Returns the moment that matters of a run that was not done.

    That is the failure of an action that was not made up for, the first if there are several; else the first hit,
    else the last drop, else the end.
    """
    actions = rows["actions"]
    made_up = {(row["robot"], _step(row)): row["start_s"] for row in actions if row["phase"] == "end"}
    for row in actions:
        again_s = made_up.get((row["robot"], _step(row)))
        if row["phase"] == FAILED and (again_s is None or again_s < row["start_s"]):
            return float(row["end_s"])
    for kind, number in (("hit", 0), ("drop", -1)):
        found = [row["time_s"] for row in rows["events"] if row["kind"] == kind]
        if found:
            return float(found[number])
    return end_s


def _step(row: Row) -> str:
    """Returns what an action is for, whichever part was chosen for it."""
    return str(row.get("step") or row["text"])


def _cell_name(asked: str | None, own: str | None) -> str | None:
    """Returns the cell as it was asked for, a variant too; of one from a file its own name."""
    is_file = asked is not None and (asked.endswith((".yaml", ".yml")) or "/" in asked)
    return own or asked if is_file else asked or own


def _notes(log: Log, note: Mapping[str, str], document: RunDocument) -> list[str]:
    notes = [str(text) for text in _loaded(note.get("notes"), [])]
    if not note:
        notes.append(
            "The log does not tell how the run ended, what was asked for and how to repeat it: an older version "
            "recorded it, or the program was stopped before its end."
        )
    if log.problem:
        notes.append(f"The log is incomplete: {log.problem}. What it still holds is shown.")
    if lost := log.metadata.get("lost.messages"):
        notes.append(f"{lost} messages were not recorded: {log.metadata.get('lost.reason', '')}")
    left_out = sum(document.left_out.values())
    if left_out:
        notes.append(f"{left_out} CRCL messages are not listed: polls of the status, and answers that say nothing new.")
    return notes


def _ending(note: Mapping[str, str], status: str) -> dict[str, str]:
    """Returns how it ended, in the words of the verdict."""
    ending = {"ending": note["ending"]} if note.get("ending") else {}
    return ending | ({"verdict": status.replace("_", " ")} if status not in ("ended",) else {})


def _first_order(rows: Mapping[str, list[Row]]) -> str | None:
    return next((str(row["subject"]) for row in rows["events"] if row["kind"] == "order"), None)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _loaded(text: str | None, without: Any) -> Any:
    """Returns what a note holds as JSON; of one that another program wrote, nothing that is no JSON of that kind."""
    try:
        found = json.loads(text) if text else without
    except ValueError:
        return without
    return found if isinstance(found, type(without)) else without
