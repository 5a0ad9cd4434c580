"""The checks against a sound server, and against servers that are each broken in one way."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput, UnknownName
from cellwright.crcl import (
    ActuateJoints,
    AngleUnitEnum,
    CRCLCommandInstance,
    CRCLStatus,
    DecodeError,
    EndCanon,
    FramingError,
    GetStatus,
    InitCanon,
    LengthUnitEnum,
    MessageStream,
    MoveTo,
    Point,
    SetAngleUnits,
    SetLengthUnits,
    StopMotion,
    decode,
    encode,
)
from cellwright.crcl.conform import CHECKS, CheckVerdict, ConformOptions, as_html, conform, plan, select
from cellwright.crcl.conform.commands import MAY_BE_REFUSED
from cellwright.crcl.connection import ConnectionFailed
from cellwright.crcl.example_robot.robot import ExampleArm
from cellwright.crcl.server import CrclServer

NO_MOTION = ConformOptions(may_move=False)
QUICK = ConformOptions(poll_s=0.05)


class Broken:
    """A server with something wrong: sits between its clients and a sound one."""

    def __init__(self, server):
        self.server, self.connections = server, []

    async def connect(self):
        connection = Between(self, await self.server.connect())
        self.connections.append(connection)
        return connection

    def command(self, connection, command):
        """What reaches the sound server instead of a command."""
        return [command]

    def status(self, connection, status):
        """What reaches the client instead of a status."""
        return status

    def pieces(self, connection, data):
        """The bytes that are passed on, in pieces that are looked at one by one."""
        try:
            yield from connection.stream.feed(data)
        except FramingError:
            connection.raw = True
            yield data


class Between:
    def __init__(self, broken, inner):
        self.broken, self.inner = broken, inner
        self.stream, self.raw = MessageStream(), False

    async def send(self, data):
        if self.raw:
            return await self.inner.send(data)
        for document in self.broken.pieces(self, data):
            try:
                instance = decode(document, CRCLCommandInstance)
            except DecodeError:
                await self.inner.send(document)
                continue
            for command in self.broken.command(self, instance.crcl_command):
                await self.inner.send(encode(replace(instance, crcl_command=command)))

    async def receive(self):
        data = await self.inner.receive()
        if type(self.broken).status is Broken.status:
            return data
        statuses = [decode(document, CRCLStatus) for document in MessageStream().feed(data)]
        return b"".join(encode(self.broken.status(self, status)) for status in statuses)

    async def close(self):
        await self.inner.close()


class Sound(Broken):
    pass


class DeafToInit(Broken):
    """InitCanon does nothing."""

    def command(self, connection, command):
        return [] if isinstance(command, InitCanon) else [command]


class NeverClosed(Broken):
    """Goes on executing after EndCanon."""

    def command(self, connection, command):
        return [command, InitCanon(command.command_id)] if isinstance(command, EndCanon) else [command]


class OldNumber(Broken):
    """The first status after a command is still about the one before."""

    def __init__(self, server):
        super().__init__(server)
        self.last = None
        self.stale = False

    def command(self, connection, command):
        self.stale = self.stale or not isinstance(command, GetStatus)
        return [command]

    def status(self, connection, status):
        if self.stale and self.last is not None:
            self.stale = False
            return replace(status, command_status=replace(self.last, status_id=status.command_status.status_id))
        self.stale, self.last = False, status.command_status
        return status


class Clamps(Broken):
    """Takes what is out of reach for what is just within."""

    def command(self, connection, command):
        arm = self.server.executor.robot
        if isinstance(command, MoveTo):
            at, (low, high) = command.end_position.point, arm.cartesian_limits
            near = [
                min(max(v, lo), hi) if v == v else v for v, lo, hi in zip((at.x, at.y, at.z), low, high, strict=True)
            ]
            return [replace(command, end_position=replace(command.end_position, point=Point(*near)))]
        if isinstance(command, ActuateJoints):
            joints = tuple(
                replace(j, joint_position=min(j.joint_position, arm.joints[min(j.joint_number, 6) - 1].max_position))
                for j in command.actuate_joint
            )
            return [replace(command, actuate_joint=joints)]
        return [command]


class DiesOfBadXml(Broken):
    """A message that is not well-formed ends it for everybody."""

    dead = False

    async def connect(self):
        if self.dead:
            raise ConnectionFailed("connection refused")
        return await super().connect()

    def pieces(self, connection, data):
        for document in super().pieces(connection, data):
            try:
                decode(document)
            except DecodeError as error:
                if "not well-formed" in str(error):
                    self.dead = True
                    for each in self.connections:
                        each.inner.end()
            yield document


class SharedUnits(Broken):
    """Units are everybody's."""

    def command(self, connection, command):
        if isinstance(command, SetLengthUnits):
            for other in self.connections:
                if other is not connection and other.inner._open:
                    other.inner._deliver(encode(CRCLCommandInstance(command)))
        return [command]


class KeepsUnits(Broken):
    """InitCanon leaves the units as they are."""

    def command(self, connection, command):
        units = connection.__dict__.setdefault("units", {})
        if isinstance(command, SetLengthUnits | SetAngleUnits):
            units[type(command)] = command
        if isinstance(command, InitCanon):
            return [command, *(replace(each, command_id=command.command_id) for each in units.values())]
        return [command]


class TakesOverNumbers(Broken):
    """The status bears the number of GetStatus."""

    def command(self, connection, command):
        if isinstance(command, GetStatus):
            connection.asked = command.command_id
        return [command]

    def status(self, connection, status):
        return replace(status, command_status=replace(status.command_status, command_id=connection.asked))


class OneReadOneMessage(Broken):
    """Takes what comes in one piece for one message."""

    def pieces(self, connection, data):
        text = data.strip(b" \r\n\t\0")
        if text.endswith(b"</CRCLCommandInstance>"):
            yield text[: text.index(b"</CRCLCommandInstance>")] + b"</CRCLCommandInstance>"


class IgnoresStop(Broken):
    """StopMotion does nothing."""

    def command(self, connection, command):
        return [] if isinstance(command, StopMotion) else [command]


class SaysNothing(Broken):
    """Never says what is wrong."""

    def status(self, connection, status):
        return replace(status, command_status=replace(status.command_status, state_description=None))


class WrongMillimetres(Broken):
    """Reports inches when it is asked for millimetres."""

    def command(self, connection, command):
        if isinstance(command, SetLengthUnits) and command.unit_name is LengthUnitEnum.MILLIMETER:
            return [replace(command, unit_name=LengthUnitEnum.INCH)]
        if isinstance(command, SetAngleUnits) and command.unit_name is AngleUnitEnum.DEGREE:
            return [command]
        return [command]


class Overshoots(Broken):
    """Goes five times as far as it should."""

    def command(self, connection, command):
        if isinstance(command, MoveTo):
            at = command.end_position.point
            far = Point(at.x, at.y, 0.3 + 5 * (at.z - 0.3))
            return [replace(command, end_position=replace(command.end_position, point=far))]
        return [command]


@pytest.fixture
def examine(simulated):
    """The report on a server."""

    def examined(broken, profile="spec", push_period_s=None, run=conform, **options):
        async def work(clock):
            async with CrclServer(ExampleArm(clock), profile=profile, push_period_s=push_period_s) as server:
                return await run(broken(server).connect, **options)

        return simulated(work)

    return examined


def explained(report, verdict):
    return {result.check.name: result.reason for result in report.results if result.verdict is verdict}


SILENTLY_DONE = {"command-loop-block-start", "command-loop-block-end"}
REFUSED = {f"command-{name}" for name in MAY_BE_REFUSED} - SILENTLY_DONE

BROKEN = [
    (DeafToInit, ["session"], {"init-canon"}),
    (NeverClosed, ["session", "no-move-after-end"], {"end-canon", "no-move-after-end"}),
    (OldNumber, ["session", "status"], {"number-at-once"}),
    (Clamps, ["limits"], {"cartesian-limits", "joint-limits"}),
    (DiesOfBadXml, ["connections", "malformed"], {"malformed-xml"}),
    (SharedUnits, ["units", "reports"], {"units-per-connection"}),
    (KeepsUnits, ["units"], {"init-resets-units"}),
    (TakesOverNumbers, ["session", "status"], {"get-status-is-no-command"}),
    (OneReadOneMessage, ["wire"], {"split-message", "glued-messages", "glued-commands", "declaration-and-blanks"}),
    (
        WrongMillimetres,
        ["units"],
        {"length-units", "unit-names-in-status", "units-convert-settings", "units-per-connection"},
    ),
    (
        IgnoresStop,
        ["stop-motion-fast", "command-stop-motion-fast-at-rest"],
        {f"stop-motion-{how}" for how in ("normal", "fast", "immediate")}
        | {"stop-by-other-connection", "command-stop-motion-normal-at-rest", "command-stop-motion-fast-at-rest"},
    ),
    (SaysNothing, ["session", "commands", "limits"], REFUSED | {"error-is-explained", "joint-limits"}),
]
"""Servers, the checks that are run in the fast tier, and what fails in all of them."""
MOVING = {item.name for item in CHECKS if item.moves}


def test_a_sound_server_passes_without_motion(examine):
    kinds = set()

    class Watched(Sound):
        def command(self, connection, command):
            kinds.add(type(command).__name__)
            return [command]

    report = examine(Watched, options=NO_MOTION)
    assert not kinds & {"MoveTo", "MoveThroughTo", "MoveScrew", "ActuateJoints", "SetEndEffector", "RunProgram"}
    assert not kinds & {"OpenToolChanger", "CloseToolChanger"}
    assert explained(report, CheckVerdict.FAIL) == {}
    assert set(explained(report, CheckVerdict.SKIPPED)) == MOVING - {"command-tool-changer"}
    assert not report.complete
    assert set(explained(report, CheckVerdict.AMBIGUOUS)) <= {"angle-units", "command-set-end-effector"}
    assert report.conforms
    assert report.ended == "EndCanon done"


SOME_MOVES = ["move-to", "speed-limit", "actuate-joints", "pre-emption", "stop-motion-fast", "end-canon-stops"]


@pytest.mark.parametrize("areas", [SOME_MOVES, ["limits"], pytest.param(["motion"], marks=pytest.mark.long)])
def test_a_sound_server_passes_with_motion_and_stays_near_home(examine, areas):
    poses = []

    class Watched(Sound):
        def status(self, connection, status):
            poses.append(self.server.executor.robot.read().pose_tool_in_base.position)
            return status

    report = examine(Watched, names=areas, options=QUICK)
    assert explained(report, CheckVerdict.FAIL) == {}
    assert explained(report, CheckVerdict.AMBIGUOUS) == {}
    home = poses[0]
    farthest_m = max(float(((pose - home) ** 2).sum() ** 0.5) for pose in poses)
    assert farthest_m <= 0.0201
    assert float(((poses[-1] - home) ** 2).sum() ** 0.5) < 1e-3


@pytest.mark.parametrize(("broken", "areas", "expected"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_each_broken_server_fails_exactly_what_it_should(examine, broken, areas, expected):
    report = examine(broken, names=areas, options=QUICK)
    tried = {result.check.name for result in report.results}
    assert set(explained(report, CheckVerdict.FAIL)) == expected & tried, explained(report, CheckVerdict.FAIL)


def test_a_server_that_clamps_is_found_and_stopped_at_once(examine):
    positions = []

    class Watched(Clamps):
        def status(self, connection, status):
            positions.append(self.server.executor.robot.read().pose_tool_in_base.position[0])
            return status

    report = examine(Watched, names=["limits"])
    assert set(explained(report, CheckVerdict.FAIL)) == {"cartesian-limits", "joint-limits"}
    assert "moved by" in explained(report, CheckVerdict.FAIL)["cartesian-limits"]
    assert max(positions) - min(positions) < 0.003


@pytest.mark.long
@pytest.mark.parametrize(("broken", "_areas", "expected"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_each_broken_server_fails_exactly_what_it_should_in_all_checks(examine, broken, _areas, expected):
    report = examine(broken)
    assert set(explained(report, CheckVerdict.FAIL)) == expected, explained(report, CheckVerdict.FAIL)


def test_a_robot_that_goes_astray_is_not_moved_any_more(examine):
    report = examine(
        Overshoots, names=["move-to", "move-straight", "stop-motion-fast", "glued-messages"], options=QUICK
    )
    verdicts = {result.check.name: (result.verdict, result.reason) for result in report.results}
    assert verdicts["move-to"] == (CheckVerdict.FAIL, "done, but 80.00 mm from the target")
    assert verdicts["move-straight"][0] is CheckVerdict.SKIPPED
    assert "is 100 mm from where it began: it is not moved any more" in verdicts["stop-motion-fast"][1]
    assert verdicts["glued-messages"][0] is CheckVerdict.PASS


def test_the_labs_profile_breaks_one_rule_on_purpose(examine):
    report = examine(Sound, profile="aprs-lab", names=["units", "move-to"], options=QUICK)
    assert explained(report, CheckVerdict.FAIL) == {
        "default-units": "units after InitCanon are millimeter, degree, newton, newtonMeter"
    }


def test_a_server_that_reports_by_itself_confuses_nobody(examine):
    report = examine(Sound, push_period_s=0.03, names=["session", "wire"], options=QUICK)
    assert explained(report, CheckVerdict.FAIL) == {}
    assert "nothing-unasked" in explained(report, CheckVerdict.AMBIGUOUS)


def test_an_interrupted_run_stops_the_robot_and_closes_the_session(examine):
    sent = []

    class Watched(Sound):
        def command(self, connection, command):
            if not isinstance(command, GetStatus):
                sent.append(command)
            if isinstance(command, MoveTo):
                asyncio.get_running_loop().call_later(0.1, task.cancel)
            return [command]

    task = None

    async def interrupted(connect, **options):
        nonlocal task
        task = asyncio.current_task()
        return await conform(connect, **options)

    with pytest.raises(asyncio.CancelledError):
        examine(Watched, run=interrupted, names=["move-to", "move-straight"], options=QUICK)
    kinds = [type(command).__name__ for command in sent]
    after = kinds[len(kinds) - kinds[::-1].index("MoveTo") :]
    assert after[:2] == ["StopMotion", "InitCanon"]
    assert after[-1] == "EndCanon"
    assert {"SetLengthUnits", "ConfigureStatusReport"} <= set(after), "settings are put back"


def test_evidence_is_what_was_sent_and_what_came_back(examine):
    report = examine(DeafToInit, names=["init-canon"], options=replace(NO_MOTION, init_s=0.5))
    (result,) = report.results
    sent = [exchange.text for exchange in result.evidence if exchange.direction == "sent"]
    received = [exchange.text for exchange in result.evidence if exchange.direction == "received"]
    assert any('xsi:type="InitCanonType"' in text for text in sent)
    assert all("<CRCLStatus>" in text for text in received)
    assert received
    assert not report.conforms


def test_the_report_as_json_and_as_a_page(examine):
    report = examine(Sound, names=["init-canon", "malformed-xml"], options=NO_MOTION)
    repeated = replace(report, results=[*report.results, *report.results])
    assert as_html(repeated).count("<section ") == 2, "an area that comes up again has one place"
    data = json.loads(json.dumps(report.as_dict()))
    assert data["counts"] == {"pass": 2, "fail": 0, "ambiguous": 0, "skipped": 0}
    assert [item["name"] for item in data["checks"]] == ["init-canon", "malformed-xml"]
    assert all(item["clause"] and item["does"] and item["evidence"] for item in data["checks"])
    page = as_html(report)
    assert page.startswith("<!DOCTYPE html>")
    assert "&lt;CRCLCommandInstance&gt;" in page
    assert "<CRCLCommandInstance>" not in page
    assert page.count("<script") == 1, "that which copies tables"
    assert page.count('<div class="screen">') == 2, "messages of a check that has passed are not printed"


def test_every_check_has_a_rule_and_says_what_it_does():
    assert len({item.name for item in CHECKS}) == len(CHECKS) > 90
    for item in CHECKS:
        assert item.clause.endswith((".", ")")), item.name
        assert item.does.endswith("."), item.name
    kinds = {name for item in CHECKS for name in (item.name, item.does, item.clause)}
    for command in ("MoveScrew", "RunProgram", "SetEndEffector", "OpenToolChanger", "LoopBlockStart", "ActuateJoints"):
        assert any(command in text for text in kinds)


def test_choice_of_checks_and_the_plan():
    assert {item.area for item in select(["units"])} == {"units"}
    with pytest.raises(UnknownName, match="did you mean 'move-to'"):
        select(["move-too"])
    with pytest.raises(UnknownName, match="did you mean 'garbage'"):
        select(None, ["garbagge"])
    with pytest.raises(BadInput, match="no check is left"):
        select(["move-to"], ["motion"])
    assert {item.name for item in CHECKS} - {item.name for item in select(None, ["malformed"])} == {
        "command-tool-changer",
        *(item.name for item in select(["malformed"])),
    }
    assert [item.name for item in select(["command-tool-changer"])] == ["command-tool-changer"]
    assert "command-tool-changer" in [item.name for item in select(["commands"], tool_changer=True)]
    told = " ".join(plan(ConformOptions(reach_m=0.005), select(None)))
    assert "at most 5 mm straight up" in told
    assert "EndCanon" in told
    assert "nothing is sent that could move" in " ".join(plan(NO_MOTION, select(None)))


def test_a_server_that_never_answers_is_given_up_soon_but_told_to_end(examine):
    sent = []

    class Mute(Broken):
        def command(self, connection, command):
            sent.append(type(command).__name__)
            return []

    report = examine(Mute, options=QUICK)
    assert explained(report, CheckVerdict.FAIL).keys() == {"answers"}
    assert report.counts["skipped"] >= len(CHECKS) - 3
    assert report.took_s < 20.0
    assert [kind for kind in sent if kind != "GetStatus"] == ["StopMotion", "InitCanon", "EndCanon"]
    assert report.ended.startswith("it is not known whether EndCanon was done")
    assert not report.conforms


def test_nobody_there(examine):
    async def refuse():
        raise ConnectionFailed("nobody")

    class Nobody(Broken):
        async def connect(self):
            await refuse()

    with pytest.raises(ConnectionFailed):
        examine(Nobody)
