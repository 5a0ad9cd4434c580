"""The recognition's noise against what is published, and against the laboratory's own frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cellwright.core.results import MeasurementConditions
from cellwright.experiments.aprs_noise import PAPER, aprs_noise, jump_rate
from cellwright.interfaces.vision_text import decode_line

RECORDED = Path(__file__).parents[3] / "shared/aprs/vision"


def test_scatter_and_jumps_are_those_that_are_published():
    found = aprs_noise(MeasurementConditions(seed=5, quick=True))
    for name, limits in found.targets.items():
        assert limits["min"] <= found.metrics[name] <= limits["max"], name
    assert {"normal.x_sd_mm", "normal.y_sd_mm", "mixture.x_sd_mm", "frames.jump_rate"} <= set(found.metrics)


def test_a_jump_is_a_change_of_group_while_the_object_stays():
    here, there = ("sku_part_large_gear", 10.0, 20.0), ("sku_part_large_gear", 110.0, 20.0)
    assert jump_rate([[here, there]] * 4) == 0.0
    assert jump_rate([[here, there], [there, here]] * 2) == 1.0
    assert jump_rate([[here, there], [there]]) == 1.0
    assert np.isnan(jump_rate([[here], [("sku_large_gear_vessel", 10.0, 20.0)]]))


@pytest.mark.skipif(not RECORDED.exists(), reason="needs the laboratory's recorded frames (shared/aprs/vision)")
def test_the_published_rate_of_jumps_is_that_of_the_recorded_frames():
    lines = (RECORDED / "captur_jan_25_2017.csv").read_text(encoding="utf-8").splitlines()
    frames = [[(group.name, group.x_mm, group.y_mm) for group in decode_line(line)] for line in lines]
    assert jump_rate(frames) == pytest.approx(PAPER["frames.jump_rate"], abs=0.02)
