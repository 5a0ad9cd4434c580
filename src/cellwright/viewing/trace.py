"""Traces: all of a recorded run in one page, which opens from disk; and two runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.cells import Cell
from cellwright.core.errors import BadInput, OutOfRange, OutputError
from cellwright.core.files import write_whole
from cellwright.record import Log, read_log
from cellwright.viewing.about import about_run, run_note
from cellwright.viewing.colour_rows import ColourRows
from cellwright.viewing.document import RunDocument
from cellwright.viewing.keys import make_keys
from cellwright.viewing.packet import unpack
from cellwright.viewing.page import viewer_page
from cellwright.viewing.replay import ReplayWorld
from cellwright.viewing.rows import Row
from cellwright.viewing.scene import make_scene

__all__ = ["HZ", "trace_blocks", "write_comparison", "write_trace"]

HZ, LEAST_HZ, MOST_HZ = 20.0, 1.0, 100.0
PICTURE_BYTES = 300_000  # of all pictures of a trace; of a longer run fewer are kept


def write_trace(
    log: Log | Path | str,
    out: Path | str,
    *,
    cell: Cell | Path | str | None = None,
    truth: bool = True,
    hz: float = HZ,
) -> Path:
    """Writes a trace of a log: one page, which needs nothing from elsewhere. The same log gives the same bytes.

    Args:
        log: The log.
        out: The page.
        cell: The cell, where the log's own words do not lead to it.
        truth: Whether it shows where things really are, and what was done to them; belief only without.
        hz: Poses per second.

    Raises:
        BadInput: The viewer's page is not built, or the log is none, or its cell is another one or is not there.
        OutputError: The page cannot be written.
    """
    viewer_page()  # whether it is there, before anything is computed
    return _write(out, viewer_page(trace_blocks(log, cell=cell, truth=truth, hz=hz)))


def write_comparison(log_a: Log | Path | str, log_b: Log | Path | str, out: Path | str, *, hz: float = HZ) -> Path:
    """Writes two runs side by side as one page.

    Raises:
        BadInput: As of a trace.
        OutputError: The page cannot be written.
    """
    viewer_page()
    first, second = trace_blocks(log_a, hz=hz), trace_blocks(log_b, hz=hz)
    blocks = first | {"keys-2": second["keys"], "run-2": second["run"]}
    if second["scene"] != first["scene"]:
        blocks["scene-2"] = second["scene"]
    return _write(out, viewer_page(blocks))


def trace_blocks(
    log: Log | Path | str, *, cell: Cell | Path | str | None = None, truth: bool = True, hz: float = HZ
) -> dict[str, bytes]:
    """Returns the blocks of a trace's page: `scene`, `keys`, `run`.

    Raises:
        BadInput: The log is none, or its cell is another one or is not there.
    """
    if not LEAST_HZ <= hz <= MOST_HZ:
        raise OutOfRange("poses per second", hz, LEAST_HZ, MOST_HZ, "Hz")
    log = log if isinstance(log, Log) else read_log(log)
    replay = _replayed(log, cell)
    scene = make_scene(replay.world, truth=truth)
    colours = _colours(replay)
    header, _ = unpack(scene)
    moving = header["moving"]
    first = np.array([header["bodies"][body]["pose"] for body in moving]).reshape(-1, 7)
    keys = make_keys(replay, moving, first, hz)
    run = json.dumps({**_run(log, replay, truth), "colours": colours}, separators=(",", ":"), allow_nan=False).encode()
    return {"scene": scene, "keys": keys, "run": run}


def _replayed(log: Log, cell: Cell | Path | str | None) -> ReplayWorld:
    """Returns the world of a log.

    Raises:
        BadInput: One line: why that is not to be had, and the remedy.
    """
    try:
        return ReplayWorld(log, cell)
    except BadInput as error:
        reason = str(error).splitlines()[0]
        if "record" not in reason and "--cell" not in reason:  # the log is sound, and its cell is another one by now
            reason += "; the cell must be as it was in that run: name its file by --cell FILE"
        raise BadInput(reason if str(log.path) in reason else f"{log.path}: {reason}") from None


def _run(log: Log, replay: ReplayWorld, truth: bool) -> dict[str, Any]:
    """Returns the run document of a log."""
    document = RunDocument(replay.cell, truth=truth)
    for entry in log.entries():
        document.take(entry.topic, entry.time_ns / 1e9, entry.message)
    note = run_note(log)
    rows = document.whole()
    points = {item["name"]: item for item in _records(note.get("items"))}
    for row in rows["score"]:
        if row["name"] in points:
            row |= {"points": points[row["name"]]["points"], "most": points[row["name"]]["most"]}
    rows["actions"] = rows["actions"] or _steps(_records(note.get("steps")), document.robots, note.get("status"))
    rows["pictures"] = _few(rows["pictures"])
    span_s = (min(0.0, replay.start_s), replay.end_s)
    return {"about": about_run(log, document, rows, span_s, truth=truth), "robots": document.robots, **rows}


def _colours(replay: ReplayWorld) -> list[Row]:
    """Returns what LEDs have shown, as rows; the world is posed as in the scene before and after."""
    if not replay.world.mobiles:
        return []
    colours = ColourRows(replay.world)
    rows = []
    for time_s in replay.look_times:
        replay.pose(time_s)
        if (row := colours.take(time_s)) is not None:
            rows.append(row)
    replay.pose(replay.start_s)
    return rows


def _records(text: str | None) -> list[Row]:
    try:
        found = json.loads(text) if text else []
    except ValueError:
        return []
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _steps(steps: list[Row], robots: list[str], status: str | None) -> list[Row]:
    """Returns noted steps as actions: those of an order to pick, of which no message tells; the last one failed."""
    rows: list[Row] = []
    for number, step in enumerate(steps, start=1):
        failed = number == len(steps) and status not in (None, "done")
        row = {"id": f"step {number}", "robot": robots[0] if robots else "", **step, "reason": "", "predicates": []}
        rows.append(row | {"phase": "failed" if failed else "end"})
    return rows


def _few(pictures: list[Row]) -> list[Row]:
    """Returns as many pictures as there is room for, evenly spread."""
    size = sum(len(row["src"]) for row in pictures)
    every = max(1, -(-size // PICTURE_BYTES))
    counts: dict[str, int] = {}
    kept = []
    for row in pictures:
        number = counts[row["camera"]] = counts.get(row["camera"], -1) + 1
        if number % every == 0:
            kept.append(row)
    return kept


def _write(out: Path | str, page: str) -> Path:
    path = Path(out)
    if path.is_dir():
        raise BadInput(f"{path}: a folder; a trace is a file, such as {path / 'run.html'}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.encode())
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    return path
