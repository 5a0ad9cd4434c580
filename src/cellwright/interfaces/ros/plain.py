"""ROS messages as plain values, as rosbridge sends them: dictionaries, lists, numbers and text."""

from __future__ import annotations

import base64
import binascii
import difflib
import json
from collections.abc import Callable, Mapping
from math import isfinite, nan
from typing import Any, NamedTuple

import cbor2
import numpy as np
from rosbags.interfaces import Nodetype

from cellwright.core.errors import BadInput
from cellwright.core.ros.layout import EMPTY
from cellwright.interfaces.ros.types import HEADER, TIMES, RosTypes, long_name, short_name

__all__ = ["FieldText", "PlainMessages", "as_json"]

BYTES = ("uint8", "byte", "char", "octet")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS: dict[str, np.dtype[Any]] = {
    **{name: np.dtype(name).newbyteorder("<") for name in (*INTEGERS, "float32", "float64", "bool")},
    **dict.fromkeys(BYTES, np.dtype("u1")),
}
ARRAY_TAGS = {  # RFC 8746, little endian
    "uint16": 69, "uint32": 70, "uint64": 71, "int8": 72, "int16": 77, "int32": 78, "int64": 79,
    "float32": 85, "float64": 86,
}  # fmt: skip
ARRAY_TYPES = {64: "uint8", 68: "uint8", **{tag: name for name, tag in ARRAY_TAGS.items()}}
SHOWN = 60  # letters of a value that an error repeats
NEAR = 3

Convert = Callable[[Any], Any]


class FieldText(NamedTuple):
    """A field of a type, as introspection tells it; `length` is -1 for no array and 0 for one of any length."""

    name: str
    type_name: str
    length: int


def as_json(value: Any) -> str:
    """Returns plain values as JSON that every language reads: what is no finite number is null, bytes are base64."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(_readable(value))


def _readable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(item) for item in value]
    if isinstance(value, np.ndarray):
        return _readable(value.tolist())
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


class PlainMessages:
    """Turns CDR bytes into plain values and back, with the names of a generation of ROS.

    ROS 1 has `secs` and `nsecs`, a header's `seq`, and `sensor_msgs/Imu`; ROS 2 has `sec`, `nanosec` and
    `sensor_msgs/msg/Imu`. What comes may have either.

    Args:
        types: The types of the graph.
        generation: 1 or 2.
    """

    def __init__(self, types: RosTypes, generation: int) -> None:
        self._types = types
        self._is_ros1 = generation == 1
        self._named = types.ros1 if self._is_ros1 else types.store
        self._ros2 = PlainMessages(types, 2) if self._is_ros1 else self  # the laboratory's services have these names
        self._writers: dict[tuple[str, bool], Convert] = {}
        self._readers: dict[str, Callable[[Any, str], Any]] = {}

    # ------------------------------------------------------------ names

    def known(self, name: str) -> str:
        """Returns the type of a name of either generation.

        Raises:
            BadInput: There is no such type.
        """
        ros_type = long_name(name) if isinstance(name, str) else str(name)
        if ros_type in self._types.store.fielddefs:
            return ros_type
        near = difflib.get_close_matches(ros_type, self._types.store.fielddefs, n=NEAR)
        hint = f"; near it are {', '.join(map(self.name, near))}" if near else ""
        raise BadInput(f"there is no message type '{_shown(name)}'{hint}")

    def name(self, ros_type: str) -> str:
        """Returns the name of a type in this generation."""
        return short_name(ros_type) if self._is_ros1 else ros_type

    def fields(self, ros_type: str) -> list[FieldText]:
        """Returns the fields of a type."""
        fields = []
        description: Any
        for name, description in self._named.fielddefs[ros_type][1]:
            kind, detail = description
            length = -1 if kind in (Nodetype.BASE, Nodetype.NAME) else int(detail[1]) if kind == Nodetype.ARRAY else 0
            inner = (kind, detail) if length < 0 else detail[0]
            type_name = inner[1] if inner[0] == Nodetype.NAME else inner[1][0]
            if self._is_ros1 and type_name in TIMES:
                type_name = TIMES[type_name]
            elif inner[0] == Nodetype.NAME:
                type_name = self.name(type_name)
            if name != EMPTY:
                fields.append(FieldText(name, type_name, length))
        return fields

    def text(self, ros_type: str) -> str:
        """Returns the full text of a type in this generation."""
        return self._types.text(ros_type) if self._is_ros1 else self._named.generate_msgdef(ros_type, ros_version=2)[0]

    def constants(self, ros_type: str) -> list[tuple[str, str]]:
        """Returns the constants of a type and their values as text."""
        return [(name, str(value)) for name, _, value in self._named.fielddefs[ros_type][0]]

    def time(self, time_ns: int) -> dict[str, int]:
        """Returns a time."""
        seconds, nanoseconds = divmod(time_ns, 10**9)
        return {"secs": seconds, "nsecs": nanoseconds} if self._is_ros1 else {"sec": seconds, "nanosec": nanoseconds}

    # ------------------------------------------------------------ out

    def json(self, ros_type: str, cdr: bytes) -> str:
        """Returns a message as JSON: `uint8[]` as base64, what is no finite number as null."""
        plain = self._writer(ros_type, is_json=True)(self._types.store.deserialize_cdr(cdr, ros_type))
        return json.dumps(plain)

    def cbor(self, ros_type: str, cdr: bytes) -> bytes:
        """Returns a message as CBOR, with typed arrays."""
        return cbor2.dumps(self._writer(ros_type, is_json=False)(self._types.store.deserialize_cdr(cdr, ros_type)))

    def cbor_raw(self, ros_type: str, cdr: bytes, time_ns: int) -> bytes:
        """Returns, as CBOR, a time and the bytes that a message has in this generation of ROS."""
        seconds, nanoseconds = divmod(time_ns, 10**9)
        raw = self._types.to_ros1(ros_type, cdr) if self._is_ros1 else cdr
        return cbor2.dumps({"secs": seconds, "nsecs": nanoseconds, "bytes": raw})

    def _writer(self, ros_type: str, *, is_json: bool) -> Convert:
        """Returns the function that makes a message plain; made once per type."""
        key = ros_type, is_json
        if key in self._writers:
            return self._writers[key]
        if ros_type in TIMES and self._is_ros1:
            self._writers[key] = lambda time: {"secs": time.sec, "nsecs": time.nanosec}
            return self._writers[key]
        given = {name.lower(): name for name, _ in self._types.store.fielddefs[ros_type][1]}
        rows: list[tuple[str, str, Convert | None]] = []
        constants: dict[str, Any] = {}
        for name, description in self._named.fielddefs[ros_type][1]:
            if name == EMPTY:
                continue
            if name.lower() in given:
                rows.append((name, given[name.lower()], self._field_writer(description, is_json=is_json)))
            else:
                constants[name] = 0  # a header's sequence number, which ROS 2 has not

        def write(message: Any) -> dict[str, Any]:
            plain = dict(constants)
            for name, attribute, convert in rows:
                value = getattr(message, attribute)
                plain[name] = value if convert is None else convert(value)
            return plain

        self._writers[key] = write
        return write

    def _field_writer(self, description: Any, *, is_json: bool) -> Convert | None:
        kind, detail = description
        if kind == Nodetype.NAME:
            return self._writer(detail, is_json=is_json)
        if kind == Nodetype.BASE:
            if detail[0] in ("float32", "float64"):
                return _finite if is_json else float
            return None
        inner, _ = detail
        if inner[0] == Nodetype.NAME:
            write = self._writer(inner[1], is_json=is_json)
            return lambda items: [write(item) for item in items]
        return _array_writer(inner[1][0], is_json=is_json)

    # ------------------------------------------------------------ in

    def cdr(self, ros_type: str, plain: Any, what: str = "msg") -> bytes:
        """Returns the CDR bytes of plain values; fields that are not there are zero.

        Raises:
            BadInput: They are no such message; says which field, and what it may be.
        """
        message = self._reader(ros_type)(plain, what)
        try:
            return bytes(self._types.store.serialize_cdr(message, ros_type))
        except Exception as error:
            raise BadInput(f"{what}: no {self.name(ros_type)}: {error}") from None

    def request(self, service_type: str, arguments: Any) -> dict[str, Any]:
        """Returns the checked request of a service; `arguments` are its fields by name, or their values in order.

        Raises:
            BadInput: They are no request.
        """
        half = self._types.service(service_type).request
        if isinstance(arguments, list):
            names = [field.name for field in self.fields(half)] if half in self._named.fielddefs else []
            if len(arguments) > len(names):
                raise BadInput(f"args has {len(arguments)} values; {self.name(service_type)} takes {len(names)}")
            arguments = dict(zip(names, arguments, strict=False))
        if not isinstance(arguments, Mapping):
            raise BadInput(f"args is an object or a list, not {_shown(arguments)}")
        if half not in self._types.store.fielddefs:
            return dict(arguments)
        plain: dict[str, Any] = self._ros2._writer(half, is_json=True)(self._reader(half)(arguments, "args"))
        return plain

    def response(self, service_type: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the response of a service of the laboratory with the names of this generation."""
        half = self._types.service(service_type).response
        if half not in self._types.store.fielddefs:
            return dict(values)
        plain: dict[str, Any] = self._writer(half, is_json=True)(self._reader(half)(values, "values"))
        return plain

    def _reader(self, ros_type: str) -> Callable[[Any, str], Any]:
        if ros_type in self._readers:
            return self._readers[ros_type]
        make = self._types.store.types[ros_type]
        rows = {
            name.lower(): (name, self._field_reader(description))
            for name, description in self._types.store.fielddefs[ros_type][1]
        }
        if ros_type in TIMES:
            rows |= {"secs": rows["sec"], "nsecs": rows["nanosec"]}
        ignored = {"seq"} if ros_type == HEADER else set()

        def read(plain: Any, path: str) -> Any:
            if plain is None:
                plain = {}
            if not isinstance(plain, Mapping):
                raise BadInput(f"{path}: a {self.name(ros_type)} is an object of fields, not {_shown(plain)}")
            values = {}
            for key, value in plain.items():
                row = rows.get(str(key).lower())
                if row is not None:
                    values[row[0]] = row[1](value, f"{path}.{key}")
                elif key not in ignored:
                    known = ", ".join(field.name for field in self.fields(ros_type)) or "none"
                    raise BadInput(f"{path}: {self.name(ros_type)} has no field '{_shown(key)}'; fields: {known}")
            for name, reader in rows.values():
                if name not in values:
                    values[name] = reader(MISSING, path)
            return make(**values)

        self._readers[ros_type] = read
        return read

    def _field_reader(self, description: Any) -> Callable[[Any, str], Any]:
        kind, detail = description
        if kind == Nodetype.NAME:
            return lambda value, path: self._reader(detail)({} if value is MISSING else value, path)
        if kind == Nodetype.BASE:
            return _scalar_reader(detail[0])
        inner, length = detail
        count = int(length) if kind == Nodetype.ARRAY else 0
        if inner[0] == Nodetype.NAME:
            return lambda value, path: self._objects(inner[1], count, value, path)
        if inner[1][0] in ("string", "wstring"):
            read = _scalar_reader("string")
            return lambda value, path: [
                read(item, f"{path}[{number}]") for number, item in enumerate(_items(value, count, path, ""))
            ]
        return _array_reader(inner[1][0], count)

    def _objects(self, ros_type: str, count: int, value: Any, path: str) -> list[Any]:
        read = self._reader(ros_type)
        return [read(item, f"{path}[{number}]") for number, item in enumerate(_items(value, count, path, {}))]


class _Missing:
    """Stands for a field that a message does not have."""


MISSING = _Missing()


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _array_writer(base: str, *, is_json: bool) -> Convert:
    """Returns the function that makes an array of numbers or text plain."""
    if base in BYTES:
        if is_json:
            return lambda array: base64.b64encode(np.asarray(array).tobytes()).decode()
        return lambda array: np.asarray(array).tobytes()
    if base not in NUMBERS or base == "bool":
        return lambda array: np.asarray(array).tolist() if isinstance(array, np.ndarray) else list(array)
    dtype = NUMBERS[base]
    if not is_json:
        tag = ARRAY_TAGS[base]
        return lambda array: cbor2.CBORTag(tag, np.asarray(array, dtype).tobytes())
    if dtype.kind != "f":
        return lambda array: np.asarray(array).tolist()

    def finite(array: Any) -> list[float | None]:
        numbers = np.asarray(array)
        values: list[float | None] = numbers.tolist()
        if not np.isfinite(numbers).all():
            return [value if value is not None and isfinite(value) else None for value in values]
        return values

    return finite


def _scalar_reader(base: str) -> Callable[[Any, str], Any]:
    """Returns the function that checks a number, text or truth value."""
    if base in ("string", "wstring"):

        def read_text(value: Any, path: str) -> str:
            if value is MISSING or value is None:
                return ""
            if not isinstance(value, str):
                raise BadInput(f"{path}: must be text, not {_shown(value)}")
            try:
                value.encode()
            except UnicodeEncodeError:
                raise BadInput(f"{path}: is no valid text") from None
            return value

        return read_text
    dtype = NUMBERS[base]
    if dtype.kind == "b":

        def read_truth(value: Any, path: str) -> bool:
            if value is MISSING or value is None:
                return False
            if not isinstance(value, bool):
                raise BadInput(f"{path}: must be true or false, not {_shown(value)}")
            return value

        return read_truth
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)

        def read_float(value: Any, path: str) -> float:
            if value is MISSING:
                return 0.0
            if value is None:
                return nan
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BadInput(f"{path}: must be a number, not {_shown(value)}")
            if abs(value) > most and value not in (float("inf"), -float("inf")):
                raise BadInput(f"{path}: {_shown(value)} is too large for a {base}")
            return float(value)

        return read_float
    limits = np.iinfo(dtype)
    least_int, most_int = int(limits.min), int(limits.max)

    def read_int(value: Any, path: str) -> int:
        if value is MISSING or value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value % 1 != 0:
            raise BadInput(f"{path}: must be a whole number, not {_shown(value)}")
        if not least_int <= value <= most_int:
            raise BadInput(f"{path}: must be from {least_int} to {most_int}, not {_shown(value)}")
        return int(value)

    return read_int


def _array_reader(base: str, count: int) -> Callable[[Any, str], Any]:
    """Returns the function that checks an array of numbers: a list, bytes, base64, or a typed array of CBOR."""
    dtype = NUMBERS[base]
    native = dtype.newbyteorder("=")
    read_one = _scalar_reader(base)

    def read(value: Any, path: str) -> Any:
        if value is MISSING or value is None:
            return np.zeros(count, native)
        if isinstance(value, str) and base in BYTES:
            try:
                value = base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError):
                raise BadInput(f"{path}: must be base64 or a list of numbers") from None
        if isinstance(value, bytes) and base in BYTES:
            value = np.frombuffer(value, np.uint8)
        elif isinstance(value, cbor2.CBORTag):
            value = _typed_array(value, path)
        if not isinstance(value, list | np.ndarray):
            raise BadInput(f"{path}: must be a list of numbers, not {_shown(value)}")
        if count and len(value) != count:
            raise BadInput(f"{path}: must have {count} numbers, not {len(value)}")
        if isinstance(value, np.ndarray) and value.dtype == native:
            return value
        if (whole := _whole_array(value, native)) is not None:
            return whole
        values = value.tolist() if isinstance(value, np.ndarray) else value
        return np.array([read_one(item, f"{path}[{number}]") for number, item in enumerate(values)], native)

    return read


def _whole_array(values: Any, dtype: np.dtype[Any]) -> Any:
    """Returns numbers as an array when all of them fit, and None when one has to be looked for that may not."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        return None
    if array.ndim != 1 or array.dtype.kind not in ("iu" if dtype.kind in "iu" else "iuf") or dtype.kind == "b":
        return None
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
        return None
    return array.astype(dtype)


def _typed_array(value: cbor2.CBORTag, path: str) -> Any:
    base, raw = ARRAY_TYPES.get(value.tag, ""), value.value
    if not base or not isinstance(raw, bytes) or len(raw) % NUMBERS[base].itemsize:
        raise BadInput(f"{path}: tag {value.tag} is no array of little-endian numbers")
    return np.frombuffer(raw, NUMBERS[base])


def _items(value: Any, count: int, path: str, default: Any) -> list[Any]:
    if value is MISSING or value is None:
        return [default] * count
    if not isinstance(value, list):
        raise BadInput(f"{path}: must be a list, not {_shown(value)}")
    if count and len(value) != count:
        raise BadInput(f"{path}: must have {count} items, not {len(value)}")
    return value


def _shown(value: Any) -> str:
    """Returns a short text of a value that somebody sent."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:  # deep nesting, numbers with thousands of digits
        return f"a {type(value).__name__}"
    text = text.encode("ascii", "backslashreplace").decode()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
