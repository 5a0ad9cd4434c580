"""The process in which a cell under test runs: questions as lines of JSON on stdin, answers on stdout."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Iterator
from typing import Any, BinaryIO

from cellwright.core.errors import BadInput, CellwrightError
from cellwright.testing.cell_backend import CellBackend

__all__ = ["main"]

MAX_LINE_BYTES = 2**20


def main() -> None:
    """Answers until stdin ends, which it does when the test's process does."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever is printed must not get between the answers
    # Unbuffered: what a buffer had read ahead, the event loop would never see.
    questions = os.fdopen(0, "rb", buffering=0, closefd=False)
    first = json.loads(questions.readline() or b"{}")
    try:
        tested = CellBackend.of(_arguments(first))
    except CellwrightError as error:
        _say(answers, first, _error_answer(error))
        return
    try:
        with tested.trial.lab as lab, _live_page(tested):
            lab.perform(_serve(tested, first, questions, answers))
    except CellwrightError as error:  # in the simulation, such as in a plugin's sensor: no question is to blame
        sys.exit(str(error))


@contextlib.contextmanager
def _live_page(tested: CellBackend) -> Iterator[None]:
    """Shows the cell in browsers, if that is wanted and possible: a test goes on without, and is told why."""
    if not tested.view:
        yield
        return
    from cellwright.viewing.live import LiveView
    from cellwright.viewing.page import viewer_page

    try:
        viewer_page()
        about = {"order": tested.cfg.trial, "controller": tested.cfg.controller}
        live = LiveView(tested.trial.lab, tested.view, about=about)
    except CellwrightError as error:
        tested.notes.append(f"no live page: {error}")
        yield
        return
    with live, live.during_run():
        yield


async def _serve(tested: CellBackend, first: dict[str, Any], questions: Any, answers: BinaryIO) -> None:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=MAX_LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), questions)
    _say(answers, first, await _answer(tested.open()))
    turning = loop.create_task(tested.turn())
    try:
        while line := await reader.readline():
            asked = json.loads(line)
            _say(answers, asked, await _answer(tested.answer(asked["do"], _arguments(asked))))
    finally:
        turning.cancel()
        await tested.interfaces.close()
        if tested.interfaces.usartruth is not None:
            await tested.interfaces.usartruth.close()


async def _answer(work: Awaitable[Any]) -> dict[str, Any]:
    try:
        return {"result": await work}
    except CellwrightError as error:
        return _error_answer(error)
    except Exception as error:  # a mistake here must be told, or the test would wait for its answer
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}


def _error_answer(error: CellwrightError) -> dict[str, Any]:
    return {"error": str(error), "bad_input": isinstance(error, BadInput)}


def _arguments(asked: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in asked.items() if key not in ("id", "do")}


def _say(answers: BinaryIO, asked: dict[str, Any], answer: dict[str, Any]) -> None:
    answers.write(json.dumps({"id": asked.get("id"), **answer}).encode() + b"\n")


if __name__ == "__main__":
    main()
