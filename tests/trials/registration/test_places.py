"""Places for marks: free, seen and reached by the drawings."""

import numpy as np
import pytest

from cellwright.catalogue import TRAYS
from cellwright.catalogue.marks import CALIBRATION_MARK
from cellwright.cells import load_cell
from cellwright.core.errors import BadInput
from cellwright.drawings.prior import Drawings
from cellwright.trials.registration.calibrate import mark_places
from cellwright.trials.registration.places import CORNERS, MarkPlaces, largest_area_m2, spread_enough
from cellwright.trials.registration.placing import cell_with_marks


@pytest.fixture(scope="module")
def drawings():
    return Drawings.of(load_cell("aprs"))


@pytest.fixture(scope="module")
def chosen(drawings):
    return mark_places(drawings, ["fanuc"])


def test_marks_of_a_robot_stand_near_four_corners_of_one_table(chosen, drawings):
    assert len(chosen) == CORNERS
    assert {place.table for place in chosen} == {"fanuc_cart"}
    trays = np.array([t.pose_in_world.position for t in drawings.layout.trays if t.name.startswith("fanuc")])
    points = np.array([place.xyz_m for place in chosen])
    assert (points[:, :2].min(axis=0) < trays[:, :2].min(axis=0)).all()
    assert (points[:, :2].max(axis=0) > trays[:, :2].max(axis=0)).all()


def test_no_mark_stands_on_a_tray_or_over_an_edge(chosen, drawings):
    for place in chosen:
        for tray in drawings.layout.trays:
            half = np.array(TRAYS.get(tray.model).size_m) / 2
            beside = np.abs(tray.pose_in_world.inverse().apply(np.array(place.xyz_m)))[:2] - half
            assert np.hypot(*np.maximum(beside, 0.0)) > CALIBRATION_MARK.radius_m
        assert place.xyz_m[2] == pytest.approx(0.916)
        assert -0.516 + 0.025 < place.xyz_m[0] < 0.596 - 0.025


def test_every_mark_can_be_touched_with_the_tool_turned_by_a_half(chosen, drawings):
    places = MarkPlaces(drawings)
    for place in chosen:
        turns = places.turns_for("fanuc", place)
        assert any(np.cos(a - b) < -0.99 for a in turns for b in turns)
        assert places.seen_by("detector_fanuc", np.array([place.xyz_m]))[0]


def test_a_place_that_no_robot_gets_to_has_no_turns(drawings):
    far = MarkPlaces(drawings).named([(0.0, 0.9)])[0]
    assert MarkPlaces(drawings).turns_for("fanuc", far) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([(3.0, 3.0)], "no table is there"),
        ([(0.16, -1.0)], "something stands there"),
        ([(-0.03, -0.895), (-0.03, -0.905)], "another mark is nearer"),
        ([(-0.03, -0.89), (0.47, -1.38), (-0.03, -1.43)], "too few marks: 3"),
    ],
)
def test_places_that_cannot_be_used_are_refused_in_one_line(drawings, given, words):
    with pytest.raises(BadInput, match=words) as refused:
        mark_places(drawings, ["fanuc"], given)
    assert "\n" not in str(refused.value)


def test_a_robot_without_a_gripper_of_its_own_is_refused():
    with pytest.raises(BadInput, match="no gripper"):
        mark_places(Drawings.of(load_cell("aprs@lab_tools")), ["fanuc"])


def test_marks_of_the_cell_s_own_file_are_used_where_they_stand(drawings, chosen):
    parts = {f"own_{k}": {"model": "calibration_mark", "pose": {"xyz_m": p.xyz_m}} for k, p in enumerate(chosen)}
    cell = load_cell("aprs").changed({"parts": parts})
    found = mark_places(Drawings.of(cell), ["fanuc"])
    assert [place.name for place in found] == list(parts)
    assert cell_with_marks(cell, found, seed=1) is cell


def test_four_places_on_a_line_fix_nothing():
    line = np.array([[x, 0.2 * x, 0.0] for x in (0.0, 0.1, 0.2, 0.3)])
    assert largest_area_m2(line) == pytest.approx(0.0)
    assert not spread_enough(line)
    assert not spread_enough(np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0]], float))
    assert spread_enough(np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0.3, 0.3, 0]], float))


def test_marks_are_put_beside_their_places_by_an_error_of_the_seed(chosen):
    cell = load_cell("aprs")
    one, again, other = (cell_with_marks(cell, chosen, seed) for seed in (1, 1, 2))
    assert one.parts == again.parts
    for place in chosen:
        off_m = np.array(one.parts[place.name].pose.xyz_m) - place.xyz_m
        assert 0 < np.hypot(*off_m[:2]) < 0.012
        assert one.parts[place.name].pose != other.parts[place.name].pose
