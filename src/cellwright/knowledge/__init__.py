"""The knowledge of a cell: the ontology, and the database that is generated from it.

The ontology (`ontology/*.ttl`) is written by hand; tables, access classes and the vocabulary (`generated/`) are made
from it. `records` holds the access classes: `records.Part`, `records.Kit`, `records.Robot` and so on.

Names are imported when they are first used: the generator must run while what it generates is missing or broken, and
120 tables take a second to load.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cellwright.knowledge.errors import DatabaseError, OntologyError

if TYPE_CHECKING:
    from cellwright.knowledge.belief import Belief
    from cellwright.knowledge.belief_state import BeliefState, belief_state_of
    from cellwright.knowledge.believed_objects import (
        BelievedObject,
        BelievedPart,
        BelievedSlot,
        Evidence,
        PoseEstimate,
        ToolState,
        Unknown,
    )
    from cellwright.knowledge.database import Database
    from cellwright.knowledge.generated import records
    from cellwright.knowledge.pose_rate import pose_update_rate
    from cellwright.knowledge.slot_views import SlotContent, SlotView
    from cellwright.knowledge.track_monitor import BeliefCfg
    from cellwright.knowledge.transform_tree import TransformTree, TreeNode
    from cellwright.knowledge.workstation import Workstation
    from cellwright.knowledge.workstation_records import fill, filled_database
    from cellwright.knowledge.world_model import WorldModel

__all__ = [
    "Belief",
    "BeliefCfg",
    "BeliefState",
    "BelievedObject",
    "BelievedPart",
    "BelievedSlot",
    "Database",
    "DatabaseError",
    "Evidence",
    "OntologyError",
    "PoseEstimate",
    "SlotContent",
    "SlotView",
    "ToolState",
    "TransformTree",
    "TreeNode",
    "Unknown",
    "Workstation",
    "WorldModel",
    "belief_state_of",
    "fill",
    "filled_database",
    "pose_update_rate",
    "records",
]

MODULES = {
    "Belief": "belief",
    "BeliefCfg": "track_monitor",
    "BeliefState": "belief_state",
    **dict.fromkeys(
        ("BelievedObject", "BelievedPart", "BelievedSlot", "Evidence", "PoseEstimate", "ToolState", "Unknown"),
        "believed_objects",
    ),
    "belief_state_of": "belief_state",
    "Database": "database",
    "SlotContent": "slot_views",
    "SlotView": "slot_views",
    "TreeNode": "transform_tree",
    "TransformTree": "transform_tree",
    "Workstation": "workstation",
    "WorldModel": "world_model",
    "fill": "workstation_records",
    "filled_database": "workstation_records",
    "pose_update_rate": "pose_rate",
}


def __getattr__(name: str) -> Any:
    if name == "records":
        return import_module("cellwright.knowledge.generated.records")
    if name in MODULES:
        return getattr(import_module(f"cellwright.knowledge.{MODULES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
