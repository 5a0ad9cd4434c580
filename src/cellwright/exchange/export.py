"""The export of a log: which messages, to where, in which format; nothing that exists is replaced unasked."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from cellwright.core.errors import BadInput, OutputError, UnknownName
from cellwright.core.files import refuse_existing, refuse_same
from cellwright.record.log import Log, RawEntry

__all__ = ["ExportFormat", "ExportOptions", "ExportResult", "export_log"]

MANIFEST = "export.json"
ROSBAG2_NOTE = "metadata.yaml"


class ExportFormat(StrEnum):
    """The formats of an export."""

    BAG = "bag"
    """A bag of ROS 1, version 2.0, not compressed: a file."""
    ROSBAG2 = "rosbag2"
    """A bag of ROS 2: a folder."""
    CSV = "csv"
    """A table for each topic, as text: a folder."""
    PARQUET = "parquet"
    """A table for each topic: a folder; needs the extra `tables`."""


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The choice of an export: which messages, and in which form.

    Attributes:
        topics: Patterns of topics, such as `/fanuc/*`; all where there is none.
        with_truth: Whether topics of truth are among them.
        start_s: The time of recording from which on messages are exported.
        end_s: The last one.
        storage: The files of a rosbag2 folder.
        with_frames: Whether bags get `/tf` and `/tf_static`.
        with_clock: Whether bags get `/clock`: for players that do not make it from the times of messages.
        cell: The cell of the log, for its frames; by default as the log has it.
        overwrite: Whether what an earlier export wrote is replaced.
    """

    topics: Sequence[str] = ()
    with_truth: bool = False
    start_s: float = 0.0
    end_s: float = float("inf")
    storage: Literal["mcap", "sqlite3"] = "mcap"
    with_frames: bool = True
    with_clock: bool = False
    cell: str | None = None
    overwrite: bool = False


@dataclass(frozen=True, kw_only=True)
class ExportResult:
    """The outcome of an export.

    Attributes:
        out: The file or folder.
        format: Its format.
        topics: Topic -> messages.
        size_bytes: Of all files.
        notes: What is not in it or is otherwise than in the log, a line each.
        problem: Why the log is not complete; empty when it is.
    """

    out: Path
    format: ExportFormat
    topics: dict[str, int]
    size_bytes: int
    notes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def count(self) -> int:
        """The number of all messages."""
        return sum(self.topics.values())


@dataclass
class Selection:
    """The messages of a log that are exported, read one after the other.

    Attributes:
        log: The log.
        topics: Names of the topics, in the order of the log.
        options: The options.
        notes: Is filled on the way.
    """

    log: Log
    topics: tuple[str, ...]
    options: ExportOptions
    notes: list[str] = field(default_factory=list)

    def raw(self) -> Iterator[RawEntry]:
        """Yields the messages in the order of time."""
        first_ns, last_ns = self.options.start_s * 1e9, self.options.end_s * 1e9
        for entry in self.log.raw(self.topics):
            if entry.time_ns > last_ns:
                return
            if entry.time_ns >= first_ns:
                yield entry


def export_log(
    log: Log, out: Path | str, format: ExportFormat | str, options: ExportOptions | None = None
) -> ExportResult:
    """Writes the messages of a log in a format of other programs; the same log gives the same bytes.

    A log that was cut off is exported as far as it goes. One message after the other is read and written, so that a log
    may be larger than the memory.

    Args:
        log: The log.
        out: The file (`bag`) or the folder (all others).
        format: `bag`, `rosbag2`, `csv` or `parquet`.
        options: What of it, and how.

    Raises:
        BadInput: There is something at `out`, or nothing to export; one line that says what is allowed.
        OutputError: It cannot be written.
    """
    options, out = options or ExportOptions(), Path(out)
    if format not in list(ExportFormat):
        raise UnknownName("format", str(format), [one.value for one in ExportFormat])
    chosen, selection = ExportFormat(format), Selection(log, _topics(log, options), options)
    write = _writer(chosen)
    _refuse(out, chosen, options.overwrite, log.path)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target, so that a rename suffices; a rosbag2 folder has its own name inside.
        with tempfile.TemporaryDirectory(prefix=".export-", dir=out.parent) as folder:
            made = Path(folder) / out.name
            topics = write(selection, made)
            if chosen in (ExportFormat.CSV, ExportFormat.PARQUET):
                _write_manifest(made / MANIFEST, selection, topics)
            size = sum(file.stat().st_size for file in [made, *made.rglob("*")] if file.is_file())
            _replace(made, out)
    except OSError as error:
        raise OutputError(out, error.strerror or str(error)) from None
    counts = {name: told["messages"] for name, told in topics.items()}
    return ExportResult(
        out=out, format=chosen, topics=counts, size_bytes=size, notes=tuple(selection.notes), problem=log.problem
    )


def _writer(format: ExportFormat) -> Callable[[Selection, Path], dict[str, dict[str, Any]]]:
    """Returns what writes a format; its libraries take a moment to load."""
    if format in (ExportFormat.BAG, ExportFormat.ROSBAG2):
        from cellwright.exchange.bags import write_bag, write_rosbag2

        return write_bag if format is ExportFormat.BAG else write_rosbag2
    from cellwright.exchange.tables import write_csv, write_parquet

    return write_csv if format is ExportFormat.CSV else write_parquet


def _topics(log: Log, options: ExportOptions) -> tuple[str, ...]:
    """Returns the topics that are wanted and allowed."""
    if not options.start_s <= options.end_s:  # nor is it when one of them is not a number
        raise BadInput(
            f"the export begins at {options.start_s:g} s and ends at {options.end_s:g} s: nothing is between"
        )
    wanted = list(log.topics)
    if options.topics:
        for pattern in options.topics:
            if not any(fnmatchcase(name, pattern) for name in log.topics):
                raise UnknownName("topic", pattern, log.topics, where=str(log.path))
        wanted = [name for name in log.topics if any(fnmatchcase(name, pattern) for pattern in options.topics)]
    allowed = tuple(name for name in wanted if options.with_truth or not log.is_truth(name))
    if wanted and not allowed:
        raise BadInput(f"{', '.join(wanted)}: topics of truth, exported only with --truth")
    first_ns, last_ns = log.span_ns
    if not allowed or first_ns > options.end_s * 1e9 or last_ns < options.start_s * 1e9:
        raise BadInput(f"{log.path}: nothing to export; it has {log.count} messages from {first_ns / 1e9:g} s to "
                       f"{last_ns / 1e9:g} s")  # fmt: skip
    return allowed


def _refuse(out: Path, format: ExportFormat, overwrite: bool, log: Path) -> None:
    """Refuses a target that is there already, unless an earlier export wrote it and it may be replaced."""
    refuse_same(out, [log])
    if out.is_dir():
        is_empty = not any(out.iterdir())
        is_ours = (out / MANIFEST).is_file() or (out / ROSBAG2_NOTE).is_file()
        if format is ExportFormat.BAG:
            raise BadInput(f"{out} is a folder; a bag is a file, such as {out / 'run.bag'}")
        if not is_empty and not is_ours:
            raise BadInput(f"{out} is a folder that no export wrote, and is not replaced: choose another name")
        if not is_empty and not overwrite:
            raise BadInput(f"{out} exists, and is not overwritten: choose another name, or add --overwrite")
    elif not overwrite:
        refuse_existing(out)
    elif out.exists() and not out.is_file():
        raise BadInput(f"{out} is neither a file nor a folder: choose another name")


def _replace(made: Path, out: Path) -> None:
    if out.is_dir():
        shutil.rmtree(out)
    elif out.is_file():
        out.unlink()
    made.rename(out)


def _write_manifest(file: Path, selection: Selection, topics: dict[str, dict[str, Any]]) -> None:
    """Writes what the tables are: where from, columns, units, what is left out."""
    options, log = selection.options, selection.log
    window = {"start_s": options.start_s, "end_s": None if options.end_s == float("inf") else options.end_s}
    told = {"log": log.path.name, "problem": log.problem, "notes": selection.notes, "window": window}
    content = {**told, "topics": topics, "metadata": log.metadata}
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
