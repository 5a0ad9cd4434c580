from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image

from cellwright.core import Bus
from cellwright.core.errors import BadInput, LogError, MissingExtra, OutputError, UnknownName
from cellwright.core.messages import CrclStatus, Encoder
from cellwright.record import Recorder, default_fields, plot, read_log

pytest.importorskip("matplotlib", reason="extra 'plots' is not installed")


def test_a_component_over_time(log_file, tmp_path):
    (curve,) = plot(read_log(log_file), ["/fanuc/joint_states.position[2]"], tmp_path / "out.png")
    assert (curve.label, curve.unit) == ("/fanuc/joint_states position[2]", "rad or m")
    assert curve.values == pytest.approx(curve.time_s)
    with Image.open(tmp_path / "out.png") as picture:
        assert picture.format == "PNG"
        assert picture.width >= 800
        assert len(picture.convert("RGB").getcolors(100_000)) > 10, "something is drawn"


def test_the_same_log_gives_the_same_picture(log_file, tmp_path):
    for name in ("a.png", "b.png"):
        plot(read_log(log_file), ["/fanuc/wrench.force"], tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_all_components_and_units(log_file, tmp_path):
    fields = [
        "/fanuc/wrench.force",
        "/fanuc/tool_status.width_m",
        "/fanuc/tool_status.locked",
        "/truth/poses.positions[0,1]",
    ]
    drawn = plot(read_log(log_file), fields, tmp_path / "out.png")
    assert [(curve.field, curve.unit) for curve in drawn] == [
        *[("force", "N")] * 3,
        ("width_m", "m"),
        ("locked", ""),
        ("positions", "m"),
    ]


def test_a_table_of_changing_length_has_gaps(log_file, tmp_path):
    (curve,) = plot(read_log(log_file), ["/detector/detections.positions[1,0]"], tmp_path / "out.png")
    assert np.isnan(curve.values[:2]).all()
    assert np.isfinite(curve.values[2:4]).all()


def test_default_selection(log_file, tmp_path):
    log = read_log(log_file)
    assert default_fields(log)[:3] == [
        "/fanuc/joint_states.position",
        "/motoman/joint_states.position",
        "/fanuc/tool_status.width_m",
    ]
    assert plot(log, [], tmp_path / "out.png")
    bus = Bus()
    with Recorder(bus, tmp_path / "wheels.mcap"):
        bus.publish("/wheels", Encoder(0, 0, "e", names=("l", "r"), counts=(1, 2)))
    assert default_fields(read_log(tmp_path / "wheels.mcap")) == ["/wheels.counts"]


@pytest.mark.parametrize(
    ("field", "error", "told"),
    [
        ("/fanuc/joint_states", BadInput, "not a field: .*write TOPIC.FIELD"),
        ("/fanuc/joint_states.position[x]", BadInput, "not a field"),
        ("/fanuc/joints.position", UnknownName, "unknown topic '/fanuc/joints'; did you mean"),
        ("/fanuc/joint_states.positon", UnknownName, "unknown numeric field 'positon'; did you mean 'position'"),
        ("/fanuc/joint_states.names", UnknownName, "unknown numeric field 'names'"),
        ("/fanuc/joint_states.position[3]", LogError, r"has nothing at \[3\], its shapes: \(3,\)"),
        ("/fanuc/joint_states.position[0,0]", LogError, "has nothing at"),
        ("/detector/detections.scores", LogError, "changes its shape .*give an index"),
    ],
)
def test_fields_that_cannot_be_drawn(log_file, tmp_path, field, error, told):
    with pytest.raises(error, match=told):
        plot(read_log(log_file), [field], tmp_path / "out.png")
    assert not (tmp_path / "out.png").exists()


def test_nothing_to_draw(tmp_path):
    bus = Bus()
    with Recorder(bus, tmp_path / "text.mcap"):
        bus.publish("/crcl", CrclStatus(0, 0, "r", document="<a/>"))
    with pytest.raises(LogError, match="nothing to plot"):
        plot(read_log(tmp_path / "text.mcap"), [], tmp_path / "out.png")


def test_a_picture_that_cannot_be_written(log_file, tmp_path):
    with pytest.raises(OutputError, match="cannot write"):
        plot(read_log(log_file), [], tmp_path / "missing" / "out.png")


def test_without_matplotlib(log_file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"cellwright\[plots\]"):
        plot(read_log(log_file), [], tmp_path / "out.png")
