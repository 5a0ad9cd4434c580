"""`cellwright run` of an order to pick: one object, from pictures to its place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from cellwright.cli.live_page import LivePage
from cellwright.cli.output import err, prepare_output, print_json, say, take_folder, tell, tell_hints
from cellwright.cli.page_file import command_line
from cellwright.cli.watching import WatchFiles
from cellwright.core.errors import BadInput, OutputError
from cellwright.core.files import refuse_existing, write_whole
from cellwright.core.json_text import json_text

if TYPE_CHECKING:
    from cellwright.cells import Cell
    from cellwright.orders.pick_order import PickOrder
    from cellwright.trials.pick_run import PickReport

__all__ = ["run_pick_order"]

TAKES = (
    "cell",
    "order",
    "seed",
    "fidelity",
    "realtime",
    "record",
    "picture",
    "no_picture",
    "out",
    "overwrite",
    "as_json",
    "quiet",
    "calibration",
    "view",
    "speed",
    "video",
    "fast",
    "trace",
)
VERDICT = "verdict.json"


def run_pick_order(
    context: typer.Context,
    cell: str,
    order: PickOrder,
    *,
    seed: int,
    fidelity: str | None,
    realtime: bool,
    record: Path | None,
    picture: Path | None,
    draw: bool,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    calibration: Path | None = None,
    view: str | None = None,
    speed: str | None = None,
    video: Path | None = None,
    fast: bool = False,
    trace: Path | None = None,
) -> int:
    """Does an order to pick; the options are those of `run`, as far as they mean something here."""
    _refuse_others(context, order)
    loaded, cell = _cell_for(cell, order)
    if out is not None:
        record, picture = record or out / "log.mcap", picture or out / "cell.png"
    if not overwrite:
        refuse_existing(*(path for path in (record, picture if draw else None) if path is not None))
    if out is not None:
        take_folder(out, out, (VERDICT,), overwrite=overwrite)

    from cellwright.cells import cell_hints
    from cellwright.drawings.prior import Drawings
    from cellwright.lab import Lab
    from cellwright.trials.calibrated_ports import calibration_of
    from cellwright.trials.page import draw_end
    from cellwright.trials.pick_run import run_pick
    from cellwright.trials.run_files import run_files
    from cellwright.trials.run_note import note_pick

    measured = None if calibration is None else calibration_of(calibration, Drawings.of(loaded))
    watched = context.with_resource(WatchFiles(trace, video, overwrite=overwrite, fast=fast))
    live = context.with_resource(LivePage(view, speed))
    tell(f"{cell}, seed {seed}: {order.name}")
    tell_hints(cell_hints(loaded))
    with Lab.from_cell(loaded, seed, fidelity=fidelity, pace=1.0 if realtime else None) as lab:
        steps: list[tuple[float, str]] = []

        def step_begins(step: str) -> None:
            steps.append((lab.clock.time_s, step))
            tell(f"{lab.clock.time_s:8.2f} s  {step}")

        with run_files(record, picture, None, overwrite=overwrite, draw=draw) as files:
            watched.keep_apart((files.log, files.picture, None if out is None else out / VERDICT))
            for path in filter(None, (files.log, files.picture)):
                prepare_output(path)
            recorder = lab.record(files.log)
            watched.log = files.log
            about = {"order": order.name, "command": command_line(), "log": str(files.log)}
            with live.watching(lab, about):
                report = run_pick(lab, order, on_step=step_begins, calibration=measured)
            note_pick(lab, report, cell, {"fidelity": fidelity, "calibration": calibration}, steps)
            lost = recorder.close()
            live.finish(report)
            renderer = draw_end(lab.world, files.picture, lambda line: say(line, to=err)) if files.picture else None
    watched.write(files.log, loaded)
    told: dict[str, Any] = report.as_dict() | {
        "cell": cell,
        "log": files.log,
        "log_lost": {"messages": lost.messages, "reason": lost.reason},
        "picture": files.picture if renderer else None,
        **watched.written,
        "renderer": renderer,
    }
    unsaved: OutputError | None = None
    if out is not None:
        try:
            write_whole(out / VERDICT, json_text(told).encode())
        except OSError as error:  # told at the end, after the verdict
            unsaved = OutputError(out / VERDICT, error.strerror or str(error))
    if as_json:
        print_json(told)
    else:
        _print(report)
        say(f"log {files.log}" + (f", picture {files.picture}" if renderer else "") + watched.told())
    if unsaved is not None:
        raise unsaved
    return 0 if report.done else 1


def _refuse_others(context: typer.Context, order: PickOrder) -> None:
    """Refuses options that are about kits."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in TAKES and source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"{option} is for orders of kits; {order.name} is an order to pick: leave it out")


def _cell_for(cell: str, order: PickOrder) -> tuple[Cell, str]:
    """Returns the cell, and its name; the variant that has the object on the area where the cell itself has not."""
    from cellwright.cells import load_cell
    from cellwright.drawings.prior import Drawings
    from cellwright.trials.pick_run import check_pick, is_drawn_there

    loaded = load_cell(cell)
    variant = order.variant
    if variant in loaded.variants and not is_drawn_there(Drawings.of(loaded), order):
        cell = f"{cell.partition('@')[0]}@{variant}"
        tell(f"{order.name}: it stands on the {order.pick_area} in {cell}, which is taken")
        loaded = load_cell(cell)
    check_pick(Drawings.of(loaded), order)
    return loaded, cell


def _print(report: PickReport) -> None:
    say()
    for number, one in enumerate(report.account.measurements, start=1):
        where = "" if one.pose_in_world is None else " at ({:.4f}, {:.4f}) m".format(*one.pose_in_world.position[:2])
        why = f": {one.reason}" if one.reason else f", quality {one.quality:.2f}"
        say(f"look {number}: {one.status}{where}{why}")
    for hit in report.hits:
        say(str(hit))
    for drop in report.drops:
        say(str(drop))
    say(Text(report.status.value.replace("_", " "), "green" if report.done else "red"), f": {report.reason}")
    say(f"{len(report.hits)} collisions; held by friction alone")
    say(f"{report.time_s:.2f} s simulated in {report.wall_s:.2f} s")
