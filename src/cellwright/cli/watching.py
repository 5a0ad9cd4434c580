"""Files that show a run to people, written after it where they are asked for; shared by the commands that run one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.output import err, prepare_output, say
from cellwright.cli.progress import Progress
from cellwright.core.errors import BadInput, CellwrightError

if TYPE_CHECKING:
    from cellwright.cells import Cell

__all__ = ["VideoOption", "check_video", "write_watched"]

VideoOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A video of the run: .mp4, .gif or .webp; `log video` has more options."),
]


def check_video(video: Path | None, *, overwrite: bool) -> None:
    """Refuses now a video that could not be written after the run."""
    if video is None:
        return
    from cellwright.viewing.encoders import usable_file

    path, _ = usable_file(video)
    if path.exists() and not overwrite:
        raise BadInput(f"{path} exists, and is not overwritten: choose another file, or add --overwrite")
    prepare_output(path)


def write_watched(log: Path, cell: Cell | Path | str | None, video: Path | None) -> dict[str, Path]:
    """Writes what was asked for, from a finished log; returns what was written, by kind.

    That something cannot be drawn here is told in one line: the run itself is done, and its result stands.
    """
    if video is None:
        return {}
    from cellwright.cli.log_video import tell_video
    from cellwright.viewing.replay import ReplayWorld
    from cellwright.viewing.video import write_video

    try:
        with Progress("video") as progress:
            made = write_video(ReplayWorld(log, cell), video, progress=progress.update)
    except CellwrightError as error:
        say(f"no video: {error}", to=err)
        return {}
    tell_video(made)
    return {"video": made.path}
