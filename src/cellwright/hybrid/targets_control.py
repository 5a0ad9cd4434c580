"""Questions about targets, and switches of them, as lines of JSON on a control socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cellwright.core.errors import BadInput, CellwrightError, UnknownName

if TYPE_CHECKING:
    from cellwright.hybrid.lab_targets import LabTargets

__all__ = ["TARGET_QUESTIONS", "TargetsControl"]

TARGET_QUESTIONS = (
    '{"ask": "targets"}',
    '{"switch": NAME, "to": HOST:PORT or "simulated", "align": true or false}',
    '{"release": true}',
)


class TargetsControl:
    """Answers for the targets of a laboratory; a switch is answered when it is made or refused, to all clients.

    Args:
        targets: The targets.
        push: Sends a line to all clients.
    """

    def __init__(self, targets: LabTargets, push: Callable[[dict[str, Any]], None]) -> None:
        self._targets, self._push = targets, push
        self._tasks: set[asyncio.Task[None]] = set()

    def knows(self, asked: dict[str, Any]) -> bool:
        """Returns whether a question is about targets."""
        return "switch" in asked or "release" in asked or asked.get("ask") == "targets"

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a question.

        Raises:
            BadInput: It is none of the questions.
        """
        if asked.get("ask") == "targets":
            return {"targets": self._targets.as_dict()}
        if "switch" in asked:
            name, to, aligns = asked["switch"], asked.get("to"), asked.get("align", False)
            if not (isinstance(name, str) and isinstance(to, str) and isinstance(aligns, bool)):
                raise BadInput(f"a switch names a robot or detector and where it is to be: {TARGET_QUESTIONS[1]}")
            known = [*self._targets.robots, *self._targets.detectors]
            if name not in known:
                raise UnknownName("robot or detector", name, known)
            task = asyncio.get_running_loop().create_task(self._switch(name, to, aligns))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return {"switching": name, "to": to}
        if asked.get("release") is True:
            self._targets.release()
            return {"released": True}
        raise UnknownName("question", str(asked.get("ask", asked))[:80], TARGET_QUESTIONS)

    async def _switch(self, name: str, to: str, aligns: bool) -> None:
        try:
            await self._targets.switch(name, to, aligns=aligns)
        except CellwrightError as error:
            self._push({"refused": name, "to": to, "why": str(error)})
        else:
            self._push({"switched": name, "to": to})
