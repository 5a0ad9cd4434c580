"""Errors of instance files."""

from __future__ import annotations

from cellwright.core.errors import BadInput

__all__ = ["InstanceError"]


class InstanceError(BadInput):
    """An instance file that cannot be read; names the file, the line where there is one, and what is allowed."""

    def __init__(self, where: str, problem: str, line: int | None = None) -> None:
        super().__init__(f"{where}: line {line}: {problem}" if line else f"{where}: {problem}")
        self.where = where
        self.problem = problem
        self.line = line
