"""`cellwright trial`: orders, faults, a controller under test, and a report."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cellwright.cli.live_page import SPEED_HELP, VIEW_HELP, LivePage
from cellwright.cli.output import Quiet, err, prepare_output, print_json, say, table, take_folder, tell
from cellwright.cli.page_file import command_line
from cellwright.cli.targets_options import TargetsOption
from cellwright.cli.watching import FastOption, VideoOption, WatchFiles
from cellwright.core.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from cellwright.lab import Lab
    from cellwright.trials.report import Report

__all__ = ["trial"]


def trial(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="The trial, a YAML file.")] = None,
    controller: Annotated[
        str | None, typer.Option(help="external, or the name of a controller inside; the trial's own by default.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="A calibration file of the cell, for a controller inside.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Where detections come from: state, or camera, recognised in pictures.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of verdict, page, picture and log; out/trial/NAME, or the next number.")
    ] = None,
    video: VideoOption = None,
    fast: FastOption = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    pace: Annotated[float | None, typer.Option(help="Simulated seconds per second, instead of the trial's.")] = None,
    any_port: Annotated[bool, typer.Option("--any-port", help="Free ports instead of the cell's.")] = False,
    addresses: Annotated[
        Path | None, typer.Option(help="Write the addresses of the interfaces to this file, as JSON, once they listen.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--controller-command",
            help="Starts the controller once the interfaces listen: places such as {crcl.fanuc}, {vision.fanuc}, "
            "{control} and {seed} are filled in.",
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Run the trial with each of these seeds: 3, 0..99 or 1,5,7..9.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=1000, help="With --seeds: processes; one per core.")
    ] = None,
    keep: Annotated[str, typer.Option(help="With --seeds: whose files stay: all, failed or none.")] = "failed",
    junit: Annotated[Path | None, typer.Option(help="With --seeds: write JUnit XML to this file.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of trial files and end.")] = False,
    view: Annotated[str | None, typer.Option(metavar="[HOST:PORT]", help=VIEW_HELP)] = None,
    speed: Annotated[str | None, typer.Option(help=SPEED_HELP)] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="A trace: the whole run in one HTML file; with --seeds trace.html in each folder that stays.",
        ),
    ] = None,
    targets: TargetsOption = None,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as one JSON object.")] = False,
) -> int:
    """Runs a trial and judges it: exit 0 when every order is done, 1 when not, 2 when the trial makes no sense.

    The addresses of the interfaces are printed on stderr as one line of JSON: start your controller then.
    """
    from cellwright.lab.sources import SOURCES  # here: --help need not wait for a laboratory
    from cellwright.trials.cfg import EXTERNAL, trial_json_schema
    from cellwright.trials.controller_command import ControllerCommand
    from cellwright.trials.page import FILES, UnsavedReport
    from cellwright.trials.trial_file import read_whole_trial, run_trial

    if schema:
        print_json(trial_json_schema())
        return 0
    if file is None:
        raise BadInput("which trial? give its YAML file, or --schema")
    cfg = read_whole_trial(file)
    changes = {} if calibration is None else {"calibration": str(calibration)}
    if source is not None:
        if source not in SOURCES:
            raise UnknownName("source", source, SOURCES, "--source")
        changes["source"] = source
    cfg = cfg.model_copy(update=changes)
    if cfg.calibration is not None and (controller or cfg.controller) == EXTERNAL:
        raise BadInput("a calibration is for a controller inside; one outside loads the file itself")
    program = None if command is None else ControllerCommand.parse(command)
    if program is not None and (controller or cfg.controller) != EXTERNAL:
        raise BadInput("--controller-command is for a controller outside: add --controller external")
    if seeds is not None:
        if addresses is not None:
            raise BadInput("--addresses is for one trial: with --seeds, a controller gets them by --controller-command")
        for option, value in (
            ("--view", view), ("--speed", speed), ("--video", video), ("--fast", fast or None), ("--targets", targets),
        ):  # fmt: skip
            if value is not None:
                raise BadInput(f"{option} is for one trial: leave --seeds out, the file has the seed")
        from cellwright.cli.trial_seeds import run_sweep

        return run_sweep(
            file,
            cfg,
            seeds,
            changes=changes,
            controller=controller,
            command=program,
            pace=pace,
            workers=jobs,
            keep=keep,
            out=out,
            overwrite=overwrite,
            junit=junit,
            trace=trace is not None,
            as_json=as_json,
        )
    from cellwright.cli.run_status import status_of

    if jobs is not None or junit is not None:
        raise BadInput("--jobs and --junit are for --seeds")
    usual = Path("out") / "trial" / cfg.trial
    if out is not None:  # refused now what would be refused once the laboratory is built
        take_folder(out, usual, FILES.values(), overwrite=overwrite)
    folder = usual
    if addresses is not None:
        prepare_output(addresses).unlink(missing_ok=True)

    def accepted() -> Path:
        nonlocal folder
        folder = take_folder(out, usual, FILES.values(), overwrite=overwrite)
        watched.keep_apart(folder / name for name in FILES.values())
        for name in FILES.values():
            prepare_output(folder / name)
        return folder

    def opened(interfaces: dict[str, object]) -> None:
        line = json.dumps({"trial": cfg.trial, **interfaces})
        if addresses is not None:
            partly = addresses.with_name(addresses.name + ".part")
            partly.write_text(line + "\n", encoding="utf-8")
            partly.replace(addresses)  # a process that waits for the file finds it whole
        print(line, file=sys.stderr, flush=True)

    watched = context.with_resource(WatchFiles(trace, video, overwrite=overwrite, fast=fast))
    live = context.with_resource(LivePage(view, speed))

    @contextmanager
    def watching(lab: Lab) -> Iterator[None]:
        about = {"order": cfg.trial, "controller": controller or cfg.controller, "command": command_line()}
        with live.watching(lab, about), nullcontext() if as_json else status_of(lab):
            yield

    def recorded(log: Path) -> dict[str, str]:
        watched.write(log, cfg.cell)
        return watched.links(folder)

    unsaved: UnsavedReport | None = None
    try:
        report = run_trial(
            cfg,
            controller,
            pace=pace,
            any_port=any_port,
            command=command_line(),
            on_accept=accepted,
            on_open=opened,
            say=_told,
            watch=watching,
            program=program,
            on_log=recorded,
            targets=targets,
        )
    except UnsavedReport as error:  # told at the end, after the verdict
        report, unsaved = error.report, error
    live.finish(report)
    written = {what: folder / name for what, name in FILES.items() if unsaved is None}
    written |= watched.written
    if as_json:
        print_json(report.as_dict() | {"files": written})
    else:
        _print(report, folder if unsaved is None else None)
        if watched.told():
            say(watched.told().removeprefix(", "))
    live.stay()
    if unsaved is not None:
        raise unsaved
    return 0 if report.done else 1


def _told(line: str) -> None:
    """Prints what a trial says: its progress unless it was asked to be quiet, hints always."""
    if line.lstrip()[:1].isdigit():  # with the time before it
        tell(line)
    else:
        say(line, to=err)


def _print(report: Report, folder: Path | None) -> None:
    from cellwright.trials.page import FILES

    for order in report.orders:
        for kit in order.kits:
            if kit.tray not in order.without_tray:
                rows = [(item.name, _word(item.passed), item.reason) for item in kit.items]
                table(f"{order.order} on {kit.tray}", ["item", "ok", "why"], rows, markup=False)
                say()
    never = (f"fault that never came: {fault}" for fault in report.not_applied)
    for line in (*map(str, report.faults), *never, *map(str, report.hits), *map(str, report.drops), *report.notes):
        say(line)
    if report.false_done:
        claimed = ", ".join(order.order for order in report.orders if order.false_done)
        say(Text("claimed to be done, but was not: ", "red"), claimed)
    word = Text("done", "green") if report.done else Text("not done", "red")
    say(word, f": {report.ending_text}; score {100 * report.score:.0f} of 100")
    page = "" if folder is None else f"; {folder / FILES['page']}"
    say(f"{report.time_s:.1f} s simulated in {report.wall_s:.1f} s{page}")


def _word(ok: bool) -> Text:
    return Text("yes", "green") if ok else Text("no", "red")
