"""`cellwright crcl status, send, record, conform` against a server whose answers break the schema."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.crcl import CRCLProgram, EndCanon, InitCanon, Message, encode
from cellwright.crcl.xml_log import read_xml_log
from cellwright.record import read_log

SERVER = Path(__file__).parent.parent / "crcl" / "foreign_server.py"


@pytest.fixture
def foreign():
    """Starts servers with habits; gives their addresses."""
    started = []

    def start(*habits):
        command = [sys.executable, str(SERVER), *habits]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return f"127.0.0.1:{int(started[-1].stdout.readline())}"

    yield start
    for process in started:
        with process:
            process.stdin.close()


def save(*middle):
    program = CRCLProgram(init_canon=InitCanon(1), middle_command=middle, end_canon=EndCanon(9))
    Path("p.xml").write_bytes(encode(program))
    return "p.xml"


def test_status_shows_what_can_be_read_and_tells_the_findings(cellwright, foreign):
    address = foreign("always-fraction", "nul", "strange")
    ended = cellwright("crcl", "status", address)
    assert ended.code == 0
    assert "command 0: CRCL_Ready" in ended.out
    assert "finding in the server's answers: CRCLStatus/Mood: does not belong into CRCLStatusType" in ended.err
    assert "'1.7' is not FractionType (allowed: a number from 0 to 1)" in ended.err
    told = cellwright("crcl", "status", address, "--json").json
    assert told["settings_status"]["trans_speed_relative"]["fraction"] == 1.7
    assert len(told["findings"]) == 4
    ended = cellwright("crcl", "status", address, "--xml")
    assert ended.code == 0
    assert "<Fraction>1.7</Fraction>" in ended.out, "as it came"


def test_status_of_a_sound_server_has_no_findings(cellwright, foreign):
    ended = cellwright("crcl", "status", foreign(), "--json")
    assert ended.json["findings"] == []
    assert ended.err == ""


def test_send_runs_a_program_and_tells_the_findings(cellwright, foreign):
    ended = cellwright("crcl", "send", save(Message(2, "a")), "--to", foreign("nul", "shuffles"))
    assert ended.code == 0, ended
    assert "finding in the server's answers: has the character U+0000" in ended.err
    ended = cellwright("crcl", "send", "p.xml", "--to", foreign("always-fraction"), "--json")
    assert ended.code == 0
    assert "'1.7' is not FractionType" in ended.json["findings"][0]


@pytest.mark.slow
def test_record_keeps_what_breaks_the_schema_and_tells_it(cellwright, foreign):
    command = [sys.executable, "-m", "cellwright", "crcl", "record", foreign("nul", "always-fraction"), "--json"]
    recording = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = recording.stderr.readline().split(" connect to ")[1].split(";")[0]
    assert cellwright("crcl", "send", save(Message(2, "a")), "--to", address).code == 0
    recording.send_signal(signal.SIGINT)
    out, err = recording.communicate(timeout=30)
    result = json.loads(out)
    assert (recording.returncode, result["trouble"]) == (0, ""), err
    assert result["findings"]["commands"] == []
    assert [line.partition(" (")[0] for line in result["findings"]["answers"]] == [
        "has the character U+0000",
        "CRCLStatus/SettingsStatus/TransSpeedRelative/Fraction: '1.7' is not FractionType",
    ]
    assert err.count("finding in the server's answers") == 2
    texts = [passed.data for passed in read_xml_log(Path("out/crcl.xml"))]
    assert any(b"\0</StateDescription>" in text for text in texts)
    assert sorted(entry.message.document.encode() for entry in read_log("out/crcl.mcap").entries()) == sorted(texts)


def test_conform_tells_findings_and_exits_1(cellwright, foreign):
    ended = cellwright("crcl", "conform", foreign("always-fraction"), "--only", "answers", "--only", "init-canon")
    assert ended.code == 1, "every check passes, but the statuses break the schema"
    assert "pass      answers" in ended.out
    assert "finding in the server's answers: CRCLStatus/SettingsStatus/TransSpeedRelative/Fraction" in ended.out
    assert "2 pass; EndCanon done; units, speeds and tolerances are as they were" in ended.out


def test_conform_exits_1_when_checks_were_skipped_and_0_when_they_are_left_out(cellwright, foreign):
    address = foreign()
    some = ("--only", "answers", "--only", "move-to", "--only", "garbage", "--no-motion")
    ended = cellwright("crcl", "conform", address, *some)
    assert ended.code == 1
    assert "skipped   move-to" in ended.out
    assert "since checks were skipped (--except NAME leaves a check out)" in ended.err
    ended = cellwright("crcl", "conform", address, *some, "--except", "move-to", "--timeout", 3)
    assert ended.code == 0, ended
    assert "move-to" not in ended.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--except", "move-too"], "unknown check 'move-too'; did you mean 'move-to'?"),
        (["--except", "move-too"], "malformed"),
        (["--only", "move-to", "--except", "motion"], "no check is left to be tried"),
        (["--timeout", "0"], "timeout is 0 s, allowed 0.05 to 600 s"),
        (["--timeout", "nan"], "timeout is nan s"),
    ],
)
def test_mistakes_with_conform_are_one_line_and_exit_2(refused, arguments, words):
    assert words in refused("crcl", "conform", "127.0.0.1:1", *arguments)
