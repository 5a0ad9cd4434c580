"""A controller as a command: its places are filled in, and what cannot be started is told before anything runs."""

from __future__ import annotations

import sys

import pytest

from cellwright.core.errors import BadInput, UnknownName
from cellwright.trials.controller_command import ControllerCommand, ControllerProgram
from cellwright.trials.controller_run import ControllerLimits

ADDRESSES = {"crcl": {"fanuc": "127.0.0.1:1"}, "vision": {"fanuc": "127.0.0.1:2"}, "control": "127.0.0.1:3"}


def test_places_are_filled_and_other_braces_are_left():
    command = ControllerCommand((sys.executable, "{crcl.fanuc}", "--at={control}", "{seed}", '{"a": 1}', "{}"))
    filled = [sys.executable, "127.0.0.1:1", "--at=127.0.0.1:3", "7", '{"a": 1}', "{}"]
    assert command.filled(ADDRESSES, 7) == filled


def test_a_place_that_the_trial_does_not_have_is_refused_with_those_it_has():
    with pytest.raises(UnknownName, match=r"unknown place 'crcl.ur5'.*crcl.fanuc, .*vision.fanuc"):
        ControllerCommand(("x", "{crcl.ur5}")).filled(ADDRESSES, 0)


@pytest.mark.parametrize("text", ["", "  ", "python 'ctl.py", "no_such_program {control}"])
def test_what_cannot_be_started_is_one_line(text):
    with pytest.raises(BadInput, match=r"^--controller-command: "):
        ControllerCommand.parse(text)


def test_it_gets_addresses_and_seed_and_its_output_is_kept(tmp_path):
    code = "import os; print(os.environ['CELLWRIGHT_SEED'], os.environ['CELLWRIGHT_ADDRESSES'])"
    program = ControllerProgram(ControllerCommand((sys.executable, "-c", code)), tmp_path, ControllerLimits(60, 60, 60))
    program.start(ADDRESSES, 4, lambda: {"connected": 1, "ended": ""})
    assert program.join().ok
    assert program.ended
    assert (tmp_path / "controller.stdout.txt").read_text().startswith('4 {"crcl": {"fanuc"')


def test_one_that_is_stopped_is_ended_at_once(tmp_path):
    code = "import time; time.sleep(300)"
    program = ControllerProgram(ControllerCommand((sys.executable, "-c", code)), tmp_path, ControllerLimits(60, 60, 60))
    program.start(ADDRESSES, 4, lambda: {"connected": 1, "ended": ""})
    program.stop()
    assert program.ended
    assert program.join() is None
