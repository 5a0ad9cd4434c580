"""Checks documents against the same type table that reader and writer use.

The verdict is that of the schema of 2021Apr28, with line numbers and with what is allowed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from cellwright.crcl.errors import DecodeError
from cellwright.crcl.parser import MAX_BYTES, XSI, XSI_TYPE, parse, path_of
from cellwright.crcl.prolog import to_utf8
from cellwright.crcl.table import DOCUMENTS, SIMPLE_TYPES, TypePlan
from cellwright.crcl.types import XML_SPACE, Primitive, collapse

__all__ = ["DocumentProblem", "check", "problems_of"]

_XS = "http://www.w3.org/2001/XMLSchema"
_HINTS = {f"{{{XSI}}}schemaLocation", f"{{{XSI}}}noNamespaceSchemaLocation"}


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """One thing that is wrong with a document.

    Attributes:
        line: Where in the text, from 1.
        what: What is wrong.
        where: The path of the element.
        allowed: What would be right.
    """

    line: int
    what: str
    where: str = ""
    allowed: str = ""

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return f"{where}{self.what}" + (f" (allowed: {self.allowed})" if self.allowed else "")


def check(text: bytes | str, *, max_bytes: int = MAX_BYTES) -> list[DocumentProblem]:
    """Returns all problems of a document, in the order of its lines; none when it is valid CRCL 2021Apr28."""
    try:
        root = parse(to_utf8(text, max_bytes)[0])
    except DecodeError as error:
        return [DocumentProblem(error.line, error.what, error.where, error.allowed)]
    return problems_of(root)


def problems_of(root: Any) -> list[DocumentProblem]:
    """Returns all problems of a document that was parsed."""
    found: list[DocumentProblem] = []
    plan = DOCUMENTS.get(root.tag)
    if plan is None:
        _report(found, root, f"the document is {root.tag}", ", ".join(DOCUMENTS))
    else:
        _check_element(found, root, plan)
    return sorted(found, key=lambda problem: problem.line)


def _check_element(found: list[DocumentProblem], element: Any, base: TypePlan) -> None:
    """Checks an element that has elements: its type, attributes, children, and no text between them."""
    name = _stated_type(element)
    _check_attributes(found, element)
    plan = base if name is None and not base.abstract else base.substitutes.get(name or "")
    if plan is None:
        what = f"is no place for the type {name}" if name is not None else "needs an xsi:type"
        _report(found, element, what, ", ".join(base.substitutes))
        return
    texts = [element.text, *(child.tail for child in element)]
    stray = next((text for text in texts if text and text.strip(XML_SPACE)), None)
    if stray is not None:
        _report(found, element, f"has the text '{stray.strip()[:40]}' between its elements", "elements only")
    last, counts = -1, Counter[str]()
    for child in element:
        step = plan.steps.get(child.tag)
        if step is None:
            near = get_close_matches(child.tag, plan.steps, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            _report(found, child, f"does not belong into {plan.name}{hint}", ", ".join(plan.steps))
            continue
        index = step[0]
        field = plan.fields[index]
        counts[field.element] += 1
        if index < last:
            _report(found, child, f"stands after {plan.fields[last].element}", f"the order {', '.join(plan.steps)}")
        elif index == last and not field.repeated:
            _report(found, child, "is there more than once", "one")
        last = max(last, index)
        if field.primitive is not None:
            _check_simple(found, child, field.primitive)
        elif field.plan is not None:
            _check_element(found, child, field.plan)
    for field in plan.fields:
        if counts[field.element] < field.least:
            has = f"has {counts[field.element]} {field.element}" if counts[field.element] else f"lacks {field.element}"
            _report(found, element, has, f"{field.least} or more" if field.repeated else "one")


def _check_simple(found: list[DocumentProblem], element: Any, declared: Primitive) -> None:
    """Checks an element that has a text."""
    name = _stated_type(element)
    _check_attributes(found, element)
    primitive = declared if name is None else SIMPLE_TYPES.get(name)
    if primitive is None or not primitive.narrows(declared):
        _report(found, element, f"is no place for the type {name}", declared.name)
        return
    if len(element):
        _report(found, element[0], f"does not belong into {element.tag}", declared.allowed)
        return
    try:
        primitive.read(element.text or "")
    except ValueError:
        _report(found, element, f"'{(element.text or '')[:40]}' is not {primitive.name}", primitive.allowed)


def _check_attributes(found: list[DocumentProblem], element: Any) -> None:
    for name in element.keys():  # noqa: SIM118
        if name != XSI_TYPE and name not in _HINTS:
            _report(found, element, f"has the attribute {name.replace(f'{{{XSI}}}', 'xsi:')}", "xsi:type")


def _stated_type(element: Any) -> str | None:
    """Returns the name that xsi:type gives, types of XML Schema with the prefix xs; None without that attribute."""
    value = element.get(XSI_TYPE)
    if value is None:
        return None
    prefix, colon, local = collapse(value).rpartition(":")
    if not colon:
        return str(local)
    space = element.nsmap.get(prefix)
    return f"xs:{local}" if space == _XS else f"{{{space}}}{local}"


def _report(found: list[DocumentProblem], element: Any, what: str, allowed: str) -> None:
    found.append(DocumentProblem(element.sourceline, what, path_of(element), allowed))
