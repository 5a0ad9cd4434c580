"""`cellwright log perceive`: perception on a recording, and how far it is from that of a run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cellwright.cli.output import console, counted, err, prepare_output, print_json, say, table
from cellwright.core.errors import BadInput
from cellwright.core.files import refuse_existing, refuse_same

if TYPE_CHECKING:
    from cellwright.exchange import FrameDifferences, Perceived
    from cellwright.record import Log

__all__ = ["perceive_recording"]

TRACKS = "/tracks"


def _mm(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 or not value else f"{value:.1e}"


ROWS = (
    ("frames", "frames that both have", str),
    ("only_a", "only the run has", str),
    ("only_b", "only this has", str),
    ("objects", "objects in them that both have", str),
    ("missing", "only the run has", str),
    ("extra", "only this has", str),
    ("slots", "in another slot", str),
    ("median_mm", "distance, median [mm]", _mm),
    ("p95_mm", "of 95 in 100, at most [mm]", _mm),
    ("largest_mm", "largest [mm]", _mm),
)


def perceive_recording(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A log, a bag of ROS 1, or the folder of one of ROS 2.")],
    against: Annotated[
        Path | None, typer.Option(metavar="RUN", help="The run to compare with, also a bag; FILE itself by default.")
    ] = None,
    cell: Annotated[
        str | None, typer.Option(help="The cell whose drawings are known; a bag of ROS 1 names none.")
    ] = None,
    detector: Annotated[
        list[str] | None, typer.Option(metavar="D", help="Only this detector or camera; may be repeated.")
    ] = None,
    recognise: Annotated[
        bool, typer.Option("--recognise", help="Recognise pictures, also where there are detections.")
    ] = False,
    no_arms: Annotated[bool, typer.Option("--no-arms", help="Arms hide nothing: leave joint states out.")] = False,
    no_hands: Annotated[bool, typer.Option("--no-hands", help="Nothing is in a hand: leave actions out.")] = False,
    within: Annotated[
        float | None, typer.Option(metavar="MM", help="Exit 1 where 95 of 100 objects are not so near to the run's.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="LOG", help="Log the tracks, and what was recognised.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a log that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Runs perception on a recording: recognition on pictures, the tracker on detections; compares it with the run's.

    Example: `cellwright log perceive field.bag --cell aprs --against out/run.mcap`
    """
    from cellwright.exchange import (  # here: --help is quick
        compare_detections,
        compare_tracks,
        perceive,
        read_recording,
    )

    if within is not None and not within >= 0:
        raise BadInput(f"--within is a distance in millimetres, not {within:g}")
    if out is not None:
        refuse_same(out, [file, against])
        if not overwrite:
            refuse_existing(out)
    recording = read_recording(file)
    run = recording if against is None else read_recording(against)
    made = perceive(
        recording,
        cell,
        detectors=detector,
        recognise=True if recognise else None,
        with_arms=not no_arms,
        with_hands=not no_hands,
    )
    differences = compare_detections(run, made)
    if TRACKS in run.topics or against is not None:
        differences += compare_tracks(run, made)
    if within is not None and not differences:
        raise BadInput(f"{run.path} has neither tracks nor detections of what was perceived: nothing to compare with")
    if out is not None:
        _record(made, prepare_output(out))
    far = [one for one in differences if within is not None and (not one.objects or one.p95_mm > within)]
    if as_json:
        told = {"frames": made.frames, "recognised": len(made.recognised), "tracks": len(made.tracks)}
        compared = {"against": str(run.path), "differences": [asdict(one) for one in differences]}
        print_json({"file": str(file), **told, **compared, "notes": made.notes, "problem": recording.problem})
        return 1 if far else 0
    _tell(recording, run, made, differences)
    for one in far:
        place = f"{_mm(one.p95_mm)} mm from the run's" if one.objects else "nothing that both have"
        console.print(f"[red]different[/]: {escape(one.name)}: {place}", soft_wrap=True)
    return 1 if far else 0


def _tell(recording: Log, run: Log, made: Perceived, differences: list[FrameDifferences]) -> None:
    if recording.problem:
        err.print(
            f"[yellow]not complete[/]: {escape(str(recording.path))}: {escape(recording.problem)}", soft_wrap=True
        )
    for note in made.notes:
        say(note, to=err)
    told = [f"{name} {counted(frames, 'frame')}" for name, frames in sorted(made.frames.items())]
    pictures = f", {counted(len(made.recognised), 'picture')} recognised" if made.recognised else ""
    say(f"{recording.path}: tracked {', '.join(told) or 'nothing'}{pictures}")
    if not differences:
        return
    rows = [[title, *(shown(getattr(one, key)) for one in differences)] for key, title, shown in ROWS]
    table(f"against {run.path}", ["", *(escape(one.name) for one in differences)], rows)


def _record(made: Perceived, out: Path) -> None:
    from cellwright.core import Bus
    from cellwright.record import Recorder

    bus = Bus()
    with Recorder(bus, out) as recorder:
        for found in made.recognised:
            bus.publish(f"/{found.source}/detections", found)
        for tracks in made.tracks:
            bus.publish(TRACKS, tracks)
    if recorder.lost.messages:
        raise BadInput(f"{out}: {recorder.lost.messages} messages were not written: {recorder.lost.reason}")
