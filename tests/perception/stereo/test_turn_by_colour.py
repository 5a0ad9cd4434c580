"""The turn of a mug by the colours of its handle: seen, hidden, and of no other colour than the table."""

from dataclasses import replace

import numpy as np
import pytest

from cellwright.catalogue.rovi_objects import MUG
from cellwright.perception.stereo import FastStereo, model_of
from cellwright.perception.stereo.hypotheses import UprightPose
from cellwright.perception.stereo.rectified_pair import rectify
from cellwright.perception.stereo.turn_by_colour import colour_evidence

from .conftest import TABLE, upright

pytest.importorskip("scipy", reason="the extra `vision` is not installed")
XY_M = (0.42, 1.05)
YAWS = 2 * np.pi * np.arange(72) / 72
HIDDEN_RAD = -np.pi / 2  # the camera looks from +y


@pytest.fixture(scope="module")
def mug_pair(scene):
    """Returns the noisy pictures of a mug at a turn."""
    from cellwright.experiments.stereo_scenes import with_gaussian

    def take(yaw_rad: float):
        scene.arrange({"bottle": upright(0.3, 0.12), "mug": upright(*XY_M, yaw_rad)})
        pair = with_gaussian(scene.take(), 15, np.random.default_rng(3))
        scene.arrange({"mug": upright(0.2, 0.3, z_m=0.74)})
        return pair

    return take


def evidence(pair) -> np.ndarray:
    return colour_evidence(model_of(MUG), UprightPose(*XY_M, 0.0), rectify(*pair), TABLE.surface_m, YAWS)


def test_a_handle_at_the_side_is_told_from_the_table(mug_pair):
    told = evidence(mug_pair(0.35))
    away = np.abs((YAWS - 0.35 + np.pi) % (2 * np.pi) - np.pi)
    assert away[told.argmax()] < 0.1
    assert told.max() > 0.2
    assert told[np.abs(away - np.pi) < 0.2].max() < -0.5, "there is none on the other side"


@pytest.mark.slow
def test_a_hidden_handle_is_told_by_there_being_none_elsewhere(mug_pair):
    told = evidence(mug_pair(HIDDEN_RAD))
    side = np.abs(np.sin(YAWS)) < 0.3
    assert told[side].max() < -0.5
    assert told[np.abs((YAWS - HIDDEN_RAD) % (2 * np.pi)).argmin()] > told.max() - 0.15


def test_what_has_the_colour_of_the_table_tells_nothing(mug_pair):
    grey = [
        replace(one, pixels=np.repeat(one.pixels.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8))
        for one in mug_pair(0.35)
    ]
    assert evidence(grey) is None


@pytest.mark.slow
@pytest.mark.parametrize("yaw_rad", np.radians([-170, -130, -90, -50, -10, 30, 70, 110, 150]).tolist())
def test_the_turn_of_a_mug_is_measured_or_among_those_that_are_told(mug_pair, yaw_rad):
    found = FastStereo(model_of(MUG), TABLE).locate(*mug_pair(yaw_rad))
    assert found.reason == ""
    turns = found.pose_in_world.rpy[2] + np.array([0.0, *found.other_turns_rad])
    away = np.abs((turns - yaw_rad + np.pi) % (2 * np.pi) - np.pi)
    assert away.min() < 0.15
    assert np.isfinite(found.variances[5]) == (not found.other_turns_rad), "one turn, or several"
