"""The schedule: order, interrupts, exceptions, machine code, and that stretches leave no trace."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core.clock import Clock
from cellwright.core.errors import SimulationError
from cellwright.sim import Stepper, TickOrder
from cellwright.sim.physics import PhysicsEngine


@pytest.fixture
def stepper(falling_ball) -> Stepper:
    return Stepper(Clock(0.002), PhysicsEngine(falling_ball, mujoco.MjData(falling_ball)))


def test_the_engine_takes_exactly_the_ticks_of_the_clock(stepper):
    ticks = []
    stepper.every(7, lambda: ticks.append(round(stepper.engine.data.time / 0.002)), order=TickOrder.WORLD, name="seven")
    stepper.advance(50)
    assert stepper.clock.tick == 50
    assert ticks == [7, 14, 21, 28, 35, 42, 49]
    assert stepper.engine.data.time == pytest.approx(0.1)


def test_ties_are_broken_by_order_then_by_who_was_first(stepper):
    calls = []
    for name, order in (
        ("record", TickOrder.RECORD),
        ("b", TickOrder.CONTROL),
        ("a", TickOrder.CONTROL),
        ("world", TickOrder.WORLD),
    ):
        stepper.every(3, lambda name=name: calls.append(name), order=order, name=name)
    stepper.every(6, lambda: calls.append("sensor"), order=TickOrder.SENSOR, name="sensor")
    stepper.advance(6)
    assert calls == ["world", "b", "a", "record", "world", "sensor", "b", "a", "record"]


@pytest.mark.parametrize("first", ["slow", "fast"])
def test_who_was_added_first_goes_first_at_every_tie(stepper, first):
    """Different periods enter the schedule again at different times; at a common tick the order of adding holds."""
    calls = []
    periods = {"slow": 4, "fast": 2}
    for name in (first, *(periods.keys() - {first})):
        stepper.every(periods[name], lambda name=name: calls.append(name), order=TickOrder.CONTROL, name=name)
    stepper.advance(12)
    both = ["slow", "fast"] if first == "slow" else ["fast", "slow"]
    assert calls == ["fast", *both] * 3


def test_the_orders_are_world_sensor_control_judge_record():
    assert sorted(TickOrder, key=int) == [
        TickOrder.WORLD,
        TickOrder.SENSOR,
        TickOrder.CONTROL,
        TickOrder.JUDGE,
        TickOrder.RECORD,
    ]


def test_the_first_turn_can_be_chosen(stepper):
    ticks = []
    stepper.every(10, lambda: ticks.append(stepper.clock.tick), order=TickOrder.WORLD, name="x", first_tick=3)
    stepper.advance(25)
    assert ticks == [3, 13, 23]


def test_somebody_added_later_starts_from_then(stepper):
    ticks = []
    stepper.advance(5)
    stepper.every(10, lambda: ticks.append(stepper.clock.tick), order=TickOrder.WORLD, name="x")
    stepper.every(10, lambda: ticks.append(-stepper.clock.tick), order=TickOrder.WORLD, name="past", first_tick=2)
    stepper.advance(20)
    assert ticks == [-6, 15, -16]


def test_an_interrupt_ends_the_stretch_after_everything_of_that_tick(stepper):
    calls = []

    def first() -> None:
        calls.append("first")
        stepper.interrupt()

    stepper.every(4, first, order=TickOrder.SENSOR, name="first")
    stepper.every(4, lambda: calls.append("second"), order=TickOrder.CONTROL, name="second")
    stepper.advance(100)
    assert stepper.clock.tick == 4
    assert calls == ["first", "second"]
    stepper.advance(6)
    assert stepper.clock.tick == 6


def test_a_cancelled_turn_does_not_come(stepper):
    calls = []
    scheduled = stepper.every(2, lambda: calls.append(stepper.clock.tick), order=TickOrder.WORLD, name="x")
    stepper.advance(5)
    scheduled.cancel()
    scheduled.cancel()
    stepper.advance(20)
    assert calls == [2, 4]
    assert stepper.clock.tick == 20


def test_one_can_cancel_itself_and_another_of_the_same_tick(stepper):
    calls = []
    victim = None

    def killer() -> None:
        calls.append("killer")
        own.cancel()
        victim.cancel()

    own = stepper.every(3, killer, order=TickOrder.WORLD, name="killer")
    victim = stepper.every(3, lambda: calls.append("victim"), order=TickOrder.RECORD, name="victim")
    stepper.advance(12)
    assert calls == ["killer"]


def test_a_new_turn_added_during_a_call_keeps_its_period(stepper):
    ticks = []
    once = None

    def start() -> None:
        once.cancel()
        stepper.every(2, lambda: ticks.append(stepper.clock.tick), order=TickOrder.WORLD, name="new")

    once = stepper.every(5, start, order=TickOrder.RECORD, name="start")
    stepper.advance(10)
    assert ticks == [7, 9]


def test_a_changed_period_counts_from_the_next_turn(stepper):
    ticks = []
    scheduled = stepper.every(2, lambda: ticks.append(stepper.clock.tick), order=TickOrder.WORLD, name="x")
    stepper.advance(3)
    scheduled.period_ticks = 5
    stepper.advance(20)
    assert ticks == [2, 4, 9, 14, 19]


def test_an_exception_leaves_the_schedule_whole(stepper):
    calls = []

    def faulty() -> None:
        calls.append("faulty")
        if len(calls) < 3:
            raise ValueError("once")

    stepper.every(3, faulty, order=TickOrder.WORLD, name="faulty")
    stepper.every(3, lambda: calls.append("good"), order=TickOrder.CONTROL, name="good")
    with pytest.raises(ValueError, match="once"):
        stepper.advance(9)
    assert stepper.clock.tick == 3
    stepper.advance(9)
    assert stepper.clock.tick == 9
    assert calls.count("faulty") == 3
    assert calls.count("good") >= 2


def test_a_period_below_one_is_refused(stepper):
    with pytest.raises(SimulationError, match=r"'x' wants to run every 0 ticks; at least 1 is needed"):
        stepper.every(0, lambda: None, order=TickOrder.WORLD, name="x")


def library_function(name: str) -> int:
    """The address of one of MuJoCo's own functions."""
    (file,) = Path(mujoco.__file__).parent.glob("libmujoco.*[0-9]*")
    return ctypes.cast(getattr(ctypes.CDLL(str(file)), name), ctypes.c_void_p).value


def test_machine_code_is_called_with_model_and_data(stepper):
    """After a step MuJoCo's poses are those before it; `mj_kinematics` of its own library brings them up to date."""
    data = stepper.engine.data
    stepper.advance(5)
    assert data.xpos[1, 2] != data.qpos[2]
    stepper.every_compiled(5, library_function("mj_kinematics"), order=TickOrder.WORLD, name="kinematics")
    stepper.advance(10)
    assert data.xpos[1, 2] == data.qpos[2]


SOURCE = """
#include <stddef.h>
void count(const void* model, void* data, void* user) {
  long* counts = user;
  counts[0]++;
  counts[1] += model == (void*)counts[2] && data == (void*)counts[3];
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_machine_code_gets_its_own_pointer(stepper, tmp_path):
    (tmp_path / "tick.c").write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "tick.so", tmp_path / "tick.c"], check=True)
    function = ctypes.cast(ctypes.CDLL(str(tmp_path / "tick.so")).count, ctypes.c_void_p).value
    counts = np.array([0, 0, *stepper.engine.addresses()], dtype=np.int64)
    scheduled = stepper.every_compiled(4, function, order=TickOrder.CONTROL, name="count", user=counts.ctypes.data)
    stepper.advance(41)
    assert counts[:2].tolist() == [10, 10]
    scheduled.cancel()
    stepper.advance(80)
    assert counts[0] == 10


@given(stops=st.lists(st.integers(1, 299), max_size=12), period=st.integers(1, 50))
@settings(max_examples=30)
def test_physics_does_not_depend_on_how_it_is_split(falling_ball, stops, period):
    """One stretch of 300 steps through a bounce, or many: the same bits."""

    def run(ticks: list[int], every: int | None) -> bytes:
        engine = PhysicsEngine(falling_ball, mujoco.MjData(falling_ball))
        stepper = Stepper(Clock(0.002), engine)
        if every is not None:
            stepper.every(every, lambda: None, order=TickOrder.WORLD, name="split")
        for tick in ticks:
            stepper.advance(tick)
        return engine.data.qpos.tobytes() + engine.data.qvel.tobytes()

    assert run([300], None) == run([*sorted(stops), 300], period)
