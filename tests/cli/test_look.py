import numpy as np
import pytest
from PIL import Image

CELL = """
name: small
title: A tray and a camera above it
fidelity: kinematic
trays: {tray: {model: medium_gear_tray, pose: {xyz_m: [0.0, 0.0, 0.0]}}}
cameras: {eye: {pose: {xyz_m: [0, 0, 0.6], rpy_deg: [0, 90, 90]}, fov_deg: 40, resolution_px: [64, 48]}}
sensors:
  - {type: depth_camera, name: deep, camera: eye, noise: [{model: gaussian_depth, sd_m: 0.0}], binning: 2}
"""


@pytest.fixture
def cell(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(CELL)
    return str(file)


def test_a_picture_through_a_camera_of_the_cell(cellwright, cell, tmp_path):
    out = tmp_path / "eye.png"
    told = cellwright("look", cell, "--camera", "eye", "--out", str(out), "--json").json
    picture = np.asarray(Image.open(out))
    assert picture.shape == (48, 64, 3)
    assert (told["width"], told["height"], told["clipped"]) == (64, 48, 0.0)
    assert told["matrix"][0][0] == pytest.approx(32 / np.tan(np.radians(20)))
    assert told["position_m"] == pytest.approx([0, 0, 0.6])
    assert np.ptp(picture.astype(int), axis=(0, 1)).max() > 60  # a tray, its slots and what is behind it


def test_depths_in_whole_millimetres(cellwright, cell, tmp_path):
    out = tmp_path / "deep.png"
    told = cellwright("look", cell, "--camera", "deep", "--depth", "--out", str(out), "--json").json
    depth = np.asarray(Image.open(out))
    assert depth.shape == (24, 32)
    nearest, farthest = told["range_m"]
    assert 0.5 < nearest <= farthest <= 0.6
    assert depth[depth > 0].min() == pytest.approx(1000 * nearest, abs=1)


def test_cell_picture_through_a_camera(cellwright, cell, tmp_path):
    out = tmp_path / "a.png"
    told = cellwright("cell", "picture", cell, "--camera", "eye", "--out", str(out), "--json").json
    assert (told["width"], told["height"]) == (64, 48)
    assert np.asarray(Image.open(out)).shape == (48, 64, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--camera", "ey"], "unknown camera 'ey'; did you mean 'eye'"),
        (["--camera", "eye", "--binning", "3"], "binning: should be 1, 2, 4 or 8"),
        (["--camera", "eye", "--exposure", "0"], "exposure: should be greater than 0"),
        (["--camera", "eye", "--noise", "2"], "sd: should be less than or equal to 1"),
        (["--camera", "eye", "--out", "eye.jpg"], "should end in .png"),
        ([], "Missing option '--camera'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(refused, cell, options, message):
    assert message in refused("look", cell, *options)


def test_what_is_recognised_is_listed_and_drawn(cellwright, cell, tmp_path):
    pytest.importorskip("cv2", reason="the extra vision is not installed")
    wide = tmp_path / "wide.yaml"
    wide.write_text(CELL.replace("[64, 48]", "[512, 384]"))
    plain, out = tmp_path / "plain.png", tmp_path / "seen.png"
    cellwright("look", str(wide), "--camera", "eye", "--out", str(plain))
    told = cellwright("look", str(wide), "--camera", "eye", "--detect", "--out", str(out), "--json").json
    (tray,) = told["detections"]
    assert tray["sku"] == "sku_medium_gear_vessel"
    assert tray["xy_m"] == pytest.approx([0, 0], abs=0.001)
    assert tray["yaw_deg"] == pytest.approx(0, abs=0.5)
    assert (np.asarray(Image.open(out)) != np.asarray(Image.open(plain))).any()


@pytest.mark.slow
def test_a_stereo_camera_finds_what_orders_to_pick_are_about(cellwright, refused, tmp_path):
    pytest.importorskip("cv2", reason="the extra vision is not installed")
    out = tmp_path / "pair.png"
    told = cellwright("look", "rovi@mug", "--camera", "stereo", "--detect", "--out", str(out), "--json").json
    (mug,) = told["detections"]
    assert mug["sku"] == "sku_mug"
    assert mug["xy_m"] == pytest.approx([0.40, 1.05], abs=0.004)
    picture = np.asarray(Image.open(out))
    assert picture.shape == (800, 800, 3)
    red, green, blue = (picture[..., channel].astype(int) for channel in range(3))
    assert ((red > 200) & (green < 120) & (blue > 200)).sum() > 50, "its outline"
    message = refused("look", "rovi@cube", "--camera", "stereo_left", "--detect", "--out", str(tmp_path / "no.png"))
    assert "none of it is drawn on its area" in message
