"""Frames of honest detectors: arms in the way, coordinates that nobody measures, mistakes, cameras that disagree."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import TRAYS, part_of_sku, seated_height_m
from cellwright.core.camera import Camera
from cellwright.core.errors import UnknownName
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.perception import (
    DetectorState,
    DetectorView,
    ExpectedObject,
    Surface,
    Tracker,
    ViewModel,
)
from cellwright.perception.identities import confirm_tracks

GEAR, LARGE, TRAY, KIT = (
    "sku_part_medium_gear", "sku_part_large_gear", "sku_medium_gear_vessel", "sku_kit_m2l1_vessel",
)  # fmt: skip
MEDIUM_GEAR = part_of_sku(GEAR)
SD_M, SD_RAD, PERIOD_S, TABLE_M = 0.0003, 0.005, 0.1, 0.9
EYE = np.array([0.1, 0.0, 2.4])
AWAY = np.array([[3.0, 0, 1, 3.0, 1, 1, 0.1]])
MEASURED = [SD_M**2] * 3 + [SD_RAD**2] * 3


def at(x, y, z=TABLE_M, yaw=0.0, roll=0.0):
    return Pose.from_xyz_rpy([x, y, z], [roll, 0.0, yaw])


def over(x, y=0.0, radius=0.06):
    """An arm halfway between the camera and a place on the table."""
    middle = (EYE + [x, y, TABLE_M]) / 2
    return np.array([[*middle - [0, 0.1, 0], *middle + [0, 0.1, 0], radius]])


def view_of(*detectors):
    camera = Camera("eye", Pose.from_xyz_rpy(EYE, [0.0, np.pi / 2, np.pi / 2]), 0.9, (640, 480))
    view = ViewModel(dict.fromkeys(detectors, DetectorView(camera)), ["arm"])
    view.note_arm("arm", -1.0, AWAY, still=True)
    return view


class Detector:
    """A detector whose every frame a test writes; flat ones measure neither height nor lean."""

    def __init__(self, tracker, name="eye", *, flat=False, bias=(0.0, 0.0), seed=1, tilt_sd=0.0, sd_m=SD_M):
        self.tracker, self.name, self.flat, self.bias = tracker, name, flat, bias
        self.tilt_sd, self.sd_m, self.now_s, self.rng = tilt_sd, sd_m, 0.0, np.random.default_rng(seed)

    def see(self, things, frames=1, *, time_s=None):
        for _ in range(frames):
            self.now_s += PERIOD_S
            tracks = self.tracker.take(self.frame(things, self.now_s if time_s is None else time_s))
        self.tracks = tracks
        return {
            name: Pose(p, q) for name, p, q in zip(tracks.identities, tracks.positions, tracks.quaternions, strict=True)
        }

    def frame(self, things, time_s):
        positions, turns = np.zeros((len(things), 3)), np.zeros((len(things), 4))
        for row, (_, pose) in enumerate(things):
            place = pose.position + self.rng.normal(0, 1, 3) * self.sd_m + [*self.bias, 0.0]
            if self.flat:  # where the line of sight meets the plane that the detector assumes
                plane_m = TABLE_M + 0.02
                place = EYE + (place - EYE) * (plane_m - EYE[2]) / (place[2] - EYE[2])
                turns[row] = at(0, 0, yaw=pose.rpy[2]).quaternion
            else:
                lean = Pose.from_xyz_rpy([0, 0, 0], [*self.rng.normal(0, 1, 2) * self.tilt_sd, 0.0])
                turns[row] = (lean @ Pose([0, 0, 0], pose.quaternion)).quaternion
            positions[row] = place
        variances = np.tile(MEASURED, (len(things), 1))
        if self.tilt_sd:
            variances[:, 3:5] = self.tilt_sd**2
        if self.flat:
            variances[:, 2:5] = np.inf
        return Detections(
            round(time_s * 1e9), 0, self.name, frame="world", skus=tuple(sku for sku, _ in things),
            positions=positions, quaternions=turns, variances=variances, scores=np.full(len(things), 0.9),
        )  # fmt: skip


def row(n, sku=GEAR):
    return [(sku, at(0.08 * i - 0.16, 0.0)) for i in range(n)]


def expect(things, sd_m=0.005):
    return [ExpectedObject(f"gear_{i}", sku, pose, sd_m, 1.8) for i, (sku, pose) in enumerate(things)]


def watched(things, *, flat=False, **options):
    return Detector(Tracker(expect(things), view=view_of("eye"), surfaces=[Surface((-1, -1), (1, 1), TABLE_M)]),
                    flat=flat, **options)  # fmt: skip


# ------------------------------------------------------------ misses


def test_a_part_that_an_arm_hides_is_not_missed_and_one_that_is_gone_is():
    things = row(4)
    eye = watched(things)
    eye.see(things, 5)
    x = things[1][1].position[0]
    eye.tracker.view.note_arm("arm", eye.now_s, over(x), still=True)
    found = eye.see([thing for thing in things if thing is not things[1]], 40)
    assert set(found) == {f"gear_{i}" for i in range(4)}  # four seconds below an arm
    eye.tracker.view.note_arm("arm", eye.now_s, AWAY, still=True)
    assert set(eye.see([things[0], *things[2:]], 3)) == {f"gear_{i}" for i in range(4)}  # these may be chance
    assert set(eye.see([things[0], *things[2:]], 3)) == {"gear_0", "gear_2", "gear_3"}
    assert set(eye.see(things, 3)) == {f"gear_{i}" for i in range(4)}


def test_a_part_that_comes_out_from_under_an_arm_is_the_one_that_was_hidden_near_there():
    """One that is taken away at the same time, farther away, keeps its name, and is gone."""
    things = row(5)
    eye = watched(things)
    eye.see(things, 5)
    x = things[1][1].position[0]
    eye.tracker.view.note_arm("arm", eye.now_s, over(x, radius=0.03), still=True)
    eye.see([things[0], *things[2:]], 3)
    pushed = GEAR, at(x, -0.12)
    found = eye.see([things[0], *things[2:4], pushed], 20)
    assert set(found) == {f"gear_{i}" for i in range(4)}
    assert found["gear_1"].distance_m(pushed[1]) < 0.001


def test_what_was_seen_aside_for_a_while_and_is_where_another_is_is_no_second_one():
    """Half hidden, a tray is seen beside its place in some frames, and where it is in others."""
    tray = TRAY, at(0.0, 0.0)
    eye = watched([tray])
    eye.see([tray], 5)
    eye.tracker.view.note_arm("arm", eye.now_s, over(0.0), still=True)
    eye.see([tray, (TRAY, at(0.012, 0.0))], 2)
    table = eye.tracker._table
    (aside,) = np.flatnonzero(~table.named)
    table.positions[aside], table.sightings[aside] = [0.0002, 0.0, TABLE_M], 4  # it has come nearer since
    assert list(eye.see([tray])) == ["gear_0"]


def test_what_is_out_of_the_picture_is_not_missed():
    things = [*row(3), (GEAR, at(2.0, 0.0))]
    eye = watched(things)
    eye.see(things, 3)
    assert "gear_3" in eye.see(things[:3], 20)


def test_a_detector_that_often_misses_takes_nothing_away():
    things, rng = row(5), np.random.default_rng(3)
    eye = watched(things)
    for n in range(400):
        found = eye.see([thing for thing in things if rng.random() > 0.35])
        assert n < 3 or set(found) == {f"gear_{i}" for i in range(5)}
    found = eye.see(things[1:], 30)
    assert set(found) == {f"gear_{i}" for i in range(1, 5)}  # and still notices what is gone


def test_what_a_hand_holds_is_not_missed_and_is_looked_for_where_it_was_put():
    things = row(3)
    eye = watched(things)
    eye.see(things, 5)
    eye.tracker.set_held(["gear_0"])
    assert "gear_0" in eye.see(things[1:], 30)
    place = at(0.2, 0.1)
    eye.tracker.view.note_arm("arm", eye.now_s, over(0.2, 0.1), still=True)
    eye.tracker.put("gear_0", place, MEASURED)
    eye.tracker.set_held([])
    found = eye.see(things[1:], 20)  # below the hand that has put it there
    assert found["gear_0"].distance_m(place) < 1e-9
    eye.tracker.view.note_arm("arm", eye.now_s, AWAY, still=True)
    found = eye.see([*things[1:], (GEAR, at(0.201, 0.1))], 5)
    assert set(found) == {"gear_0", "gear_1", "gear_2"}
    assert found["gear_0"].distance_m(at(0.201, 0.1)) < 0.0008
    eye.tracker.put("gear_0", place, MEASURED)
    assert "gear_0" not in eye.see(things[1:], 6)  # seen clearly, and not there
    with pytest.raises(UnknownName, match="unknown track 'gear_7'"):
        eye.tracker.put("gear_7", place, MEASURED)


def test_a_part_pushed_from_below_an_arm_has_moved_and_is_nothing_new():
    things = row(4)
    eye = watched(things)
    eye.see(things, 5)
    x = things[1][1].position[0]
    eye.tracker.view.note_arm("arm", eye.now_s, over(x), still=True)
    pushed = at(x, 0.12)
    found = eye.see([things[0], (GEAR, pushed), *things[2:]], 6)
    assert set(found) == {f"gear_{i}" for i in range(4)}
    assert found["gear_1"].distance_m(pushed) < 0.001


# ------------------------------------------------------------ mistakes of recognition


@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_single_false_detections_and_misses_change_nothing(seed):
    things, rng = row(5), np.random.default_rng(seed)
    eye = watched(things, seed=seed % 1000)
    eye.see(things, 10)
    for _ in range(120):
        seen = [thing for thing in things if rng.random() > 0.1]
        if rng.random() < 0.3:
            seen.append((GEAR, at(*rng.uniform([-0.4, -0.3], [0.4, 0.3]))))
        found = eye.see(seen)
        assert set(found) == {f"gear_{i}" for i in range(5)}
        for number, (_, pose) in enumerate(things):
            assert found[f"gear_{number}"].distance_m(pose) < 0.002


@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_wrong_classes_in_single_frames_make_no_other_part(seed):
    things, rng = row(5), np.random.default_rng(seed)
    eye = watched(things)
    eye.see(things, 10)
    for _ in range(120):
        found = eye.see([(LARGE if rng.random() < 0.15 else sku, pose) for sku, pose in things])
        assert set(found) == {f"gear_{i}" for i in range(5)}
        assert set(eye.tracks.skus) == {GEAR}


def test_a_part_that_was_exchanged_for_another_is_the_other():
    things = row(3)
    eye = watched(things)
    eye.see(things, 10)
    found = eye.see([(LARGE, things[0][1]), *things[1:]], 11)
    assert set(found) == {"large_gear_1", "gear_1", "gear_2"}


def test_a_tray_that_is_reported_the_other_way_round_now_and_then_stays():
    rng = np.random.default_rng(5)
    tracker = Tracker([ExpectedObject("kit", KIT, at(0, 0), 0.003, 0.02)], view=view_of("eye"))
    eye = Detector(tracker)
    for _ in range(300):
        flip = np.pi if rng.random() < 0.25 else 0.0
        found = eye.see([(KIT, at(0, 0, yaw=flip))])
        assert abs(found["kit"].rpy[2]) < 0.02
    for _ in range(10):
        found = eye.see([(KIT, at(0, 0, yaw=np.pi))])
    assert abs(abs(found["kit"].rpy[2]) - np.pi) < 0.02


def test_turns_that_jump_about_are_no_turn():
    tracker = Tracker([ExpectedObject("kit", KIT, at(0, 0), 0.003, 0.02)], view=view_of("eye"))
    eye = Detector(tracker)
    eye.see([(KIT, at(0, 0))], 5)
    for n in range(12):  # never twice the same
        found = eye.see([(KIT, at(0, 0, yaw=0.5 + n % 4))])
    assert abs(found["kit"].rpy[2]) < 0.02


# ------------------------------------------------------------ six coordinates


def test_lean_noise_averages_out():
    things = row(3)
    eye = watched(things, tilt_sd=np.radians(2.0))
    found = eye.see(things, 40)
    leans = [np.degrees(np.arccos(pose.rotation_matrix[2, 2])) for pose in found.values()]
    assert max(leans) < 1.0  # one frame has 2.5
    assert np.degrees(np.sqrt(eye.tracks.variances[:, 3:5]).max()) < 1.0


def test_a_part_that_leans_is_seen_to_lean_despite_the_noise():
    eye = watched(row(1), tilt_sd=np.radians(2.0))
    eye.see([(GEAR, at(*row(1)[0][1].position[:2]))], 10)
    x, y, _ = row(1)[0][1].position
    found = eye.see([(GEAR, at(x, y, roll=0.4))], 15)
    assert np.arccos(found["gear_0"].rotation_matrix[2, 2]) == pytest.approx(0.4, abs=0.03)


def test_what_is_not_measured_stays_as_it_is_drawn():
    tray, figures = at(0.1, 0.05, yaw=0.3), TRAYS.get("medium_gear_tray")
    seats = [tray @ at(*slot.xy_m, seated_height_m(figures, slot, MEDIUM_GEAR)) for slot in figures.slots]
    expected = [ExpectedObject("tray", TRAY, tray, 0.005, 0.05)]
    expected += [ExpectedObject(f"gear_{i}", GEAR, seat, 0.005, 1.8) for i, seat in enumerate(seats)]
    eye = Detector(Tracker(expected, view=view_of("eye")), flat=True)
    found = eye.see([(TRAY, tray), *((GEAR, seat) for seat in seats)], 40)
    for i, seat in enumerate(seats):
        off = found[f"gear_{i}"].position - seat.position
        assert abs(off[2]) < 1e-9
        assert np.hypot(*off[:2]) < 2 * SD_M  # its line of sight is known: the plane that was assumed is not used
        assert found[f"gear_{i}"].rotation_matrix[2, 2] == pytest.approx(1.0)
    spread = np.sqrt(eye.tracks.variances)
    assert np.isfinite(spread).all()
    assert spread[:, 2].max() < 0.0015
    assert set(eye.tracks.slots) == {"", *(f"tray_slot_{i}" for i in range(1, 5))}


def test_what_is_put_elsewhere_is_as_high_as_what_it_lies_on():
    tray, figures = at(0.1, 0.05), TRAYS.get("kit_m2l1_tray")
    slot = figures.slots[0]
    seat = tray @ at(*slot.xy_m, seated_height_m(figures, slot, MEDIUM_GEAR))
    expected = [ExpectedObject("kit", KIT, tray, 0.005, 0.05), ExpectedObject("gear", GEAR, at(-0.3, 0, 0.95), 0.01)]
    tracker = Tracker(expected, view=view_of("eye"), surfaces=[Surface((-1, -1), (1, 1), TABLE_M)])
    eye = Detector(tracker, flat=True)
    eye.see([(KIT, tray), (GEAR, at(-0.3, 0.0, 0.95))], 5)
    for place, height_m, least_sd, most_sd in (
        (seat, seat.position[2], 0.0, 0.001),
        (at(-0.3, 0.1), TABLE_M - MEDIUM_GEAR.bottom_m, 0.002, 0.02),
        (seat @ Pose.from_xyz_rpy([0.0045, 0, 0.003]), seat.position[2], 0.002, 0.01),  # it has climbed the wall
    ):
        found = eye.see([(KIT, tray), (GEAR, place)], 6)
        number = eye.tracks.identities.index("gear")
        assert found["gear"].position[2] == pytest.approx(height_m, abs=1e-9)
        assert least_sd <= np.sqrt(eye.tracks.variances[number, 2]) <= most_sd
        assert np.hypot(*(found["gear"].position - place.position)[:2]) < 0.002


@pytest.mark.parametrize(("off_m", "is_in_slot"), [(0.009, True), (0.030, False)])
def test_a_part_in_a_tray_that_nobody_sees_is_in_a_slot_as_far_as_the_tray_may_be_off_its_drawing(off_m, is_in_slot):
    """The tray is known to 5 mm by its drawing; a board hides it, and not the gear in it."""
    drawn, figures = at(0.1, 0.05), TRAYS.get("kit_m2l1_tray")
    slot = figures.slots[0]
    seat = drawn @ at(*slot.xy_m, seated_height_m(figures, slot, MEDIUM_GEAR)) @ Pose.from_xyz_rpy([off_m, 0.0, 0.0])
    expected = [ExpectedObject("kit", KIT, drawn, 0.005, 0.05), ExpectedObject("gear", GEAR, seat, 0.01)]
    tracker = Tracker(expected, view=view_of("eye"), surfaces=[Surface((-1, -1), (1, 1), TABLE_M)])
    eye = Detector(tracker, flat=True)
    found = eye.see([(GEAR, seat)], 5)
    on_rim_m = drawn.position[2] + figures.thickness_m - MEDIUM_GEAR.bottom_m
    expected_m = seat.position[2] if is_in_slot else on_rim_m
    assert found["gear"].position[2] == pytest.approx(expected_m, abs=1e-9)


@pytest.mark.parametrize(
    ("names", "x_m", "raised_m"),
    [
        (("left", "right"), 0.0, 0.017),
        (("left", "right"), 0.3, 0.0),
        (("left",), 0.0, 0.017 * 373 / (373 + 150)),
        (("left",), 0.02, (0.017 - 0.0126) * 373 / (373 + 350)),
        (("left",), 0.05, 0.0),
    ],
    ids=["its cone bridges two trays", "on the table", "its cone leans on one", "its disc leans on one", "beside one"],
)
def test_what_reaches_over_the_rims_of_trays_lies_on_them(names, x_m, raised_m):
    figures = TRAYS.get("kit_m2l1_tray")
    beside_m = figures.size_m[0] / 2 + 0.015
    trays = [(name, at(beside_m if name == "right" else -beside_m, 0.0)) for name in names]
    expected = [ExpectedObject(name, KIT, pose, 0.005, 0.05) for name, pose in trays]
    expected.append(ExpectedObject("gear", GEAR, at(0.0, 0.3), 0.005, 1.8))
    tracker = Tracker(expected, view=view_of("eye"), surfaces=[Surface((-1, -1), (1, 1), TABLE_M)])
    eye, seen = Detector(tracker, flat=True), [(KIT, pose) for _, pose in trays]
    eye.see([*seen, (GEAR, at(0.0, 0.3))], 5)
    height_m = TABLE_M + raised_m - MEDIUM_GEAR.bottom_m
    found = eye.see([*seen, (GEAR, at(x_m, 0.0, height_m))], 8)
    assert found["gear"].position[2] == pytest.approx(height_m, abs=0.001)


@pytest.mark.parametrize(("beside_m", "raised_m"), [(0.005, 0.0), (-0.090, 0.017)], ids=["beside", "on it"])
def test_a_part_that_is_not_round_lies_on_a_tray_by_its_outline(beside_m, raised_m):
    """A plate of 160 x 190 mm: its corners are 124 mm from its middle, its long sides 80 mm."""
    kit, plate = TRAYS.get("kit_m2l1_tray"), part_of_sku("sku_flat_tray")
    expected = [ExpectedObject("kit", KIT, at(0.0, 0.0), 0.005, 0.05)]
    expected.append(ExpectedObject("plate", plate.sku, at(0.0, 0.3), 0.005, 1.8))
    tracker = Tracker(expected, view=view_of("eye"), surfaces=[Surface((-1, -1), (1, 1), TABLE_M)])
    eye, height_m = Detector(tracker, flat=True), TABLE_M + raised_m - plate.bottom_m
    eye.see([(KIT, at(0.0, 0.0)), (plate.sku, at(0.0, 0.3, height_m))], 5)
    x_m = (kit.size_m[0] + 0.160) / 2 + beside_m
    found = eye.see([(KIT, at(0.0, 0.0)), (plate.sku, at(x_m, 0.0, height_m))], 8)
    assert found["plate"].position[2] == pytest.approx(height_m, abs=0.0005)


def test_all_that_is_told_is_finite_and_heights_are_kept_when_nothing_measures_them():
    things = row(3)
    eye = watched(things, flat=True)
    for _ in range(30):
        found = eye.see(things)
        assert np.isfinite(eye.tracks.variances).all()
    assert found["gear_1"].position[2] == pytest.approx(TABLE_M - MEDIUM_GEAR.bottom_m, abs=1e-9)


# ------------------------------------------------------------ detectors that misbehave


def state(detector):
    return detector.tracker.status[detector.name]


def test_two_cameras_with_biases_of_their_own_are_fused():
    things = row(5)
    tracker = Tracker(expect(things), view=view_of("left", "right"))
    left, right = Detector(tracker, "left", bias=(0.0008, 0)), Detector(tracker, "right", bias=(-0.0006, 0), seed=2)
    places = []
    for n in range(120):
        left.see(things)
        found = right.see(things)
        if n > 80:
            places += [left.tracks.positions[2, 0], right.tracks.positions[2, 0]]
    assert set(found) == {f"gear_{i}" for i in range(5)}
    assert np.ptp(places) < 0.0004  # no longer to and fro between the two
    assert state(left).state is state(right).state is DetectorState.GOOD


@pytest.mark.parametrize("shift_m", [(0.0, 0.006), (0.0, 0.03), (0.05, 0.0)])  # the last one nearer to neighbours
def test_two_cameras_that_disagree_are_told_and_double_nothing(shift_m):
    things = row(5)
    tracker = Tracker(expect(things), view=view_of("left", "right"))
    left, right = Detector(tracker, "left"), Detector(tracker, "right", bias=shift_m, seed=2)
    for _ in range(5):
        left.see(things)
    right.now_s = left.now_s
    for _ in range(40):
        left.see(things)
        found = right.see(things)
    assert set(found) == {f"gear_{i}" for i in range(5)}
    assert state(right).state is DetectorState.DISAGREES
    x, y = (float(number) for number in re.search(r"alike by \((.*), (.*)\) mm", state(right).reason).groups())
    assert (x, y) == pytest.approx((1000 * shift_m[0], 1000 * shift_m[1]), abs=0.5)
    assert "from where left does" in state(right).reason
    for _ in range(40):
        found = right.see(things)  # the other is hidden, so that nothing says that this one is right
    assert set(found) <= {f"gear_{i}" for i in range(5)}
    assert state(right).state is DetectorState.DISAGREES
    right.bias = (0.0, 0.0)
    for _ in range(25):
        left.see(things)
        right.see(things)
    assert state(right).state is DetectorState.GOOD


def test_a_tray_that_is_pushed_with_its_parts_is_no_disagreement():
    things = row(5)
    tracker = Tracker(expect(things), view=view_of("left", "right"))
    left, right = Detector(tracker, "left"), Detector(tracker, "right", seed=2)
    for _ in range(5):
        left.see(things)
        right.see(things)
    pushed = [(sku, at(0.0, 0.02, 0.0) @ pose) for sku, pose in things]
    for _ in range(6):
        left.see(pushed)
        found = right.see(pushed)
    assert all(found[f"gear_{i}"].distance_m(pose) < 0.001 for i, (_, pose) in enumerate(pushed))
    assert state(left).state is state(right).state is DetectorState.GOOD


def seen_by_two(things, sd_m, seed, frames=60):
    """Two cameras, each of which sees every object lastingly aside: returns them, and where each sees what."""
    tracker = Tracker(expect(things), view=view_of("left", "right"))
    left, right = Detector(tracker, "left"), Detector(tracker, "right", seed=2)
    asides = np.random.default_rng(seed).normal(0.0, sd_m, (2, len(things), 2))

    def view(number, now):
        shifted = zip(now, asides[number], strict=True)
        return [(sku, at(*off, 0.0) @ pose) for (sku, pose), off in shifted]

    def see(now, frames):
        places = []
        for _ in range(frames):
            left.see(view(0, now))
            found = right.see(view(1, now))
            places.append([found[f"gear_{i}"].position for i in range(len(things))])
        return found, np.array(places)

    return left, right, see


@pytest.mark.parametrize("seed", range(6))
def test_objects_that_two_cameras_see_lastingly_aside_stay_one_and_still(seed):
    things = row(5)
    left, right, see = seen_by_two(things, 0.003, seed)
    found, places = see(things, 60)
    assert set(found) == {f"gear_{i}" for i in range(5)}
    assert np.ptp(places[20:], axis=0).max() < 0.0015  # not to and fro between the two
    assert state(left).state is state(right).state is DetectorState.GOOD


def test_what_one_camera_sees_aside_and_names_wrongly_makes_no_other_part():
    things = row(3)
    tracker = Tracker(expect(things), view=view_of("left", "right"))
    left, right = Detector(tracker, "left"), Detector(tracker, "right", seed=2)
    aside = [things[0], (GEAR, at(0.004, 0.006, 0.0) @ things[1][1]), things[2]]
    wrong = [things[0], (LARGE, aside[1][1]), things[2]]
    for n in range(40):
        left.see(things)
        found = right.see(wrong if n % 3 else aside)
        assert set(found) == {f"gear_{i}" for i in range(3)}


@pytest.mark.parametrize("first", ["left", "right"])
@pytest.mark.parametrize("signs", [(1, 0.3, -1), (1, 1, 1)])
@pytest.mark.parametrize("off_m", [0.004, 0.018, 0.03])
def test_next_to_a_registered_camera_one_that_is_not_moves_nothing(first, off_m, signs):
    """Without the registration a thing would be believed halfway between what both see, which looks like a motion."""
    things = row(3)
    tracker = Tracker(expect(things), view=view_of("left", "right"), registered={"left"})
    eyes = {name: Detector(tracker, name, seed=n) for n, name in enumerate(("left", "right"))}
    turned = [(sku, at(off_m * sign, off_m * 0.2, 0.0) @ pose) for (sku, pose), sign in zip(things, signs, strict=True)]
    views = {"left": things, "right": turned}
    for n in range(40):
        for name in (first, "right" if first == "left" else "left"):
            found = eyes[name].see(views[name])
        if n >= 10:
            off = [found[f"gear_{i}"].position - pose.position for i, (_, pose) in enumerate(things)]
            assert np.hypot(*np.array(off).T[:2]).max() < 0.0015
    assert set(found) == {f"gear_{i}" for i in range(3)}
    for _ in range(10):  # an arm hides all from the registered one
        hidden = eyes["right"].see(views["right"])
    assert np.abs(hidden["gear_0"].position - things[0][1].position)[:2].max() < 0.0015


def test_what_only_an_unregistered_camera_sees_is_shifted_as_all_that_it_shares_with_a_registered_one():
    things, new = row(4), (LARGE, at(0.05, 0.12))
    tracker = Tracker(expect(things), view=view_of("left", "right"), registered={"left"})
    left, right = Detector(tracker, "left"), Detector(tracker, "right", seed=2)
    for _ in range(10):
        left.see(things)
        found = right.see([(sku, at(0.004, -0.028, 0.0) @ pose) for sku, pose in [*things, new]])
    (name,) = set(found) - {f"gear_{i}" for i in range(4)}
    assert np.hypot(*(found[name].position - new[1].position)[:2]) < 0.0015


@pytest.mark.parametrize("pushed_m", [0.006, 0.03])
@pytest.mark.parametrize("seed", range(3))
def test_what_two_cameras_see_lastingly_aside_is_seen_to_move(seed, pushed_m):
    things = row(5)
    _, _, see = seen_by_two(things, 0.003, seed)
    before, _ = see(things, 30)
    pushed = [*things[:2], (GEAR, at(0.0, pushed_m, 0.0) @ things[2][1]), *things[3:]]
    after, _ = see(pushed, 10)
    assert set(after) == set(before)
    moved_m = [float((after[f"gear_{i}"].position - before[f"gear_{i}"].position)[1]) for i in range(5)]
    assert moved_m[2] == pytest.approx(pushed_m, abs=0.003 if pushed_m < 0.01 else 0.008)
    assert max(abs(moved_m[i]) for i in (0, 1, 3, 4)) < 0.001


def test_two_of_a_kind_are_never_so_near_that_both_are_there():
    """Something that is seen a little aside while the known one is neither seen nor missed is that one."""
    things = row(3)
    eye = watched(things)
    eye.see(things, 5)
    table = eye.tracker._table
    place = things[1][1].position + [0.003, -0.003, 0.0]
    (new,) = table.add([GEAR], place[None], things[1][1].quaternion[None], np.tile(MEASURED, (1, 1)))
    table.sightings[new], table.seen_s[new] = 3, eye.now_s + 0.3
    confirm_tracks(table, eye.now_s + 0.3, eye.tracker.cfg, lambda rows: np.zeros(len(rows), bool), True)
    assert sorted(table.names) == [f"gear_{i}" for i in range(3)]
    np.testing.assert_allclose(table.positions[table.row("gear_1")], place, atol=1e-9)


def felt(seed=0):
    """A gear that a hand has felt in its place, and two cameras that see it aside, each otherwise."""
    things = row(3)
    left, _, see = seen_by_two(things, 0.003, seed)
    see(things, 10)
    left.tracker.put("gear_1", things[1][1], [0.0005**2] * 3 + [0.01] * 3, "felt")
    return left, things, see


@pytest.mark.parametrize("seed", range(4))
def test_what_a_hand_has_felt_is_there_wherever_cameras_see_it(seed):
    left, things, see = felt(seed)
    _, places = see(things, 40)
    assert np.linalg.norm(places[:, 1, :2] - things[1][1].position[:2], axis=1).max() < 0.0007
    there = at(0.1, 0.3)
    left.tracker.put("gear_1", there, [0.002**2] * 3 + [0.01] * 3, "carried")
    things[1] = (GEAR, there)
    _, places = see(things, 20)  # carried on a tray, it is seen as much aside as before
    assert np.linalg.norm(places[:, 1, :2] - there.position[:2], axis=1).max() < 0.0015


@pytest.mark.parametrize("pushed_m", [0.006, 0.03])
def test_what_a_hand_has_felt_is_seen_to_move(pushed_m):
    _, things, see = felt()
    see(things, 10)
    things[1] = (GEAR, at(0.0, pushed_m, 0.0) @ things[1][1])
    found, _ = see(things, 10)
    assert set(found) == {f"gear_{i}" for i in range(3)}
    assert found["gear_1"].position[1] > 0.003


def test_a_detector_that_repeats_old_frames_changes_nothing_and_is_told():
    things = row(3)
    eye = watched(things)
    before = eye.see(things, 5)
    old_s = eye.now_s
    for _ in range(20):
        after = eye.see([(GEAR, at(0.3, 0.2)), *things[1:]], time_s=old_s)
    assert all(after[name].is_close(before[name], tolerance_m=0.0) for name in before)
    assert (eye.tracks.ages_s > 0.0).all()  # nothing was seen
    assert state(eye).state is DetectorState.REPEATS
    assert f"the frame of {old_s:.2f} s" in state(eye).reason
    eye.see(things)
    assert state(eye).state is DetectorState.GOOD


@pytest.mark.parametrize(("jump_s", "text"), [(-3.0, "went back by"), (500.0, "ahead of the cell's")])
def test_a_clock_that_jumps_changes_nothing_and_is_told(jump_s, text):
    things, now = row(3), [0.0]
    eye = Detector(Tracker(expect(things), view=view_of("eye"), clock=lambda: now[0]))
    for _ in range(40):
        now[0] += PERIOD_S
        before = eye.see(things)
    wrong = eye.see([(GEAR, at(0.3, 0.2)), *things[1:]], 5, time_s=now[0] + jump_s)
    assert all(wrong[name].is_close(before[name], tolerance_m=0.0) for name in before)
    assert state(eye).state is DetectorState.CLOCK
    assert text in state(eye).reason
    now[0] += PERIOD_S
    eye.see(things, time_s=now[0])
    assert state(eye).state is DetectorState.GOOD  # and the frames after it count again


def test_a_clock_that_stays_behind_is_told_for_as_long_as_it_does():
    things, now = row(3), [0.0]
    eye = Detector(Tracker(expect(things), view=view_of("eye"), clock=lambda: now[0]))
    for _ in range(40):
        now[0] += PERIOD_S
        before = eye.see(things)
    for _ in range(20 * round(1 / PERIOD_S)):
        now[0] += PERIOD_S
        after = eye.see([(GEAR, at(0.3, 0.2)), *things[1:]], time_s=now[0] - 15.0)
    assert all(after[name].is_close(before[name], tolerance_m=0.0) for name in before)
    assert state(eye).state is DetectorState.CLOCK
    assert "15.00 s behind the cell's" in state(eye).reason


def test_a_camera_that_sees_nothing_takes_nothing_away_and_is_told():
    things = row(4)
    eye = watched(things)
    eye.see(things, 5)
    assert set(eye.see([], 60)) == {f"gear_{i}" for i in range(4)}
    assert state(eye).state is DetectorState.BLIND
    assert "saw nothing in 60 frames where 4 objects should be seen" in state(eye).reason
    eye.see(things)
    assert state(eye).state is DetectorState.GOOD


def test_bad_variances_are_left_out():
    eye = watched(row(2))
    eye.see(row(2), 3)
    frame = eye.frame(row(2), 9.0)
    frame.variances[:, 0] = np.nan
    assert np.isfinite(eye.tracker.take(frame).variances).all()
