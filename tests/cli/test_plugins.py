"""A cell's own Python files at the command line: a sensor without a package, and mistakes as one line each."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from cellwright.record import read_log
from cellwright.sensors import SENSORS

PLUGIN = """
from cellwright.core.messages import Range
from cellwright.sensors import SENSORS, NoiseCfg, Sensor, SensorCfg


class BeamCfg(SensorCfg):
    robot: str
    noise: NoiseCfg = NoiseCfg(sd=0.001, random_walk=0.002)


@SENSORS.register("own_beam")
class OwnBeam(Sensor[BeamCfg]):
    Cfg, message_type, topic_name = BeamCfg, Range, "beam"

    def sample(self):
        flange = self.world.flange_pose(self.cfg.robot)
        beam = flange.rotation_matrix[:, 2]
        away_m = self.world.ray(flange.apply([0.1, 0, 0]), beam, 4.0, mounted_on=self.cfg.robot)
        away_m = self.noisy(4.0 if away_m is None else away_m)
        return Range(*self.header(), frame="beam", range_m=away_m, max_range_m=4.0)
"""
LINES = ("\nsensors:\n", "\nplugins: [parts/own.py]\nsensors:\n  - {type: own_beam, robot: fanuc, rate_hz: 20}\n")


@pytest.fixture
def plugin(tmp_path):
    """Writes the plugin beside the cell; afterwards it is forgotten."""

    def write(text=PLUGIN):
        (tmp_path / "parts").mkdir(exist_ok=True)
        (tmp_path / "parts" / "own.py").write_text(text, encoding="utf-8")

    yield write
    for name in ("own_beam", "distance"):
        SENSORS._entries.pop(name, None)
    for name in [name for name in sys.modules if name.startswith("cellwright_plugin_")]:
        del sys.modules[name]


def test_a_sensor_of_a_plugin_keeps_the_contract(cellwright, cell_file, plugin, tmp_path, monkeypatch):
    """From another folder: files are found beside the cell's."""
    plugin()
    file = cell_file(LINES)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ended = cellwright("cell", "check", file, "--json")
    findings = {found["check"]: found["ok"] for found in json.loads(ended.out)["findings"]}
    assert findings["sensor fanuc own_beam"] is True
    assert ended.code == 0


def test_the_sensor_of_the_guide_works_as_it_is_written(cellwright, cell_file, plugin, tmp_path):
    guide = (Path(__file__).parents[2] / "docs/guide/sensors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w+)\n(.*?)```", guide.partition("## A sensor of your own")[2], re.DOTALL)
    (_, source), (_, lines) = blocks[:2]
    assert 10 < len([line for line in source.splitlines() if line.strip() and line[0] != "#"]) <= 15
    (tmp_path / "distance.py").write_text(source, encoding="utf-8")
    ended = cellwright("cell", "check", cell_file(("\nsensors:\n", "\n" + lines)), "--json")
    findings = {found["check"]: found["ok"] for found in json.loads(ended.out)["findings"]}
    assert findings["sensor fanuc distance"] is True


@pytest.mark.slow
def test_it_is_recorded_in_a_run(cellwright, cell_file, plugin):
    plugin()
    ended = cellwright("run", cell_file(LINES), "--record", "run.mcap", "--no-picture")
    assert ended.code == 0, ended.err
    beams = read_log("run.mcap").arrays("/fanuc/beam")["range_m"]
    assert len(beams) > 100
    assert 0.05 < beams.min() < beams.max() <= 4.02


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = (\n", r"mine\.yaml, line \d+: plugins\.0: .*parts/own\.py, line 1: SyntaxError: '\(' was never closed"),
        (
            "\n1 / 0\n",
            r"mine\.yaml, line \d+: plugins\.0: .*parts/own\.py, line 2: ZeroDivisionError",
        ),
        (
            PLUGIN.replace('"own_beam"', '"wrench"'),
            r"plugins\.0: .*parts/own\.py, line 11: sensor 'wrench' is registered twice",
        ),
        (PLUGIN + "\nraise ValueError('after it registered')\n", r"line \d+: ValueError: after it registered"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_one_line(refused, cell_file, plugin, text, problem):
    plugin(text)
    file = cell_file(LINES)
    for command in (("cell", "check"), ("run",)):
        complaints = refused(*command, file).splitlines()
        assert len(complaints) == 1, complaints  # the sensor that it should have brought is no second mistake
        assert re.search(problem, complaints[0]), complaints


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "Cfg, message_type, topic_name = BeamCfg, Range",
            "message_type, topic_name = Range",
            "needs a SensorCfg as its Cfg",
        ),
        (
            "Cfg, message_type, topic_name = BeamCfg, Range",
            "Cfg, topic_name = BeamCfg",
            "needs a Message as its message_type",
        ),
        ("def sample", "def simple", "'own_beam' cannot be made: TypeError: Can't instantiate abstract class OwnBeam"),
        (
            "    def sample",
            "    def noise_size(self, key):\n        return 1 / 0\n\n    def sample",
            "ZeroDivisionError",
        ),
    ],
)
def test_a_class_that_cannot_be_used_is_one_line(refused, cell_file, plugin, old, new, problem):
    assert old in PLUGIN
    plugin(PLUGIN.replace(old, new))
    (complaint,) = refused("cell", "check", cell_file(LINES)).splitlines()
    assert re.search(r"mine\.yaml, line \d+: sensors\.0: type: ", complaint), complaint
    assert problem in complaint


def test_a_plugin_that_is_not_there_is_told_with_all_other_mistakes(refused, cell_file):
    complaints = refused("cell", "check", cell_file(LINES, ("rate_hz: 20}\n", "rate_hz: 20}\n  - {type: wrench}\n")))
    assert "plugins.0: plugin " in complaints
    assert "parts/own.py does not exist" in complaints
    assert "sensors.1: robot: required, but missing" in complaints
    assert "own_beam" not in complaints


@pytest.mark.slow
def test_a_plugin_that_was_corrected_is_used(refused, cellwright, cell_file, plugin):
    plugin(PLUGIN + "\nraise ValueError('after it registered')\n")
    file = cell_file(LINES)
    refused("cell", "check", file)
    plugin(PLUGIN)
    assert cellwright("cell", "check", file).code == 0


def test_a_sensor_that_fails_in_a_run_is_one_line_with_its_place(refused, cell_file, plugin):
    plugin(PLUGIN.replace("    def sample(self):\n", "    def sample(self):\n        self.cfg.gap_m\n"))
    (complaint,) = refused("run", cell_file(LINES), "--no-picture").splitlines()
    line = PLUGIN[: PLUGIN.index("    def sample")].count("\n") + 2
    told = f"parts/own.py, line {line}: sensor 'fanuc/own_beam' fails in sample at 0.05 s: AttributeError: "
    assert complaint.startswith(f"cellwright: {told}"), complaint


def test_a_wrong_name_in_a_sensors_own_key_is_told_with_its_line(refused, cell_file, plugin):
    text = PLUGIN.replace("robot: str", "robot: str\n    tray: str")
    plugin(text.replace("sample(self):\n", "sample(self):\n        self.world.pose_of(self.cfg.tray)\n"))
    file = cell_file((LINES[0], LINES[1].replace("rate_hz", "tray: fanuc_kit_m2l2, rate_hz")))
    told = r"mine\.yaml, line \d+: sensors\.0\.tray: unknown object 'fanuc_kit_m2l2'; did you mean"
    for command in (["run", file, "--no-picture"], ["cell", "check", file]):
        (complaint,) = refused(*command).splitlines()
        assert re.search(told, complaint)
