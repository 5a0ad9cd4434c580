"""The drawings of a cell: the same for every seed, and nothing of what a seed decides."""

import numpy as np
import pytest

from cellwright.cells import drawn_layout, load_cell, nominal_layout
from cellwright.core.errors import BadInput, UnknownName
from cellwright.drawings import Drawings, workstation_of

GEARS = {"sku_part_medium_gear": 6, "sku_part_large_gear": 4, "sku_part_small_gear": 3}
REGION = {"min_xy_m": [-0.1, -1.6], "max_xy_m": [0.6, -1.5], "z_m": 0.916}


@pytest.fixture(scope="module")
def mixed():
    """The laboratory with a population of each kind: shuffled, shuffled into every slot, scattered."""
    trays = {kind: [f"fanuc_{kind}_tray", f"motoman_{kind}_tray"] for kind in ("medium", "large")}
    return load_cell("aprs").changed(
        {
            "populations": [
                {"model": "medium_gear", "count": 6, "trays": trays["medium"], "shuffle": True},
                {"model": "large_gear", "count": 4, "trays": trays["large"], "shuffle": True},
                {"model": "small_gear", "count": 3, "region": REGION},
            ],
            "actual": {"tray": {"x_m": 0.005, "z_m": {"low": 0.001, "high": 0.003}}},
        }
    )


def test_what_a_seed_decides_is_not_drawn(mixed):
    drawn = drawn_layout(mixed)
    assert sorted(part.name for part in drawn.parts) == [f"large_gear_{n}" for n in (1, 2, 3, 4)]
    assert [tray.name for tray in drawn.trays] == list(mixed.trays)
    for seed in (1, 2):  # shuffled or not, every slot of theirs has one
        there = [p for p in nominal_layout(mixed, seed).parts if p.model == "large_gear"]
        for part in drawn.parts:
            assert any(np.allclose(part.pose_in_world.position, other.pose_in_world.position) for other in there)


def test_a_population_beside_a_shuffled_one_is_not_drawn_either():
    trays = ["fanuc_medium_tray"]
    cell = load_cell("aprs").changed(
        {
            "populations": [
                {"model": "medium_gear", "count": 1, "trays": trays, "shuffle": True},
                {"model": "medium_gear", "count": 2, "trays": trays},
            ]
        }
    )
    assert not drawn_layout(cell).parts, "which slots are free for the second, the first decides"


def test_kinds_and_numbers_are_known(mixed):
    assert Drawings.of(mixed).expected_parts == GEARS


def test_the_workstation_has_only_what_is_drawn(mixed):
    assert sorted(part.name for part in workstation_of(mixed).parts) == [f"large_gear_{n}" for n in (1, 2, 3, 4)]


def test_errors_of_the_cell_are_known_by_their_size_alone(mixed):
    error = Drawings.of(mixed).cell.actual.tray
    assert (error.x_m.mean, error.x_m.sd) == (0.0, 0.005)
    assert error.z_m.mean == 0.0
    assert error.z_m.sd == pytest.approx(0.00208, abs=1e-5)
    assert mixed.actual.tray.x_m == 0.005, "the world still has it"


def test_of_errors_of_a_named_size_all_are_known_by_their_size():
    cell = load_cell("aprs@as_built").changed({"actual": {"table": {"z_m": 0.02}, "lens": {"edge_px": -7}}})
    drawings = Drawings.of(cell)
    known = drawings.cell.actual
    assert (known.table.z_m.mean, known.table.z_m.sd) == (0.0, 0.02)
    assert (known.lens.edge_px.mean, known.lens.edge_px.sd) == (0.0, 7.0)
    assert known.holder == cell.actual.holder
    assert all(drawings.layout.fixtures[n].is_close(f.pose.pose) for n, f in cell.fixtures.items())
    assert all(camera.lens_error is None for camera in drawings.layout.cameras.values())


def test_views_are_those_of_the_file_and_blindness_is_told(mixed):
    cut = {"min_xy_m": (-0.11, -1.63), "max_xy_m": (0.83, -0.86)}
    lines = tuple({**line, **cut} if line.get("name") == "detector_fanuc" else line for line in mixed.sensors)
    views = Drawings.of(mixed.model_copy(update={"sensors": lines})).views(["detector_fanuc", "other"])
    assert views["detector_fanuc"] == ((-0.11, -1.63), (0.83, -0.86))
    assert views["other"][1] == (100.0, 100.0)
    with pytest.raises(BadInput, match="no detector, without which no kit is built; add one under sensors"):
        Drawings.of(mixed).views([])


def test_a_detector_without_a_camera_is_drawn_as_an_eye_far_above(mixed):
    line = {"name": "eye", "rate_hz": 10, "min_xy_m": (0.0, -1.4), "max_xy_m": (0.6, -0.8)}
    known = [{"type": "logical_detector", **line}, {"type": "their_detector", **line, "name": "theirs"}]
    drawings = Drawings.of(mixed.model_copy(update={"sensors": (*mixed.sensors, *known)}))
    cameras = drawings.detector_cameras
    assert cameras["detector_fanuc"] == drawings.layout.cameras["camera_fanuc"]
    assert cameras["eye"].pose_in_world.position[2] == 100.0
    assert cameras["eye"].sees(np.array([[0.01, -0.81, 0.9], [0.01, 0.7, 0.9]])).tolist() == [True, False]
    assert "theirs" not in cameras, "what it sees is not told"


def test_robots_are_those_of_the_cell(mixed):
    drawings = Drawings.of(mixed)
    assert drawings.named_robots() == ("fanuc", "motoman")
    assert drawings.named_robots(["motoman", "motoman"]) == ("motoman",)
    with pytest.raises(UnknownName, match="fanuk"):
        drawings.named_robots(["fanuk"])
    with pytest.raises(BadInput, match="no robot is to work"):
        drawings.named_robots([])
