"""Mistakes that only sensors, doors or a built world can tell come in the same round as all others."""

import re

import pytest

from cellwright.cells import load_cell
from cellwright.checks.cell import check_cell
from cellwright.core.errors import BadInput
from cellwright.interfaces.vision import VisionInterface
from cellwright.lab import Lab
from cellwright.lab.cell_file import read_cell

CELL = """
name: mine
title: Mistakes of all kinds
settle_s: 0
robots:
  arm:
    model: lr_mate_200id
    base: {xyz_m: [0, 0, 0]}
    vision: {detector: eye}
fixtures:
  floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}
parts:
  gear: {model: medium_gear, pose: {xyz_m: [2, 1, 0]}}
sensors:
  - {type: joint_state, robot: arm, rate_hz: 100}
  - {type: wrench, robot: arm, rate_hz: 100}
  - {type: logical_detector, name: eye, rate_hz: 10}
"""
SENSORS = (
    ("joint_state, robot: arm", "joint_stat, robot: arm"),
    ("wrench, robot: arm, rate_hz: 100", "wrench, robot: leg, rate_hz: -1"),
    ("rate_hz: 10}", "rate_hz: 10, camera: none}\n  - {type: wrench, rate_hz: 10}"),
)
SENSOR_KEYS = ["sensors.0.type", "sensors.1.robot", "sensors.1", "sensors.2.camera", "sensors.3"]


@pytest.fixture
def mistakes(tmp_path):
    """The keys of what is told about the cell with pairs of old and new text, in the order of their lines."""

    def tell(use, *changes):
        text = CELL
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        file = tmp_path / "mine.yaml"
        file.write_text(text)
        with pytest.raises(BadInput) as caught:
            use(file)
        told = [
            re.search(r"mine\.yaml, line (\d+): ([^\s:]+):", line)
            for line in getattr(caught.value, "lines", (str(caught.value),))
        ]
        assert [int(line[1]) for line in told] == sorted(int(line[1]) for line in told)
        return [line[2] for line in told]

    return tell


USES = {"Lab": Lab.from_cell, "cell check": lambda file: check_cell(read_cell(file))}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_sensors_doors_and_overlaps_are_told_together(mistakes, use):
    detector, part = ("detector: eye", "detector: ear"), ("[2, 1, 0]", "[2, 1, -0.02]")
    keys = mistakes(use, *SENSORS, detector, part)
    assert sorted(keys) == sorted(["robots.arm.vision.detector", "parts.gear.pose", *SENSOR_KEYS])


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_they_are_told_beside_what_does_not_fit_the_schema(mistakes, use):
    schema, part = ("settle_s: 0", "settle_s: soon"), ("[2, 1, 0]", "[2, 1, -0.02]")
    keys = mistakes(use, *SENSORS, schema, part, ("model: floor", "model: flor"))
    assert sorted(keys) == sorted(["settle_s", "fixtures.floor.model", *SENSOR_KEYS])  # without a floor all is above it
    keys = mistakes(use, *SENSORS, schema, part)
    assert sorted(keys) == sorted(["settle_s", "parts.gear.pose", *SENSOR_KEYS])


def test_a_sensor_of_an_arm_that_is_wrong_itself_is_not_blamed(mistakes):
    assert mistakes(Lab.from_cell, ("xyz_m: [0, 0, 0]}\n    vision", "xyz_m: [0, 0]}\n    vision")) == [
        "robots.arm.base.xyz_m.2"
    ]


def test_a_sensor_for_another_kind_of_robot_is_told_with_its_line(mistakes):
    encoders = ("type: joint_state", "type: encoders")
    assert mistakes(Lab.from_cell, encoders) == ["sensors.0.robot"]


def test_a_laboratory_without_vision_doors_needs_no_detector(tmp_path):
    (tmp_path / "mine.yaml").write_text(CELL.replace("detector: eye", "detector: ear"))
    cell = load_cell(tmp_path / "mine.yaml")
    with Lab(cell) as lab, pytest.raises(BadInput, match=r"line 9: robots\.arm\.vision\.detector: unknown detector"):
        VisionInterface(lab)
    with pytest.raises(BadInput, match=r"robots\.arm\.vision\.detector"):
        check_cell(cell)


def test_detectors_to_choose_from_are_those_that_have_a_name_each_once(tmp_path):
    nameless = "\n  - {type: logical_detector, rate_hz: 5}\n  - {type: logical_detector, name: eye, rate_hz: 5}\n"
    (tmp_path / "mine.yaml").write_text(CELL.replace("detector: eye", "detector: ear").rstrip() + nameless)
    with pytest.raises(BadInput) as caught:
        check_cell(read_cell(tmp_path / "mine.yaml"))
    assert "(available: eye)" in str(caught.value)
