"""Logs as tables, one for each topic: as text (CSV) for any program, or in columns (Parquet) with lists as they are."""

from __future__ import annotations

import csv
import json
import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from cellwright.core.extras import need_extra
from cellwright.core.messages import Depth, Image
from cellwright.core.ros import COLUMNS
from cellwright.exchange.export import Selection
from cellwright.record.values import MAX_LISTED, fields_of, leaves_of, plain, unit_of
from cellwright.rendering.png import save_png

__all__ = ["RECORDED", "TopicShape", "flat_names", "write_csv", "write_parquet"]

RECORDED = "recorded_s"
"""The first column: the time of recording, in seconds with nine decimals."""
ITEM = "item"
"""The second column where a message is a list: the number of the row in it."""
PICTURE = "picture"
MM_PER_M, FARTHEST_MM = 1000.0, 65535
BATCH_ROWS, BATCH_BYTES = 2000, 16 << 20


@dataclass
class FieldShape:
    """The shape of a field of a topic, over all of its messages.

    Attributes:
        axes: The most items along each axis; none of a single value.
        item: The type of its items, as numpy names it: `<f8`, `<i8`, `|b1`, `U` of texts; empty while none has come.
        is_nested: Whether it holds messages itself, or rows of different lengths.
        keys: Its single values, in the order of their coming.
        largest: Items of the largest one.
    """

    axes: tuple[int, ...] = ()
    item: str = ""
    is_nested: bool = False
    keys: dict[tuple[int | str, ...], None] = field(default_factory=dict)
    largest: int = 0

    def take(self, value: Any) -> None:
        """Takes a value into account."""
        if isinstance(value, np.ndarray):
            self._grow(value.shape, value.dtype.str)
        elif isinstance(value, list | tuple):
            is_flat = all(isinstance(item, str | bool | int | float) for item in value)
            self.is_nested |= not is_flat
            self._grow((len(value),), _item_of(value) if is_flat else "U")
            if self.is_nested:
                self.keys.update(dict.fromkeys(index for index, _ in leaves_of(value)))
        elif isinstance(value, SimpleNamespace | bytes):
            self.is_nested = True
            self.keys.update(dict.fromkeys(index for index, _ in leaves_of(value)))
        else:
            self._grow((), _item_of((value,)))

    def _grow(self, shape: tuple[int, ...], item: str) -> None:
        if shape:
            self.largest = max(self.largest, int(np.prod(shape)))
            known = self.axes if len(self.axes) == len(shape) else (0,) * len(shape)
            self.axes = tuple(max(pair) for pair in zip(known, shape, strict=True))
        if item and item != self.item:
            kinds = (item, self.item or item)
            self.item = "U" if "U" in kinds else str(np.result_type(*kinds).str)

    @property
    def is_large(self) -> bool:
        """Whether it is too large for columns of single values, as pictures and clouds are."""
        return self.largest > MAX_LISTED

    def indexes(self) -> list[tuple[int | str, ...]]:
        """Returns the index of every single value that a message may have, in order."""
        if self.is_nested:
            return sorted(self.keys, key=lambda index: tuple((isinstance(part, str), part) for part in index))
        return list(np.ndindex(self.axes)) if self.axes else [()]


class TopicShape:
    """The fields of a topic, over all of its messages.

    Attributes:
        fields: Name -> what it holds.
        messages: How many there are.
    """

    def __init__(self) -> None:
        self.fields: dict[str, FieldShape] = {}
        self.messages = 0
        self.picture = ""
        """The field whose pictures are files of their own; empty where there is none."""
        self.is_list = True
        """Whether each message is a list: of detections, of tracks; its rows of values belong together."""

    def take(self, message: Any) -> None:
        """Takes a message into account."""
        self.messages += 1
        if isinstance(message, Image | Depth):
            self.picture = "pixels" if isinstance(message, Image) else "depth_m"
        lengths = set()
        for name, value in fields_of(message).items():
            shape = self.fields.get(name)
            if shape is None:
                shape = self.fields[name] = FieldShape()
            shape.take(value)
            if isinstance(value, np.ndarray | tuple | list):
                lengths.add(len(value))
        has_tables = type(message) in COLUMNS or hasattr(message, "ROS_COLUMNS")
        self.is_list = self.is_list and has_tables and len(lengths) == 1


def flat_names(name: str, indexes: list[tuple[int | str, ...]]) -> list[str]:
    """Returns the columns of a field: `position[2]`, `positions[0][1]`; its name alone for a single value."""
    return [name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in index) for index in indexes]


def write_csv(selection: Selection, out: Path) -> dict[str, dict[str, Any]]:
    """Writes a table for each topic, and its pictures beside it; returns topic -> what there is of it."""
    shapes = _shapes(selection)
    topics: dict[str, dict[str, Any]] = {}
    out.mkdir()
    with ExitStack() as stack:
        tables = {}
        for name, file in _files(shapes, out, ".csv").items():
            ros_type = selection.log.topics[name].type
            opened = stack.enter_context(file.open("w", newline="", encoding="utf-8"))
            tables[name] = _CsvTable(name, shapes[name], ros_type, csv.writer(opened, lineterminator="\n"), file)
            selection.notes.extend(tables[name].notes)
            told = {"file": file.name, "type": ros_type, "messages": shapes[name].messages}
            topics[name] = {**told, "columns": tables[name].columns}
        for entry in selection.raw():
            tables[entry.topic].add(entry.time_ns, selection.log.decode(entry))
    return topics


class _CsvTable:
    """The table of one topic: a row for each message, or each of what it lists; a column for each single value."""

    def __init__(self, topic: str, shape: TopicShape, ros_type: str, writer: Any, file: Path) -> None:
        self._writer, self._folder, self._picture = writer, file.with_suffix(""), shape.picture
        self._starts: dict[str, dict[tuple[int | str, ...], int]] = {}
        self.notes: list[str] = []
        names, units = [RECORDED], ["s"]
        self.is_list = shape.is_list
        if shape.is_list:
            names.append(ITEM)
            units.append("")
        if shape.picture:
            names.append(PICTURE)
            units.append("")
        for name, held in shape.fields.items():
            if name == shape.picture:
                if name == "depth_m":
                    self.notes.append(f"{topic}: depths as pictures of 16 bits, millimetres, 0 where nothing is seen")
                continue
            if held.is_large and not shape.is_list:
                self.notes.append(f"{topic}: {name} is left out ({held.largest} values in a message); Parquet has it")
                continue
            indexes = list(np.ndindex(held.axes[1:])) if shape.is_list and held.axes else held.indexes()
            self._starts[name] = {index: len(names) + number for number, index in enumerate(indexes)}
            names += flat_names(name, indexes)
            units += [unit_of(ros_type, name)] * len(indexes)
        self.columns = [{"name": name, "unit": unit} for name, unit in zip(names, units, strict=True)]
        self._width, self._number = len(names), 0
        self._places: dict[tuple[str, tuple[int, ...]], slice | list[int]] = {}
        writer.writerow([f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)])

    def add(self, time_ns: int, message: Any) -> None:
        """Writes the row of a message, or those of what it lists; of an empty list one without an item."""
        if self.is_list:
            self._add_items(time_ns, fields_of(message))
            return
        row: list[Any] = [""] * self._width
        row[0] = _seconds(time_ns)
        values = fields_of(message)
        if self._picture:
            file = self._folder / f"{self._number:06d}.png"
            _save_picture(values[self._picture], file)
            row[1] = f"{self._folder.name}/{file.name}"
        for name, places in self._starts.items():
            value = values.get(name)
            if isinstance(value, np.ndarray):
                for place, number in zip(self._of_shape(name, value.shape), value.ravel().tolist(), strict=True):
                    row[place] = number
            elif value is not None:
                for index, leaf in leaves_of(value):
                    row[places[index]] = leaf
        self._writer.writerow([_text(value) for value in row])
        self._number += 1

    def _add_items(self, time_ns: int, values: dict[str, Any]) -> None:
        count = max(len(value) for value in values.values() if isinstance(value, np.ndarray | tuple | list))
        for item in range(max(1, count)):
            row: list[Any] = [""] * self._width
            row[:2] = _seconds(time_ns), item if count else ""
            for name, places in self._starts.items():
                value = values[name]
                if isinstance(value, np.ndarray | tuple | list):
                    value = np.asarray(value[item]) if count else np.zeros(0)
                    for place, number in zip(places.values(), value.ravel().tolist(), strict=count > 0):
                        row[place] = number
                else:
                    row[places[()]] = value
            self._writer.writerow([_text(value) for value in row])

    def _of_shape(self, name: str, shape: tuple[int, ...]) -> list[int]:
        """Returns the columns of an array's items, which for one shape are always the same."""
        key = (name, shape)
        if key not in self._places:
            self._places[key] = [self._starts[name][index] for index in np.ndindex(shape)]
        return self._places[key]  # type: ignore[return-value]


def _seconds(time_ns: int) -> str:
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def _text(value: Any) -> Any:
    return ("false", "true")[value] if isinstance(value, bool) else value


def _save_picture(pixels: Any, file: Path) -> None:
    if pixels.dtype.kind == "f":
        seen = np.where(np.isfinite(pixels), np.clip(pixels * MM_PER_M, 1, FARTHEST_MM), 0.0)
        pixels = seen.round().astype(np.uint16)
    save_png(pixels, file)


def write_parquet(selection: Selection, out: Path) -> dict[str, dict[str, Any]]:
    """Writes a table for each topic, fields as they are; returns topic -> what there is of it.

    Arrays are lists, of several axes lists of lists. Large ones, such as pixels, are flat, their shape beside them.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    need_extra("export as Parquet", "tables", "pyarrow")
    from pyarrow import parquet

    shapes = _shapes(selection)
    topics: dict[str, dict[str, Any]] = {}
    out.mkdir()
    with ExitStack() as stack:
        tables = {}
        for name, file in _files(shapes, out, ".parquet").items():
            ros_type = selection.log.topics[name].type
            table = tables[name] = _ParquetTable(shapes[name], ros_type)
            table.writer = stack.enter_context(parquet.ParquetWriter(file, table.schema, compression="zstd"))
            stack.callback(table.flush)  # before the writer is closed
            told = {"file": file.name, "type": ros_type, "messages": shapes[name].messages}
            topics[name] = {**told, "columns": table.columns}
        for entry in selection.raw():
            tables[entry.topic].add(entry.time_ns, selection.log.decode(entry), len(entry.data))
    return topics


class _ParquetTable:
    """The table of one topic; rows are written in groups."""

    writer: Any

    def __init__(self, shape: TopicShape, ros_type: str) -> None:
        import pyarrow

        self._shapes = shape.fields
        self._bytes = 0
        columns: list[tuple[str, Any, str]] = []
        columns += [(RECORDED, pyarrow.float64(), "s"), ("recorded_ns", pyarrow.int64(), "ns")]
        for name, held in shape.fields.items():
            unit = unit_of(ros_type, name)
            item = pyarrow.string() if held.item in ("", "U") else pyarrow.from_numpy_dtype(np.dtype(held.item))
            if held.is_nested:
                columns.append((name, pyarrow.string(), unit))
            elif held.is_large:
                columns.append((name, pyarrow.binary() if held.item == "|u1" else pyarrow.list_(item), unit))
                columns.append((f"{name}_shape", pyarrow.list_(pyarrow.int32()), ""))
            else:
                for _ in held.axes:
                    item = pyarrow.list_(item)
                columns.append((name, item, unit))
        made = [pyarrow.field(name, kind, metadata={"unit": unit} if unit else None) for name, kind, unit in columns]
        self.schema = pyarrow.schema(made)
        self.columns = [{"name": name, "unit": unit} for name, _, unit in columns]
        self._rows: list[dict[str, Any]] = []

    def add(self, time_ns: int, message: Any, size_bytes: int) -> None:
        """Adds the row of a message."""
        row: dict[str, Any] = {RECORDED: time_ns / 1e9, "recorded_ns": time_ns}
        for name, value in fields_of(message).items():
            held = self._shapes[name]
            if held.is_nested:
                row[name] = json.dumps(plain(value))
            elif held.is_large:
                flat = np.asarray(value)
                row[name] = flat.tobytes() if held.item == "|u1" else flat.ravel()
                row[f"{name}_shape"] = list(flat.shape)
            else:
                row[name] = value.tolist() if isinstance(value, np.ndarray) else value
        self._rows.append(row)
        self._bytes += size_bytes
        if len(self._rows) >= BATCH_ROWS or self._bytes > BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Writes the rows that wait."""
        import pyarrow

        if self._rows:
            columns = {name: [row.get(name) for row in self._rows] for name in self.schema.names}
            self.writer.write_table(pyarrow.table(columns, schema=self.schema))
        self._rows, self._bytes = [], 0


def _shapes(selection: Selection) -> dict[str, TopicShape]:
    """Returns the fields of every topic, in a pass of its own: a table begins with its columns."""
    shapes: dict[str, TopicShape] = {}
    for entry in selection.raw():
        shape = shapes.get(entry.topic)
        if shape is None:
            shape = shapes[entry.topic] = TopicShape()
        shape.take(selection.log.decode(entry))
    return shapes


def _files(topics: dict[str, Any], folder: Path, ending: str) -> dict[str, Path]:
    """Returns a file for every topic: `fanuc.joint_states.csv`; none is outside the folder, and no two are one."""
    found: dict[str, Path] = {}
    for topic in topics:
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", topic.strip("/").replace("/", ".")).lstrip(".") or "topic"
        number, name = 1, stem
        while folder / f"{name}{ending}" in found.values():
            number, name = number + 1, f"{stem}_{number + 1}"
        found[topic] = folder / f"{name}{ending}"
    return found


def _item_of(values: Any) -> str:
    """Returns the numpy type of single values, which are of one kind in a field; empty when there are none."""
    for value in values:
        if isinstance(value, str):
            return "U"
        if isinstance(value, bool):
            return "|b1"
        return "<f8" if isinstance(value, float) else "<i8"
    return ""
