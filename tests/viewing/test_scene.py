"""The scene: what the viewer knows about a cell before anything moves."""

from cellwright.cells import load_cell
from cellwright.sim import World
from cellwright.viewing.packet import unpack
from cellwright.viewing.scene import make_scene


def test_a_camera_tells_who_looks_through_it():
    """The names of a detector and its camera need not have anything in common."""
    header, _ = unpack(make_scene(World(load_cell("kitting"), 0)))
    assert [(camera["name"], camera["sensors"]) for camera in header["cameras"]] == [("camera", ["detector"])]
