"""Places recognised in pictures of a loosely mounted camera lie in three clusters per axis."""

import numpy as np
import pytest

from cellwright.experiments.aprs_camera_noise import LOOSE, LOOSE_REGION_PX, StillScene, cluster_metrics

pytest.importorskip("cv2", reason="the extra `vision` is not installed")
pytest.importorskip("numba", reason="the extra `cameras` is not installed")


def test_clusters_are_counted_per_axis():
    rng = np.random.default_rng(1)
    x, y = rng.choice([-5.0, 0.0, 5.0], 500), rng.choice([0.0, 8.0], 500)
    metrics = cluster_metrics(np.column_stack([x, y]) + rng.normal(0, 1, (500, 2)))
    assert (metrics["clusters.x"], metrics["clusters.y"], metrics["clusters.n"]) == (3, 2, 500)
    assert metrics["clusters.y_sd_mm"] == pytest.approx(np.sqrt(17), rel=0.1)


@pytest.mark.slow
def test_places_in_pictures_of_a_loose_mount_have_three_clusters_with_the_published_moments():
    places = StillScene(2, LOOSE_REGION_PX, with_trays=False).places_mm(LOOSE, 700)
    metrics = cluster_metrics(places)
    assert metrics["clusters.n"] > 690
    assert (metrics["clusters.x"], metrics["clusters.y"]) == (3, 3)
    assert metrics["clusters.x_sd_mm"] == pytest.approx(0.28, rel=0.15)
    assert metrics["clusters.y_sd_mm"] == pytest.approx(0.33, rel=0.15)
