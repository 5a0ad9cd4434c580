"""Identities stay although rows jump, things move, detectors miss, overlap and disagree."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import TRAYS
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.perception import ExpectedObject, Tracker, TrackerCfg
from cellwright.perception.yaw import period_of

GEAR, LARGE, TRAY = "sku_part_medium_gear", "sku_part_large_gear", "sku_medium_gear_vessel"
KIT, LONG = "sku_kit_m2l1_vessel", "sku_large_gear_vessel"
SD_M, SD_RAD = 0.0003, 0.005
PERIOD_S = 0.1
EVERYTHING = {"camera": ((-9.0, -9.0), (9.0, 9.0))}


def at(x, y, z=0.0, yaw=0.0, roll=0.0):
    return Pose.from_xyz_rpy([x, y, z], [roll, 0.0, yaw])


class Camera:
    """Reports things with noise, in an order that changes from frame to frame."""

    def __init__(self, tracker, name="camera", *, bias_m=0.0, seed=1, sd_m=SD_M):
        self.tracker, self.name, self.bias_m, self.sd_m = tracker, name, bias_m, sd_m
        self.frame, self.rng = 0, np.random.default_rng(seed)

    def see(self, things, frames=1, *, time_s=None, score=0.9, frame="world"):
        """Things are pairs of SKU and pose; returns the tracks by identity."""
        for _ in range(frames):
            self.frame += 1
            stamp_s = self.frame * PERIOD_S if time_s is None else time_s
            seen = [things[i] for i in self.rng.permutation(len(things))]
            noise = self.rng.normal(0.0, 1.0, (len(seen), 3)) * self.sd_m + [self.bias_m, 0.0, 0.0]
            turns = [at(0, 0, yaw=self.rng.normal() * SD_RAD) @ pose for _, pose in seen]
            tracks = self.tracker.take(
                Detections(
                    round(stamp_s * 1e9), self.frame, self.name, frame=frame, skus=tuple(sku for sku, _ in seen),
                    positions=np.array([pose.position for _, pose in seen]).reshape(-1, 3) + noise,
                    quaternions=np.array([pose.quaternion for pose in turns]).reshape(-1, 4),
                    variances=np.tile([SD_M**2] * 3 + [SD_RAD**2] * 3, (len(seen), 1)),
                    scores=np.full(len(seen), score),
                )
            )  # fmt: skip
        self.tracks = tracks
        return {
            name: Pose(position, quaternion)
            for name, position, quaternion in zip(tracks.identities, tracks.positions, tracks.quaternions, strict=True)
        }


def slots(camera):
    return dict(zip(camera.tracks.identities, camera.tracks.slots, strict=True))


def row(n, sku=GEAR):
    return [(sku, at(0.06 * i, 0.0)) for i in range(n)]


def expect(things):
    return [ExpectedObject(f"gear_{i}", sku, pose, 0.01, 1.8) for i, (sku, pose) in enumerate(things)]


def test_rows_jump_and_identities_stay():
    things = row(8)
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    for _ in range(30):
        found = camera.see(things)
        assert {name: round(pose.position[0] / 0.06) for name, pose in found.items()} == {
            f"gear_{i}": i for i in range(8)
        }
    error_m = [found[f"gear_{i}"].distance_m(pose) for i, (_, pose) in enumerate(things)]
    assert max(error_m) < SD_M  # one frame has 0.5 mm in three coordinates
    assert np.sqrt(camera.tracks.variances[:, :3]).max() < SD_M / 1.5


def test_drawings_that_are_off_are_recognised():
    things = row(4)
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    found = camera.see([(sku, at(0.008, -0.006) @ pose) for sku, pose in things])
    assert found["gear_2"].position[0] == pytest.approx(0.128, abs=0.002)


def test_something_new_is_named_after_three_sights():
    camera = Camera(Tracker(expect(row(1)), views=EVERYTHING))
    new = [*row(1), (GEAR, at(0.5, 0.5))]
    assert set(camera.see(new, 2)) == {"gear_0"}
    assert set(camera.see(new)) == {"gear_0", "medium_gear_1"}
    assert set(camera.see(row(1), 5)) == {"gear_0"}  # and no longer reported when it was missed five times
    assert set(camera.see([*row(1), (GEAR, at(0.9, -0.5))], 4)) == {"gear_0", "medium_gear_1"}


def test_a_single_false_sight_is_forgotten():
    camera = Camera(Tracker(expect(row(2)), views=EVERYTHING))
    for n in range(9):
        ghost = [(GEAR, at(0.5 + 0.3 * n, 0.5))]
        assert set(camera.see([*row(2), *ghost])) == {"gear_0", "gear_1"}


def test_a_false_sight_at_the_edge_of_the_view_is_forgotten():
    tracker = Tracker(expect(row(1)), views={"camera": ((-0.5, -0.5), (0.5, 0.5))})
    camera = Camera(tracker)
    for _ in range(5):
        assert set(camera.see([*row(1), (GEAR, at(0.52, 0.1))])) == {"gear_0"}
        camera.see(row(1), 15)


def test_a_part_that_is_carried_keeps_its_name():
    things = row(3)
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    camera.see(things, 5)
    for n in range(1, 15):  # 0.5 m/s past its neighbours
        carried = at(0.0, 0.0, 0.05) @ at(0.05 * n, 0.02)
        found = camera.see([(GEAR, carried), *things[1:]])
        assert set(found) == {"gear_0", "gear_1", "gear_2"}
        assert (
            n == 1 or found["gear_0"].distance_m(carried) < 0.002
        )  # from the second frame on; it does not drag behind
    found = camera.see([(GEAR, carried), *things[1:]], 10)
    assert found["gear_0"].distance_m(carried) < SD_M


def test_a_part_that_is_put_far_away_is_the_one_that_is_missing():
    things = row(4)
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    camera.see(things, 5)
    moved = [(GEAR, at(1.4, 1.1)), *things[1:]]
    found = camera.see(moved, 5)
    assert set(found) == {f"gear_{i}" for i in range(4)}
    assert found["gear_0"].position[0] == pytest.approx(1.4, abs=0.002)


def test_two_parts_that_change_places_are_told_by_their_kind():
    things = [(GEAR, at(0, 0)), (LARGE, at(0.3, 0))]
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    camera.see(things, 3)
    found = camera.see([(GEAR, at(0.3, 0)), (LARGE, at(0, 0))], 3)
    assert found["gear_0"].position[0] < 0.01  # recognition may have named them wrongly
    found = camera.see([(GEAR, at(0.3, 0)), (LARGE, at(0, 0))], 8)
    assert found["gear_0"].position[0] > 0.29
    assert found["gear_1"].position[0] < 0.01


@pytest.mark.parametrize("seed", range(5))
def test_chance_misses_take_no_name_away(seed):
    things = row(6)
    camera = Camera(Tracker(expect(things), views=EVERYTHING), seed=seed)
    for _ in range(60):
        seen = [thing for thing in things if camera.rng.random() > 0.2]
        found = camera.see(seen)
        for name, pose in found.items():
            assert pose.distance_m(things[int(name[-1])][1]) < 0.003


def test_a_double_sight_is_one_thing():
    camera = Camera(Tracker(expect(row(2)), views=EVERYTHING))
    doubled = [*row(2), (GEAR, at(0.003, 0.0))]
    assert set(camera.see(doubled, 10)) == {"gear_0", "gear_1"}


def test_turns_wrap_and_symmetric_trays_flip():
    tracker = Tracker([ExpectedObject("tray", TRAY, at(0, 0, yaw=np.pi - 0.002), 0.003, 0.02)], views=EVERYTHING)
    camera = Camera(tracker)
    for n in range(20):
        quarter = camera.rng.integers(4) * np.pi / 2
        found = camera.see([(TRAY, at(0, 0, yaw=np.pi + 0.001 * (n % 3) + quarter))])
        assert abs(np.cos(found["tray"].rpy[2]) + 1.0) < 1e-3  # near pi, whichever way it is reported
    assert abs(abs(found["tray"].rpy[2]) - np.pi) < 0.005


def test_a_kit_tray_that_is_turned_round_is_turned():
    camera = Camera(Tracker([ExpectedObject("kit", KIT, at(0, 0), 0.003, 0.02)], views=EVERYTHING))
    camera.see([(KIT, at(0, 0))], 5)
    once = camera.see([(KIT, at(0, 0, yaw=np.pi))])
    assert abs(once["kit"].rpy[2]) < 0.02  # once may be a mistake
    for _ in range(8):
        found = camera.see([(KIT, at(0, 0, yaw=np.pi))])
    assert abs(abs(found["kit"].rpy[2]) - np.pi) < 0.02


def test_symmetry_comes_from_the_figures():
    assert period_of(TRAY) == pytest.approx(np.pi / 2)
    assert period_of(LONG) == pytest.approx(np.pi)
    assert period_of(KIT) == pytest.approx(2 * np.pi)
    assert period_of("sku_kit_s2l2_vessel") == pytest.approx(2 * np.pi)
    assert period_of(GEAR) == pytest.approx(2 * np.pi / 32)
    assert period_of("whatever") == pytest.approx(2 * np.pi)


def test_a_gear_on_its_side_is_seen_on_its_side():
    camera = Camera(Tracker(expect(row(1)), views=EVERYTHING))
    camera.see(row(1), 3)
    found = camera.see([(GEAR, at(0.0, 0.0, roll=np.pi / 2))])
    assert found["gear_0"].rotation_matrix[2, 2] > 0.99  # once may be a mistake
    found = camera.see([(GEAR, at(0.0, 0.0, roll=np.pi / 2))], 4)
    assert abs(found["gear_0"].rotation_matrix[2, 2]) < 0.1


# ------------------------------------------------------------ several detectors


def test_detectors_that_overlap_follow_the_same_things():
    things = row(6)
    views = {"left": ((-1.0, -1.0), (0.21, 1.0)), "right": ((0.09, -1.0), (1.0, 1.0))}
    tracker = Tracker(expect(things), views=views)
    left, right = Camera(tracker, "left", bias_m=0.0004), Camera(tracker, "right", bias_m=-0.0004, seed=2)
    for _ in range(20):
        left.see(things[:4])
        found = right.see(things[2:])
    assert set(found) == {f"gear_{i}" for i in range(6)}
    ages = dict(zip(right.tracks.identities, right.tracks.ages_s, strict=True))
    assert {name for name, age_s in ages.items() if age_s == 0.0} == {f"gear_{i}" for i in range(2, 6)}
    assert right.tracks.source == "right"
    assert right.tracks.sequence == 19
    handed = at(0.30, 0.1)
    found = right.see([*things[2:], (GEAR, handed)], 4)  # gear 0 leaves the left view and is put into the right one
    assert set(found) == {f"gear_{i}" for i in range(6)} | {"medium_gear_1"}  # the left one has not looked yet


def test_what_no_detector_looks_at_is_not_missed():
    things = row(2)
    tracker = Tracker(
        expect(things), views={"camera": ((0.03, -1.0), (1.0, 1.0)), "other": ((-1.0, -1.0), (0.03, 1.0))}
    )
    Camera(tracker, "other").see(things[:1], 3)
    found = Camera(tracker).see(things[1:], 30)
    assert set(found) == {"gear_0", "gear_1"}


def test_late_and_old_frames_do_no_harm():
    tracker = Tracker(expect(row(2)), views={**EVERYTHING, "slow": EVERYTHING["camera"]})
    camera, slow = Camera(tracker), Camera(tracker, "slow", seed=3)
    before = camera.see(row(2), 10)
    after = slow.see([(GEAR, at(0.001, 0.0)), row(2)[1]], time_s=0.5)
    assert after["gear_0"].is_close(before["gear_0"])
    again = camera.see([(GEAR, at(0.2, 0.2))], time_s=0.3)  # older than its own last frame
    assert again["gear_0"].is_close(before["gear_0"])
    assert set(again) == {"gear_0", "gear_1"}


def test_frames_are_turned_into_the_cells():
    mounted = at(1.0, 2.0, 0.5, yaw=np.pi / 2)
    tracker = Tracker(expect(row(1)), views=EVERYTHING, frames={"lens": mounted})
    found = Camera(tracker).see([(GEAR, mounted.inverse() @ at(0, 0, yaw=0.01))], 5, frame="lens")
    assert found["gear_0"].distance_m(at(0, 0)) < 0.001
    with pytest.raises(UnknownName, match="unknown frame 'nowhere'"):
        Camera(tracker).see(row(1), frame="nowhere", time_s=9.0)


def test_bad_rows_are_left_out():
    camera = Camera(Tracker(expect(row(1)), views=EVERYTHING))
    camera.see(row(1), 3)
    assert camera.see([(LARGE, at(0.5, 0))], 5, score=0.1).keys() <= {"gear_0"}
    nothing = Detections(
        9_000_000_000, 0, "camera", frame="world", skus=(GEAR, GEAR), positions=np.array([[np.nan, 0, 0], [0, 0, 0]]),
        quaternions=np.array([[1.0, 0, 0, 0], [0.0, 0, 0, 0]]), variances=np.full((2, 6), 1e-7), scores=np.ones(2),
    )  # fmt: skip
    assert np.isfinite(camera.tracker.take(nothing).positions).all()
    with pytest.raises(BadInput, match="expected more than once"):
        Tracker([*expect(row(1)), *expect(row(1))])


# ------------------------------------------------------------ slots


def test_slots_of_trays_as_they_are_seen():
    tray = at(0.3, 0.2, 0.9, yaw=0.7)
    seats = [tray @ at(*slot.xy_m, 0.004) for slot in TRAYS.get("kit_m2l1_tray").slots]
    things = [(KIT, tray), (GEAR, seats[0]), (GEAR, seats[1]), (LARGE, seats[2])]
    names = [ExpectedObject("kit_tray", KIT, tray, 0.003, 0.02, "kit")]
    camera = Camera(Tracker(names, views=EVERYTHING))
    camera.see(things, 3)
    assert sorted(slots(camera).values()) == ["", "kit_slot_1", "kit_slot_2", "kit_slot_3"]
    name = next(n for n, slot in slots(camera).items() if slot == "kit_slot_2")
    for moved, slot in (
        (at(0.004, 0), "kit_slot_2"),
        (at(0.02, 0), ""),
        (at(0, 0, 0.03), ""),
        (at(0, 0), "kit_slot_2"),
    ):
        camera.see([*things[:2], (GEAR, moved @ seats[1]), things[3]], 2)
        assert slots(camera)[name] == slot
    camera.see([(KIT, at(0.1, 0) @ tray), *things[1:]], 3)  # the tray is pulled away
    assert set(slots(camera).values()) == {""}


def test_a_gear_in_a_slot_for_another_is_in_that_slot():
    seat = at(0.0, -0.040, 0.004)  # the large gear's place
    camera = Camera(Tracker([ExpectedObject("kit", KIT, at(0, 0), 0.003, 0.02)], views=EVERYTHING))
    camera.see([(KIT, at(0, 0)), (GEAR, seat)], 3)
    assert slots(camera)["medium_gear_1"] == "kit_slot_3"


# ------------------------------------------------------------ any of it


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_random_moves_end_with_one_track_for_each_thing(seed):
    rng = np.random.default_rng(seed)
    places = [at(0.08 * (i % 4), 0.08 * (i // 4)) for i in range(8)]
    camera = Camera(Tracker(expect([(GEAR, pose) for pose in places[:5]]), views=EVERYTHING), seed=seed)
    camera.see([(GEAR, pose) for pose in places[:5]], 3)
    taken = list(range(5))
    for _ in range(3):
        free = [i for i in range(8) if i not in taken]
        taken[int(rng.integers(5))] = int(rng.choice(free))
        found = camera.see([(GEAR, places[i]) for i in taken], 6)
    assert set(found) == {f"gear_{i}" for i in range(5)}
    for pose in found.values():
        assert min(pose.distance_m(places[i]) for i in taken) < 0.002


def test_forty_things_take_less_than_a_millisecond_a_frame():
    trays = [(TRAY, at(0.3 * i, 0, 0.9)) for i in range(8)]
    gears = [(GEAR, pose @ at(*slot.xy_m, 0.004)) for _, pose in trays for slot in TRAYS.get("medium_gear_tray").slots]
    things = [ExpectedObject(f"thing_{i}", sku, pose, 0.003, 0.1) for i, (sku, pose) in enumerate([*trays, *gears])]
    camera = Camera(Tracker(things, views=EVERYTHING))
    taken = camera.tracker.take
    times_s = []

    def timed(message):
        start_s = time.perf_counter()
        tracks = taken(message)
        times_s.append(time.perf_counter() - start_s)
        return tracks

    camera.tracker.take = timed
    camera.see([*trays, *gears], 60)
    assert len(camera.tracks.identities) == 40
    assert min(times_s) < 0.001  # the best of many: others may use the machine, too


def test_settings_count():
    camera = Camera(Tracker(cfg=TrackerCfg(confirm=1), views=EVERYTHING))
    assert set(camera.see(row(1), 1)) == {"medium_gear_1"}


def test_a_part_that_is_carried_past_the_place_of_a_lost_one_stays_itself():
    things = row(4)
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    camera.see(things, 5)
    without = [things[0], *things[2:]]  # the second is taken away
    camera.see(without, 20)
    for step in range(1, 31):  # the third is lifted, carried over that place, and set down beyond it
        carried = at(0.12 - 0.01 * step, 0.0, 0.002 if step < 10 else 0.03)
        found = camera.see([things[0], (GEAR, carried), things[3]])
        assert "gear_1" not in found
        assert step == 1 or found["gear_2"].distance_m(carried) < 5 * SD_M
    back = camera.see([things[0], (GEAR, carried), things[3], things[1]], 5)
    assert back["gear_1"].distance_m(things[1][1]) < 5 * SD_M


def test_a_part_that_is_put_where_a_lost_one_stood_stays_itself():
    things = row(4)
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    camera.see(things, 5)
    camera.see([things[0], *things[2:]], 20)
    for x_m in (0.12, 0.09, 0.06, 0.06, 0.06):
        found = camera.see([things[0], (GEAR, at(x_m, 0.0)), things[3]])
    assert found["gear_2"].distance_m(things[1][1]) < 5 * SD_M
    assert "gear_1" not in found


def test_a_part_that_is_carried_out_of_view_and_back_is_not_one_that_vanished():
    things = row(4)
    camera = Camera(Tracker(expect(things), views={"camera": ((-1.0, -1.0), (0.4, 1.0))}))
    camera.see(things, 5)
    camera.see([things[0], *things[2:]], 20)  # the second is taken away
    for step in range(30):  # the third leaves the view on one side
        camera.see([things[0], (GEAR, at(0.12 + 0.01 * step, 0.0, 0.03)), things[3]])
    camera.see([things[0], things[3]], 100)
    back = at(0.0, -0.2, 0.03)  # and comes back on another, nearer to the place of the second
    found = camera.see([things[0], (GEAR, back), things[3]], 2)
    assert found["gear_2"].distance_m(back) < 5 * SD_M
    assert "gear_1" not in found


def test_a_frame_that_nobody_wants_to_know_of_counts_as_much_as_any():
    things, told = row(5), []
    for quiet in (False, True):
        camera = Camera(Tracker(expect(things)))
        camera.see(things, 3)
        take = camera.tracker.take
        if quiet:  # what it would have told is of no use to anybody
            camera.tracker.take = lambda message, tracker=camera.tracker: tracker.follow(message)
            camera.tracks = None
            with pytest.raises(AttributeError):
                camera.see([(GEAR, at(0.3, 0.1)), *things[1:]], 1)
            camera.tracker.take = take
        else:
            camera.see([(GEAR, at(0.3, 0.1)), *things[1:]], 1)
        told.append(camera.see([(GEAR, at(0.3, 0.1)), *things[1:]], 1))
    assert told[0].keys() == told[1].keys()
    assert all(told[0][name].is_close(told[1][name], tolerance_m=0.0, tolerance_rad=0.0) for name in told[0])


STACK = (at(0.4, 0.2, 0.0), at(0.4, 0.2, 0.017))


def stack():
    names = ("lower", "upper")
    expected = [ExpectedObject(name, KIT, pose) for name, pose in zip(names, STACK, strict=True)]
    return Camera(Tracker(expected, views=EVERYTHING))


def test_the_lower_tray_of_a_stack_is_seen_once_the_upper_one_is_off():
    camera = stack()
    camera.see([(KIT, STACK[1])], 3)
    for k in range(1, 8):  # lifted, it still hides the other
        lifted = at(0.4, 0.2, 0.017 + 0.012 * k)
        found = camera.see([(KIT, lifted)])
        assert set(found) == {"upper"}
        assert k == 1 or found["upper"].distance_m(lifted) < 0.002
    for k in range(1, 8):  # carried away
        away = at(0.4 - 0.025 * k, 0.2, 0.1)
        found = camera.see([(KIT, away), *([(KIT, STACK[0])] if k >= 4 else [])])
        assert found["upper"].distance_m(away) < 0.002
    assert found["lower"].distance_m(STACK[0]) < 0.002


def test_a_stack_whose_top_was_taken_away_is_one_tray():
    camera = stack()
    camera.see([(KIT, STACK[1])], 3)
    found = camera.see([(KIT, STACK[0])], 8)
    assert len(found) == 1
    for k in range(1, 9):  # whichever name it has, it keeps that while it is lifted
        lifted = at(0.4, 0.2, 0.012 * k)
        again = camera.see([(KIT, lifted)])
        assert set(again) == set(found)


def test_slots_of_a_tray_are_known_by_another_name_once_it_is_a_kit():
    tray, gear = at(0.4, 0.2), at(0.4 - 0.040, 0.2 + 0.055, 0.004)
    camera = Camera(Tracker([ExpectedObject("tray", KIT, tray, holder="")], views=EVERYTHING))
    camera.see([(KIT, tray), (GEAR, gear)], 4)
    assert set(slots(camera).values()) == {""}
    camera.tracker.set_holders({"tray": "kit_1"})
    camera.see([(KIT, tray), (GEAR, gear)])
    assert set(slots(camera).values()) == {"", "kit_1_slot_1"}


def test_a_tray_that_is_let_go_where_a_lost_one_stood_stays_itself():
    there, other = at(0.0, -0.6), at(0.4, 0.2)
    camera = Camera(Tracker([ExpectedObject("lost", KIT, there), ExpectedObject("new", KIT, other)], views=EVERYTHING))
    camera.see([(KIT, there), (KIT, other)], 5)
    camera.see([(KIT, other)], 30)
    for k in range(11):  # carried there, held still just above, and let go: the last step is short
        carried = at(0.4 - 0.04 * k, 0.2 - 0.08 * k, 0.0022)
        camera.see([(KIT, carried)])
    camera.see([(KIT, carried)], 4)
    found = camera.see([(KIT, there)], 6)
    assert set(found) == {"new"}
    assert found["new"].distance_m(there) < 0.001


@pytest.mark.parametrize("is_held", [True, False])
def test_a_lost_tray_is_not_back_while_a_hand_carries_one_of_its_kind_past_its_place(is_held):
    """Without a hand that carries one, what is seen in the place of the lost tray is that tray again."""
    there, other = at(0.0, -0.6), at(0.4, 0.2)
    camera = Camera(Tracker([ExpectedObject("lost", KIT, there), ExpectedObject("new", KIT, other)], views=EVERYTHING))
    camera.see([(KIT, there), (KIT, other)], 5)
    assert set(camera.see([(KIT, other)], 30)) == {"new"}
    camera.tracker.set_held(["new"] if is_held else [])
    found = camera.see([(KIT, there)])  # nothing was seen of it on its way
    assert set(found) == ({"new"} if is_held else {"lost", "new"})
    camera.tracker.set_held([])
    camera.tracker.put("new", there, [0.002**2] * 3 + [0.1**2] * 3)
    if is_held:
        assert set(camera.see([(KIT, there)], 40)) == {"new"}


def test_gears_that_pass_each_other_keep_their_names():
    start = [(GEAR, at(0.0, 0.0)), (GEAR, at(0.2, 0.06))]
    camera = Camera(Tracker(expect(start), views=EVERYTHING))
    camera.see(start, 5)
    for step in range(1, 51):  # 40 mm/s past each other
        camera.see([(GEAR, at(0.004 * step, 0.0)), (GEAR, at(0.2 - 0.004 * step, 0.06))])
    found = camera.see([(GEAR, at(0.2, 0.0)), (GEAR, at(0.0, 0.06))], 5)
    assert np.allclose(found["gear_0"].position[:2], (0.2, 0.0), atol=0.002)
    assert np.allclose(found["gear_1"].position[:2], (0.0, 0.06), atol=0.002)


def test_two_that_change_places_between_two_frames_are_the_same_two():
    things = [(GEAR, at(0.0, 0.0)), (GEAR, at(0.075, 0.0))]
    camera = Camera(Tracker(expect(things), views=EVERYTHING))
    before = camera.see(things, 5)
    after = camera.see(things[::-1], 5)
    assert all(before[name].distance_m(after[name]) < 0.002 for name in before)


def test_what_is_badly_seen_is_nothing():
    camera = Camera(Tracker(views=EVERYTHING))
    assert camera.see(row(1), 20, score=0.1) == {}


def test_a_thing_of_which_one_of_two_detectors_is_off_stays_one():
    things = row(1)
    tracker = Tracker(expect(things), views={"camera": EVERYTHING["camera"], "other": EVERYTHING["camera"]})
    here, there = Camera(tracker), Camera(tracker, "other", bias_m=0.002)
    for _ in range(20):
        here.see(things)
        there.see(things, time_s=here.frame * PERIOD_S)
    assert list(here.see(things)) == ["gear_0"]


def test_what_is_seen_for_long_has_a_name_although_one_of_its_kind_was_missed_once_and_is_hidden_since():
    things = row(2)
    views = {"left": ((-9.0, -9.0), (0.03, 9.0)), "right": ((0.03, -9.0), (9.0, 9.0))}
    tracker = Tracker(expect(things), views=views)
    left, right = Camera(tracker, "left"), Camera(tracker, "right")
    left.see(things[:1], 5)
    left.see([])  # missed once; from now on nothing is heard of it
    elsewhere = (GEAR, at(0.4, 0.1))
    for frame in range(7, 27):
        found = right.see([things[1], elsewhere], time_s=frame * PERIOD_S)
    assert set(found) == {"gear_0", "gear_1"}
    assert found["gear_0"].distance_m(elsewhere[1]) < 0.002


def test_trays_of_two_kinds_that_changed_places_before_they_were_seen_are_the_drawn_ones():
    """Of the second, what stands in its place and the edge of the view leave nothing that could be missed."""
    drawn = [ExpectedObject(name, sku, at(x, 0.0), 0.01, 1.8) for name, sku, x in (("a", KIT, 0.0), ("b", LONG, 0.2))]
    camera = Camera(Tracker(drawn, views={"camera": ((-9.0, -9.0), (0.19, 9.0))}))
    found = camera.see([(KIT, at(0.205, 0.003)), (LONG, at(0.004, 0.0))], 5)
    assert {name: round(pose.position[0], 1) for name, pose in found.items()} == {"a": 0.2, "b": 0.0}


def test_a_tray_that_was_never_seen_is_not_a_new_one_while_its_place_is_free():
    drawn = [ExpectedObject("b", LONG, at(0.2, 0.0), 0.01, 1.8)]
    camera = Camera(Tracker(drawn, views={"camera": ((-9.0, -9.0), (0.19, 9.0))}))
    assert set(camera.see([(LONG, at(-0.1, 0.0))], 5)) == {"large_gear_vessel_1"}
