"""The evidence of a test: its folder, what is kept there, and the names under which reports have it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cellwright.testing.settings import KeepSettings

if TYPE_CHECKING:
    from cellwright.testing.cell import CellUnderTest

__all__ = ["KeptEvidence", "empty_output", "take_test_folder"]

MARK = "cell.json"  # made by `start`: a folder with it is one of ours
LONGEST = 120  # characters of a folder's name, of which some systems allow 255 bytes in a whole path


def slug_of(node_id: str) -> str:
    """Returns the name of a test's folder: `tests/test_a.py::test_b[x]` is `tests-test_a-py-test_b-x`."""
    plain = unicodedata.normalize("NFKD", node_id).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-") or "test"
    if len(slug) <= LONGEST:
        return slug
    digest = hashlib.sha256(node_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug[: LONGEST - 9].rstrip('-')}-{digest}"


def take_test_folder(output: Path, node_id: str, retry: int = 0) -> Path:
    """Makes and returns the folder of a test; of two with the same slug, the second is numbered."""
    name = slug_of(node_id) + (f"-retry{retry}" if retry else "")
    number = 1
    while True:
        folder = output / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def empty_output(output: Path) -> None:
    """Removes what an earlier session has left, and nothing that is not a test's folder."""
    for mark in output.glob(f"*/{MARK}"):
        with contextlib.suppress(OSError, ValueError):
            if "cellwright" in json.loads(mark.read_text(encoding="utf-8")):
                shutil.rmtree(mark.parent, ignore_errors=True)


@dataclass
class KeptEvidence:
    """The files that are kept of one test.

    Attributes:
        files: Kind, such as `trace`, and the file, the most telling first.
        notes: What could not be kept, and why, a line each.
    """

    files: list[tuple[str, Path]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, cell: CellUnderTest, settings: KeepSettings, *, failed: bool, failure: str = "", command: str = ""
    ) -> KeptEvidence:
        """Keeps what the settings want of a cell that has just failed, and why, or served a test that passed."""
        from cellwright.core.errors import CellwrightError
        from cellwright.viewing.from_log import make_from_log

        made = cls()
        wanted = [what for what in ("trace", "video", "picture") if settings.keeps(what, failed=failed)]
        if not failed and not wanted:
            return made
        saved: list[Path] = []
        try:
            if "picture" in wanted and (not failed or cell.pictured_s != cell.time_s):
                cell.picture(f"test-{'failed' if failed else 'finished'}")
            saved = cell.save(failure, command)
        except CellwrightError as error:
            made.notes.append(f"there is no report: {error}")
        log = cell.folder / "log.mcap"
        if log.exists():
            for what, file in (("trace", "trace.html"), ("video", "video.mp4")):
                if what in wanted:
                    path, problem = make_from_log(what, log, cell.folder / file, cell.cell)
                    made.files += [(what, path)] if path else []
                    made.notes += [problem] if problem else []
        made.files += [("picture", path) for path in cell.pictures if path.exists()]
        made.files += [(path.stem if path.suffix != ".mcap" else "log", path) for path in saved]
        if ("log", log) not in made.files and log.exists():
            made.files.append(("log", log))
        for run in cell.controllers:
            made.files += [("controller", run.stdout_file), ("controller", run.stderr_file)]
        if not saved:  # its process has ended: what that has said tells why
            made.files.append(("host", cell.folder / "host.txt"))
        return made

    def properties(self, here: Path) -> Iterator[tuple[str, str]]:
        """Yields what is told of it in JUnit XML and to the process that writes the report; `here` is left out."""
        for what, path in self.files:
            yield f"cellwright_{what}", str(path.relative_to(here) if path.is_relative_to(here) else path)
        for note in self.notes:
            yield "cellwright_note", note
