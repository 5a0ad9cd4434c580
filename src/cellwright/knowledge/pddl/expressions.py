"""PDDL texts as nested expressions in parentheses, with the line of everything."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cellwright.knowledge.pddl.model import PddlError

__all__ = ["Node", "read_expressions"]

TOKEN = re.compile(r";[^\n]*|\n|[()]|[^\s();]+")
MOST_CHARACTERS, DEEPEST = 32_000_000, 60
"""The longest file and the deepest nesting: nothing that a person or a generator writes comes near."""


@dataclass(frozen=True, slots=True)
class Node:
    """A word in small letters, or a list in parentheses.

    Attributes:
        line: The line on which it begins.
        word: The word; empty for a list.
        items: The items of a list.
        where: The file.
    """

    line: int
    word: str
    items: list[Node]
    where: str

    @property
    def head(self) -> str:
        """The first word of a list; empty where there is none."""
        return self.items[0].word if self.items else ""

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return not self.word

    def error(self, problem: str) -> PddlError:
        """Returns an error at this place."""
        return PddlError(f"{self.where}, line {self.line}: {problem}")

    def __str__(self) -> str:
        """Returns its text in small letters; cut where it is long."""
        text = self.word or f"({' '.join(str(item) for item in self.items[:12])})"
        return text if len(text) <= 100 else f"{text[:97]}..."


def read_expressions(text: str, where: str) -> list[Node]:
    """Returns the outermost lists and words of a text.

    Raises:
        PddlError: Brackets that do not match, or a text without end.
    """
    if len(text) > MOST_CHARACTERS:
        raise PddlError(f"{where}: {len(text)} characters; allowed are {MOST_CHARACTERS}")
    line, outermost = 1, list[Node]()
    stack: list[Node] = []
    for found in TOKEN.finditer(text):
        token = found.group()
        if token == "\n":
            line += 1
        elif token == "(":
            if len(stack) == DEEPEST:
                raise PddlError(f"{where}, line {line}: brackets in more than {DEEPEST} brackets")
            stack.append(Node(line, "", [], where))
        elif token == ")":
            if not stack:
                raise PddlError(f"{where}, line {line}: ')' without '('")
            done = stack.pop()
            (stack[-1].items if stack else outermost).append(done)
        elif not token.startswith(";"):
            (stack[-1].items if stack else outermost).append(Node(line, token.lower(), [], where))
    if stack:
        raise stack[-1].error("'(' without ')'")
    return outermost
