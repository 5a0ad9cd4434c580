"""A sensor of the user's own that fails: one line with its file, its line and the time."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from tests.sensors.conftest import TINY

from cellwright.cells import Cell
from cellwright.core.errors import BadInput, ConfigError, SimulationError, UnknownName
from cellwright.core.messages import Message
from cellwright.core.plugin_errors import PluginError
from cellwright.lab import Lab
from cellwright.sensors import SENSORS, Sensor, SensorCfg, check_sensor


@dataclass(slots=True)
class Gap(Message):
    gap_m: float
    count: int


@dataclass(slots=True)
class GapInADict(Message):
    gaps: dict


class GapCfg(SensorCfg):
    tray: str = "tray"
    others: tuple[str, ...] = ()


class GapSensor(Sensor[GapCfg]):
    """Reads the height of a tray; from 1 s on, `later` decides what becomes of it."""

    Cfg, message_type = GapCfg, Gap

    def sample(self):
        heights_m = [self.world.pose_of(name).position[2] for name in (self.cfg.tray, *self.cfg.others)]
        good = Gap(*self.header(), heights_m[0], 3)
        return good if self.world.clock.time_s < 1 else self.later(good)

    def later(self, good):
        return good


class Raises(GapSensor):
    def later(self, good):
        raise ValueError("two\nlines")


class ReturnsNothing(GapSensor):
    def sample(self):
        return None


class ReturnsNothingLater(GapSensor):
    def later(self, good):
        return None


class CountsInWords(GapSensor):
    def sample(self):
        return Gap(*self.header(), 0.1, "three")


class NamesWhatIsNotThere(GapSensor):
    def later(self, good):
        return self.world.pose_of("no_such_tray")


class Diverges(GapSensor):
    def later(self, good):
        raise SimulationError("physics diverged")


class LosesItsTray(GapSensor):
    def later(self, good):
        raise UnknownName("object", self.cfg.tray, [])


class UsesADict(GapSensor):
    message_type = GapInADict


class RefusesItsLine(GapSensor):
    def __init__(self, cfg, context):
        super().__init__(cfg, context)
        raise BadInput("a gap needs two trays")


@pytest.fixture
def lab():
    """Makes the tiny cell with a sensor of that class."""
    labs = []

    def make(kind, **keys):
        SENSORS._entries["gap"] = kind
        cell = Cell.model_validate(TINY)
        line = {"type": "gap", "rate_hz": 50, **keys}
        labs.append(Lab.from_cell(cell.model_copy(update={"sensors": (line,)})))
        return labs[-1]

    yield make
    del SENSORS._entries["gap"]
    for made in labs:
        made.close()


@pytest.mark.parametrize(
    ("kind", "failing", "time", "reason"),
    [
        (Raises, Raises.later, "1", "ValueError: two lines"),
        (ReturnsNothing, ReturnsNothing.sample, "0.02", "it returns NoneType, but its message_type is Gap"),
        (ReturnsNothingLater, GapSensor.sample, "1", "it returns NoneType, but its message_type is Gap"),
        (CountsInWords, CountsInWords.sample, "0.02", "Gap.count cannot be encoded as int64: "),
        (NamesWhatIsNotThere, NamesWhatIsNotThere.later, "1", "tiny: unknown object 'no_such_tray'"),
        (LosesItsTray, LosesItsTray.later, "1", "unknown object 'tray'"),
    ],
)
def test_what_fails_in_sample_is_one_line_with_place_sensor_and_time(lab, kind, failing, time, reason):
    with pytest.raises(PluginError) as caught:
        lab(kind).advance(1.5)
    first = failing.__code__.co_firstlineno
    told = re.fullmatch(r"\S*tests/sensors/test_schedule\.py, line (\d+): (.*)", str(caught.value))
    assert told, caught.value
    assert first <= int(told[1]) <= first + 1
    assert told[2].startswith(f"sensor 'gap' fails in sample at {time} s: {reason}")


@pytest.mark.parametrize("delay_s", [0.0, 0.1])
def test_a_delay_hides_nothing(lab, delay_s):
    with pytest.raises(PluginError, match=r"line \d+: sensor 'eye/gap' fails in sample at 0\.02 s"):
        lab(ReturnsNothing, name="eye", delay_s=delay_s).advance(0.2)


def test_physics_that_diverged_is_not_the_sensors_fault(lab):
    with pytest.raises(SimulationError, match=r"^physics diverged$"):
        lab(Diverges).advance(1.5)


@pytest.mark.parametrize(("keys", "key"), [({"tray": "trya"}, "tray"), ({"others": ["tray", "trya"]}, "others.1")])
def test_a_wrong_name_in_a_key_of_its_own_is_the_lines_mistake(lab, keys, key):
    with pytest.raises(UnknownName, match=rf"^tiny: sensors\.0\.{key}: unknown object 'trya'; did you mean 'tray'"):
        lab(GapSensor, **keys).advance(0.1)
    good = lab(GapSensor)
    line = {"type": "gap", "rate_hz": 50, **keys}
    with pytest.raises(UnknownName, match=rf"^check_sensor\.{key}: unknown object 'trya'"):
        check_sensor(line, good.world)


def test_what_a_sensor_refuses_when_it_is_made_has_the_place_of_its_line(lab):
    with pytest.raises(ConfigError, match=r"^tiny: sensors\.0: a gap needs two trays$"):
        lab(RefusesItsLine)


def test_a_message_that_no_log_can_hold_is_refused_before_anything_runs(lab):
    problem = r"test_schedule\.py, line \d+: message class GapInADict: field 'gaps' has type dict, allowed: str, bool, "
    with pytest.raises(ConfigError, match=rf"^tiny: sensors\.0: type: .*{problem}"):
        lab(UsesADict)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (UsesADict, "message class GapInADict: field 'gaps' has type dict"),
        (CountsInWords, "Gap.count cannot be encoded as int64"),
        (Raises, "line"),
    ],
)
def test_check_sensor_lists_what_a_run_would_refuse(lab, kind, problem):
    world = lab(GapSensor).world
    SENSORS._entries["gap"] = kind
    if kind is Raises:
        world.clock.tick = world.clock.ticks(2.0)
        problem = f"line {Raises.later.__code__.co_firstlineno + 1}: it cannot sample: ValueError: two lines"
    (told,) = check_sensor({"type": "gap", "rate_hz": 50}, world)
    assert problem in told
