"""Tables beside the ontology's: the history of poses, and states that were marked as stable.

They hold names instead of references, so that they outlive the objects they speak of.
"""

from __future__ import annotations

from sqlalchemy import Column, Double, Integer, String, Table

from cellwright.knowledge.generated.records import Record

__all__ = ["AXES", "METADATA", "POSE_HISTORY", "STABLE_POSE", "STABLE_STATE"]

AXES = [f"{vector}_{axis}" for vector in ("point", "x_axis", "z_axis") for axis in "xyz"]
"""The columns of a pose."""

METADATA = Record.metadata
"""All tables of the database, the generated ones included."""

POSE_HISTORY = Table(
    "pose_history",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("object_name", String(255), nullable=False, index=True),
    Column("reference_name", String(255)),
    Column("timestamp", Double, nullable=False),
    Column("evidence", String(255), nullable=False),
    *(Column(name, Double, nullable=False) for name in AXES),
)
STABLE_STATE = Table(
    "stable_state",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("label", String(255), nullable=False, unique=True),
)
STABLE_POSE = Table(
    "stable_pose",
    METADATA,
    Column("state_id", Integer, primary_key=True, autoincrement=False),
    Column("object_name", String(255), primary_key=True),
    Column("reference_name", String(255)),
    Column("timestamp", Double),
    *(Column(name, Double, nullable=False) for name in AXES),
)
