"""A sensor from somebody else's package: one file, one line of YAML, and everything follows from the message type."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cellwright
from cellwright.cells import CELLS
from cellwright.core.errors import UnknownName
from cellwright.lab import Lab
from cellwright.record import read_log

pytestmark = pytest.mark.slow

MODULE = '''
"""A thermometer on a drive: warms up with the torque it has to give."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cellwright.core.messages import Message
from cellwright.core.messages.base import Array
from cellwright.sensors import Noise, NoiseCfg, Sensor, SensorCfg


@dataclass(slots=True)
class Temperatures(Message):
    names: tuple[str, ...]
    celsius: Array


class ThermometerCfg(SensorCfg):
    robot: str
    noise: NoiseCfg = NoiseCfg(sd=0.1, resolution=0.1)


class Thermometer(Sensor[ThermometerCfg]):
    Cfg: ClassVar[type[SensorCfg]] = ThermometerCfg
    message_type: ClassVar[type[Message]] = Temperatures

    def __init__(self, cfg, context):
        super().__init__(cfg, context)
        self._index = self.world.robot(cfg.robot)
        self._noise = Noise(cfg.noise, len(self._index.dof), 1 / cfg.rate_hz, context.rng)

    @property
    def source(self):
        return self.cfg.robot

    @property
    def topic(self):
        return f"/{self.cfg.robot}/temperatures"

    def sample(self):
        effort = self.world.data.qfrc_actuator[self._index.dof]
        names = tuple(joint.name for joint in self._index.figures.joints)
        return Temperatures(*self.header(), names, self._noise.apply(20.0 + 0.1 * np.abs(effort)))
'''

LINE = "  - {type: thermometer, robot: fanuc, rate_hz: 10}\n"


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Runs `cellwright` with the other package installed, in a folder of its own."""
    folder = tmp_path_factory.mktemp("other")
    site = folder / "site"
    info = site / "thermo-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "thermo.py").write_text(MODULE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thermo\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[cellwright.sensors]\nthermometer = thermo:Thermometer\n", encoding="utf-8")
    cell = CELLS.get("aprs").read_text(encoding="utf-8").replace("settle_s: 3.0", "fidelity: kinematic") + LINE
    (folder / "cell.yaml").write_text(cell, encoding="utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        paths = [str(Path(cellwright.__file__).parents[1]), str(site)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, "-m", "cellwright", *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)

    run.folder = folder
    return run


@pytest.fixture(scope="module")
def log(command) -> Path:
    done = command("run", "cell.yaml", "--fidelity", "kinematic", "--record", "run.mcap", "--no-picture")
    assert done.returncode == 0, done.stderr
    return command.folder / "run.mcap"


def test_its_messages_are_recorded_and_read_without_its_package(log):
    temperatures = read_log(log).arrays("/fanuc/temperatures")
    assert len(temperatures["time_s"]) > 50
    assert temperatures["celsius"].shape[1] == 6
    assert 15 < temperatures["celsius"].mean() < 25
    assert read_log(log).topics["/fanuc/temperatures"].rate_hz == pytest.approx(10)


def test_log_show_shows_them(command, log):
    done = command("log", "show", str(log), "--topic", "/fanuc/temperatures", "--json")
    shown = json.loads(done.stdout)
    assert shown["topics"][0]["type"].endswith("/Temperatures")
    assert len(shown["messages"][0]["message"]["celsius"]) == 6


def test_it_keeps_the_contract(command):
    done = command("cell", "check", "cell.yaml", "--json")
    findings = {f["check"]: f["ok"] for f in json.loads(done.stdout)["findings"]}
    assert findings["sensor fanuc thermometer"] is True
    assert done.returncode == 0


def test_without_its_package_the_line_is_refused(command):
    with pytest.raises(UnknownName, match=r"cell\.yaml, line \d+: sensors\.8\.type: unknown sensor 'thermometer'"):
        Lab.from_cell(command.folder / "cell.yaml", fidelity="kinematic")
