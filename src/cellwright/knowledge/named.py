"""The base of access classes beside their generated properties: they are found by name."""

from __future__ import annotations

from typing import Self

from sqlalchemy import select
from sqlalchemy.orm import Session

from cellwright.core.errors import BadInput, UnknownName

__all__ = ["Named"]


class Named:
    """Mixed into the roots of the generated access classes."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"  # type: ignore[attr-defined]

    @classmethod
    def get(cls, session: Session, name: str) -> Self:
        """Returns the instance of this class, or of a class below it, that has the name.

        Raises:
            UnknownName: There is none; lists those that exist.
            BadInput: Several classes below this one have an instance of that name.
        """
        found = session.scalars(select(cls).filter_by(name=name)).all()
        if len(found) > 1:
            kinds = ", ".join(sorted(type(one).__name__ for one in found))
            raise BadInput(f"database: '{name}' names several {cls.__name__}s; ask one of the classes {kinds}")
        if not found:
            names = [str(known.name) for known in session.scalars(select(cls))]  # type: ignore[attr-defined]
            raise UnknownName(cls.__name__, name, names, "database")
        return found[0]

    @classmethod
    def all(cls, session: Session) -> list[Self]:
        """Returns every instance of this class and of the classes below it, in the order they were made."""
        return list(session.scalars(select(cls).order_by("id")))
