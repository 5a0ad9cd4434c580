"""Types of recorded messages, from the definitions that logs and bags carry."""

from __future__ import annotations

from cellwright.interfaces.ros.graph import NEXT_TYPE
from cellwright.interfaces.ros.types import RosTypes, long_name
from cellwright.record.log import Log

__all__ = ["known_types", "register_definition"]


def known_types(log: Log) -> RosTypes:
    """Returns the types of a log, with those that no standard package has."""
    types = RosTypes({})
    for topic in log.topics.values():
        register_definition(types, topic.type, topic.definition)
    return types


def register_definition(types: RosTypes, ros_type: str, definition: str) -> None:
    """Adds a type and those in it where they are missing.

    Args:
        types: The types that are known.
        ros_type: Its name.
        definition: Its whole text: its own, then that of each type in it after a line of `=` and its name.
    """
    first, *others = definition.split(NEXT_TYPE)
    parts = [(ros_type, first)]
    for part in others:
        head, _, text = part.strip().partition("\n")
        parts.append((long_name(head.removeprefix("MSG:").strip()), text))
    for name, text in reversed(parts):
        types.register(name, text)
