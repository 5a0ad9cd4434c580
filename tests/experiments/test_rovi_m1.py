"""The experiment of dense stereo: its scenes, its figures, its noise."""

import numpy as np
import pytest

from cellwright.core.rng import RandomStreams
from cellwright.experiments.rovi_m1 import PARTS, M1Job, M1Trial, _figures, _moments, _poses, locate_all


def trial(status="found", x_cm=0.0, y_cm=0.0):
    return M1Trial("table", 0, 0, 0.5, 1.0, status, x_cm, y_cm, 0.8)


def test_not_found_and_too_far_off_are_errors_and_only_the_latter_is_wrong():
    figures = _figures("m1.s0", [trial(), trial(x_cm=1.2), trial("poor", float("nan"), float("nan")), trial(y_cm=-0.5)])
    assert (figures["m1.s0.error"], figures["m1.s0.wrong"], figures["m1.s0.n"]) == (0.5, 0.25, 4.0)


def test_moments_are_those_of_the_paper_s_table():
    offs = [(0.3, 0.0), (0.5, 0.0), (0.4, 0.1), (0.4, -0.1)]
    moments = _moments("m", [trial(x_cm=x, y_cm=y) for x, y in offs])
    assert moments["m.mean_cm"] == pytest.approx(np.sqrt(0.4))
    assert moments["m.cov_det_cm2"] == pytest.approx((0.02 / 3) ** 2)


@pytest.mark.parametrize("kind", ["random", "held"])
def test_random_scenes_have_the_bottle_and_two_others_apart(kind):
    for number in range(20):
        poses = _poses(kind, number, RandomStreams(3).stream(f"{number}"))
        assert next(iter(poses)) == "bottle"
        assert len(poses) == 3
        assert set(poses) <= set(PARTS)
        places = np.array([pose[:2] for pose in poses.values()])
        assert min(np.hypot(*(places[i] - places[j])) for i, j in ((0, 1), (0, 2), (1, 2))) > 0.1


@pytest.mark.slow
def test_a_job_draws_its_scene_once_and_noise_anew():
    pytest.importorskip("cv2", reason="the extra `vision` is not installed")
    trials = locate_all(M1Job("table", (0, 15), 2, (4,), 0))
    assert [one.sigma for one in trials] == [0, 15, 15]
    assert not any(one.is_error for one in trials)
    assert trials[1].off_x_cm != trials[2].off_x_cm
