"""The control door alone: lines in, lines out, and nobody can hurt it."""

from __future__ import annotations

import asyncio
import json

import pytest

from cellwright.core.errors import BadInput
from cellwright.interfaces import control as trial_door
from cellwright.interfaces.control import MAX_LINES, ControlInterface


def answer(asked):
    if "fail" in asked:
        raise BadInput("that cannot be")
    return {"heard": asked}


def at_door(work, greeting=list):
    """Runs a coroutine function with the door and a connection to it."""

    async def main():
        door = await ControlInterface(answer, greeting).start()
        host, port = door.address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            return await asyncio.wait_for(work(door, reader, writer), 60)
        finally:
            writer.close()
            await door.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ('{"a": 1}', {"heard": {"a": 1}}),
        ('\n  \n{"a": 2}', {"heard": {"a": 2}}),
        ('{"fail": 1}', {"error": "that cannot be"}),
        ("[1]", {"error": 'a line is a JSON object, such as {"submit": "kit_m2l1"}'}),
        ("\xff\x00{", {"error": 'not JSON; say for example {"submit": "kit_m2l1"}'}),
        ("[" * 15_000, {"error": 'not JSON; say for example {"submit": "kit_m2l1"}'}),
        ("x" * 20_000, {"error": "a line has at most 16384 bytes"}),
    ],
)
def test_every_line_has_an_answer(said, heard):
    async def work(_door, reader, writer):
        writer.write(said.encode("latin-1") + b"\n")
        return json.loads(await reader.readline())

    assert at_door(work) == heard


def test_whoever_comes_is_greeted_and_everybody_is_told():
    async def work(door, reader, _writer):
        first = json.loads(await reader.readline())
        door.push({"news": 1})
        return first, json.loads(await reader.readline()), door.clients

    assert at_door(work, lambda: [{"hello": 1}]) == ({"hello": 1}, {"news": 1}, 1)


def test_who_says_too_much_or_does_not_read_is_disconnected():
    async def work(door, reader, writer):
        writer.write(b'{"a": 1}\n' * (MAX_LINES + 1))
        while await reader.read(65536):
            pass
        return door.flooded, door.clients

    assert at_door(work) == (1, 0)


def test_where_all_places_are_taken_who_never_said_anything_gives_way(monkeypatch):
    monkeypatch.setattr(trial_door, "IDLE_S", 0.2)

    async def work(door, reader, writer):
        async def connect():
            return await asyncio.open_connection(*door.address.split(":"))

        async def answered(reader, writer):
            writer.write(b'{"a": 1}\n')
            return await reader.readline()

        assert await answered(reader, writer)
        idle = [await connect() for _ in range(trial_door.MAX_CLIENTS - 1)]
        while door.clients < trial_door.MAX_CLIENTS:
            await asyncio.sleep(0.01)
        refused = await connect()
        assert await refused[0].read() == b""  # nobody has been silent for long
        await asyncio.sleep(0.3)
        late = await connect()
        assert await answered(*late)
        assert await idle[0][0].read() == b""
        assert await answered(reader, writer)  # who spoke stays, although it came first
        for _, other in (*idle, refused, late):
            other.close()

    at_door(work)
