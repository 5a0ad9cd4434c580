"""Tables beside the ontology's: the version of the tables, the history of poses, states that were marked as stable.

They hold names instead of references, so that they outlive the objects they speak of.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Integer, LargeBinary, String, Table
from sqlalchemy.dialects.mysql import LONGBLOB

from cellwright.knowledge.generated.records import SCHEMA_VERSION, Record

__all__ = ["AXES", "METADATA", "POSE_HISTORY", "STABLE_STATE", "VERSION", "VERSION_NEEDED"]

AXES = [f"{vector}_{axis}" for vector in ("point", "x_axis", "z_axis") for axis in "xyz"]
"""The columns of a pose."""

METADATA = Record.metadata
"""All tables of the database, the generated ones included."""

VERSION_NEEDED = f"{SCHEMA_VERSION}-2"
"""The version of the generated tables, and the one of the tables below: raise it when they change."""

VERSION = Table("schema_version", METADATA, Column("version", String(32), primary_key=True))

POSE_HISTORY = Table(
    "pose_history",
    METADATA,
    # A ring for each object: the newest entry takes the place of the oldest, so days of work need no more room than
    # an hour. The place comes first in the key: what was seen together is written side by side.
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("object_name", String(255), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("reference_name", String(255)),
    Column("timestamp", Double, nullable=False),
    Column("evidence", String(255), nullable=False),
    *(Column(name, Double, nullable=False) for name in AXES),
    sqlite_with_rowid=False,
)
STABLE_STATE = Table(
    "stable_state",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("label", String(255), nullable=False, unique=True),
    Column("content", LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb"), nullable=False),
)
