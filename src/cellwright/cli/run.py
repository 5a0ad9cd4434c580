"""`cellwright run`: the job, its report, its log, its picture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cellwright.cells import load_cell
from cellwright.cli.output import err, prepare_output, print_json, say, table
from cellwright.core.errors import BadInput, CellwrightError
from cellwright.core.messages import ActionEvent
from cellwright.lab import JobReport, Lab, TransferJob, run_transfer
from cellwright.sim.picture import take_picture

__all__ = ["run"]


def run(
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")] = "aprs",
    robot: Annotated[str | None, typer.Option(help="The robot that does the job; the cell's first by default.")] = None,
    kit: Annotated[str, typer.Option(help="The kind of kit tray to fill.")] = "kit_m2l1_tray",
    slot: Annotated[str, typer.Option(help="The slot to fill.")] = "slot_1",
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
    fidelity: Annotated[str | None, typer.Option(help="physics or kinematic; the cell's own by default.")] = None,
    realtime: Annotated[bool, typer.Option("--realtime", help="Pace the simulation to the wall clock.")] = False,
    record: Annotated[Path, typer.Option(help="Where to write the log.")] = Path("out/run.mcap"),
    picture: Annotated[Path, typer.Option(help="Where to save the picture.")] = Path("out/run.png"),
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> int:
    """Takes a gear from its parts tray and sets it into a slot of a kit tray; reports, records, judges."""
    loaded = load_cell(cell)
    if not loaded.robots:
        raise BadInput(f"{loaded.where}: the cell has no robot")
    job = TransferJob(robot or next(iter(loaded.robots)), kit, slot)
    job.check(loaded)
    wanted = None if no_picture else picture
    if wanted is not None and record.absolute() == wanted.absolute():
        raise BadInput(f"log and picture cannot both be written to {record}")
    for path in filter(None, (record, wanted)):
        prepare_output(path)
    with Lab.from_cell(loaded, seed, fidelity=fidelity, pace=1.0 if realtime else None) as lab:
        say(f"{loaded.name}, seed {seed}: {job.robot} fills {job.slot} of {job.kit}", to=err)
        lab.bus.subscribe("/execution/actions", _tell, subscriber="progress")
        recorder = lab.record(record)
        started_s = time.perf_counter()
        report = run_transfer(lab, job)
        wall_s = time.perf_counter() - started_s
        lost = recorder.close()
        if not as_json:
            _print(report, job.robot, wall_s)
        renderer = _take_picture(lab, wanted) if wanted is not None else None
    if as_json:
        print_json(
            report.as_dict()
            | {
                "cell": cell, "robot": job.robot, "seed": seed, "log": record,
                "log_lost": {"messages": lost.messages, "reason": lost.reason},
                "picture": wanted if renderer else None, "renderer": renderer,
            }
        )  # fmt: skip
    else:
        say(f"log {record}" + (f", picture {wanted}" if renderer else ""))
    if lost.messages or lost.reason:
        say(f"the log is incomplete: {lost.messages} messages lost: {lost.reason}", to=err)
    return 0 if report.done else 1


def _tell(_topic: str, event: ActionEvent) -> None:
    if event.phase != "end":
        reason = f" failed: {event.reason}" if event.phase == "fail" else ""
        say(f"{event.time_s:8.3f} s  {event.action}{reason}", to=err)


def _take_picture(lab: Lab, path: Path) -> str | None:
    """The renderer that drew it; a picture that fails must not take the job's report along."""
    try:
        return take_picture(lab.world, path)
    except CellwrightError as error:
        say(f"there is no picture: {error}", to=err)
        return None


def _print(report: JobReport, robot: str, wall_s: float) -> None:
    rows = [
        (step.name, f"{step.start_s:.3f}", f"{step.end_s - step.start_s:.3f}", step.detail) for step in report.steps
    ]
    table(f"{robot}: {report.seating.slot}", ["step", "start [s]", "took [s]", "result"], rows, markup=False)
    say()
    if report.done:
        say(Text("seated", "green"), f": {report.seating.part} in {report.seating.slot}: {report.reason}")
    else:
        say(Text("not done", "red"), f": {report.seating.slot}: {report.reason}")
    grip = "friction alone" if not report.grasp_lock_uses else f"grasp lock used {report.grasp_lock_uses} times"
    say(f"{report.time_s:.2f} s simulated in {wall_s:.2f} s" + (f"; held by {grip}" if report.done else ""))
