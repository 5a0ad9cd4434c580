"""Writes messages as text, as NIST's own client does: one line, no prefix on elements, nothing in a closing tag.

The attribute namespace is declared on the outermost element that needs it, because peers cut the stream at literal
tags: the root stays bare. An indented text is for files and declares it at the root, as the sample files do.
"""

from __future__ import annotations

from cellwright.crcl.errors import EncodeError
from cellwright.crcl.messages import DataThing, Document
from cellwright.crcl.parser import XSI
from cellwright.crcl.table import DOCUMENTS, PLANS, FieldPlan, TypePlan

__all__ = ["encode"]

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_NAMESPACE = f' xmlns:xsi="{XSI}"'


class _Bad(Exception):
    """A value without a text; the path to it grows while it passes outwards."""

    def __init__(self, element: str, what: str, allowed: str) -> None:
        self.path = [element]
        self.what = what
        self.allowed = allowed


def encode(document: Document, *, declaration: bool = True, indent: str = "") -> bytes:
    """Returns the text of a document in UTF-8; `decode` reads back an equal one.

    Args:
        document: A command, status or program.
        declaration: Whether an XML declaration comes first.
        indent: What each level is indented by, one element a line; none for the wire.

    Raises:
        EncodeError: A value that its type has not, or one that is missing.
    """
    root = type(document).__name__
    plan = DOCUMENTS.get(root)
    if plan is None or plan.cls is not type(document):
        raise EncodeError(root, "is not a document", ", ".join(DOCUMENTS))
    out = [_DECLARATION] if declaration else []
    if declaration and indent:
        out.append("\n")
    out.append(f"<{root}{_NAMESPACE if indent else ''}>")
    try:
        _write_fields(out, document, plan, bool(indent), "\n" + indent if indent else "", indent)
    except _Bad as bad:
        raise EncodeError("/".join([root, *reversed(bad.path)]), bad.what, bad.allowed) from None
    out.append(f"\n</{root}>\n" if indent else f"</{root}>")
    return "".join(out).encode()


def _write_fields(out: list[str], value: DataThing, plan: TypePlan, declared: bool, line: str, indent: str) -> None:
    """Adds the elements of a value. Written for speed: it looks at every field of every value."""
    for field, item in zip(plan.fields, plan.values_of(value), strict=False):
        if item is None:
            if field.least:
                allowed = field.primitive.allowed if field.primitive else _names(field)
                raise _Bad(field.element, "is missing", allowed)
        elif field.primitive is not None:
            try:
                out.append(f"{line}{field.begin}{field.primitive.write(item)}{field.end}")
            except (ValueError, TypeError, OverflowError):
                what = f"{item!r} has no text as {field.primitive.name}"
                raise _Bad(field.element, what, field.primitive.allowed) from None
        elif not field.repeated:
            _write_one(out, item, field, field.element, declared, line, indent)
        elif not isinstance(item, tuple | list):
            raise _Bad(field.element, f"{item!r} is no tuple", "a tuple")
        elif len(item) < field.least:
            raise _Bad(field.element, f"has {len(item)} of {field.element}", f"{field.least} or more")
        else:
            for number, one in enumerate(item, 1):
                _write_one(out, one, field, f"{field.element}[{number}]", declared, line, indent)


def _write_one(
    out: list[str], item: object, field: FieldPlan, place: str, declared: bool, line: str, indent: str
) -> None:
    base, plan = field.plan, PLANS.get(type(item))  # type: ignore[arg-type]
    if plan is base and not plan.abstract:  # type: ignore[union-attr]
        out.append(line + field.begin)
    elif plan is not None and plan.name in base.substitutes:  # type: ignore[union-attr]
        out.append(f'{line}<{field.element} xsi:type="{plan.name}"{"" if declared else _NAMESPACE}>')
        declared = True
    else:
        raise _Bad(place, f"{type(item).__name__} does not belong here", _names(field))
    try:
        _write_fields(out, item, plan, declared, line + indent, indent)  # type: ignore[arg-type]
    except _Bad as bad:
        bad.path.append(place)
        raise
    out.append(line + field.end)


def _names(field: FieldPlan) -> str:
    assert field.plan is not None
    return ", ".join(plan.cls.__name__ for plan in field.plan.substitutes.values())
