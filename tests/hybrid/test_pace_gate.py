"""The gate before commands of external robots, with a laboratory whose clock slips as it is told."""

from __future__ import annotations

import time

import pytest

import cellwright as cw
from cellwright.core.errors import JobFailed
from cellwright.hybrid import pace_gate
from cellwright.hybrid.pace_gate import PaceGate


@pytest.fixture
def lab(changed):
    with cw.Lab(changed(), pace=20.0) as lab:
        yield lab


def test_a_laboratory_that_keeps_pace_holds_nobody(lab):
    gate, events = PaceGate(lab), []
    began_s = time.monotonic()
    lab.perform(gate.wait(lambda *event: events.append(event)))
    assert time.monotonic() - began_s < 0.5
    assert (events, gate.held) == ([], 0)


def test_a_robot_is_held_until_pace_is_kept_again(lab, monkeypatch):
    monkeypatch.setattr(pace_gate, "WINDOW_S", 0.2)
    gate, events = PaceGate(lab), []

    async def work():
        assert gate.slip == 0.0
        began_s = time.monotonic()
        while time.monotonic() < began_s + 0.1:
            await lab.clock.sleep(0.2)
        lab.loop.pacing.slipped_s += 0.15  # as a machine that was busy for so long
        assert gate.slip > 0.5
        await gate.wait(lambda *event: events.append(event))
        assert gate.slip <= pace_gate.SLIP

    lab.perform(work())
    assert [change for change, _ in events] == ["held", "goes on"]
    assert "of the last second has slipped: the laboratory does not keep pace" in events[0][1]
    assert gate.held == 1
    assert 0.05 < gate.held_s < 5.0
    assert gate.slip_of_all > 0.0


def test_one_that_never_keeps_pace_is_given_up_and_nothing_was_sent(lab, monkeypatch):
    monkeypatch.setattr(pace_gate, "WINDOW_S", 0.4)  # a machine that is busy for a moment lets nothing slip meanwhile
    monkeypatch.setattr(pace_gate, "LONGEST_S", 0.4)
    gate = PaceGate(lab)

    async def work():
        assert gate.slip == 0.0
        task = lab.loop.create_task(slip())
        await lab.clock.sleep(6.0)
        try:
            with pytest.raises(JobFailed, match="has not kept pace for 0 s; nothing was sent"):
                await gate.wait(lambda *_event: None)
        finally:
            task.cancel()

    async def slip():
        while True:
            lab.loop.pacing.slipped_s += 0.02
            await lab.clock.sleep(0.02)

    lab.perform(work())
