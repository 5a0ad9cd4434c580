"""Pictures of a laboratory, and what its objects show of themselves at the prompt and in a notebook."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import zlib

import numpy as np
import pytest
from lxml import etree
from PIL import Image

import cellwright as cw
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.messages import Detections
from cellwright.scaffold import write_project
from cellwright.viewing import unpack

pytestmark = pytest.mark.slow  # each makes a laboratory and draws it

SMALL = (160, 90)


@pytest.fixture(scope="module")
def lab():
    with cw.Lab.from_cell("aprs", seed=7, fidelity="kinematic") as made:
        yield made


@pytest.fixture(scope="module")
def picture(lab):
    return lab.picture(size=SMALL)


def test_a_picture_shows_the_cell_and_is_a_png_in_a_notebook(picture, tmp_path):
    assert picture.array.shape == (90, 160, 3)
    assert picture.array.std() > 10
    assert np.array_equal(np.array(Image.open(io.BytesIO(picture._repr_png_()))), picture.array)
    assert np.array_equal(np.array(Image.open(picture.save(tmp_path / "a.png"))), picture.array)
    assert repr(picture) == "<picture of aprs at 0.00 s, 160 x 90; .save(FILE.png), .array>"


def test_a_picture_shows_what_has_moved(lab, picture):
    robot = lab.robot("fanuc")
    home = robot.joints_rad
    lab.perform(robot.move_joints(home + np.radians([60, 0, 0, 0, 0, 0])))
    moved = lab.picture(size=SMALL)
    lab.perform(robot.move_joints(home))
    assert (np.abs(moved.array.astype(int) - picture.array).max(axis=2) > 30).sum() > 50


def test_a_camera_sees_from_above_and_has_its_own_shape(lab):
    seen = lab.picture("camera_fanuc", size=(96, 96))
    assert seen.array.shape == (96, 96, 3)
    reds = (seen.array[..., 0] > 120) & (seen.array[..., 1] < 60)
    assert reds.sum() > 20, "large gears are red"
    assert np.array_equal(seen.array, lab.picture("camera_fanuc", size=(96, 96)).array)
    assert "through camera_fanuc" in repr(seen)


def test_a_sensor_that_takes_pictures_does_not_notice_that_another_is_taken(lab):
    line = {"type": "color_camera", "name": "eye", "robot": "fanuc", "rate_hz": 0, "resolution_px": [32, 24]}
    cell = lab.cell.model_copy(
        update={"sensors": [*lab.cell.sensors, {**line, "noise": [{"model": "gaussian", "sd": 0.02}]}]}
    )
    taken = []
    for looks in (False, True):
        with cw.Lab.from_cell(cell, 7) as other:
            eye = other.sensor("eye")
            if looks:
                assert other.picture("eye").array.shape == (24, 32, 3)
            taken.append(eye.capture().pixels)
            streams = other.world.streams.snapshot()
            other.picture("eye")
            assert other.world.streams.snapshot() == streams
    assert np.array_equal(*taken)


@pytest.mark.parametrize(
    ("camera", "size", "error", "said"),
    [
        ("camera_left", None, UnknownName, "unknown camera 'camera_left'"),
        (None, (4, 90), OutOfRange, "a side of the picture is 4 px, allowed 16 to 8192 px"),
        ("camera_fanuc", (100, 10**6), OutOfRange, "a side of the picture"),
        (None, 960, BadInput, "columns and rows, such as"),
        (None, (96.5, 90), BadInput, "columns and rows, such as"),
    ],
)
def test_a_picture_that_cannot_be_is_refused_in_one_line(lab, camera, size, error, said):
    with pytest.raises(error, match=said):
        lab.picture(camera, size=size)


def test_a_picture_is_saved_as_png_alone(picture, tmp_path):
    with pytest.raises(BadInput, match=r"should end in \.png"):
        picture.save(tmp_path / "a.jpg")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run in the cell of a project, which is smaller than those that ship."""
    file = tmp_path_factory.mktemp("run") / "run.mcap"
    project = write_project(file.parent / "project", "mine").folder
    with cw.Lab.from_cell(project / "mine.yaml", seed=7, fidelity="kinematic") as lab:
        lab.record(file)

        async def cell_of_a_notebook():  # there an event loop runs already
            return lab.run(project / "order.yaml")

        report = asyncio.run(cell_of_a_notebook())
        detections = next(message for _, _, message in cw.read_log(file).entries(["/detector_fanuc/detections"]))
        yield {"lab": lab, "robot": lab.robot("fanuc"), "report": report, "log": file, "detections": detections}


def test_objects_tell_what_they_are_in_one_line(run):
    assert repr(run["lab"]).startswith("<laboratory mine, seed 7, kinematic, at ")
    assert "robots fanuc>" in repr(run["lab"])
    assert repr(run["robot"]).startswith("<robot fanuc, lr_mate_200id with aprs_fanuc_gripper: idle; joints ")
    assert repr(run["report"]).startswith("<report on pair in mine, seed 7, by internal: done, score 100 of 100")
    assert "cell mine, seed 7, " in repr(cw.read_log(run["log"]))
    assert repr(run["detections"]).startswith("<detector_fanuc at ")
    assert " more>" in repr(run["detections"])


def test_objects_show_tables_in_a_notebook(run):
    shown = {name: run[name] for name in ("lab", "robot", "report", "detections")} | {"log": cw.read_log(run["log"])}
    texts = {name: " ".join(etree.fromstring(thing._repr_html_()).itertext()) for name, thing in shown.items()}
    assert "overhead_detector 10 Hz" in " ".join(texts["lab"].split())
    assert "tool yaw" in texts["robot"]
    assert "-0.00" not in texts["robot"]
    assert "slot_3" in texts["report"]
    assert "/fanuc/joint_states" in texts["log"]
    assert "sku_part_large_gear" in texts["detections"]


def test_what_a_detector_does_not_measure_is_not_told_as_if_it_were_seen():
    variances = np.array([[1e-6, 1e-6, np.inf, np.inf, np.inf, 1e-4]])
    frame = {"frame": "world", "skus": ("<b>",), "positions": np.array([[0.1, 0.2, 0.916]])}
    turn = {"quaternions": np.array([[1.0, 0, 0, 0]]), "variances": variances, "scores": np.array([0.9])}
    tree = etree.fromstring(Detections(0, 0, "eye", **frame, **turn)._repr_html_())
    assert [cell.text for cell in tree.iter("td")] == ["<b>", "0.1000", "0.2000", None, "0.0", "0.90"]


@pytest.fixture
def built_page(monkeypatch, tmp_path):
    """A page in the place of the viewer's, which is built where Node.js is: what is asked here is what it gets."""
    file = tmp_path / "viewer.html"
    file.write_text('<!doctype html><title>"a" & <b></title><!-- data --><p>"end"</p>', encoding="utf-8")
    monkeypatch.setattr("cellwright.viewing.page.PAGE_FILE", file)
    return file


def test_the_cell_is_shown_as_it_is_now(built_page, lab, tmp_path):
    lab.sensor("detector_fanuc")
    lab.advance(0.2)
    shown = lab.show(height_px=420)
    frame = etree.HTML(shown._repr_html_()).find(".//iframe")
    assert frame.get("srcdoc") == shown.page
    assert "height:420px" in frame.get("style")
    blocks = {
        name: zlib.decompress(base64.b64decode(text))
        for name, text in re.findall(r'<script type="[^"]+" id="([\w-]+)">([^<]+)</script>', shown.page)
    }
    scene, _ = unpack(blocks["scene"])
    keys, times = unpack(blocks["keys"])
    run = json.loads(blocks["run"])
    gear = next(body for body in scene["bodies"] if body["name"] == "large_gear_1")
    assert gear["pose"][:3] == pytest.approx(lab.world.pose_of("large_gear_1").position, abs=1e-5)
    assert (keys["count"], keys["columns"]) == (1, [])
    assert np.frombuffer(times[:4], "<f4")[0] == pytest.approx(lab.clock.time_s, abs=1e-4)
    assert run["about"]["cell"] == "aprs"
    assert any(item["sku"] == "sku_part_large_gear" for item in run["detections"][0]["items"])
    assert shown.save(tmp_path / "cell.html").read_text("utf-8") == shown.page
    assert "in three dimensions: a notebook shows it" in repr(shown)


def test_without_the_page_a_picture_and_the_reason_are_shown(monkeypatch, lab, tmp_path):
    monkeypatch.setattr("cellwright.viewing.page.PAGE_FILE", tmp_path / "none.html")
    shown = lab.show()
    assert "data:image/png;base64," in shown._repr_html_()
    assert "make viewer" in shown._repr_html_()
    assert "make viewer" in repr(shown)
    with pytest.raises(BadInput, match="there is no page to save"):
        shown.save(tmp_path / "cell.html")
    with pytest.raises(OutOfRange, match="the height of the frame is 5 px"):
        lab.show(height_px=5)
