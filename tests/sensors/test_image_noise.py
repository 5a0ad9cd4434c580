import numpy as np
import pytest

from cellwright.core.errors import BadInput
from cellwright.sensors.image_noise import PICTURE_NOISES, make_noises

GREY = np.full((200, 200, 3), 0.5, np.float32)


def made(of_depth: bool = False, **line):
    return make_noises([line], "cell: sensors.0", of_depth=of_depth)[0]


def test_gaussian_noise_has_its_spread_and_no_mean():
    noise = made(model="gaussian", sd=0.1).apply(GREY, np.random.default_rng(0)) - GREY
    assert noise.std() == pytest.approx(0.1, rel=0.02)
    assert abs(noise.mean()) < 4 * 0.1 / np.sqrt(noise.size)
    assert abs(np.corrcoef(noise[..., 0].ravel(), noise[..., 1].ravel())[0, 1]) < 0.02  # channels are independent


def test_shot_noise_grows_with_the_root_of_the_light():
    spreads = [made(model="shot", sd=0.1).apply(GREY * level, np.random.default_rng(0)).std() for level in (0.5, 2.0)]
    assert spreads[1] / spreads[0] == pytest.approx(2.0, rel=0.03)
    assert spreads[1] == pytest.approx(0.1, rel=0.02)


def test_kinect_noise_grows_with_the_square_of_the_distance_and_loses_edges():
    noise = made(of_depth=True, model="kinect", step_px=0)
    flat = [noise.apply(np.full((300, 300), z, np.float32), np.random.default_rng(1)) for z in (0.4, 2.4)]
    assert flat[0].std() == pytest.approx(0.0012, rel=0.02)
    assert flat[1].std() == pytest.approx(0.0012 + 0.0019 * 4, rel=0.02)
    step = np.ones((100, 100), np.float32)
    step[:, 50:] = 1.5
    lost = np.isnan(noise.apply(step, np.random.default_rng(2)))
    assert 0.3 < lost[:, 49:51].mean() < 0.7
    assert not lost[:, :49].any()


def test_kinect_depths_come_in_steps_of_disparity():
    depths = made(of_depth=True, model="kinect", sd_m=0, sd_per_m=0).apply(
        np.linspace(0.8, 2.5, 10000, dtype=np.float32).reshape(100, 100), np.random.default_rng(0)
    )
    disparities = 43.5 / depths[np.isfinite(depths)]
    assert np.allclose(disparities / 0.125, np.round(disparities / 0.125), atol=1e-3)
    assert len(np.unique(depths)) < 400


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"model": "gausian", "sd": 0.1}, "unknown picture noise 'gausian'; did you mean 'gaussian'"),
        ({"sd": 0.1}, "name a noise"),
        ({"model": "gaussian", "sd": -1}, "sd"),
        ({"model": "kinect"}, "'kinect' is no noise of colours: gaussian, loose_mount, shot"),
    ],
)
def test_noise_that_is_none(line, message):
    with pytest.raises(BadInput, match=message):
        made(**line)


def test_another_model_is_registered_by_its_class():
    from cellwright.sensors.image_noise import PictureNoise, PictureNoiseCfg

    class DarkCfg(PictureNoiseCfg):
        by: float

    class Dark(PictureNoise):
        Cfg = DarkCfg

        def apply(self, picture, rng):
            return picture - np.float32(self.cfg.by)

    PICTURE_NOISES.register("dark")(Dark)
    try:
        assert made(model="dark", by=0.25).apply(GREY, np.random.default_rng(0)).max() == 0.25
    finally:
        PICTURE_NOISES._entries.pop("dark")


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (lambda picture: picture[:5], r"like its picture, \(.*\), not an array of \(5"),
        (lambda picture: None, "not NoneType"),
        (lambda picture: picture * np.nan, "no numbers"),
        (lambda picture: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_model_of_others_that_fails_is_named_in_one_line(result, why):
    from cellwright.sensors.image_noise import PictureNoise, PictureNoiseCfg, with_models

    class Fog(PictureNoise):
        def apply(self, picture, rng):
            return result(picture)

    with pytest.raises(BadInput, match=rf"picture noise 'fog' fails in apply.*{why}"):
        with_models(GREY, [Fog(PictureNoiseCfg(model="fog"))], np.random.default_rng(0))
