"""Where a part rests in a slot: a gear cone in cone, any other part on the floor."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cellwright.catalogue import PARTS, TRAYS, seated_height_m, seated_pose
from cellwright.catalogue.seating import FROM_SLOT, IN_SLOT, SEATED, SEEN_SEATED, TRACKED_IN_SLOT

GEAR = PARTS.get("medium_gear")
TRAY = TRAYS.get("medium_gear_tray")
SLOT = TRAY.slots[0]


def gear(bottom_mm: float, top_mm: float, height_mm: float, disc_mm: float = 0.0):
    """A gear whose disc, unless given, is too small to touch anything."""
    return replace(
        GEAR,
        cone_bottom_radius_m=bottom_mm / 1000,
        cone_top_radius_m=top_mm / 1000,
        cone_height_m=height_mm / 1000,
        tip_radius_m=disc_mm / 1000,
    )


def slot(bottom_mm: float, top_mm: float):
    return replace(SLOT, bottom_radius_m=bottom_mm / 1000, top_radius_m=top_mm / 1000, floor_m=0.004)


def tray(depth_mm: float):
    return replace(TRAY, thickness_m=0.004 + depth_mm / 1000)


def test_a_small_gear_in_a_wide_slot_lies_on_the_floor():
    assert seated_height_m(tray(13), slot(30, 43), gear(10, 15, 12)) == pytest.approx(0.004)


def test_a_straight_slot_lets_a_plug_to_the_floor():
    assert seated_height_m(tray(13), slot(20, 20), gear(19, 19, 12)) == pytest.approx(0.004)


def test_a_cone_as_steep_as_the_wall_sinks_until_they_meet():
    assert seated_height_m(tray(13), slot(20, 33), gear(22, 34, 12)) == pytest.approx(0.006)


def test_a_straight_plug_is_stopped_where_the_wall_is_as_narrow():
    assert seated_height_m(tray(10), slot(10, 20), gear(15, 15, 12)) == pytest.approx(0.009)


def test_a_flat_cone_hangs_at_the_rim():
    """Flatter than the wall and higher than the slot is deep: the rim carries it."""
    height_m = seated_height_m(tray(10), slot(10, 15), gear(5, 30, 25))
    assert height_m == pytest.approx(0.004 + 0.010 - 0.010)
    high_m = seated_height_m(tray(10), slot(10, 15), gear(14, 39, 25))
    assert high_m == pytest.approx(0.004 + 0.010 - 0.001)


def test_a_plug_hangs_by_its_disc_in_a_slot_deeper_than_it_is_long():
    assert seated_height_m(tray(13), slot(20, 20), gear(19, 19, 9, 30)) == pytest.approx(0.008)
    assert seated_height_m(tray(13), slot(20, 20), gear(19, 19, 15, 30)) == pytest.approx(0.004)


def test_a_cone_wedges_itself_into_a_straight_slot():
    assert seated_height_m(tray(10), slot(20, 20), gear(15, 25, 10)) == pytest.approx(0.004 + 0.005)


def test_a_gear_wider_than_the_slot_lies_on_the_tray():
    assert seated_height_m(tray(13), slot(20, 33), gear(34, 40, 12)) == pytest.approx(0.017)
    assert seated_height_m(tray(13), slot(20, 20), gear(21, 21, 12)) == pytest.approx(0.017)


lengths = st.floats(1, 40)


@given(bottom=lengths, wider=st.floats(0, 20), depth=lengths, foot=lengths, cone=st.floats(0, 20), height=lengths)
def test_a_seated_gear_touches_without_overlap(bottom, wider, depth, foot, cone, height):
    """At its seat the gear is nowhere wider than the slot; a little lower it would be, or be in the floor."""
    assume(foot < bottom + wider)  # otherwise it lies on top and never in the slot

    def overlap_mm(sunk_mm: float) -> float:
        """How much wider than the slot the cone is, at worst; both are straight, so the ends decide."""
        heights = [max(sunk_mm, 0.0), min(sunk_mm + height, depth)]
        cone_at = [foot + cone * (z - sunk_mm) / height for z in heights if heights[0] <= heights[1]]
        wall_at = [bottom + wider * z / depth for z in heights if heights[0] <= heights[1]]
        return max((c - w for c, w in zip(cone_at, wall_at, strict=True)), default=-1.0)

    where, what = tray(depth), gear(foot, foot + cone, height)
    sunk_mm = 1000 * (seated_height_m(where, slot(bottom, bottom + wider), what) - 0.004)
    assert sunk_mm >= -1e-9
    assert overlap_mm(sunk_mm) < 1e-6
    assert sunk_mm < 1e-6 or overlap_mm(sunk_mm - 0.01) > 0


def test_the_seat_of_a_part_is_on_the_slots_axis():
    assert seated_pose(TRAY, SLOT, GEAR).position == pytest.approx([*SLOT.xy_m, seated_height_m(TRAY, SLOT, GEAR)])


@pytest.mark.parametrize("name", ["cube", "flat_tray", "mug"])
def test_a_part_that_is_no_gear_stands_with_its_underside_on_the_floor(name):
    part = PARTS.get(name)
    underside_m = seated_pose(TRAY, slot(60, 60), part).position[2] + part.bottom_m
    assert underside_m == pytest.approx(0.004)


def test_who_asks_for_more_allows_less():
    kinds = (IN_SLOT, TRACKED_IN_SLOT, FROM_SLOT, SEEN_SEATED, SEATED)
    beside_m = [kind.beside_m for kind in kinds]
    assert beside_m == sorted(beside_m, reverse=True)
    assert len(set(beside_m)) == len(kinds)
    assert SEEN_SEATED.above_m > SEATED.above_m
    assert SEEN_SEATED.tilt_rad > SEATED.tilt_rad
    pitches = [
        np.hypot(*np.subtract(one.xy_m, other.xy_m))
        for name in TRAYS
        for one, other in combinations(TRAYS.get(name).slots, 2)
    ]
    assert 2 * IN_SLOT.beside_m < min(pitches), "no part is in two slots"


@pytest.mark.parametrize(
    ("off", "seated"),
    [((0.0009, 0.0009, 0.03), True), ((0.0011, 0, 0), False), ((0, -0.0011, 0), False), ((0, 0, 0.04), False)],
)
def test_a_tolerance_holds_for_every_direction(off, seated):
    assert SEATED.allows(*off) is seated
