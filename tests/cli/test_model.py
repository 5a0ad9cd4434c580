"""`cellwright model`."""

from __future__ import annotations

import pytest
from PIL import Image

from cellwright.catalogue import KINDS

MODELS = [name for registry in KINDS.values() for name in registry]


def test_list(cellwright):
    ended = cellwright("model", "list")
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines())) <= 80
    assert [m["name"] for m in cellwright("model", "list", "--json").json["models"]] == MODELS


@pytest.mark.parametrize(
    "model", ["lr_mate_200id", "sia20f", "aprs_fanuc_gripper", "small_gear", "kit_s2l2_tray", "fence"]
)
def test_show_fits_the_terminal_and_gives_sources(cellwright, model):
    ended = cellwright("model", "show", model)
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "estimated" in ended.out
    assert "compiled: " in ended.out


def test_show_gives_joint_limits_in_degrees(cellwright):
    rows = [line.split() for line in cellwright("model", "show", "lr_mate_200id").out.splitlines()]
    assert ["joint_1", "J1", "-170.0", "170.0", "450", "240"] in rows


def test_show_for_programs(cellwright):
    data = cellwright("model", "show", "kit_m2l1_tray", "--json").json
    assert (data["kind"], data["model"]) == ("tray", "kit_m2l1_tray")
    assert data["figures"]["slots"][0]["accepts"] == "sku_part_medium_gear"
    assert data["figures"]["kind"] == "kit"
    assert set(data["sources"]) == set(data["figures"])
    assert data["compiled"]["bodies"] == 1


def test_show_draws_a_picture(cellwright, monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "ray")
    monkeypatch.setattr("cellwright.cli.model.SIZE_PX", (64, 48))
    data = cellwright("model", "show", "small_gear", "--picture", "new/gear.png", "--json").json
    assert data["picture"] == "new/gear.png"
    with Image.open("new/gear.png") as image:
        assert image.size == (64, 48)
