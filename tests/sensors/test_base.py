"""The contract of every sensor: rate, delay, dropout, and a random stream of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.messages import Message
from cellwright.lab import Lab
from cellwright.sensors import Sensor, SensorCfg, SensorContext
from cellwright.sensors.robot import JointStateSensor
from cellwright.sim import World

TICK_NS = 2_000_000


@dataclass(slots=True)
class Luck(Message):
    value: float


class LuckSensor(Sensor[SensorCfg]):
    """Gives the next number of its stream."""

    Cfg, message_type = SensorCfg, Luck
    source = property(lambda self: self.cfg.name)
    topic = property(lambda self: f"/{self.source}/luck")

    def sample(self) -> Luck:
        return Luck(*self.header(), self.context.rng.random())


def luck_in(world: World, **cfg: Any) -> LuckSensor:
    cfg = SensorCfg(**{"type": "luck", "name": "luck", "rate_hz": 50, **cfg})
    return LuckSensor(cfg, SensorContext(world, world.streams.stream(f"sensors/{cfg.name}"), "test"))


@pytest.mark.parametrize(("rate_hz", "period"), [(500, 1), (50, 10), (1, 500), (30, 17), (5000, 1)])
def test_samples_come_at_the_rate_in_whole_ticks(tiny, listen, rate_hz, period):
    arrived = listen(tiny, 2.0, luck_in(tiny, rate_hz=rate_hz))
    assert [tick for tick, _ in arrived] == list(range(period, 1001, period))
    assert [message.time_ns for _, message in arrived] == [tick * TICK_NS for tick, _ in arrived]
    assert [message.sequence for _, message in arrived] == list(range(len(arrived)))
    assert {message.source for _, message in arrived} == {"luck"}


@pytest.mark.parametrize(("delay_s", "delay"), [(0.05, 25), (0.001, 1), (0.0199, 10), (0.02, 10), (0.13, 65)])
def test_delay_is_exact_in_ticks_and_rounded_up(tiny, listen, delay_s, delay):
    """0.13 s is longer than the period of 0.02 s: several samples are under way at once."""
    arrived = listen(tiny, 1.0, luck_in(tiny, delay_s=delay_s))
    assert [tick - message.time_ns // TICK_NS for tick, message in arrived] == [delay] * len(arrived)
    assert [message.sequence for _, message in arrived] == list(range((500 - delay) // 10))


def test_a_delayed_sample_tells_of_the_moment_it_was_taken(tiny, listen):
    on_time = [message.value for _, message in listen(tiny, 1.0, luck_in(tiny))]
    late_world = World(tiny.cell, tiny.seed)
    late = [message.value for _, message in listen(late_world, 1.0, luck_in(late_world, delay_s=0.1))]
    assert late == on_time[: len(late)]


def test_dropout_loses_that_share_and_leaves_gaps_in_the_numbers(tiny, listen):
    arrived = listen(tiny, 8.0, luck_in(tiny, rate_hz=500, dropout=0.3))
    count = 4000
    assert abs(len(arrived) / count - 0.7) < 4 * np.sqrt(0.3 * 0.7 / count)
    numbers = [message.sequence for _, message in arrived]
    assert numbers == sorted(set(numbers))
    assert [tick for tick, _ in arrived] == [number + 1 for number in numbers]


def readings(lab: Lab, topics: set[str], duration_s: float = 0.5) -> list[tuple[str, str]]:
    seen: list[tuple[str, str]] = []
    lab.bus.subscribe(None, lambda t, m: seen.append((t, repr(m))) if t in topics else None, subscriber="test")
    lab.advance(duration_s)
    return seen


def test_other_sensors_do_not_change_a_sensors_readings(aprs):
    """Before it, after it, faster, of the same kind: whatever is added, the noise of the others stays."""
    noisy = [s for s in aprs.sensors if s["type"] in ("wrench", "tool_status", "logical_detector")]
    more = [
        {"type": "wrench", "robot": "fanuc", "name": "second_wrist", "rate_hz": 500, "force_sd_n": 1.0},
        {"type": "logical_detector", "name": "another_detector", "rate_hz": 20, "noise": {"x_m": 0.01}},
        {"type": "joint_state", "robot": "motoman", "name": "glass_scale", "rate_hz": 100, "position": {"sd": 0.1}},
    ]
    seen = []
    topics: set[str] = set()
    for sensors in (noisy, [*more, *noisy], [*reversed(noisy), *more]):
        cell = aprs.model_copy(update={"sensors": tuple(sensors), "fidelity": "kinematic"})
        with Lab(cell, seed=3) as lab:
            topics = topics or {sensor.topic for sensor in lab.sensors}
            seen.append(sorted(readings(lab, topics)))
    assert len(seen[0]) > 60
    assert seen[0] == seen[1] == seen[2]


def test_sensors_of_one_name_and_different_type_have_streams_of_their_own(aprs):
    wrench = {"type": "wrench", "robot": "fanuc", "name": "wrist", "rate_hz": 50, "force_sd_n": 1.0}
    tool = {"type": "tool_status", "robot": "fanuc", "name": "wrist", "rate_hz": 50}
    seen = []
    for sensors in ((wrench,), (wrench, tool)):
        cell = aprs.model_copy(update={"sensors": sensors, "fidelity": "kinematic"})
        with Lab(cell, seed=3) as lab:
            seen.append(readings(lab, {"/wrist/wrench"}))
    assert seen[0] == seen[1]


def test_another_seed_gives_other_noise(aprs):
    cell = aprs.model_copy(update={"fidelity": "kinematic"})
    seen = []
    for seed in (1, 2):
        with Lab(cell, seed) as lab:
            seen.append(readings(lab, {"/fanuc/wrench"}, 0.1))
    assert seen[0] != seen[1]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"rate_hz": 50}, "sensors.0: type: name a sensor"),
        ({"type": 7, "rate_hz": 50}, "sensors.0: type: name a sensor"),
        ({"type": "wrensh", "robot": "arm"}, "sensors.0.type: unknown sensor 'wrensh'; did you mean 'wrench'"),
        ({"type": "wrench", "robot": "arm", "rate_hz": 0}, "sensors.0: rate_hz: should be greater than 0"),
        (
            {"type": "wrench", "robot": "arm", "rate_hz": 1e6},
            "sensors.0: rate_hz: should be less than or equal to 5000",
        ),
        ({"type": "wrench", "rate_hz": 50}, "sensors.0: robot: required"),
        ({"type": "wrench", "robot": "arm", "dropout": 1}, "sensors.0: dropout: should be less than 1"),
        ({"type": "wrench", "robot": "arm", "delay_s": -1}, "sensors.0: delay_s: should be greater than or equal to 0"),
        ({"type": "wrench", "robot": "arm", "colour": 1}, "unknown key 'colour'"),
        ({"type": "wrench", "robot": "leg"}, "unknown robot 'leg' (available: arm)"),
        ({"type": "logical_detector", "name": "eye", "camera": "no"}, "sensors.0.camera: unknown camera 'no'"),
    ],
)
def test_a_bad_line_is_named_with_what_is_allowed(tiny, sensor_in, line, problem):
    with pytest.raises((ConfigError, UnknownName)) as caught:
        sensor_in(tiny, **line)
    assert problem in str(caught.value)


def test_two_sensors_cannot_share_a_topic(aprs):
    line = {"type": "wrench", "robot": "fanuc", "rate_hz": 50}
    with pytest.raises(ConfigError, match=r"sensors\.1: another sensor, sensors\.0, is the same"):
        Lab(aprs.model_copy(update={"sensors": (line, line), "fidelity": "kinematic"}))


def test_a_sensor_that_nobody_listens_to_goes_on_as_if_somebody_did(aprs):
    heard = []
    for late in (False, True):
        with Lab.from_cell(aprs, seed=3) as lab:
            messages = []
            if late:
                lab.advance(0.5)
            for topic in ("/fanuc/joint_states", "/fanuc/tool_status", "/fanuc/wrench"):
                lab.bus.subscribe(topic, lambda _, message, to=messages: to.append(message), subscriber="test")
            lab.advance(0.5 if late else 1.0)
            heard.append([repr(message) for message in messages if message.time_s > 0.5])
    assert len(heard[0]) > 50
    assert heard[0] == heard[1]


def test_encoders_without_noise_are_not_read_for_nobody(aprs, monkeypatch):
    monkeypatch.setattr(JointStateSensor, "sample", lambda self: pytest.fail("read for nobody"))
    with Lab.from_cell(aprs, seed=3) as lab:
        lab.advance(0.1)
