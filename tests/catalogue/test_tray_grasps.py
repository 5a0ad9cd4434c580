"""Where the tray tool takes trays, measured from the figures once more; boxes that trays fit into."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from cellwright.catalogue import PARTS, TrayKind, tray_grasp
from cellwright.catalogue.changer import TOOL_CHANGER, TOOL_HOLDER
from cellwright.catalogue.kitting_furniture import KIT_BOX, KIT_TRAY_BOX
from cellwright.catalogue.seating import seated_height_m
from cellwright.catalogue.trays import KIT_M2L1_TRAY, KIT_S2L2_TRAY, TRAYS
from cellwright.catalogue.vacuum import LARGE_VACUUM, TRAY_VACUUM
from cellwright.core import Pose
from cellwright.models import build

KIT_TRAYS = [KIT_M2L1_TRAY, KIT_S2L2_TRAY]
PARTS_TRAYS = [tray for tray in TRAYS.values() if tray.kind is TrayKind.PARTS]
ROOM_M = 0.004


def cups_in_tray(tray):
    """Middles of the cups on the tray's upper face."""
    grip = tray_grasp(tray, TRAY_VACUUM)
    tool = Pose.from_xyz_rpy(grip.xyz_m, (np.pi, 0.0, grip.yaw_rad))
    return [tool.apply([x, y, 0.0]) for x, y in TRAY_VACUUM.cups_xy_m]


@pytest.mark.parametrize("tray", KIT_TRAYS, ids=lambda tray: tray.name)
def test_cups_stand_on_bare_plate_beside_seated_gears(tray):
    gears = {PARTS.get(name).sku: PARTS.get(name) for name in ("small_gear", "medium_gear", "large_gear")}
    cups = cups_in_tray(tray)
    assert len(cups) == 2
    for x, y, z in cups:
        assert z == pytest.approx(tray.thickness_m)
        for side, place in zip(tray.size_m, (x, y), strict=True):
            assert side / 2 - abs(place) - TRAY_VACUUM.cup_diameter_m / 2 > ROOM_M
        for slot in tray.slots:
            taken_m = max(slot.top_radius_m, gears[slot.accepts].tip_radius_m)
            apart_m = np.hypot(x - slot.xy_m[0], y - slot.xy_m[1])
            assert apart_m - taken_m - TRAY_VACUUM.cup_diameter_m / 2 > ROOM_M
    assert tray_grasp(tray, TRAY_VACUUM).margin_m > ROOM_M
    for slot in tray.slots:
        gear = gears[slot.accepts]
        peg_m = seated_height_m(tray, slot, gear) + gear.height_m - tray.thickness_m
        assert peg_m + 0.015 < TRAY_VACUUM.clear_m, "the bar is well above the pegs"
    full_kg = 0.39 + sum(gears[slot.accepts].mass_kg for slot in tray.slots)
    assert full_kg < TRAY_VACUUM.carried_kg / 2
    spare = TRAY_VACUUM.carried_kg / full_kg
    heavier, too_heavy = (replace(tray, mass_kg=0.39 + full_kg * (spare * share - 1)) for share in (0.999, 1.001))
    assert tray_grasp(heavier, TRAY_VACUUM) is not None
    assert tray_grasp(too_heavy, TRAY_VACUUM) is None


@pytest.mark.parametrize("tray", KIT_TRAYS, ids=lambda tray: tray.name)
def test_the_centre_of_mass_hangs_between_the_cups(tray):
    """Of the mesh, not of the formula: within 2 mm of the line between the cups, and well inside it."""
    a, b = cups_in_tray(tray)
    centre = build(tray).compile().body_ipos[1]
    along = (b - a)[:2] / np.linalg.norm(b - a)
    hang = (centre - (a + b) / 2)[:2]
    assert abs(hang @ along) < 0.02
    assert abs(hang @ np.array([-along[1], along[0]])) < 0.002


@pytest.mark.parametrize("tray", PARTS_TRAYS, ids=lambda tray: tray.name)
def test_parts_trays_have_no_room_for_it(tray):
    assert tray_grasp(tray, TRAY_VACUUM) is None


def test_a_tray_of_ones_own_is_answered_too():
    bare = replace(KIT_M2L1_TRAY, name="bare", slots=())
    assert tray_grasp(bare, TRAY_VACUUM).xyz_m == pytest.approx((0.0, 0.0, bare.thickness_m))
    assert tray_grasp(bare, LARGE_VACUUM) is None, "0.39 kg are too much for it"
    assert tray_grasp(replace(bare, mass_kg=0.3), LARGE_VACUUM) is not None
    unknown = tuple(replace(slot, accepts="sku_of_nobody") for slot in KIT_M2L1_TRAY.slots)
    assert tray_grasp(replace(KIT_M2L1_TRAY, slots=unknown), TRAY_VACUUM).margin_m > ROOM_M


def test_too_heavy_or_too_tall_is_not_taken():
    assert tray_grasp(replace(KIT_M2L1_TRAY, mass_kg=1.1), TRAY_VACUUM) is None
    low = replace(TRAY_VACUUM, bar_size_m=(0.030, 0.033))
    assert tray_grasp(KIT_M2L1_TRAY, low) is None, "pegs would touch the bar"
    assert tray_grasp(replace(KIT_M2L1_TRAY, slots=()), low) is not None


def test_a_grip_beside_the_middle_is_none():
    """All the room is in one corner, and the tray would hang from it by its edge."""
    slot = replace(KIT_M2L1_TRAY.slots[2], xy_m=(0.0, 0.0), top_radius_m=0.07)
    assert tray_grasp(replace(KIT_M2L1_TRAY, size_m=(0.16, 0.40), slots=(slot,)), TRAY_VACUUM) is None


def test_it_hangs_in_a_holder_and_passes_between_its_rails():
    assert TRAY_VACUUM.bar_size_m[0] < TOOL_HOLDER.rail_gap_m
    assert 2 * TRAY_VACUUM.mount_radius_m < TOOL_HOLDER.rail_gap_m
    length_m = TOOL_CHANGER.coupling_height_m + TRAY_VACUUM.tcp_xyz_m[2]
    assert length_m < TOOL_HOLDER.rail_top_m - TOOL_HOLDER.foot_size_m[2]


@pytest.mark.parametrize(("box", "tray"), [*product((KIT_TRAY_BOX, KIT_BOX), KIT_TRAYS)], ids=lambda item: item.name)
def test_kit_trays_fit_into_boxes_and_the_tool_over_their_walls(box, tray):
    assert all(inner - side >= 0.016 for inner, side in zip(box.inner_size_m, tray.size_m, strict=True))
    assert box.height_m < box.bottom_m + tray.thickness_m + TRAY_VACUUM.clear_m
    assert len(box.places_xyz_m) == box.compartments
    assert box.capacity == 2
    for x, y, z in box.places_xyz_m:
        assert box.holds((x, y, z))
        assert not box.holds((x, y, z + box.height_m))
        assert not box.holds((x, y + box.inner_size_m[1] / 2 + 0.001, z))
    assert not box.holds((box.outer_size_m[0] / 2, 0.0, box.bottom_m))
