"""A picture of a world, from where its cell wants to be seen."""

from PIL import Image

from cellwright.sim import World
from cellwright.sim.picture import cell_view, take_picture


def test_the_cell_says_from_where(lab_world):
    view = cell_view(lab_world)
    assert tuple(view.eye_in_world_m) == lab_world.cell.view.eye_m
    assert tuple(view.target_in_world_m) == lab_world.cell.view.target_m


def test_without_a_wish_everything_is_in_view(bench, tmp_path):
    world = World(bench)
    view = cell_view(world)
    assert view.eye_in_world_m[2] > 0.1
    name = take_picture(world, tmp_path / "bench.png", (96, 64))
    assert name
    with Image.open(tmp_path / "bench.png") as picture:
        assert picture.size == (96, 64)
        assert len(picture.convert("RGB").getcolors(96 * 64)) > 20
