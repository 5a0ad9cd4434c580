"""The score of recognition: what counts as found, as false, as turned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.experiments.recognition_scenes import TrueObject, random_layout
from cellwright.experiments.recognition_score import RecognitionScore, score_scene
from cellwright.perception.recognition import Recognised

GEAR, TRAY, LARGE = "sku_part_small_gear", "sku_small_gear_vessel", "sku_large_gear_vessel"


def found(*rows: tuple[str, float, float, float]) -> Recognised:
    yaws = np.array([row[3] for row in rows])
    return replace(
        Recognised.nothing("eye", 0.0),
        skus=tuple(row[0] for row in rows),
        positions=np.array([(row[1], row[2], 0.9) for row in rows]),
        quaternions=np.column_stack([np.cos(yaws / 2), 0 * yaws, 0 * yaws, np.sin(yaws / 2)]),
        scores=np.ones(len(rows)),
    )


def true(sku: str, x: float, y: float, yaw: float = 0.0, visible: float = 1.0) -> TrueObject:
    return TrueObject(sku, Pose.from_xyz_rpy([x, y, 0.9], [0, 0, yaw]), visible)


def test_an_object_is_found_once_and_what_is_left_is_false():
    score = score_scene(found((GEAR, 0.001, 0, 0), (GEAR, 0.002, 0, 0)), [true(GEAR, 0, 0), true(GEAR, 1, 0)])
    assert (score.seen, score.could, score.true, score.told) == (1, 2, 1, 2)
    assert score.errors_mm == pytest.approx([1.0])
    assert len(score.wrong) == 2


def test_what_is_mostly_hidden_counts_neither_way():
    score = score_scene(found((GEAR, 0, 0, 0)), [true(GEAR, 0, 0, visible=0.5)])
    assert (score.seen, score.could, score.true, score.told) == (0, 0, 1, 1)


def test_rotations_that_look_alike_are_the_same_and_half_a_turn_of_a_large_tray_is_a_flip():
    score = score_scene(found((TRAY, 0, 0, np.pi / 2 + 0.01)), [true(TRAY, 0, 0)])
    assert score.turns_deg == pytest.approx([np.degrees(0.01)])
    score = score_scene(found((LARGE, 0, 0, np.pi)), [true(LARGE, 0, 0)])
    assert score.turns_deg == pytest.approx([180.0])
    assert RecognitionScore.total([score]).metrics("x")["x.flips"] == 1


def test_random_layouts_are_those_of_their_stream():
    one, same, other = (random_layout(np.random.default_rng(k), "camera_fanuc", other=False) for k in (3, 3, 4))
    assert one.trays == same.trays
    assert one.parts == same.parts
    assert one.trays != other.trays
