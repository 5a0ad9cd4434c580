"""The simple types of CRCL: how each is read, written and limited.

A field of a message is annotated with one of the names at the end of this file. The annotation is an ordinary Python
type to a type checker and carries the XML Schema type to the codec, so nothing is defined twice.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

__all__ = [
    "BOOLEAN",
    "DOUBLE",
    "FRACTION",
    "INT",
    "LONG",
    "NMTOKEN",
    "NOT_XML",
    "POSITIVE_DECIMAL",
    "STRING",
    "TOKEN",
    "XML_SPACE",
    "AtLeast",
    "Boolean",
    "Double",
    "Fraction",
    "Int",
    "Long",
    "NmToken",
    "Primitive",
    "String",
    "Token",
    "collapse",
    "enumeration",
]

XML_SPACE = " \t\r\n"
_SPACES = re.compile("[ \t\r\n]+")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_NMTOKEN = re.compile(
    "[^-.0-9:A-Z_a-z\xb7\xc0-\xd6\xd8-\xf6\xf8-\u037d\u037f-\u1fff\u200c\u200d\u203f\u2040\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff]"
)
_DOUBLE_LETTERS = "0123456789+-.eE" + XML_SPACE
_INT_LETTERS = "0123456789+-" + XML_SPACE
_NOT_FINITE = {"NaN", "INF", "-INF"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Primitive:
    """A simple type.

    Attributes:
        name: As the schema calls it.
        base: The type that it narrows, where that is one of this module.
        read: The value of an element's text; raises ValueError for a text that the type has not.
        write: The text of a value, escaped; raises ValueError for a value that the type has not.
        allowed: What is allowed, for errors.
        choices: The texts of an enumeration.
    """

    name: str
    base: Primitive | None
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    allowed: str
    choices: tuple[str, ...] = ()

    def narrows(self, other: Primitive) -> bool:
        """Returns whether each of its values is one of the other type, by the schema's derivations."""
        return self is other or (self.base is not None and self.base.narrows(other))


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The least number of times that a repeated element must occur."""

    count: int


def collapse(text: str) -> str:
    """Returns text with each run of white space as one blank and none at the ends, as XML Schema collapses it."""
    return _SPACES.sub(" ", text).strip(" ")


def enumeration(members: type[StrEnum], base: Primitive) -> Primitive:
    """Returns the simple type whose texts are the values of an enumeration."""
    known = {member.value: member for member in members}

    def read(text: str) -> StrEnum:
        member = known.get(text)
        if member is None and base is not STRING:  # only a string keeps the white space around it
            member = known.get(collapse(text))
        if member is None:
            raise ValueError
        return member

    def write(value: Any) -> str:
        if value not in known:
            raise ValueError
        return known[value].value

    choices = tuple(known)
    return Primitive(f"{members.__name__}Type", base, read, write, ", ".join(choices), choices)


def _read_double(text: str) -> float:
    value = float(text)
    if value - value == 0.0:
        if text.isascii() and "_" not in text:  # Python also reads 1_000 and the digits of other scripts
            return value
    elif text.strip(XML_SPACE) in _NOT_FINITE or not text.strip(_DOUBLE_LETTERS):  # Python also reads infinity; 1e400
        return value
    raise ValueError


def _write_double(value: Any) -> str:
    if type(value) is not float:
        if isinstance(value, bool | str | bytes):
            raise ValueError
        value = float(value)
    if value - value == 0.0:
        return repr(value)
    return "NaN" if value != value else "INF" if value > 0 else "-INF"


def _limited(name: str, inside: Callable[[float], bool], allowed: str) -> Primitive:
    def read(text: str) -> float:
        value = _read_double(text)
        if inside(value):
            return value
        raise ValueError

    def write(value: Any) -> str:
        text = _write_double(value)
        if inside(value):
            return text
        raise ValueError

    return Primitive(name, DOUBLE, read, write, allowed)


def _integer(name: str, base: Primitive | None, bits: int) -> Primitive:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(text: str) -> int:
        if text.strip(_INT_LETTERS):
            raise ValueError
        value = int(text)
        if low <= value <= high:
            return value
        raise ValueError

    def write(value: Any) -> str:
        if type(value) is not int:
            if isinstance(value, bool):
                raise ValueError
            value = operator.index(value)
        if low <= value <= high:
            return str(value)
        raise ValueError

    return Primitive(name, base, read, write, f"a whole number from {low} to {high}")


def _read_boolean(text: str) -> bool:
    value = _BOOLEANS.get(text)
    if value is None:
        value = _BOOLEANS.get(text.strip(XML_SPACE))
        if value is None:
            raise ValueError
    return value


def _write_boolean(value: Any) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    raise ValueError


def _read_string(text: str) -> str:
    return text


def _write_string(value: Any) -> str:
    if not isinstance(value, str) or NOT_XML.search(value):
        raise ValueError
    if "&" in value or "<" in value or ">" in value or "\r" in value:
        value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    return str(value)


def _write_token(value: Any) -> str:
    text = _write_string(value)
    if collapse(value) == value:
        return text
    raise ValueError  # it would not read back as it was


def _read_nmtoken(text: str) -> str:
    token = collapse(text)
    if not token or _NOT_NMTOKEN.search(token):
        raise ValueError
    return token


def _write_nmtoken(value: Any) -> str:
    if not isinstance(value, str) or _read_nmtoken(value) != value:
        raise ValueError
    return value


DOUBLE = Primitive("xs:double", None, _read_double, _write_double, "a number, INF, -INF or NaN")
FRACTION = _limited("FractionType", lambda value: 0.0 <= value <= 1.0, "a number from 0 to 1")
POSITIVE_DECIMAL = _limited("PositiveDecimalType", lambda value: value > 0.0, "a number above 0")
LONG = _integer("xs:long", None, 64)
INT = _integer("xs:int", LONG, 32)
BOOLEAN = Primitive("xs:boolean", None, _read_boolean, _write_boolean, "true or false")
STRING = Primitive("xs:string", None, _read_string, _write_string, "text of characters that XML has")
TOKEN = Primitive(
    "xs:token", STRING, collapse, _write_token, "text without line ends, double blanks and blanks at its ends"
)
NMTOKEN = Primitive(
    "xs:NMTOKEN", TOKEN, _read_nmtoken, _write_nmtoken, "one or more letters, digits and . - _ : without blanks"
)

Double = Annotated[float, DOUBLE]
Fraction = Annotated[float, FRACTION]
Int = Annotated[int, INT]
Long = Annotated[int, LONG]
Boolean = Annotated[bool, BOOLEAN]
String = Annotated[str, STRING]
Token = Annotated[str, TOKEN]
NmToken = Annotated[str, NMTOKEN]
