"""`cellwright log`: recorded runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from cellwright.cli.log_export import export
from cellwright.cli.log_perceive import perceive_recording
from cellwright.cli.log_text import note_text, only_other, text_of
from cellwright.cli.log_video import video
from cellwright.cli.output import console, err, prepare_output, print_json, say, table
from cellwright.cli.page_file import prepare_page
from cellwright.core.errors import BadInput
from cellwright.core.extras import need_extra
from cellwright.record import (
    Difference,
    Log,
    LogEntry,
    Mismatch,
    Sameness,
    compare_twins,
    fields_of,
    paced,
    plain,
    read_log,
)
from cellwright.record import compare as compare_logs
from cellwright.record import plot as plot_log

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Recorded runs: show, replay, compare, plot, export and film them.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A log (MCAP file).")]
Recording = Annotated[Path, typer.Argument(metavar="FILE", help="A log (MCAP file), or a bag of ROS 1 or ROS 2.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
TopicNames = Annotated[list[str] | None, typer.Option("--topic", metavar="T", help="Only this topic; may be repeated.")]

app.command()(video)
app.command()(export)
app.command("perceive")(perceive_recording)

DEFAULT_LIMIT = 10
IN_EVERY_MESSAGE = ("time_ns", "sequence", "source", "header.stamp.sec", "header.stamp.nanosec")


@app.command()
def show(
    file: Recording,
    topic: TopicNames = None,
    limit: Annotated[int | None, typer.Option(min=0, metavar="N", help="How many messages to show.")] = None,
    as_json: Json = False,
) -> None:
    """Shows what is in a log; with --topic or --limit its first messages too."""
    log = _read(file)
    topics = [log.topic(name) for name in topic] if topic else list(log.topics.values())
    wanted = limit if limit is not None else DEFAULT_LIMIT if topic else 0
    entries = islice(log.entries(topic), wanted)
    start_ns, end_ns = log.span_ns
    if as_json:
        contents = [
            {"name": t.name, "type": t.type, "count": t.count, "rate_hz": t.rate_hz}
            | {"first_s": t.first_ns / 1e9, "last_s": t.last_ns / 1e9}
            for t in topics
        ]
        span = {"start_s": start_ns / 1e9, "end_s": end_ns / 1e9}
        whole = {"file": str(file), "complete": not log.problem, "problem": log.problem, "metadata": log.metadata}
        messages = {"messages": [_as_json(entry) for entry in entries]} if wanted else {}
        print_json({**whole, **span, "count": log.count, "topics": contents, **messages})
        return
    _warn_of_gaps(log)
    console.print(
        f"{escape(str(file))}: {log.count} messages, {start_ns / 1e9:g} s to {end_ns / 1e9:g} s", soft_wrap=True
    )
    if log.metadata:
        _print_pairs({name: note_text(text) for name, text in log.metadata.items()})
    console.print()
    rows = [
        [escape(t.name), escape(t.type.rsplit("/", 1)[-1]), t.count, f"{t.rate_hz:.1f}" if t.rate_hz else "-"]
        + [f"{time_ns / 1e9:.3f}" for time_ns in (t.first_ns, t.last_ns)]
        for t in topics
    ]
    table(None, ["topic", "type", "[n]", "[Hz]", "from [s]", "to [s]"], rows)
    for entry in entries:
        values = fields_of(entry.message)
        heading = f"{entry.topic} at {entry.time_ns / 1e9:.3f} s"
        if "sequence" in values:
            source = values.get("source") or values.get(
                "header.frame_id"
            )  # a class that is not known here has a header
            heading += f", number {values['sequence']} of {source or '(no source)'}"
        console.print(f"\n[bold]{escape(heading)}[/]", soft_wrap=True)
        _print_pairs({name: text_of(value) for name, value in values.items() if name not in IN_EVERY_MESSAGE})


@app.command()
def replay(
    file: Recording,
    speed: Annotated[
        float, typer.Option(metavar="X", help="Simulated seconds for one of the clock; 0: no waiting.")
    ] = 1.0,
    topic: TopicNames = None,
    json_lines: Annotated[bool, typer.Option("--json-lines", help="One JSON object a line for each message.")] = False,
) -> None:
    """Prints the messages of a log at the times they had; large arrays by type and shape."""
    log = _read(file)
    _warn_of_gaps(log)
    width = console.width if console.is_terminal else None  # a pipe gets the whole line
    for entry in paced(log, speed, topics=topic):
        line = json.dumps(_as_json(entry)) if json_lines else _line(entry)[:width]
        print(line, flush=speed > 0)


@app.command()
def trace(
    file: File,
    out: Annotated[Path, typer.Option(metavar="HTML", help="The page.")] = Path("out/run.html"),
    cell: Annotated[
        str | None, typer.Option(help="The cell's file or name, where the log's own words do not lead to it.")
    ] = None,
    no_truth: Annotated[
        bool, typer.Option("--no-truth", help="Show what is believed and detected, not where things are.")
    ] = False,
    hz: Annotated[float, typer.Option(metavar="N", help="Poses per second, 1 to 100.")] = 20.0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that exists.")] = False,
    as_json: Json = False,
) -> None:
    """Writes a trace: the whole run in one HTML file, which opens from disk, to replay and step through.

    Example: `cellwright log trace out/run.mcap --out run.html`
    """
    from cellwright.viewing.trace import write_trace

    log = read_log(file)
    prepare_page(out, overwrite=overwrite, read=[file])
    write_trace(log, out, cell=cell, truth=not no_truth, hz=hz)
    size = out.stat().st_size
    if as_json:
        print_json({"file": str(file), "trace": str(out), "bytes": size, "problem": log.problem})
        return
    _warn_of_gaps(log)
    say(f"{out} ({size / 1e6:.2f} MB)")


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="A log.")],
    b: Annotated[
        Path | None,
        typer.Argument(metavar="[B]", help="Another; without it, external robots of A beside their twins."),
    ] = None,
    tolerance: Annotated[float, typer.Option(metavar="X", help="How far numbers with a fraction may be apart.")] = 0.0,
    html: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write a page that replays both runs side by side.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that exists.")] = False,
    as_json: Json = False,
) -> int:
    """Compares two logs message by message: exit 0 when they are equal, 1 when not, 2 when one is not a log.

    Of one log: how far robots that were external are from their simulated twins, or shadows.
    """
    if b is None:
        return _compare_twins(a, as_json=as_json)
    logs = read_log(a), read_log(b)
    if html is not None:
        from cellwright.viewing.trace import write_comparison

        prepare_page(html, overwrite=overwrite, read=[a, b])
        write_comparison(*logs, html)
        say(f"both runs side by side: {html}", to=err)
    result = compare_logs(*logs, tolerance=tolerance)
    if as_json:
        first = None
        if result.first is not None:
            first = {**asdict(result.first), "a": plain(result.first.a), "b": plain(result.first.b)}
        mismatches = {"topics": list(map(asdict, result.topics)), "metadata": list(map(asdict, result.metadata))}
        verdict = {"equal": result.equal, "sameness": result.sameness.value, "tolerance": tolerance}
        print_json({"a": str(a), "b": str(b), **verdict, "first": first, **mismatches})
        return 0 if result.equal else 1
    for log in logs:
        _warn_of_gaps(log)
    if result.sameness is Sameness.IDENTICAL:
        console.print("[green]equal[/]: the files are the same byte for byte")
    elif result.first is None:
        within = f" within {tolerance:g}" if tolerance else ""
        console.print(f"[green]equal[/]: the messages are the same{within}, the files are not")
    else:
        console.print("[red]different[/]: " + escape(_describe(result.first)), soft_wrap=True)
    _mismatch_table("topics", "messages", result.topics)
    _mismatch_table("metadata", "value", tuple(map(only_other, result.metadata)))
    return 0 if result.equal else 1


def _compare_twins(file: Path, *, as_json: bool) -> int:
    twins = compare_twins(read_log(file))
    if as_json:
        print_json({"a": str(file), "twins": [twin.as_dict() for twin in twins]})
        return 0
    if not twins:
        raise BadInput(f"{file}: no robot was external in it; to compare two logs, name a second one")
    rows = []
    for name in (key for key in twins[0].as_dict() if key != "robot"):
        values = [twin.as_dict()[name] for twin in twins]
        if any(value is not None for value in values):
            rows.append([name, *("-" if value is None else f"{value:.4g}" for value in values)])
    table("external robots and their twins", ["", *(twin.robot for twin in twins)], rows)
    return 0


@app.command()
def plot(
    file: File,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="F", help="As /fanuc/joint_states.position[2]; may be repeated."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="PNG", help="The picture.")] = Path("out/log.png"),
    as_json: Json = False,
) -> None:
    """Plots fields over simulation time; joint positions, widths and forces when none is named."""
    need_extra("plotting a log", "plots", "matplotlib")
    log = read_log(file)
    _warn_of_gaps(log)
    prepare_output(out)
    drawn = plot_log(log, field or [], out)
    if as_json:
        print_json({"file": out, "curves": [{"topic": c.topic, "field": c.field, "unit": c.unit} for c in drawn]})
        return
    console.print(f"{escape(str(out))} ({len(drawn)} {'curve' if len(drawn) == 1 else 'curves'})", soft_wrap=True)


def _read(file: Path) -> Log:
    """Returns a log or a bag; the types of ROS take a moment to load, and a log does not need them."""
    if not file.is_dir() and file.suffix != ".bag":
        return read_log(file)
    from cellwright.exchange import read_recording

    recording: Log = read_recording(file)
    return recording


def _warn_of_gaps(log: Log) -> None:
    if log.problem:
        err.print(f"[yellow]not complete[/]: {escape(str(log.path))}: {escape(log.problem)}", soft_wrap=True)


def _print_pairs(pairs: dict[str, str]) -> None:
    grid = Table.grid(padding=(0, 2))
    for name, value in pairs.items():
        grid.add_row(escape(name), escape(value))
    console.print(grid)


def _as_json(entry: LogEntry) -> dict[str, Any]:
    return {"topic": entry.topic, "time_s": entry.time_ns / 1e9, "message": plain(entry.message)}


def _line(entry: LogEntry) -> str:
    fields = {name: value for name, value in fields_of(entry.message).items() if name not in IN_EVERY_MESSAGE}
    text = ", ".join(f"{name} {text_of(value)}" for name, value in fields.items())
    return f"{entry.time_ns / 1e9:10.3f}  {entry.topic}  {' '.join(text.split())}"


def _describe(difference: Difference) -> str:
    index = f"[{','.join(map(str, difference.index))}]" if difference.index else ""
    place = f"{difference.topic} at {difference.time_ns / 1e9:.6f} s (number {difference.number})"
    if difference.field == "message":
        return f"{place}: only {'A' if difference.b is None else 'B'} has this message"
    return f"{place}: {difference.field}{index} is {difference.a!r} in A and {difference.b!r} in B"


def _mismatch_table(title: str, what: str, mismatches: tuple[Mismatch, ...]) -> None:
    if mismatches:
        rows = [[escape("-" if v is None else str(v)) for v in (m.name, m.a, m.b)] for m in mismatches]
        console.print()
        table(f"{title}: not the same", ["", f"{what} in A", f"{what} in B"], rows)
