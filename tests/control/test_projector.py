"""A projector is switched at run time: pictures show it, logs tell it, snapshots keep it."""

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import Cell
from cellwright.core.errors import BadInput

pytest.importorskip("numba", reason="the extra `cameras` is not installed")

PLACE = {"pose": {"xyz_m": [0.5, 0.0, 0.8], "rpy_deg": [0, 90, 90]}, "fov_deg": 40}
EYES = {
    "eye": {**PLACE, "resolution_px": [96, 64]},
    "other": {"pose": {"xyz_m": [0.58, 0, 0.8], "rpy_deg": [0, 90, 90]}, "fov_deg": 40, "resolution_px": [96, 64]},
}
CELL = {
    "name": "tiny",
    "title": "A tray, two cameras and a projector",
    "fidelity": "kinematic",
    "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.5, 0.0, 0.0]}}},
    "cameras": EYES,
    "sensors": [
        {"type": "color_camera", "camera": "eye", "renderer": "soft"},
        {"type": "stereo_camera", "name": "pair", "left": "eye", "right": "other", "renderer": "soft"},
    ],
}
SPOT = {"projectors": {"spot": {**PLACE, "fov_deg": 30}}}


def lab(**more) -> cw.Lab:
    return cw.Lab(Cell.model_validate({**CELL, **more}), seed=2)


def test_off_gives_the_same_bytes_as_no_projector():
    with lab() as bare, lab(**SPOT) as off:
        for name in ("eye", "pair"):
            assert np.array_equal(bare.sensor(name).capture().pixels, off.sensor(name).capture().pixels)


def test_it_is_switched_while_the_cell_runs_and_gives_the_same_bytes_each_time():
    with lab(**SPOT) as cell, lab(projectors={"spot": {**SPOT["projectors"]["spot"], "on": True}}) as always:
        heard = []
        cell.bus.subscribe("/spot/io", lambda _, message: heard.append(message), subscriber="t")
        eye, spot = cell.sensor("eye"), cell.projector("spot")
        dark = eye.capture().pixels
        spot.switch(True)
        spot.switch(True)
        lit = eye.capture().pixels
        assert spot.is_on
        spot.switch(False)
        again = eye.capture().pixels
        assert np.array_equal(dark, again)
        assert [message.values for message in heard] == [(True,), (False,)]
        gain = lit.astype(int) - dark
        assert 0.05 < (gain[..., 0] > 30).mean() < 0.2  # half of the dots, on the tray
        assert not gain[..., 1:].any()
        assert np.array_equal(always.sensor("eye").capture().pixels, lit)
        assert np.array_equal(always.sensor("pair").capture().pixels, lit)


def test_snapshots_keep_it():
    with lab(**SPOT) as cell:
        moment = cell.snapshot()
        cell.projector("spot").switch(True)
        lit = cell.snapshot()
        cell.restore(moment)
        assert not cell.projector("spot").is_on
        cell.restore(lit)
        assert cell.projector("spot").is_on


def test_a_name_that_is_none_is_told():
    with lab(**SPOT) as cell, pytest.raises(BadInput, match="unknown projector 'spod'; did you mean 'spot'"):
        cell.projector("spod")
