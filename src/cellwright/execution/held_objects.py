"""Held objects in the belief database, where planners and predicates read them."""

from __future__ import annotations

from sqlalchemy import select

from cellwright.knowledge import Belief, records

__all__ = ["held_by", "note_held", "note_released"]


def held_by(belief: Belief) -> dict[str, str]:
    """Returns tool -> the object that it is believed to hold."""
    with belief.world_model.database.session() as session:
        found = session.scalars(select(records.EndEffector).where(records.EndEffector.held_object_id.is_not(None)))
        return {tool.name: tool.held_object.name for tool in found if tool.held_object is not None}


def note_held(belief: Belief, tool: str, thing: str) -> None:
    """Stores that the tool holds a part, a kit tray or a kit; its pose still comes from detectors."""
    with belief.world_model.database.session() as session:
        records.EndEffector.get(session, tool).held_object = records.SolidObject.get(session, thing)


def note_released(belief: Belief, tool: str) -> None:
    """Stores that the tool holds nothing; what it held is where it is seen."""
    with belief.world_model.database.session() as session:
        records.EndEffector.get(session, tool).held_object = None
