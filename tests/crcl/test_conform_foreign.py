"""The checks and the tools against servers of other makers, each with a bad habit of its own."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cellwright.crcl import (
    CrclClient,
    InitCanon,
    LengthUnitEnum,
    Message,
    SetLengthUnits,
    SetTransSpeed,
    TransSpeedAbsolute,
    tcp,
)
from cellwright.crcl.conform import CHECKS, CheckVerdict, ConformOptions, conform

SCRIPT = Path(__file__).with_name("foreign_server.py")
_spec = importlib.util.spec_from_file_location("foreign_server", SCRIPT)
foreign_server = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(foreign_server)

QUICK = ConformOptions(poll_s=0.005, answer_s=0.5, cold_s=2.0, done_s=0.6, init_s=1.0, reach_m=0.005)
STANDING = replace(QUICK, may_move=False)


@contextlib.contextmanager
def serving(*habits):
    """The address of a server with these habits, and its process."""
    command = [sys.executable, str(SCRIPT), *habits]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"127.0.0.1:{int(process.stdout.readline())}", process
        finally:
            process.stdin.close()
            process.wait(10)


def examine(address, *names, options=STANDING, **more):
    return asyncio.run(conform(tcp(address), options=options, names=names or None, **more))


def verdicts(report):
    return {result.check.name: result.verdict for result in report.results}


def reasons(report):
    return {result.check.name: result.reason for result in report.results}


ENDS_IT = {"mute", "hangs-up", "endless", "slow"}
TAKES_LONG = {"mute", "last-number", "deaf-to-init", "queues", "slow"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "habit",
    [pytest.param(habit, marks=[pytest.mark.slow] * (habit in TAKES_LONG)) for habit in foreign_server.HABITS],
)
def test_a_few_checks_end_with_a_report_whatever_the_server_does(habit):
    with serving(habit) as (address, _):
        report = examine(address, "answers", "init-canon", "status-is-valid", "command-message")
    assert len(report.results) == 4
    assert report.took_s < 20.0
    assert verdicts(report)["answers"] is (CheckVerdict.FAIL if habit in ENDS_IT else CheckVerdict.PASS), reasons(
        report
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "habit",
    [pytest.param(one, marks=pytest.mark.long if one == "queues" else ()) for one in ((), *foreign_server.HABITS)],
)
def test_the_checks_without_motion_run_through_whatever_the_server_does(habit):
    with serving(*([habit] if habit else [])) as (address, _):
        report = examine(address)
    assert "the check itself failed" not in str(reasons(report).values())
    assert report.took_s < 60.0
    assert bool(report.findings) == (habit in {"always-fraction", "damages", "fraction", "nul", "shuffles", "strange"})
    if not habit:
        assert set(report.named(CheckVerdict.FAIL)) == set()
        assert report.conforms


EXPECTED = {
    "": set(),
    "slow-first": set(),
    "fraction": {"fraction-range"},
    "always-fraction": {"status-is-valid"},
    "nul": {"status-is-valid"},
    "dies-of-garbage": {"malformed-xml"},
    "hangs-at-far": {"cartesian-limits"},
    "keeps-units": {"init-resets-units", "units-per-connection", "reports-per-connection"},
    "shuffles": {"status-is-valid"},
    "no-through": set(),
    "floods": set(),
    "strange": {"status-is-valid"},
    "nan": {"pose-is-reported"},
    "no-settings": set(),
}
"""What fails in all checks, where that is few."""


@pytest.mark.long
@pytest.mark.parametrize("habit", ["", *foreign_server.HABITS])
def test_all_checks_run_through_whatever_the_server_does(habit):
    with serving(*([habit] if habit else [])) as (address, _):
        report = examine(address, options=QUICK)
    assert "the check itself failed" not in str(reasons(report).values())
    assert report.took_s < 120.0
    if habit in EXPECTED:
        assert set(report.named(CheckVerdict.FAIL)) == EXPECTED[habit], reasons(report)


def test_a_fraction_of_1_7_that_is_done_fails_and_is_a_finding():
    with serving("fraction") as (address, _):
        report = examine(address, "fraction-range")
    assert verdicts(report) == {"fraction-range": CheckVerdict.FAIL}
    assert reasons(report)["fraction-range"] == "a relative speed of 1.7 is done, and 1.7 is reported"
    assert "'1.7' is not FractionType" in report.findings[0]
    assert "'1.7' is not FractionType" in report.results[0].findings[0]


def test_statuses_that_break_the_schema_are_answers_but_do_not_conform():
    with serving("nul", "always-fraction", "shuffles") as (address, _):
        report = examine(address, "answers", "init-canon", "end-canon", "dwell-time")
    assert set(verdicts(report).values()) == {CheckVerdict.PASS}
    assert "has the character U+0000" in " ".join(report.findings)
    assert not report.conforms


def test_one_cold_reply_fails_nothing():
    with serving("slow-first") as (address, _):
        report = examine(address, "answers")
        assert "the first of all took 1.0 s" in reasons(report)["answers"]
    assert verdicts(report) == {"answers": CheckVerdict.PASS}


@pytest.mark.long
@pytest.mark.slow
def test_a_slow_server_fails_unless_it_is_given_the_time():
    with serving("slow") as (address, _):
        assert verdicts(examine(address, "answers")) == {"answers": CheckVerdict.FAIL}
        report = examine(address, "answers", "command-message", options=STANDING.with_answer_time(2.0))
    assert set(verdicts(report).values()) == {CheckVerdict.PASS}


def test_num_positions_says_nothing_where_no_move_through_is_accepted():
    with serving("no-through") as (address, _):
        report = examine(address, "num-positions", options=QUICK)
    assert verdicts(report) == {"num-positions": CheckVerdict.AMBIGUOUS}
    assert reasons(report)["num-positions"].startswith("cannot be tried: a valid MoveThroughTo is error")
    with serving() as (address, _):
        assert verdicts(examine(address, "num-positions", options=QUICK)) == {"num-positions": CheckVerdict.PASS}


def test_no_limit_is_kept_by_a_server_that_refuses_every_move():
    with serving("no-moves") as (address, _):
        report = examine(address, "limits", "no-move-after-end", "unknown-guard-sensor", options=QUICK)
    assert set(verdicts(report).values()) == {CheckVerdict.AMBIGUOUS}


@pytest.mark.slow
def test_whether_a_new_command_replaces_the_old_one_has_the_same_answer_each_time():
    with serving("queues") as (address, _):
        found = [examine(address, "new-command-replaces-old") for _ in range(4)]
    assert [verdicts(report) for report in found] == 4 * [{"new-command-replaces-old": CheckVerdict.FAIL}]
    assert all("waits for the old one" in reasons(report)["new-command-replaces-old"] for report in found)
    with serving() as (address, _):
        assert examine(address, "new-command-replaces-old").conforms


def test_a_server_that_dies_fails_the_check_that_killed_it_and_skips_the_others():
    with serving("dies-of-garbage") as (address, process):
        report = examine(address, "malformed", "connections", "command-message")
        assert process.wait(5) == 3
    found = verdicts(report)
    assert found["malformed-xml"] is CheckVerdict.FAIL
    assert report.named(CheckVerdict.SKIPPED) == [
        name for name in found if name in list(found)[list(found).index("malformed-xml") + 1 :]
    ]
    assert not report.complete
    assert found["command-message"] is found["slow-reader"] is CheckVerdict.PASS


@pytest.mark.slow
def test_a_server_that_hangs_fails_the_check_that_hung_it():
    with serving("hangs-at-far") as (address, _):
        report = examine(address, "cartesian-limits", "garbage", options=replace(QUICK, cold_s=0.5))
    assert verdicts(report) == {"cartesian-limits": CheckVerdict.FAIL, "garbage": CheckVerdict.SKIPPED}
    assert "does not answer any more" in reasons(report)["cartesian-limits"]


def test_what_may_harm_a_server_comes_last():
    harms = [item.harms for item in CHECKS]
    assert harms == sorted(harms)
    kinds = {item.name for item in CHECKS if item.harms}
    assert {"garbage", "malformed-xml", "cartesian-limits", "not-a-number", "fraction-range", "slow-reader"} <= kinds
    assert not kinds & {"answers", "init-canon", "move-to", "stop-motion-fast", "command-message"}


def test_units_speeds_and_reports_are_what_they_were_before():
    async def told(address, *commands):
        async with CrclClient.to(address) as robot:
            for command in commands:
                (await robot.execute(command)).check()
            return await robot.status()

    before_it = [
        InitCanon(0),
        SetLengthUnits(0, LengthUnitEnum.MILLIMETER),
        SetTransSpeed(0, TransSpeedAbsolute(123.0)),
    ]
    with serving("keeps-units") as (address, _):
        before = asyncio.run(told(address, *before_it))
        report = examine(address, "units", "reports", "commands")
        after = asyncio.run(told(address))
    assert before.settings_status.trans_speed_absolute.setting == 123.0
    assert after.settings_status == before.settings_status
    assert after.joint_statuses == before.joint_statuses
    assert report.restored == "units, speeds and tolerances are as they were"
    assert report.ended == "EndCanon done"


def test_a_client_waits_for_a_server_whose_statuses_break_the_schema():
    async def work(address):
        async with CrclClient.to(address) as robot:
            outcomes = [await robot.execute(command) for command in (InitCanon(0), Message(0, "hello"))]
            return outcomes, robot.findings.lines

    with serving("strange", "nul", "always-fraction") as (address, _):
        outcomes, findings = asyncio.run(work(address))
    assert [outcome.done for outcome in outcomes] == [True, True]
    assert len(findings) >= 3


def test_a_client_gets_along_with_the_highest_number_of_all():
    async def work(address):
        async with CrclClient.to(address) as robot:
            return await robot.execute(InitCanon(0), timeout_s=0.3)

    with serving("last-number") as (address, _):
        assert asyncio.run(work(address)).command.command_id == 1
