"""The laboratory as an object: made, used, closed; with exceptions, threads and other event loops around it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import cellwright as cw
from cellwright.bench.gear_transfer import transfer_gear
from cellwright.core.errors import BadInput, OutOfRange, OutputError, SimulationError, UnknownName
from cellwright.motion import Unreachable
from cellwright.record import read_log


@pytest.fixture
def lab(changed):
    with cw.Lab(changed(), seed=1) as lab:
        yield lab


def test_package_gives_its_names_without_importing_physics():
    code = (
        "import sys, cellwright as cw\n"
        "loaded = {'mujoco', 'numpy', 'pydantic'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "assert {'Lab', 'Pose', 'Report', '__version__'} <= set(dir(cw))\n"
        "assert cw.Pose.identity() and 'mujoco' not in sys.modules\n"
        "from cellwright import *\n"
        "assert Lab is cw.Lab and callable(Lab.run) and 'mujoco' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_unknown_name_of_the_package_lists_what_there_is():
    with pytest.raises(AttributeError, match=r"no attribute 'Labb'.*Lab, .*Pose"):
        cw.Labb  # noqa: B018


def test_from_cell_takes_a_name_a_file_or_a_cell(tmp_path, aprs, changed):
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\ntitle: Empty\n", encoding="utf-8")
    for given, name in (("aprs", "aprs"), (changed(), "aprs"), (file, "mine"), (str(file), "mine")):
        with cw.Lab.from_cell(given, seed=2, fidelity="kinematic") as lab:
            assert (lab.cell.name, lab.seed, lab.cell.fidelity) == (name, 2, "kinematic")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"cell": "aprz"}, UnknownName, "did you mean 'aprs'"),
        ({"fidelity": "kinetic"}, UnknownName, "did you mean 'kinematic'"),
        ({"seed": -1}, OutOfRange, "seed is -1"),
        ({"seed": 2**63}, OutOfRange, "seed is 9223372036854775808"),
        ({"pace": 0.0}, OutOfRange, "pace is 0"),
    ],
)
def test_bad_arguments_are_refused_with_what_is_allowed(changed, arguments, error, words):
    with pytest.raises(error, match=words):
        cw.Lab.from_cell(**({"cell": changed()} | arguments))


def test_unknown_robot_is_refused(lab):
    with pytest.raises(UnknownName, match=r"did you mean 'fanuc'\? \(available: fanuc, motoman\)"):
        lab.robot("fanuk")


def test_context_manager_completes_the_log_and_closes_the_loop(changed, tmp_path):
    lab = cw.Lab(changed())

    def use() -> None:
        with lab:
            lab.record(tmp_path / "log.mcap")
            lab.advance(0.5)
            raise RuntimeError("user")

    with pytest.raises(RuntimeError, match="user"):
        use()
    assert lab.loop.is_closed()
    log = read_log(tmp_path / "log.mcap")
    assert log.problem == ""
    assert log.topics["/fanuc/joint_states"].count == 25
    lab.close()  # once more does no harm
    with pytest.raises(SimulationError, match="it is closed"):
        lab.perform(lab.clock.sleep(1))


def test_record_where_nothing_can_be_written_is_refused(lab, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"):
        lab.record(tmp_path / "file" / "log.mcap")


def test_perform_returns_and_raises_what_the_work_does(lab):
    async def fine() -> float:
        await lab.clock.sleep(0.5)
        return lab.clock.time_s

    async def broken() -> None:
        await lab.clock.sleep(0.1)
        raise ValueError("user")

    assert lab.perform(fine()) == 0.5
    with pytest.raises(ValueError, match="user"):
        lab.perform(broken())
    with pytest.raises(Unreachable, match="out of reach"):
        lab.perform(lab.robot("fanuc").move_tool(cw.Pose.from_xyz_rpy([9, 0, 0])))
    assert lab.perform(fine()) == pytest.approx(1.1)


def test_perform_inside_perform_is_refused(lab):
    """Inside a coroutine one awaits; the laboratory's own loop cannot run twice at once."""

    async def work() -> None:
        lab.perform(lab.clock.sleep(0.1))

    with pytest.raises(SimulationError, match="an event loop runs already"):
        lab.perform(work())


def test_two_robots_move_at_once(lab):
    async def both() -> None:
        moves = [
            lab.robot(name).move_joints(lab.robot(name).joints_rad + np.eye(len(lab.robot(name).joints_rad))[0] * 0.5)
            for name in ("fanuc", "motoman")
        ]
        await asyncio.gather(*moves)

    alone = {}
    for name in ("fanuc", "motoman"):
        start_s = lab.clock.time_s
        arm = lab.robot(name)
        lab.perform(arm.move_joints(arm.joints_rad + np.eye(len(arm.joints_rad))[0] * 0.5))
        alone[name] = lab.clock.time_s - start_s
        lab.perform(arm.move_home())
    start_s = lab.clock.time_s
    lab.perform(both())
    assert lab.clock.time_s - start_s == pytest.approx(max(alone.values()))


def test_time_stands_still_between_jobs_and_advance_moves_it(lab):
    assert lab.clock.time_s == 0
    lab.advance(0.25)
    assert lab.clock.time_s == 0.25


def test_perform_works_inside_somebody_elses_event_loop(changed):
    """As in a notebook, whose own loop runs all the time; the result is that of a plain program."""

    def work() -> tuple[bool, float]:
        with cw.Lab(changed(), seed=5) as lab:
            report = transfer_gear(lab)
            return report.done, report.seating.centre_error_m

    async def cell_of_a_notebook() -> list[tuple[bool, float]]:
        beats = 0

        async def heart() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        beating = asyncio.create_task(heart())
        results = [work(), await asyncio.to_thread(work)]
        beating.cancel()
        assert beats > 1, "the other loop went on while a thread worked"
        return results

    plain = work()
    assert plain[0] is True
    assert asyncio.run(cell_of_a_notebook()) == [plain, plain]


def test_interrupt_in_a_notebook_stops_the_work(changed):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with cw.Lab(changed(), pace=1.0) as lab:

        async def cell_of_a_notebook() -> None:
            lab.perform(lab.clock.sleep(20))

        old = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        loop = asyncio.new_event_loop()
        try:
            with pytest.raises(KeyboardInterrupt):
                loop.run_until_complete(cell_of_a_notebook())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
            loop.close()
        stopped_s = lab.clock.time_s
        assert stopped_s < 10
        lab.perform(lab.clock.sleep(0.1))  # and it is still of use
        assert lab.clock.time_s == pytest.approx(stopped_s + 0.1)


EYE = {"type": "logical_detector", "name": "eye", "rate_hz": 10, "delay_s": 0.05}
ENCODERS = {"type": "joint_state", "robot": "fanuc", "rate_hz": 50}
WRENCH = {"type": "wrench", "robot": "fanuc", "rate_hz": 50, "force_sd_n": 1.0}


def test_a_sensor_is_found_by_topic_or_by_name_and_has_its_last_message(changed):
    with cw.Lab(changed(sensors=(EYE, ENCODERS, WRENCH)), seed=1) as lab:
        eye, wrench = lab.sensor("eye"), lab.sensor("/fanuc/wrench")
        assert eye is lab.sensor("/eye/detections")
        assert (eye.latest, wrench.latest) == (None, None)
        lab.advance(0.14)
        assert eye.latest is None  # it is under way
        lab.advance(0.02)
        assert eye.latest.time_s == pytest.approx(0.1)
        heard = []
        lab.bus.subscribe(None, lambda _, message: heard.append(message), subscriber="test")
        lab.advance(0.5)
        for sensor in (eye, wrench):
            assert sensor.latest is [message for message in heard if type(message) is sensor.message_type][-1]


def test_the_last_message_is_there_even_if_nobody_listened(changed):
    """Encoders without noise are not read for nobody; they are from when they are asked for."""
    readings = []
    for listening in (True, False):
        with cw.Lab(changed(sensors=(ENCODERS, WRENCH)), seed=1) as lab:
            if listening:
                lab.bus.subscribe(None, lambda _, message: None, subscriber="test")
            lab.advance(0.3)
            assert lab.sensor("/fanuc/wrench").latest.sequence == 14
            assert (lab.sensor("/fanuc/joint_states").latest is not None) == listening
            lab.advance(0.1)
            readings.append([repr(lab.sensor(f"/fanuc/{topic}").latest) for topic in ("wrench", "joint_states")])
    assert readings[0] == readings[1]
    assert "sequence=19" in readings[0][1]


def test_the_last_message_goes_back_with_a_snapshot(changed):
    with cw.Lab(changed(sensors=(WRENCH,)), seed=1) as lab:
        wrench, start = lab.sensor("fanuc"), lab.snapshot()
        lab.advance(0.1)
        moment, then = lab.snapshot(), wrench.latest
        lab.advance(0.1)
        assert wrench.latest is not then
        lab.restore(moment)
        assert wrench.latest is then
        lab.restore(start)
        assert wrench.latest is None


def test_a_sensor_that_is_not_there_or_not_the_only_one_is_named_with_the_topics(changed):
    with cw.Lab(changed(sensors=(ENCODERS, WRENCH)), seed=1) as lab:
        with pytest.raises(UnknownName, match=r"unknown sensor '/fanuc/wrensh'; did you mean '/fanuc/wrench'\?"):
            lab.sensor("/fanuc/wrensh")
        with pytest.raises(BadInput, match=r"2 sensors are called 'fanuc'; .*: /fanuc/joint_states, /fanuc/wrench"):
            lab.sensor("fanuc")


@pytest.mark.slow
def test_laboratories_that_nobody_uses_any_more_do_not_fill_the_memory():
    code = """
import gc, weakref
import cellwright as cw
from cellwright.cli.app import COLLECT_AFTER
gc.set_threshold(*COLLECT_AFTER)
made = []
for seed in range(12):
    with cw.Lab.from_cell("epucks", seed) as lab:
        lab.advance(0.1)
        made.append(weakref.ref(lab.world))
    del lab
print(sum(one() is not None for one in made))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 5
