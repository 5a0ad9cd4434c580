"""What a camera shows agrees with where its own optics say that points are."""

import numpy as np
import pytest

from cellwright.core.camera import Camera, LensError
from cellwright.core.pose import Pose
from cellwright.rendering import GEOM, RayRenderer
from cellwright.sensors.viewfinder import OPTICAL, Viewfinder

ABOVE = Pose.from_xyz_rpy([0.5, 0.0, 0.8], [0.1, np.pi / 2 - 0.15, np.pi / 2 + 0.3])


def middle_of(shot, model, name: str) -> np.ndarray:
    """Middle of the pixels that show a body, in columns and rows."""
    body = model.body(name).id
    y, x = np.nonzero(np.isin(shot.geom, np.flatnonzero(model.geom_bodyid == body)))
    assert len(x) > 20, name
    return np.array([x.mean(), y.mean()]) + 0.5


@pytest.mark.parametrize(
    ("error", "region", "binning"),
    [
        (None, None, 1),
        (None, (40, 60, 240, 180), 1),
        (None, (40, 60, 240, 180), 2),
        (LensError(12.0, (7.0, -9.0)), None, 1),
        (LensError(-9.0, (-3.0, 5.0)), (40, 20, 240, 200), 2),
    ],
)
def test_a_gear_is_seen_where_the_cameras_optics_put_it(tiny, error, region, binning):
    camera = Camera("eye", ABOVE, 0.9, (320, 240), lens_error=error)
    view = Viewfinder(camera, region, binning)
    shot = view.shoot(tiny, RayRenderer(), ABOVE, 1.0, (GEOM,))
    width, height = (320, 240) if region is None else region[2:]
    assert shot.geom.shape == (height // binning, width // binning)
    model = tiny.appearance.now()[0]
    first = np.array(region[:2] if region else (0, 0))
    found = 0
    for name in tiny.objects:
        if not name.startswith("medium_gear"):
            continue
        expected = (camera.pixels(tiny.pose_of(name).position[None])[0] - first) / binning
        if (expected > 15).all() and (expected < np.array(shot.geom.shape[::-1]) - 15).all():
            found += 1
            # The middle of a gear that is seen aslant is not the image of its middle, but near it.
            assert np.abs(middle_of(shot, model, name) - expected).max() < 3.5 / binning, name
    assert found >= 2


def test_a_lens_error_moves_the_picture_by_what_it_says(tiny):
    straight = Viewfinder(Camera("eye", ABOVE, 0.9, (320, 240)), None, 1)
    shifted = Viewfinder(Camera("eye", ABOVE, 0.9, (320, 240), lens_error=LensError(0.0, (8.0, -5.0))), None, 1)
    one, other = (view.shoot(tiny, RayRenderer(), ABOVE, 1.0, (GEOM,)).geom for view in (straight, shifted))
    moved = np.roll(one, (-5, 8), axis=(0, 1))
    assert (moved == other)[10:-10, 10:-10].mean() > 0.995
    assert (one == other)[10:-10, 10:-10].mean() < 0.95


def test_the_frame_of_a_picture_has_z_ahead_and_y_down():
    right, down, ahead = OPTICAL.rotation_matrix.T  # in a camera's own frame: x ahead, y left, z up
    assert np.allclose(ahead, [1, 0, 0])
    assert np.allclose(right, [0, -1, 0])
    assert np.allclose(down, [0, 0, -1])


class CountingRenderer(RayRenderer):
    """Counts the pictures that are drawn."""

    drawn = 0

    def shoot(self, *args, **kwargs):
        self.drawn += 1
        return super().shoot(*args, **kwargs)


def test_what_looks_the_same_is_drawn_once_and_anew_when_it_moved(tiny):
    view, renderer = Viewfinder(Camera("eye", ABOVE, 0.9, (32, 24)), None, 1), CountingRenderer()
    one, two = (view.shoot(tiny, renderer, ABOVE, 1.0, (GEOM,)) for _ in range(2))
    assert renderer.drawn == 1
    np.testing.assert_array_equal(one.geom, two.geom)
    aside = Pose.from_xyz_rpy([0.52, 0.0, 0.8], [0.1, np.pi / 2 - 0.15, np.pi / 2 + 0.3])
    view.shoot(tiny, renderer, aside, 1.0, (GEOM,))
    view.shoot(tiny, renderer, aside, 0.5, (GEOM,))
    assert renderer.drawn == 3
    tiny.data.qpos[tiny.objects["medium_gear_1"].qpos] += 0.001
    view.shoot(tiny, renderer, aside, 0.5, (GEOM,))
    assert renderer.drawn == 4
