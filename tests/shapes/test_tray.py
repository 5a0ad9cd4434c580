"""Trays: the convex pieces leave exactly the slots free."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue.gears import PLUG_GEARS
from cellwright.catalogue.plug_trays import KIT_M2L1_PLUG_TRAY, with_clearance
from cellwright.catalogue.trays import MEDIUM_GEAR_TRAY, TRAYS
from cellwright.shapes.tray import CLEARANCE_M, tray_mesh, tray_solids

trays = pytest.mark.parametrize("tray", TRAYS.values(), ids=list(TRAYS))


def in_hull(mesh, points):
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    offsets = np.einsum("ij,ij->i", normals, corners[:, 0])
    return (points @ normals.T < offsets + 1e-12).all(axis=1)


def count_solids(solids, points):
    """In how many pieces each point lies."""
    inside = np.zeros(len(points), int)
    for block in solids.blocks:
        inside += (np.abs(points - block.centre_m) <= block.half_size_m).all(axis=1)
    for wedge in solids.wedges:
        c, s = np.cos(wedge.yaw_rad), np.sin(wedge.yaw_rad)
        local = points - np.array([*wedge.xy_m, 0.0])
        local = local @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        inside += in_hull(solids.hulls[wedge.hull], local)
    return inside


def scatter(tray, count=20_000):
    low = np.array([-tray.size_m[0] / 2, -tray.size_m[1] / 2, tray.foot_height_m])
    high = np.array([tray.size_m[0] / 2, tray.size_m[1] / 2, tray.thickness_m])
    return np.random.default_rng(0).uniform(low + 1e-5, high - 1e-5, (count, 3))


def slot_depths(tray, points):
    """How far each point is inside the nearest slot's cone, as play to the wall; negative in the material."""
    plays = []
    for slot in tray.slots:
        slope = (slot.top_radius_m - slot.bottom_radius_m) / (tray.thickness_m - slot.floor_m)
        wall = slot.bottom_radius_m + slope * (points[:, 2] - slot.floor_m)
        radius = np.linalg.norm(points[:, :2] - slot.xy_m, axis=1)
        plays.append(np.where(points[:, 2] > slot.floor_m, wall - radius, -1.0))
    return np.max(plays, axis=0)


@trays
def test_the_slots_are_free_and_the_rest_is_solid_once(tray):
    points = scatter(tray)
    solids = count_solids(tray_solids(tray), points)
    play = slot_depths(tray, points)
    gap = (points[:, 2] > tray.slots[0].floor_m - CLEARANCE_M) & (points[:, 2] < tray.slots[0].floor_m)
    assert (solids[(play > 1e-6)] == 0).all()
    beyond = max(slot.top_radius_m for slot in tray.slots) * (1 / np.cos(np.pi / 8) - 1)
    assert (solids[(play < -beyond - 1e-6) & ~gap] == 1).all()


@trays
def test_pieces_are_few_and_shared(tray):
    solids = tray_solids(tray)
    kinds = {slot.accepts for slot in tray.slots}
    assert len(solids.wedges) == 8 * len(tray.slots)
    assert len(solids.hulls) == 2 * len(kinds)
    assert len(solids.blocks) <= 10


@trays
def test_what_is_seen_has_the_volume_of_a_plate_with_cones_cut_out(tray):
    mesh = tray_mesh(tray)
    x, y = tray.size_m
    plate = (x * y - (4 - np.pi) * tray.corner_radius_m**2) * (tray.thickness_m - tray.foot_height_m)
    for slot in tray.slots:
        a, b = slot.bottom_radius_m, slot.top_radius_m
        plate -= np.pi * (tray.thickness_m - slot.floor_m) * (a * a + a * b + b * b) / 3
    feet = 4 * np.pi * (tray.foot_radius_m - 0.001) ** 2 * tray.foot_height_m
    assert mesh.volume_m3 == pytest.approx(plate + feet, rel=0.01)
    assert len(mesh.faces) <= 8000
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    assert low == pytest.approx([-x / 2, -y / 2, 0.0])
    assert high == pytest.approx([x / 2, y / 2, tray.thickness_m])


def test_a_straight_wall_is_only_another_figure():
    slots = tuple(replace(slot, bottom_radius_m=slot.top_radius_m) for slot in MEDIUM_GEAR_TRAY.slots)
    tray = replace(MEDIUM_GEAR_TRAY, slots=slots)
    points = scatter(tray)
    assert (count_solids(tray_solids(tray), points)[slot_depths(tray, points) > 1e-6] == 0).all()


@given(clearance_m=st.floats(0.0002, 0.003), chamfer_m=st.floats(0.0, 0.002), angle_rad=st.floats(-np.pi, np.pi))
@settings(max_examples=30, deadline=None)
def test_sixteen_wedges_leave_the_plug_its_clearance_in_every_direction(clearance_m, chamfer_m, angle_rad):
    plugs = {gear.sku: gear.cone_bottom_radius_m for gear in PLUG_GEARS.values()}
    tray = with_clearance(KIT_M2L1_PLUG_TRAY, plugs, clearance_m, chamfer_m)
    solids = tray_solids(tray)
    for slot in tray.slots:
        radius_m = plugs[slot.accepts] + clearance_m / 2
        along = np.array([np.cos(angle_rad), np.sin(angle_rad), 0.0])
        heights = np.array([slot.floor_m + 1e-5, tray.thickness_m - chamfer_m - 1e-5])
        middle = np.array([[*slot.xy_m, z] for z in heights])
        assert (count_solids(solids, middle + (radius_m - 1e-6) * along) == 0).all()
        corner_m = radius_m / np.cos(np.pi / 16) + 1e-5  # flat faces touch the circle in their middles
        assert (count_solids(solids, middle + corner_m * along) >= 1).all()
        mouth = np.array([*slot.xy_m, tray.thickness_m - 1e-7])
        assert (count_solids(solids, (mouth + (radius_m + chamfer_m - 1e-5) * along)[None]) == 0).all()


def test_a_plug_pushed_to_the_wall_has_moved_by_half_the_clearance():
    """In any direction to 0.02 mm: 48 corners of the plug between 16 flat faces."""
    gear = PLUG_GEARS["medium_plug_gear"]
    corners = np.exp(1j * 2 * np.pi * np.arange(48) / 48) * gear.cone_bottom_radius_m
    for clearance_m in (0.001, 0.0005, 0.0002):
        radius_m = gear.cone_bottom_radius_m + clearance_m / 2
        normals = np.exp(1j * np.pi / 8 * np.arange(16))
        for angle_rad in np.linspace(0, 2 * np.pi, 100):
            push = np.exp(1j * angle_rad)
            room_m = radius_m - (corners[:, None] * normals.conj()).real
            speed = (push * normals.conj()).real
            moved_m = (room_m[:, speed > 1e-9] / speed[speed > 1e-9]).min()
            assert moved_m == pytest.approx(clearance_m / 2, abs=2e-5)
