"""`cellwright log export`: a recorded run in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from cellwright.cli.output import counted, err, print_json, say
from cellwright.core.errors import BadInput, UnknownName
from cellwright.exchange import ExportFormat, ExportOptions, export_log, read_recording

__all__ = ["export"]

STORAGES = ("mcap", "sqlite3")


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A log (MCAP file), or a bag.")],
    out: Annotated[Path, typer.Option(metavar="PATH", help="The bag (a file), or a folder for all other formats.")],
    format: Annotated[
        str | None, typer.Option(metavar="F", help="bag, rosbag2, csv or parquet; bag for a file named so.")
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", metavar="T", help="Only these topics, such as '/fanuc/*'; may be repeated."),
    ] = None,
    truth: Annotated[bool, typer.Option("--truth", help="Topics of truth, too.")] = False,
    start: Annotated[float, typer.Option("--from", metavar="S", help="From this simulation time on.")] = 0.0,
    end: Annotated[float, typer.Option("--until", metavar="S", help="Up to this simulation time.")] = float("inf"),
    storage: Annotated[str, typer.Option(metavar="S", help="Of rosbag2: mcap or sqlite3.")] = "mcap",
    no_tf: Annotated[bool, typer.Option("--no-tf", help="Bags without /tf and /tf_static.")] = False,
    clock: Annotated[bool, typer.Option("--clock", help="Bags with /clock; 'rosbag play --clock' makes it.")] = False,
    cell: Annotated[
        str | None, typer.Option(help="The cell's file or name, for /tf, where the log's own words do not lead to it.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what an earlier export wrote.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Writes a log as a bag of ROS 1 or ROS 2, or as tables; topics of truth only with --truth.

    Example: `cellwright log export out/run.mcap --out run.bag`
    """
    if format is None:
        if out.suffix != ".bag":
            raise BadInput(f"--format is missing: {', '.join(ExportFormat)}")
        format = ExportFormat.BAG
    if storage not in STORAGES:
        raise UnknownName("storage", storage, STORAGES, "--storage")
    chosen: Literal["mcap", "sqlite3"] = "mcap" if storage == "mcap" else "sqlite3"
    options = ExportOptions(
        topics=topic or (),
        with_truth=truth,
        start_s=start,
        end_s=end,
        storage=chosen,
        with_frames=not no_tf,
        with_clock=clock,
        cell=cell,
        overwrite=overwrite,
    )
    made = export_log(read_recording(file), out, format, options)
    if as_json:
        told = {"out": str(out), "format": made.format, "messages": made.count, "bytes": made.size_bytes}
        print_json({"file": str(file), **told, "topics": made.topics, "notes": made.notes, "problem": made.problem})
        return
    if made.problem:
        err.print(f"[yellow]not complete[/]: {escape(str(file))}: {escape(made.problem)}", soft_wrap=True)
    for note in made.notes:
        say(note, to=err)
    say(f"{out} ({counted(made.count, 'message')} on {counted(len(made.topics), 'topic')}, "
        f"{made.size_bytes / 1e6:.2f} MB)")  # fmt: skip
