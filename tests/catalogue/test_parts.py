"""Gears, trays and furniture: every figure has a source, and the figures fit together."""

from itertools import combinations

import numpy as np
import pytest

from cellwright.catalogue.furniture import FURNITURE
from cellwright.catalogue.gears import GEARS
from cellwright.catalogue.kitting_furniture import KITTING_FURNITURE
from cellwright.catalogue.seating import seated_height_m
from cellwright.catalogue.trays import KIT_M2L1_TRAY, MEDIUM_GEAR_TRAY, TRAYS, TrayKind
from cellwright.catalogue.vacuum import VACUUM_TOOLS

GEAR_OF = {gear.sku: gear for gear in GEARS.values()}
ENTRIES = {**GEARS, **TRAYS, **FURNITURE, **KITTING_FURNITURE, **VACUUM_TOOLS}
SLOTS = [pytest.param(tray, slot, id=f"{tray.name}-{slot.name}") for tray in TRAYS.values() for slot in tray.slots]


@pytest.mark.parametrize("name", ENTRIES)
def test_every_figure_has_a_source(name):
    entry = ENTRIES[name]
    assert entry.name == name
    assert entry.unsourced() == []
    assert all(entry.sources.values())


def test_skus_are_the_names_in_the_labs_vision_frames():
    assert set(GEAR_OF) == {"sku_part_small_gear", "sku_part_medium_gear", "sku_part_large_gear"}
    assert {tray.sku for tray in TRAYS.values()} == {
        "sku_small_gear_vessel",
        "sku_medium_gear_vessel",
        "sku_large_gear_vessel",
        "sku_kit_m2l1_vessel",
        "sku_kit_s2l2_vessel",
    }


@pytest.mark.parametrize(
    ("tray", "letters"),
    [("kit_m2l1_tray", {"medium": 2, "large": 1}), ("kit_s2l2_tray", {"small": 2, "large": 2})],
)
def test_kit_trays_take_what_their_name_says(tray, letters):
    accepted = [slot.accepts for slot in TRAYS[tray].slots]
    assert TRAYS[tray].kind is TrayKind.KIT
    assert {size: accepted.count(f"sku_part_{size}_gear") for size in letters} == letters
    assert len(accepted) == sum(letters.values())


@pytest.mark.parametrize(("tray", "slot"), SLOTS)
def test_a_seated_gear_reaches_the_upper_face_and_stays_inside_the_outline(tray, slot):
    gear = GEAR_OF[slot.accepts]
    disc_m = seated_height_m(tray, slot, gear) + gear.cone_height_m
    assert disc_m == pytest.approx(tray.thickness_m, abs=2e-4)
    for side, place in zip(tray.size_m, slot.xy_m, strict=True):
        assert abs(place) + gear.tip_radius_m < side / 2


@pytest.mark.parametrize("tray", TRAYS.values(), ids=list(TRAYS))
def test_neighbouring_gears_do_not_touch(tray):
    for a, b in combinations(tray.slots, 2):
        apart = float(np.hypot(*np.subtract(a.xy_m, b.xy_m)))
        assert apart - GEAR_OF[a.accepts].tip_radius_m - GEAR_OF[b.accepts].tip_radius_m > 0.005


def test_the_labs_walls_slope_by_45_degrees():
    for tray in TRAYS.values():
        for slot in tray.slots:
            wider_m = slot.top_radius_m - slot.bottom_radius_m
            slope_deg = np.degrees(np.arctan2(wider_m, tray.thickness_m - slot.floor_m))
            assert slope_deg == pytest.approx(45, abs=0.3)


def test_gears_are_prints_of_one_kind():
    """Their densities, from masses of three sources, agree: about a third of solid plastic's."""
    for gear in GEARS.values():
        a, b, h = gear.cone_bottom_radius_m, gear.cone_top_radius_m, gear.cone_height_m
        pitch = (gear.root_radius_m + gear.tip_radius_m) / 2
        volume = np.pi * (
            h * (a * a + a * b + b * b) / 3 + gear.disc_height_m * pitch**2 + gear.peg_height_m * gear.peg_radius_m**2
        )
        assert 300 < gear.mass_kg / volume < 420


@pytest.mark.parametrize("gear", GEARS.values(), ids=list(GEARS))
def test_the_grasp_point_is_on_the_peg(gear):
    assert gear.disc_top_m + 0.005 < gear.grasp_height_m < gear.height_m - 0.005
    assert gear.grasp_width_m == pytest.approx(0.008)


def test_colours_tell_the_kinds_apart():
    colours = [gear.rgba[:3] for gear in GEARS.values()]
    colours += [MEDIUM_GEAR_TRAY.rgba[:3], KIT_M2L1_TRAY.rgba[:3]]
    assert min(np.linalg.norm(np.subtract(a, b)) for a, b in combinations(colours, 2)) > 0.35


def test_only_camera_posts_carry_a_camera():
    assert {name for name, piece in FURNITURE.items() if piece.cameras} == {"camera_post", "fanuc_camera_post"}
