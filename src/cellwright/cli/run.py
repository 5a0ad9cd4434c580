"""`cellwright run`: the job, its report, its log, its picture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.output import console, err, prepare_output, print_json, table
from cellwright.lab import JobReport, Lab, TransferJob, run_transfer
from cellwright.sim.picture import take_picture

__all__ = ["run"]


def run(
    cell: Annotated[str, typer.Argument(help="A cell's name, or a YAML file.")] = "aprs",
    robot: Annotated[str, typer.Option(help="The robot that does the job.")] = "fanuc",
    kit: Annotated[str, typer.Option(help="The kind of kit tray to fill.")] = "kit_m2l1_tray",
    slot: Annotated[str, typer.Option(help="The slot to fill.")] = "slot_1",
    seed: Annotated[int, typer.Option(min=0, help="Root of all randomness.")] = 0,
    fidelity: Annotated[str | None, typer.Option(help="physics or kinematic; the cell's own by default.")] = None,
    realtime: Annotated[bool, typer.Option("--realtime", help="Pace the simulation to the wall clock.")] = False,
    record: Annotated[Path, typer.Option(help="Where to write the log.")] = Path("out/run.mcap"),
    picture: Annotated[Path, typer.Option(help="Where to save the picture.")] = Path("out/run.png"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> int:
    """Takes a gear from its parts tray and sets it into a slot of a kit tray; reports, records, judges."""
    for path in (record, picture):
        prepare_output(path)
    err.print(f"setting up the cell '{cell}' with seed {seed}")
    with Lab.from_cell(cell, seed, fidelity=fidelity, pace=1.0 if realtime else None) as lab:
        recorder = lab.record(record)
        started_s = time.perf_counter()
        report = run_transfer(lab, TransferJob(robot, kit, slot))
        wall_s = time.perf_counter() - started_s
        lost = recorder.close()
        renderer = take_picture(lab.world, picture)
    result = report.as_dict() | {
        "cell": cell, "seed": seed, "log": record, "picture": picture, "renderer": renderer,
        "log_lost": {"messages": lost.messages, "reason": lost.reason},
    }  # fmt: skip
    if as_json:
        print_json(result)
    else:
        _print(report, robot, record, picture, wall_s)
    if lost.messages or lost.reason:
        err.print(f"the log is incomplete: {lost.messages} messages lost: {lost.reason}")
    return 0 if report.done else 1


def _print(report: JobReport, robot: str, record: Path, picture: Path, wall_s: float) -> None:
    rows = [
        (step.name, f"{step.start_s:.3f}", f"{step.end_s - step.start_s:.3f}", step.detail) for step in report.steps
    ]
    table(f"{robot}: {report.seating.slot}", ["step", "start [s]", "took [s]", "result"], rows)
    verdict = "[green]seated[/]" if report.done else "[red]not done[/]"
    part = report.seating.part or "no part"
    console.print(f"\n{verdict}: {part} in {report.seating.slot}: {report.reason}")
    grip = "friction alone" if not report.grasp_lock_uses else f"grasp lock used {report.grasp_lock_uses} times"
    console.print(f"{report.time_s:.2f} s simulated in {wall_s:.2f} s; held by {grip}")
    console.print(f"log {record}, picture {picture}")
