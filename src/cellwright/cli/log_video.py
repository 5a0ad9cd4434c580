"""`cellwright log video`: a run as a video, made from its log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.output import err, prepare_output, print_json, say
from cellwright.cli.progress import Progress
from cellwright.core.errors import BadInput
from cellwright.core.files import refuse_same

if TYPE_CHECKING:
    from cellwright.rendering import View
    from cellwright.viewing.video import Video

__all__ = ["tell_video", "video"]


def video(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A log (MCAP file).")],
    out: Annotated[Path, typer.Option(metavar="VIDEO", help="The video: .mp4, .gif or .webp.")] = Path("out/run.mp4"),
    camera: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A camera of the cell, or a detector; the cell's own view if none."),
    ] = None,
    eye: Annotated[str | None, typer.Option(metavar="X,Y,Z", help="A free view: where it is taken from, in m.")] = None,
    target: Annotated[str | None, typer.Option(metavar="X,Y,Z", help="And the point in its middle, in m.")] = None,
    fps: Annotated[float, typer.Option(help="Frames per second.")] = 25.0,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Pixels; 1280x720, or a camera's shape.")] = None,
    speed: Annotated[float, typer.Option(help="Simulated seconds per second of video.")] = 1.0,
    from_s: Annotated[float | None, typer.Option("--from", metavar="S", help="Begin at this simulation time.")] = None,
    to_s: Annotated[float | None, typer.Option("--to", metavar="S", help="End at this simulation time.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Without shadows and with plain edges: much faster.")] = False,
    no_caption: Annotated[
        bool, typer.Option("--no-caption", help="Without time and action at the lower edge.")
    ] = False,
    cell: Annotated[str | None, typer.Option(help="The cell's file, where the log does not find it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Makes a video of a recorded run, from any side, without a graphics card."""
    from cellwright.record import read_log
    from cellwright.viewing.encoders import usable_file
    from cellwright.viewing.replay import ReplayWorld
    from cellwright.viewing.video import write_video

    seen_from = _seen_from(camera, eye, target)
    size_px = None if size is None else _size(size)
    refuse_same(usable_file(out)[0], [file])
    prepare_output(out)
    log = read_log(file)
    if log.problem:
        say(f"not complete: {file}: {log.problem}", to=err)
    with Progress("video") as progress:
        made = write_video(
            ReplayWorld(log, cell), out, camera=seen_from, fps=fps, size=size_px, speed=speed, from_s=from_s, to_s=to_s,
            fast=fast, caption=not no_caption, progress=progress.update,
        )  # fmt: skip
    if as_json:
        told = {k: getattr(made, k) for k in ("frames", "drawn", "duration_s", "size_px", "renderer", "note")}
        print_json({"file": made.path, **told})
    else:
        tell_video(made)


def tell_video(made: Video) -> None:
    """Tells the file that was written, and in which way it is another one than was asked for."""
    if made.note:
        say(made.note, to=err)
    width, height = made.size_px
    size_kb = made.path.stat().st_size / 1e3
    say(f"video {made.path} ({made.duration_s:.1f} s, {width} x {height}, {size_kb:.0f} kB, renderer {made.renderer})")


def _seen_from(camera: str | None, eye: str | None, target: str | None) -> str | View | None:
    if eye is None and target is None:
        return camera
    if camera is not None:
        raise BadInput("give either --camera or --eye and --target")
    if eye is None or target is None:
        raise BadInput("a free view needs both --eye X,Y,Z and --target X,Y,Z")
    from cellwright.rendering import View

    return View(eye_in_world_m=_point("--eye", eye), target_in_world_m=_point("--target", target))


def _point(option: str, text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(number) for number in text.split(","))
    except ValueError:
        raise BadInput(f"{option} {text}: give three numbers in m, such as 2.0,-2.0,1.5") from None
    return x, y, z


def _size(text: str) -> tuple[int, int]:
    try:
        width, height = (int(number) for number in text.lower().split("x"))
    except ValueError:
        raise BadInput(f"--size {text}: give width and height in pixels, such as 1280x720") from None
    return width, height
