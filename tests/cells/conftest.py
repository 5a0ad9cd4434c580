"""A small cell as text, and ways to change it."""

import pytest
import yaml

from cellwright.cells import Cell, load_cell

SMALL = """
name: small
title: A small cell
robots:
  arm: {model: lr_mate_200id, base: {xyz_m: [0, 0, 0.5]}, tool: aprs_fanuc_gripper, home_deg: [0, 0, 0, 0, -90, 0]}
fixtures:
  floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}
trays:
  supply: {model: medium_gear_tray, pose: {xyz_m: [0.5, 0.3, 0.0]}}
  kit: {model: kit_m2l1_tray, pose: {xyz_m: [0.5, -0.3, 0.0], rpy_deg: [0, 0, 90]}}
parts:
  gear: {model: medium_gear, slot: kit/slot_1}
  lonely: {model: large_gear, pose: {xyz_m: [0.8, 0.0, 0.0]}}
populations:
  - {model: medium_gear, count: 2, trays: [supply]}
"""


def merged(old, new):
    """The old data with the new over it; None takes a key away."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    result = {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return {key: value for key, value in result.items() if value is not None}


@pytest.fixture
def small_text():
    return SMALL


@pytest.fixture
def make_cell():
    """Makes the small cell with changes."""

    def make(**changes) -> Cell:
        return Cell.model_validate(merged(yaml.safe_load(SMALL), changes))

    return make


@pytest.fixture
def load_changed(tmp_path):
    """Writes the small cell with changes to a file and loads it; `text` replaces all of it."""

    def load(text: str | None = None, **changes) -> Cell:
        file = tmp_path / "mine.yaml"
        file.write_text(text if text is not None else yaml.safe_dump(merged(yaml.safe_load(SMALL), changes)))
        return load_cell(file)

    return load
