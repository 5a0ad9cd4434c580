"""`cellwright cell` with mobile robots: what is shown, checked and drawn."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image


def test_list_counts_mobile_robots(cellwright):
    assert "4 epuck" in cellwright("cell", "list").out


def test_show(cellwright):
    ended = cellwright("cell", "show", "epucks@maze", "--seed", 3)
    assert (ended.code, ended.err) == (0, "")
    for text in ("ePuck1", "wheels [mm]", "arena of 1.2 x 0.8 m", "ePuck, each"):
        assert text in ended.out
    assert max(map(len, ended.out.split("\n\n", 1)[1].splitlines())) <= 80


def test_show_for_programs(cellwright):
    shown = cellwright("cell", "show", "epucks", "--seed", 3, "--json").json
    assert shown["mobiles"]["ePuck"]["count"] == 4
    assert set(shown["mobile_robots"]) == {"ePuck0", "ePuck1", "ePuck2", "ePuck3"}
    assert shown["mobile_robots"]["ePuck3"]["xyz_m"] == pytest.approx([0.1, 0.1, 0.0])
    assert 0 < shown["mobile_robots"]["ePuck3"]["off_mm"] < 10


@pytest.mark.slow
def test_check(cellwright):
    ended = cellwright("cell", "check", "epucks@one", "--json")
    assert ended.code == 0
    assert {"drives", "sensor ePuck0 encoders"} <= {finding["check"] for finding in ended.json["findings"]}


def test_picture(cellwright, tmp_path, monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "ray")
    out = tmp_path / "epuck.png"
    assert cellwright("cell", "picture", "epucks@one", "--out", out, "--width", 320, "--height", 180).code == 0
    pixels = np.asarray(Image.open(out).convert("RGB"), dtype=int)
    assert pixels.shape == (180, 320, 3)
    middle = pixels[60:120, 120:200]
    green = (middle[..., 1] > middle[..., 0] + 25) & (middle[..., 1] > middle[..., 2] + 25)
    assert green.sum() > 10  # boards and wheels


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("count: 4\n    arrange: {shape: grid, spacing_m: 0.05}", "overlap by 24.0 mm"),
        (
            "count: 99\n    arrange: {shape: grid, spacing_m: 0.2}",
            "'ePuck0' at (-0.900, -0.900) is not within the walls",
        ),
        ("count: 4\n    arrange: {shape: pile}", "'shape' should be one of 'grid', 'ring', 'scatter', got 'pile'"),
    ],
)
def test_bad_cells_are_refused_in_one_line(cellwright, tmp_path, change, message):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\ntitle: Mine\narena: {size_m: [1.0, 1.0]}\n"
        "fixtures: {floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}}\n"
        f"mobiles:\n  ePuck:\n    model: epuck\n    {change}\n"
    )
    ended = cellwright("cell", "check", file)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
