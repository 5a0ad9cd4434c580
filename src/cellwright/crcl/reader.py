"""Reads messages from text."""

from __future__ import annotations

from typing import Any, TypeVar, cast, overload

from cellwright.core.slices import Slices, at_once
from cellwright.crcl.bounds import MOST_TAGS, beyond_bounds, has_too_many_tags
from cellwright.crcl.errors import DecodeError
from cellwright.crcl.messages import CRCLCommandInstance, CRCLProgram, CRCLStatus, DataThing, Document
from cellwright.crcl.parser import MAX_BYTES, XSI_TYPE, parse, path_of
from cellwright.crcl.prolog import to_utf8
from cellwright.crcl.table import DOCUMENTS, TypePlan
from cellwright.crcl.types import LONG, XML_SPACE
from cellwright.crcl.variants import modernise

__all__ = ["decode", "decode_in_slices"]

OLD_BYTES = 16 * 1024  # of a command; those that were otherwise in older schemas are short
SLICE_PARTS = 100  # of a long command, that are read in some milliseconds
D = TypeVar("D", CRCLCommandInstance, CRCLStatus, CRCLProgram)


class _Bad(Exception):
    """An element that is wrong."""

    def __init__(self, what: str, allowed: str, element: Any) -> None:
        self.what = what
        self.allowed = allowed
        self.element = element


@overload
def decode(data: bytes | str, kind: None = None, *, lenient: bool = True, max_bytes: int = MAX_BYTES) -> Document: ...
@overload
def decode(data: bytes | str, kind: type[D], *, lenient: bool = True, max_bytes: int = MAX_BYTES) -> D: ...
def decode(
    data: bytes | str, kind: type[Any] | None = None, *, lenient: bool = True, max_bytes: int = MAX_BYTES
) -> Any:
    """Returns the document that a text holds.

    Order, number and content of elements must be right; unknown attributes and text between elements are passed over
    (`check` reports them). White space, NULs and XML declarations may stand before the document.

    Args:
        data: The text; bytes are UTF-8 unless their declaration says otherwise.
        kind: The document that is expected; any if None.
        lenient: Whether documents of the schemas from 2014 to 2020 are read too (see `variants`).
        max_bytes: Longer texts are refused before they are parsed.

    Raises:
        DecodeError: The first thing that is wrong, with its line; another document than expected, too.
    """
    return at_once(_decode(data, kind, lenient, max_bytes, bounded=False))


def decode_in_slices(data: bytes, kind: type[D], *, max_bytes: int = MAX_BYTES) -> Slices[D]:
    """Reads a document for a server: in slices, and only if it is within `bounds`."""
    return _decode(data, kind, True, max_bytes, bounded=True)


def _decode(data: bytes | str, kind: type[Any] | None, lenient: bool, max_bytes: int, *, bounded: bool) -> Slices[Any]:
    text, start = to_utf8(data, max_bytes)
    if bounded and has_too_many_tags(text):
        raise DecodeError("has too many tags", allowed=f"{MOST_TAGS} or fewer")
    lines_before = text.count(b"\n", 0, start)
    root = parse(text[start:].rstrip(b" \t\r\n\0"), lines_before=lines_before)
    if bounded and len(text) > OLD_BYTES:
        yield
    wanted = DOCUMENTS if kind is None else {kind.__name__: DOCUMENTS[kind.__name__]}
    plan = wanted.get(root.tag)
    if plan is None:
        line, allowed = root.sourceline + lines_before, ", ".join(wanted)
        raise DecodeError(f"the document is {root.tag}", line=line, allowed=allowed, command_id=_command_id(root))
    try:
        if bounded and (found := beyond_bounds(root, len(text))):
            raise _Bad(found[1], found[2], found[0])
        if bounded and len(text) > OLD_BYTES:
            yield
        try:
            return cast(Document, _read(root, plan, (yield from _read_ahead(root, plan))))
        except _Bad:
            if not (lenient and (not bounded or len(text) <= OLD_BYTES) and modernise(root)):
                raise
            return cast(Document, _read(root, plan, (yield from _read_ahead(root, plan))))
    except _Bad as bad:
        place = {"where": path_of(bad.element), "line": bad.element.sourceline + lines_before}
        raise DecodeError(bad.what, **place, allowed=bad.allowed, command_id=_command_id(root)) from None


def _read_ahead(root: Any, plan: TypePlan) -> Slices[dict[Any, DataThing]]:
    """Yields the values of the elements of a long command, read in slices."""
    known: dict[Any, DataThing] = {}
    for child in root:
        step = plan.steps.get(child.tag)
        if step is None or step[3] is not None or len(child) <= SLICE_PARTS:
            continue
        inside = _substitute(child, step[4])
        for number, part in enumerate(child, 1):
            step = inside.steps.get(part.tag)
            if step is not None and step[3] is None:
                known[part] = _read(part, _substitute(part, step[4]))
            if number % SLICE_PARTS == 0:
                yield
    return known


def _read(element: Any, plan: TypePlan, known: dict[Any, DataThing] | None = None) -> DataThing:
    """Returns the value of an element whose type is known. Written for speed: it runs once for every element.

    Args:
        element: The element.
        plan: Its type.
        known: Values of elements in it that were read before.
    """
    steps = plan.steps
    values: dict[str, Any] = {}
    last = -1
    for child in element:
        step = steps.get(child.tag)
        if step is None:
            raise _Bad(f"{child.tag} does not belong into {plan.name}", ", ".join(steps), child)
        index, attribute, repeated, read, base = step
        if index > last:
            last = index
        elif index < last or not repeated:
            what = "is there twice" if index == last else f"stands after {plan.fields[last].element}"
            raise _Bad(f"{child.tag} {what}", f"the order {', '.join(steps)}", child)
        if read is not None:
            try:
                value = read(child.text or "")
                if len(child):
                    raise ValueError
            except ValueError:
                allowed = getattr(plan.fields[index].primitive, "allowed", "")
                raise _Bad(f"{child.tag} is '{''.join(child.itertext())[:40]}'", allowed, child) from None
        elif known and child in known:
            value = known[child]
        else:
            value = _read(child, base if not base.abstract and not child.keys() else _substitute(child, base), known)
        if not repeated:
            values[attribute] = value
        elif attribute in values:
            values[attribute].append(value)
        else:
            values[attribute] = [value]
    for field in plan.repeated:
        found = values.get(field.attribute)
        if found is not None:
            if len(found) < field.least:
                raise _Bad(f"has one {field.element}", f"{field.least} or more", element)
            values[field.attribute] = tuple(found)
    try:
        return plan.cls(**values)
    except TypeError:  # something required is missing: the constructor finds out as fast as a check would
        missing = ", ".join(f.element for f in plan.fields if f.least and f.attribute not in values)
        raise _Bad(f"{plan.name} lacks {missing}", f"the order {', '.join(steps)}", element) from None


def _substitute(element: Any, base: TypePlan) -> TypePlan:
    """Returns the type that an element says it has, where another one or none is declared."""
    name = element.get(XSI_TYPE)
    if name is None and not base.abstract:
        return base
    actual = base.substitutes.get((name or "").strip(XML_SPACE))
    if actual is None:
        what = f"{element.tag} has the type '{name}'" if name else f"{element.tag} has no xsi:type"
        raise _Bad(what, ", ".join(base.substitutes), element)
    return actual


def _command_id(root: Any) -> int | None:
    """Returns the number of the command in a bad document, so that its sender can be answered."""
    text = root.findtext("CRCLCommand/CommandID") or ""
    try:
        return int(LONG.read(text)) if len(text) < 40 else None
    except ValueError:
        return None
