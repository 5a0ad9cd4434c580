"""Loads predicates, actions and failures, as the ontology defines them, into a new database."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from sqlalchemy import inspect
from sqlalchemy.orm import Session

from cellwright.knowledge.generated import records

__all__ = ["load_vocabulary"]


def load_vocabulary(session: Session) -> int:
    """Adds every individual of the ontology to the session; returns how many there are."""
    text = (files("cellwright.knowledge.generated") / "vocabulary.json").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = json.loads(text)
    made = {entry["name"]: getattr(records, entry["class"])(name=entry["name"]) for entry in entries}
    for entry in entries:
        record = made[entry["name"]]
        references = inspect(type(record)).relationships
        for name, value in entry.items():
            if name in ("class", "name"):
                continue
            if name in references:
                value = [made[item] for item in value] if isinstance(value, list) else made[value]
            setattr(record, name, value)
    session.add_all(made.values())
    return len(made)
