"""Kinds of columns of the generated access classes."""

from __future__ import annotations

from typing import Any, get_args

from sqlalchemy import CheckConstraint, Column, ColumnElement, Enum, ForeignKey
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import DDLCompiler

__all__ = ["NAMING", "below", "non_negative", "one_of", "part_of", "reference", "root"]

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
"""Constraints have names that are known in advance, or no server could drop or add them later."""


def root(identity: str) -> dict[str, Any]:
    """Returns the mapping of the class at the top of a hierarchy: every row says of which class it is."""
    return {"polymorphic_identity": identity, "polymorphic_on": "kind"}


def below(identity: str, same_id: ColumnElement[bool]) -> dict[str, Any]:
    """Returns the mapping of a class below another, with its join: other references may lead to the same table."""
    return {"polymorphic_identity": identity, "inherit_condition": same_id}


def part_of(table: str) -> ForeignKey:
    """Returns the key of a row that goes when the row it belongs to goes."""
    return ForeignKey(f"{table}.id", ondelete="CASCADE")


def reference(table: str, *, required: bool = False) -> ForeignKey:
    """Returns a reference to another object; added after all tables, because such references run in circles."""
    return ForeignKey(f"{table}.id", ondelete="RESTRICT" if required else "SET NULL", use_alter=True)


def one_of(column: str, words: Any) -> Enum:
    """Returns one word of a `Literal` type, checked by the database."""
    return Enum(*get_args(words), native_enum=False, create_constraint=True, name=column)


def non_negative(column: str) -> CheckConstraint:
    """Returns a constraint by which the database refuses numbers below zero."""
    return CheckConstraint(f"{column} >= 0", name=column)


@compiles(CheckConstraint, "mysql", "mariadb")
def check_within_a_column(constraint: CheckConstraint, compiler: DDLCompiler, **options: Any) -> str:
    """Returns the check without its name, which MariaDB does not take for the check of a column."""
    text = str(compiler.visit_check_constraint(constraint, **options))  # type: ignore[no-untyped-call]
    return text[text.index("CHECK") :] if isinstance(constraint.parent, Column) else text
