"""The conformance check accepts every sensor that ships, and finds what it is there to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from cellwright.core.messages import Beam, Message
from cellwright.core.messages.base import Array
from cellwright.core.pose import Pose
from cellwright.sensors import (
    SENSORS,
    Noise,
    NoiseCfg,
    Sensor,
    SensorCfg,
    SensorContext,
    check_sensor,
    make_sensor,
    sensor_problems,
)
from cellwright.sim import Snapshot, World


@pytest.fixture(scope="module")
def moment(aprs):
    """A world in which a gear falls, and how to come back to its first moment."""
    world = World(aprs, seed=1)
    at = world.pose_of("medium_gear_1")
    world.place("medium_gear_1", Pose(at.position + np.array([0, 0, 0.2]), at.quaternion))
    return world, world.snapshot()


def test_every_sensor_of_the_cell_keeps_the_contract(moment, aprs):
    world, start = moment
    types = {line["type"] for line in aprs.sensors}
    assert {"joint_state", "tool_status", "wrench", "overhead_detector"} <= types <= set(SENSORS)
    for line in aprs.sensors:
        world.restore(start)
        assert check_sensor(line, world) == [], line


def test_a_check_leaves_the_world_as_it_was(moment):
    """Also the random streams: what is read afterwards is what would have been read."""
    world, start = moment
    line = {"type": "laser_range", "robot": "fanuc", "rate_hz": 50, "noise": {"sd": 0.001}}
    ranges = []
    for checked in (False, True):
        world.restore(start)
        if checked:
            assert check_sensor(line, world) == []
        assert world.clock.tick == start.tick
        ranges.append(make_sensor(line, world, "test").sample().range_m)
    assert ranges[0] == ranges[1]


@dataclass(slots=True)
class Reading(Message):
    values: Array


class Good(Sensor[SensorCfg]):
    """Reads positions honestly; each fault below changes one thing."""

    Cfg, message_type = SensorCfg, Reading
    source, topic = "good", "/good"

    def sample(self) -> Message:
        return Reading(*self.header(), self.values() + self.context.rng.normal())

    def values(self) -> Array:
        return self.view().copy()

    def view(self) -> Array:
        at = self.world.objects["medium_gear_1"].qpos
        return self.world.data.qpos[at : at + 7]


class HandsOutViews(Good):
    def sample(self):
        return Reading(*self.header(), self.view())


class UsesGlobalRandomness(Good):
    def values(self):
        return np.random.normal(size=3)


class SamplesAnotherType(Good):
    def sample(self):
        return Beam(*self.header(), frame="frame", interrupted=False)


class NumbersWrong(Good):
    def sample(self):
        return Reading(self.world.clock.time_ns, 7, self.source, self.values())


class ForgetsTheTime(Good):
    def sample(self):
        _, sequence, source = self.header()
        return Reading(12345, sequence, source, self.values())


class LiesAboutItsSource(Good):
    def sample(self):
        time_ns, sequence, _ = self.header()
        return Reading(time_ns, sequence, "somebody", self.values())


class HasABadTopic(Good):
    topic = "good"


class GivesInfinity(Good):
    def values(self):
        return np.array([np.inf])


class HasNoMessage(Good):
    message_type = dict


class DriftsUnsaved(Good):
    """Makes its noise by itself, where no snapshot finds it."""

    def __init__(self, cfg, context):
        super().__init__(cfg, context)
        self.noise = Noise(NoiseCfg(random_walk=0.01), 1, 1 / cfg.rate_hz, context.rng)

    def values(self):
        return self.noise.apply(np.zeros(1))


class RemembersByItself(Good):
    """Smooths its readings with an attribute of its own."""

    last = 0.0

    def values(self):
        self.last = 0.9 * self.last + 0.1 * self.context.rng.normal()
        return np.array([self.last])


class RemembersInItsState(Good):
    """The same, in the place for it."""

    def values(self):
        kept = self.state.setdefault("last", [0.0])
        kept[0] = 0.9 * kept[0] + 0.1 * self.context.rng.normal()
        return np.array(kept)


class RemembersANumber(Good):
    """Puts something else in the place of the dictionary."""

    def __init__(self, cfg, context):
        super().__init__(cfg, context)
        self.state = 0.0

    def values(self):
        self.state = 0.9 * self.state + 0.1 * self.context.rng.normal()
        return np.array([self.state])


class SavesWhatItGoesOnChanging(RemembersInItsState):
    """Its snapshot is the very list that it changes when it goes on from there."""

    def load(self, state):
        super().load(state)
        self.state = state[-1]


class HasAGeneratorOfItsOwn(Good):
    def __init__(self, cfg, context):
        super().__init__(cfg, context)
        self.rng = np.random.default_rng(0)

    def values(self):
        return self.rng.normal(size=3)


class IsSkippableAndDraws(Good):
    is_skippable = True


class IsSkippable(Good):
    is_skippable = True

    def sample(self):
        return Reading(*self.header(), self.values())


class CannotBeSaved(Good):
    def save(self):
        raise RuntimeError("not now")


class OtherCfg(SensorCfg):
    more: float = 0.0


class HasAnotherCfg(Good):
    Cfg = OtherCfg


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (Good, ""),
        (HandsOutViews, "views, not copies"),
        (UsesGlobalRandomness, "randomness that is not its own"),
        (SamplesAnotherType, "samples Beam, but declares Reading"),
        (NumbersWrong, "numbered 7, 7, not 0, 1"),
        (ForgetsTheTime, "do not carry the simulation time"),
        (LiesAboutItsSource, "are from 'somebody', not 'good'"),
        (HasABadTopic, "topic 'good' does not start with '/'"),
        (GivesInfinity, "field 'values' is infinite"),
        (HasNoMessage, "message_type is not a Message"),
        (HasAnotherCfg, "configuration is not a OtherCfg"),
        (DriftsUnsaved, "after a restored snapshot its readings are others (values): noise belongs under a key"),
        (RemembersByItself, "after a restored snapshot its readings are others (values)"),
        (RemembersInItsState, ""),
        (RemembersANumber, ""),
        (SavesWhatItGoesOnChanging, "after a restored snapshot its readings are others (values)"),
        (HasAGeneratorOfItsOwn, "after a restored snapshot its readings are others (values)"),
        (IsSkippableAndDraws, "is_skippable, but after skipped readings the next ones are others"),
        (IsSkippable, ""),
        (CannotBeSaved, "it cannot go on from a restored snapshot: RuntimeError: not now"),
    ],
)
def test_planted_faults_are_found_one_by_one(moment, kind, problem):
    problems = sensor_problems(planted(kind, *moment))
    assert len(problems) == bool(problem), problems
    assert problem in "".join(problems)


class DriftingCfg(SensorCfg):
    noise: NoiseCfg = NoiseCfg(random_walk=0.01)


class DriftsByTheKit(Good):
    """The drift of `DriftsUnsaved`, left to the base class."""

    Cfg = DriftingCfg

    def values(self):
        return np.array([self.noisy(0.0)])


def test_drift_that_is_left_to_the_base_class_is_restored(moment):
    world, start = moment

    def make() -> Sensor[DriftingCfg]:
        world.restore(start)
        context = SensorContext(world, world.streams.stream("sensors/drifting"), "test")
        return DriftsByTheKit(DriftingCfg(type="drifting", rate_hz=50), context)

    assert sensor_problems(make) == []
    sensor = make()
    state = sensor.save()
    first = [sensor.sample().values[0] for _ in range(50)]
    assert np.std(first) > 0.001
    sensor.load(state)
    assert sensor.noises["noise"].save() == [0.0]


def planted(kind: type[Sensor[SensorCfg]], world: World, start: Snapshot) -> Callable[[], Sensor[SensorCfg]]:
    def make() -> Sensor[SensorCfg]:
        world.restore(start)
        context = SensorContext(world, world.streams.stream("sensors/planted"), "test")
        return kind(SensorCfg(type="planted", rate_hz=50), context)

    return make


def test_views_are_found_in_a_world_at_rest(aprs):
    world = World(aprs, seed=1)
    assert "views" in "".join(sensor_problems(planted(HandsOutViews, world, world.snapshot())))
