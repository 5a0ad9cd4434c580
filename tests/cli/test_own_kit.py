"""A kit of the user's own parts: the files of the guide, from `cell check` to the judge's verdict."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from cellwright.catalogue import part_of_sku
from cellwright.cells import load_cell

pytestmark = pytest.mark.usefixtures("own_models")

GUIDE = Path(__file__).parents[2] / "docs/guide/models.md"
FILES = {"xml": "bracket.urdf", "python": "trays.py", "yaml": "brackets.yaml"}


@pytest.fixture
def guide_files(tmp_path):
    """Writes the files of the guide; afterwards the plugin is forgotten."""
    section = GUIDE.read_text(encoding="utf-8").partition("## A kit of your own parts")[2].partition("\n## ")[0]
    for language, text in re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL):
        if language in FILES:
            (tmp_path / FILES[language]).write_text(text, encoding="utf-8")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("cellwright_plugin_")]:
        del sys.modules[name]


def test_the_cell_of_the_guide_is_fit_for_use(cellwright, guide_files):
    ended = cellwright("cell", "check", "brackets.yaml", "--json")
    found = {finding["check"]: finding for finding in json.loads(ended.out)["findings"]}
    assert ended.code == 0, ended
    assert found["grasp bracket"]["values"]["fanuc.aprs_fanuc_gripper.width_m"] == pytest.approx(0.010, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("fidelity", ["kinematic", "physics"])
def test_its_order_is_built_and_judged(cellwright, guide_files, fidelity):
    ended = cellwright(
        "run", "brackets.yaml", "--order", "bracket_pair", "--fidelity", fidelity, "--json", "--no-picture"
    )
    assert ended.code == 0, ended.err
    points = {item["name"]: item["points"] for item in ended.json["items"]}
    assert points["kit/slot_1"] == points["kit/slot_2"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "3", "4"])
def test_a_part_that_is_dropped_is_replaced_by_another(cellwright, guide_files, seed):
    """It comes to lie against the kit's tray, on its side: beside it, not on it."""
    fault = ("--fault", "drop:during=transfer:1")
    ended = cellwright(
        "run", "brackets.yaml", "--order", "bracket_pair", "--seed", seed, *fault, "--json", "--no-picture"
    )
    assert ended.code == 0, ended.err
    assert len(ended.json["faults"]) == 1


def test_a_part_that_was_changed_is_taken_as_it_is_now(guide_files, monkeypatch):
    """In a notebook, say, where the cell is read again."""
    monkeypatch.chdir(guide_files)
    urdf, widths_m = guide_files / "bracket.urdf", []
    first = urdf.read_text(encoding="utf-8")
    for text in (first, first.replace("0.01 0.03 0.035", "0.012 0.03 0.035"), first):
        urdf.write_text(text, encoding="utf-8")
        load_cell("brackets.yaml")
        widths_m.append(part_of_sku("sku_bracket").grasp_width_m)
    assert widths_m == pytest.approx([0.010, 0.012, 0.010], abs=1e-4)


def test_a_slot_that_is_too_narrow_is_a_mistake_of_the_cell(refused, guide_files):
    plugin = guide_files / "trays.py"
    plugin.write_text(plugin.read_text().replace("=0.034", "=0.028").replace("=0.038", "=0.030"), encoding="utf-8")
    assert re.search(r"'bracket_\d' and 'supply' overlap by \d", refused("cell", "check", "brackets.yaml"))


def test_trays_of_a_plugin_that_cannot_be_imported_are_no_second_mistake(refused, guide_files):
    plugin = guide_files / "trays.py"
    plugin.write_text("1 / 0\n" + plugin.read_text(), encoding="utf-8")
    (complaint,) = refused("cell", "check", "brackets.yaml").splitlines()
    assert re.search(r"plugins\.0: .*trays\.py, line 1: ZeroDivisionError", complaint)


def test_a_plugin_that_fails_after_it_registered_a_tray_says_why(refused, guide_files):
    plugin = guide_files / "trays.py"
    plugin.write_text(plugin.read_text() + "1 / 0\n", encoding="utf-8")
    (complaint,) = refused("cell", "check", "brackets.yaml").splitlines()
    assert "ZeroDivisionError" in complaint
