"""Reads a status that breaks the schema as far as it can be read, and says what is wrong with it.

An answer with a mistake is an answer: a client that takes it for silence waits in vain and never learns of it.

| what came | what is read |
|---|---|
| a number outside its range | that number |
| a state that is not known, or none | CRCL_Working: neither done nor failed |
| a number, name or type that cannot be read; an element that is not known | nothing: it is left out |
| an element without something that it needs | nothing; without the numbers of command and status they are 0 |
| elements in another order, twice, or in a namespace | as they are meant; the first of two |
| characters that XML has not, such as NUL | the text without them |
"""

from __future__ import annotations

import math
import re
from typing import Any, cast

from cellwright.crcl.check import DocumentProblem, problems_of
from cellwright.crcl.errors import DecodeError
from cellwright.crcl.messages import CommandStateEnum, CommandStatus, CRCLStatus, DataThing
from cellwright.crcl.parser import MAX_BYTES, XSI_TYPE, parse
from cellwright.crcl.prolog import to_utf8
from cellwright.crcl.reader import decode
from cellwright.crcl.table import PLANS, FieldPlan, TypePlan
from cellwright.crcl.types import BOOLEAN, DOUBLE, LONG, NOT_XML, STRING, Primitive, collapse
from cellwright.crcl.variants import modernise

__all__ = ["read_status"]

_REFERENCE = re.compile("&#(?:x([0-9A-Fa-f]{1,8})|([0-9]{1,8}));")
_ASSUMED = {"CommandID": 0, "StatusID": 0, "CommandState": CommandStateEnum.CRCL_WORKING}


def read_status(document: bytes) -> tuple[CRCLStatus, list[DocumentProblem]]:
    """Returns the status that a text holds, and its problems; a text that can be decoded has none.

    Raises:
        DecodeError: It is no status at all, is no XML that could be repaired, or has a document type.
    """
    try:
        return decode(document, CRCLStatus), []
    except DecodeError as error:
        refused = error
    text, start = to_utf8(document, MAX_BYTES)
    lines_before = b"\n" * text.count(b"\n", 0, start)
    clean, problems = _clean(lines_before + text[start:].rstrip(b" \t\r\n\0"))
    try:
        root = parse(clean)
    except DecodeError as error:
        problems.append(_problem(error))
        root = parse(clean, recover=True)
    if root is None:
        raise refused
    _drop_namespaces(root, problems)
    if root.tag != CRCLStatus.__name__:
        raise refused
    modernise(root)
    problems += problems_of(root)
    status = cast("CRCLStatus | None", _thing(root, PLANS[CRCLStatus]))
    known = status or CRCLStatus(CommandStatus(0, 0, CommandStateEnum.CRCL_WORKING))
    return known, problems or [_problem(refused)]


def _problem(error: DecodeError) -> DocumentProblem:
    return DocumentProblem(error.line, error.what, error.where, error.allowed)


def _clean(data: bytes) -> tuple[bytes, list[DocumentProblem]]:
    """Returns a text without characters that XML cannot hold, written as themselves or as references."""
    text, problems = data.decode("utf-8", "replace"), []
    if text.encode("utf-8") != data:
        problems.append(DocumentProblem(1, "is not text in utf-8"))

    def is_bad(reference: re.Match[str]) -> bool:
        code = int(reference[1], 16) if reference[1] else int(reference[2])
        return code > 0x10FFFF or NOT_XML.match(chr(code)) is not None

    bad = [*NOT_XML.finditer(text), *filter(is_bad, _REFERENCE.finditer(text))]
    for found in bad[:1]:
        name = f"U+{ord(found[0]):04X}" if len(found[0]) == 1 else found[0]
        line = text.count("\n", 0, found.start()) + 1
        problems.append(DocumentProblem(line, f"has the character {name}", allowed=STRING.allowed))
    if bad:
        text = _REFERENCE.sub(lambda reference: "" if is_bad(reference) else reference[0], NOT_XML.sub("", text))
    return text.encode(), problems


def _drop_namespaces(root: Any, problems: list[DocumentProblem]) -> None:
    """Removes namespaces from elements and prefixes from types: the schema has none."""
    for element in root.iter():
        space, brace, local = element.tag.rpartition("}")
        if brace:
            if not any("is in the namespace" in problem.what for problem in problems):
                problems.append(
                    DocumentProblem(element.sourceline, f"{local} is in the namespace '{space[1:]}'", "", "none")
                )
            element.tag = local
        kind = element.get(XSI_TYPE) or element.get("xsi:type")
        if kind and (":" in kind or element.get(XSI_TYPE) is None):
            problems.append(
                DocumentProblem(element.sourceline, f"{element.tag} has the type '{kind}'", "", "no prefix")
            )
            element.attrib.pop("xsi:type", None)
            element.set(XSI_TYPE, kind.rpartition(":")[2])


def _thing(element: Any, declared: TypePlan) -> DataThing | None:
    """Returns the value of an element as far as it can be read; None where something is missing that it needs."""
    kind = collapse(element.get(XSI_TYPE) or "")
    plan = declared.substitutes.get(kind, declared)
    if plan.abstract:
        return None
    values: dict[str, Any] = {}
    for child in element:
        step = plan.steps.get(child.tag)
        if step is None:
            continue
        field = plan.fields[step[0]]
        value = _read(child, field)
        if value is None:
            continue
        if field.repeated:
            values[field.attribute] = (*values.get(field.attribute, ()), value)
        else:
            values.setdefault(field.attribute, value)
    for field in plan.fields:
        if field.least and field.attribute not in values:
            if plan.cls is not CommandStatus or field.element not in _ASSUMED:
                return None
            values[field.attribute] = _ASSUMED[field.element]
    return plan.cls(**values)


def _read(element: Any, field: FieldPlan) -> Any:
    if field.primitive is None:
        assert field.plan is not None
        return _thing(element, field.plan)
    text = "".join(element.itertext())
    try:
        return field.primitive.read(text)
    except ValueError:
        return _loosely(text, field.primitive)


def _loosely(text: str, primitive: Primitive) -> Any:
    """Returns the value that a text means though its type has no such text; None if it means none."""
    text = collapse(text)
    if primitive.choices:
        return next((primitive.read(choice) for choice in primitive.choices if choice.lower() == text.lower()), None)
    if primitive.narrows(BOOLEAN):
        return {"true": True, "false": False}.get(text.lower())
    if primitive.narrows(STRING):
        return text
    try:
        number = float(text)
    except ValueError:
        return None
    if primitive.narrows(DOUBLE):
        return number
    try:
        return primitive.read(str(int(number))) if primitive.narrows(LONG) and math.isfinite(number) else None
    except ValueError:
        return None
