"""Files that show a run to people: a trace and a video, written from its log by the commands that run something."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from cellwright.cli.output import err, prepare_output, say
from cellwright.cli.progress import Progress
from cellwright.core.errors import BadInput, CellwrightError
from cellwright.core.files import refuse_existing, refuse_same

if TYPE_CHECKING:
    from cellwright.cells import Cell

__all__ = ["FastOption", "TraceOption", "VideoOption", "WatchFiles"]

TraceOption = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="A trace: the whole run in one HTML file, to replay and step."),
]
VideoOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A video of the run: .mp4, .gif or .webp; `log video` has more options."),
]
FastOption = Annotated[
    bool, typer.Option("--fast", help="With --video: without shadows and with plain edges, much faster.")
]


class WatchFiles:
    """The files that were asked for beside a log; they are written once that is closed, also of a run that failed.

    That something cannot be drawn here is told in one line: the run itself is done, and its result stands.

    Args:
        trace: The trace, if one is wanted.
        video: The video, if one is wanted.
        overwrite: Whether files that exist are replaced.
        fast: Whether the video is drawn without shadows and smooth edges.

    Attributes:
        log: The log, once it is known.
        written: Kind, such as `trace`, and the file that was written.

    Raises:
        BadInput: A file exists, or is of no kind that can be written, or the video that is to be fast is not wanted.
        OutputError: It cannot be written.
    """

    def __init__(
        self, trace: Path | None = None, video: Path | None = None, *, overwrite: bool = False, fast: bool = False
    ) -> None:
        if fast and video is None:
            raise BadInput("--fast is about how a video is drawn: it needs --video FILE")
        self._fast = fast
        self.log: Path | None = None
        self.written: dict[str, Path] = {}
        self._trace, self._video = trace, video
        if video is not None:
            from cellwright.viewing.encoders import usable_file

            path, _ = usable_file(video)
            refuse_same(path, [trace])
            _check(path, overwrite=overwrite)
        if trace is not None:
            _check(trace, overwrite=overwrite)
            from cellwright.viewing.page import viewer_page

            try:
                viewer_page()
            except BadInput as error:
                say(f"no trace: {error}; it goes on without", to=err)
                self._trace = None

    def keep_apart(self, others: Iterable[Path | str | None]) -> None:
        """Refuses names that other files of the command have.

        Raises:
            BadInput: One of them is the trace's or the video's.
        """
        files = list(others)
        for path in (self._trace, self._video):
            refuse_same(path, files)

    def write(self, log: Path, cell: Cell | Path | str | None = None) -> None:
        """Writes what was asked for from a log that is closed; Ctrl-C leaves out what is not written yet.

        Args:
            log: The log.
            cell: Its cell, where that is at hand.
        """
        (trace, self._trace), (video, self._video) = (self._trace, None), (self._video, None)
        try:
            if trace is not None:
                self._write_trace(log, trace, cell)
            if video is not None:
                self._write_video(log, video, cell)
        except KeyboardInterrupt:
            rest = "trace" if trace is not None and not self.written else "video"
            say(f"interrupted, without the {rest}; `cellwright log {rest} {log}` makes it", to=err)

    def _write_trace(self, log: Path, trace: Path, cell: Cell | Path | str | None) -> None:
        from cellwright.viewing.trace import write_trace

        try:
            self.written["trace"] = write_trace(log, trace, cell=cell)
        except CellwrightError as error:
            say(f"no trace: {error}", to=err)

    def _write_video(self, log: Path, video: Path, cell: Cell | Path | str | None) -> None:
        from cellwright.cli.log_video import tell_video
        from cellwright.viewing.replay import ReplayWorld
        from cellwright.viewing.video import write_video

        try:
            with Progress("video") as progress:
                made = write_video(ReplayWorld(log, cell), video, fast=self._fast, progress=progress.update)
        except CellwrightError as error:
            say(f"no video: {error}", to=err)
            return
        tell_video(made)
        self.written["video"] = made.path

    def links(self, folder: Path) -> dict[str, str]:
        """Returns links to what was written, for a page in a folder."""
        return {kind.capitalize(): os.path.relpath(path, folder) for kind, path in self.written.items()}

    def told(self) -> str:
        """Returns the trace, for the line that names the log; a video has told of itself."""
        return f", trace {self.written['trace']}" if "trace" in self.written else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Writes them of a run that broke off."""
        if self.log is not None and self.log.is_file():
            self.write(self.log)


def _check(path: Path, *, overwrite: bool) -> None:
    """Refuses now a file that could not be written after the run."""
    if path.is_dir():
        raise BadInput(f"{path}: a folder; give the name of a file")
    if not overwrite:
        refuse_existing(path)
    prepare_output(path)
