"""`cellwright run rovi --order pick_...`: options, variants, verdicts and exit codes."""

from __future__ import annotations

import json

import pytest

from cellwright.core.extras import has_extra

pytestmark = pytest.mark.skipif(
    not has_extra("numba", "toppra", "cv2"), reason="not installed: pip install 'cellwright[motion,vision]'"
)


@pytest.fixture(autouse=True)
def _draw_anywhere(monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "soft")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--fault", "drop:part=bottle"], "--fault is for orders of kits; pick_bottle is an order to pick"),
        (["--quantity", "2"], "--quantity is for orders of kits"),
        (["--recovery", "none"], "--recovery is for orders of kits"),
    ],
)
def test_options_of_kits_are_refused(refused, options, why):
    assert why in refused("run", "rovi", "--order", "pick_bottle", *options)


def test_a_wrong_name_is_told_with_the_right_ones(refused):
    assert "did you mean 'pick_bottle'?" in refused("run", "rovi", "--order", "pick_botle")


def test_a_cell_without_the_areas_is_refused(refused):
    assert "unknown area of a table 'pick_area'" in refused("run", "aprs", "--order", "pick_bottle")


@pytest.mark.slow
def test_a_bottle_is_brought_to_its_place_and_all_of_it_is_told(cellwright, tmp_path):
    ended = cellwright("run", "rovi", "--order", "pick_bottle", "--seed", 3, "--out", "mine", "--no-picture", "--json")
    assert ended.code == 0, ended.err
    report = ended.json
    assert (report["status"], report["order"], report["cell"]) == ("done", "pick_bottle", "rovi")
    assert report["verdict"]["placed"]
    assert report["account"]["measurements"][0]["status"] == "found"
    assert report["collisions"] == []
    saved = json.loads((tmp_path / "mine" / "verdict.json").read_text())
    assert saved["verdict"] == report["verdict"]
    assert (tmp_path / "mine" / "log.mcap").stat().st_size > 0
    assert "carry" in ended.err
