"""Meanings of configuration keys, from docstrings into JSON schemas: editors show them, and the guide lists them."""

from __future__ import annotations

import inspect
import re
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

__all__ = ["describe_keys"]

_SECTION = "\nAttributes:\n"
_ENTRY = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def describe_keys(schema: dict[str, Any], cls: type[BaseModel]) -> None:
    """Adds to the JSON schema of a class the meanings of its keys, and the defaults that are made by a function."""
    said: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        _, _, entries = inspect.cleandoc(base.__doc__ or "").partition(_SECTION)
        said |= {name: " ".join(text.split()) for name, text in _ENTRY.findall(entries)}
    if cls.__doc__:
        schema["description"] = " ".join(inspect.cleandoc(cls.__doc__).partition(_SECTION)[0].split())
    for name, field in cls.model_fields.items():
        key = schema["properties"][field.alias or name]
        if name in said:
            key["description"] = said[name]
        if field.default_factory is not None:
            key["default"] = to_jsonable_python(field.get_default(call_default_factory=True, validated_data={}))
