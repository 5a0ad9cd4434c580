"""Targets of a laboratory: files with mistakes, at the beginning and while it runs, and who answers at an address."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hybrid.external_robots import cfg_of, hybrid, serving, until

import cellwright as cw
from cellwright.cells import CellTargetsCfg
from cellwright.core.config import read_yaml
from cellwright.core.errors import BadInput, CellwrightError, JobFailed, UnknownName
from cellwright.core.messages import TargetEvent
from cellwright.crcl import SwitchRefused
from cellwright.hybrid import LabTargets, read_targets, require_no_faults

FOREIGN = Path(__file__).parent.parent / "crcl" / "foreign_server.py"
PACE = 4.0


@pytest.fixture(scope="module")
def external(changed):
    with serving(changed(), pace=PACE) as robots:
        yield robots


@pytest.fixture
def lab(changed):
    with cw.Lab(changed(), seed=1, pace=PACE) as lab:
        yield lab


@pytest.fixture(scope="module")
def unpaced(changed):
    with cw.Lab(changed()) as lab:
        yield lab


@pytest.fixture
def foreign():
    """Starts a server of another maker with bad habits; gives its address."""
    started = []

    def start(*habits):
        command = [sys.executable, str(FOREIGN), *habits]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return f"127.0.0.1:{int(started[-1].stdout.readline())}"

    yield start
    for process in started:
        with process:
            process.stdin.close()


def written(tmp_path, text):
    file = tmp_path / "targets.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("robots: {fanucc: 'a:1'}", "robots: unknown robot 'fanucc'; did you mean 'fanuc'"),
        ("detectors: {camera: 'a:1'}", "detectors: unknown detector 'camera'"),
        ("robots: {fanuc: 'a:1', motoman: 'a:1'}", "fanuc and motoman are both at a:1: give each its own address"),
        ("robots: {fanuc: 'localhost:1', motoman: '127.0.0.1:1'}", "are both at 127.0.0.1:1"),
        ("{robots: {fanuc: 'a:1'}, detectors: {detector_fanuc: 'a:1'}}", "fanuc and detector_fanuc are both at a:1"),
        ("robots: {fanuc: nowhere}", "'nowhere' is no address"),
        ("robots: {fanuc: {at: 'a:1', on_loss: panic}}", "on_loss"),
        ("robots: {fanuc: {at: 'a:1', length_unit: furlong}}", "length_unit"),
        ("robots: {fanuc: {at: 'a:1', speed_limit_mps: 0}}", "speed_limit_mps"),
        ("robots: {fanuc: {at: 'a:1', pol_s: 1}}", "pol_s"),
        ("robots: [", "targets.yaml"),
    ],
)
def test_a_file_with_a_mistake_is_refused_in_one_line(unpaced, tmp_path, text, line):
    with pytest.raises(CellwrightError) as refused:
        read_targets(unpaced, written(tmp_path, text))
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_laboratory_without_a_pace_has_no_targets(unpaced):
    with pytest.raises(BadInput, match=r"targets need a pace, .*such as .pace=1\.0. of .cw\.Lab"):
        LabTargets(unpaced, cfg_of(fanuc={"at": "a:1"}))


def test_switches_that_name_nothing_or_what_another_has(lab, external):
    at = external.at["fanuc"]

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": at})) as ours:
            targets = ours.targets
            with pytest.raises(UnknownName, match="unknown robot or detector 'fanucc'; did you mean 'fanuc'"):
                await targets.switch("fanucc", at)
            with pytest.raises(BadInput, match=f"fanuc is at {at} already: give motoman its own address"):
                await targets.switch("motoman", at)
            with pytest.raises(BadInput, match="'nowhere' is no address"):
                await targets.switch("motoman", "nowhere")
            refused = r"motoman stays simulated, it was not switched to 127.0.0.1:1: .*no server|127.0.0.1:1"
            with pytest.raises(SwitchRefused, match=refused):
                await targets.switch("motoman", "127.0.0.1:1")
            assert targets.robots["fanuc"].is_external
            assert not targets.robots["motoman"].is_external

    lab.perform(work())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("robots: {fanucc: '%s'}", "unknown robot 'fanucc'"),
        ("robots: {fanuc: ", "targets.yaml"),
        ("robots: {fanuc: '%s', motoman: '%s'}", "are both at"),
    ],
)
def test_a_file_that_is_changed_to_a_mistake_leaves_the_running_targets(lab, external, tmp_path, text, line):
    at = external.at["fanuc"]
    file = written(tmp_path, f"robots: {{fanuc: '{at}'}}")
    events = []
    lab.bus.declare("/targets/events", TargetEvent)
    lab.bus.subscribe("/targets/events", lambda _topic, event: events.append(event), subscriber="test")

    async def work():
        async with hybrid(lab, file=file) as ours:
            assert ours.targets.robots["fanuc"].is_external
            written(tmp_path, text.replace("%s", at))
            await until(lab, lambda: [event for event in events if event.change == "targets refused"])
            assert line in events[-1].reason
            assert "\n" not in events[-1].reason
            assert "targets stay what they were" in ours.said[-1]
            await lab.clock.sleep(0.2)
            assert ours.targets.robots["fanuc"].cfg.at == at
            assert ours.targets.robots["fanuc"].is_external
            assert ours.stops == []
            written(tmp_path, "robots: {fanuc: simulated}  # and mended")
            await until(lab, lambda: not ours.targets.robots["fanuc"].is_external)

    lab.perform(work())


def test_the_control_socket_answers_switches_and_refuses_in_one_line(lab, external):
    at = external.at["fanuc"]

    async def work():
        async with hybrid(lab, control_port=0) as ours:
            host, port = ours.targets.control.address.rsplit(":", 1)
            reader, writer = await asyncio.open_connection(host, int(port))

            async def ask(question):
                if question is not None:
                    writer.write(json.dumps(question).encode() + b"\n")
                return json.loads(await reader.readline())

            told = (await ask({"ask": "targets"}))["targets"]
            assert told["robots"] == {name: {"at": "simulated", "lost": ""} for name in ("fanuc", "motoman")}
            assert (await ask({"switch": "fanuc", "to": at, "align": True})) == {"switching": "fanuc", "to": at}
            assert (await ask(None)) == {"switched": "fanuc", "to": at}
            told = (await ask({"ask": "targets"}))["targets"]["robots"]["fanuc"]
            assert told["at"] == at
            assert told["messages"] > 0
            await ask({"switch": "motoman", "to": "127.0.0.1:1"})
            answer = await ask(None)
            assert answer["refused"] == "motoman"
            assert answer["why"].startswith("motoman stays simulated, it was not switched to 127.0.0.1:1: ")
            await ask({"switch": "motoman", "to": "nowhere"})
            assert "is no address" in (await ask(None))["why"]
            for wrong, problem in (
                ({"switch": "fanucc", "to": at}, "unknown robot or detector 'fanucc'; did you mean 'fanuc'"),
                ({"switch": "fanuc"}, "a switch names a robot or detector and where it is to be"),
                ({"switch": "fanuc", "to": at, "align": "yes"}, "a switch names a robot or detector"),
                ({"release": False}, "unknown question"),
                ({"ask": "weather"}, "unknown question 'weather'"),
            ):
                assert problem in (await ask(wrong))["error"]
            ours.targets.stop("a test")
            assert (await ask({"ask": "targets"}))["targets"]["stopped"] == "a test"
            assert (await ask({"release": True})) == {"released": True}
            assert (await ask({"ask": "targets"}))["targets"]["stopped"] == ""
            writer.close()

    lab.perform(work())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("habits", "line"),
    [
        (("mute",), "sent no status within 2 s|does not answer"),
        (("nan",), "does not report where it is: .*not believed"),
        ((), "has 1 joints, fanuc has 6"),
        (("keeps-units",), "has 1 joints, fanuc has 6"),
        (("hangs-up",), "closed the connection|no connection|does not answer|reset by peer"),
        (("endless",), "does not speak CRCL|does not answer|no status"),
    ],
)
def test_servers_that_are_something_else_are_refused_in_one_line(lab, foreign, habits, line):
    cfg = cfg_of(fanuc={"at": foreign(*habits), "reconnect_s": 1.0})

    async def work():
        with pytest.raises(JobFailed, match=line) as refused:
            async with hybrid(lab, cfg):
                pass
        assert "\n" not in str(refused.value)

    lab.perform(work())


async def _greet(_reader, writer):
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()


async def _hello(_reader, writer):
    writer.write(b"<Hello><World/></Hello>")
    await writer.drain()


@pytest.mark.parametrize(("greet", "line"), [(_greet, "does not speak CRCL"), (_hello, "no status|Hello")])
def test_a_server_of_another_protocol_or_schema_is_named(lab, greet, line):
    async def work():
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        at = "{}:{}".format(*server.sockets[0].getsockname())
        with pytest.raises(JobFailed, match=line) as refused:
            async with hybrid(lab, cfg_of(fanuc={"at": at, "reconnect_s": 0.0, "stalled_s": 0.5})):
                pass
        assert "\n" not in str(refused.value)
        assert at in str(refused.value)
        server.close()

    lab.perform(work())


def test_a_wrong_name_in_targets_from_python_is_refused(lab):
    with pytest.raises(CellwrightError, match="unknown robot 'fanuk'; did you mean 'fanuc'"):
        LabTargets(lab, cfg_of(fanuk={"at": "a:1"}))


@pytest.mark.parametrize("text", ["robots: {fanuc: 'a:1'}", "detectors: {detector_fanuc: 'a:1'}"])
def test_faults_are_refused_beside_what_is_external(tmp_path, text):
    cfg = read_yaml(written(tmp_path, text), CellTargetsCfg)
    require_no_faults(cfg, [])
    require_no_faults(CellTargetsCfg(), ["drop"])
    with pytest.raises(BadInput, match=r"faults happen in the simulated cell alone, and .*fanuc would act on them"):
        require_no_faults(cfg, ["drop"])


def test_the_camera_of_a_robot_that_is_refused_stays_with_it(lab, external):
    theirs = external.robot()
    external.do(lambda: theirs.move_joints(theirs.joints_rad + [0.5, 0, 0, 0, 0, 0]))
    where = {"robots": {"fanuc": external.at["fanuc"]}, "detectors": {"detector_fanuc": "127.0.0.1:1"}}

    async def work():
        async with hybrid(lab) as ours:
            await ours.targets.take(CellTargetsCfg.model_validate(where))
            assert not ours.targets.robots["fanuc"].is_external
            assert not ours.targets.detectors["detector_fanuc"].is_external
            return ours.said, ours.targets.notes

    said, notes = lab.perform(work())
    assert notes == [], "nothing was external"
    assert [line for line in said if "fanuc: refused: it was not switched" in line]
    assert [line for line in said if "detector_fanuc: refused: it stays where it is, as fanuc does" in line]
    assert not [line for line in said if "127.0.0.1:1:" in line], "it was tried"


def test_it_is_told_from_when_to_when_something_was_external_and_what_looks_elsewhere(lab, external):
    at = external.at["fanuc"]

    async def work():
        async with hybrid(lab, cfg_of(fanuc={"at": at})) as ours:
            await lab.clock.sleep(0.5)
            await ours.targets.switch("fanuc", "simulated")
            return ours.said, ours.targets.notes

    said, notes = lab.perform(work())
    (careful,) = [line for line in said if "careful" in line]
    assert f"fanuc is at {at}, and detector_fanuc, which looks at its table, is simulated" in careful
    assert re.fullmatch(rf"fanuc was at {at} from \d\.\d s to \d\.\d s; .* judged by its twin, .*", notes[0])
