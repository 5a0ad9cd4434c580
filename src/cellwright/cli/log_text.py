"""Values of messages and metadata of a log, as people read them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np

from cellwright.record import Mismatch, plain

__all__ = ["note_text", "only_other", "text_of"]


def text_of(value: Any) -> str:
    """Returns a value as a person reads it."""
    if isinstance(value, np.ndarray):
        if isinstance(plain(value), dict):
            return f"{value.dtype} {' x '.join(map(str, value.shape))}"
        if value.ndim > 1:
            return "  ".join(f"({text_of(row)})" for row in value)
        value = value.tolist()
    if isinstance(value, list | tuple):
        several_words = any(isinstance(item, str) and " " in item for item in value)
        return ("; " if several_words else " ").join(map(text_of, value)) or "(none)"
    if isinstance(value, SimpleNamespace):
        return json.dumps(plain(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def note_text(note: str) -> str:
    """Returns an entry of the metadata: lists and objects of JSON with a line for each of what they hold."""
    return "\n".join(_entries(note)) or ("(none)" if note in ("[]", "{}") else note)


def only_other(mismatch: Mismatch) -> Mismatch:
    """Returns a mismatch of the metadata without what both lists or objects of JSON hold."""
    a, b = _entries(mismatch.a), _entries(mismatch.b)
    if not a and not b:
        return mismatch
    only_a, only_b = [one for one in a if one not in b], [one for one in b if one not in a]
    if not only_a and not only_b:
        return mismatch
    return Mismatch(mismatch.name, "\n".join(only_a) or "-", "\n".join(only_b) or "-")


def _entries(note: Any) -> list[str]:
    """Returns what an entry of the metadata holds, one by one; nothing of one that is no list or object of JSON."""
    try:
        found = json.loads(note) if isinstance(note, str) else None
    except ValueError:
        return []
    if isinstance(found, dict):
        return [f"{key} {text_of(value)}" for key, value in found.items()]
    if not isinstance(found, list):
        return []
    return [
        ", ".join(f"{key} {text_of(value)}" for key, value in one.items()) if isinstance(one, dict) else text_of(one)
        for one in found
    ]
