"""Slots are empty only when they were seen to be; what is missing, placed or disturbed is one belief."""

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.camera import Camera
from cellwright.core.messages import Tracks
from cellwright.core.pose import Pose
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.knowledge import Belief, Database, SlotContent, Unknown, WorldModel, fill
from cellwright.perception import DetectorState, DetectorStatus, DetectorView, ViewModel

KIT, TRAY, GEAR = "fanuc_kit_m2l1", "fanuc_medium_tray", "medium_gear_1"
AWAY = np.array([[5.0, 5, 1, 5, 6, 1, 0.1]])
SPREAD = np.array([3e-4, 3e-4, 3e-4, 0.01, 0.01, 0.01]) ** 2


class Watch:
    """A belief from the drawings that sees what a test says, through one camera that an arm may hide."""

    def __init__(self, *, has_camera=True):
        database = Database("sqlite://")
        fill(database, workstation_of(load_cell("aprs")), designs_for([]))
        self.told = []
        self.belief = Belief(WorldModel(database), self.told.append)
        self.state, self.now_s = self.belief.state, 0.0
        self.state.clock = lambda: self.now_s
        self.everything = [
            t.name for t in self.state.of_kind("Part", "PartsTray", "KitTray") if self.state.has_pose(t.name)
        ]
        x, y, z = self.state.pose(KIT).position
        self.eye = np.array([x, y, z + 1.0])
        camera = Camera("eye", Pose.from_xyz_rpy(self.eye, [0.0, np.pi / 2, np.pi / 2]), 1.6, (640, 480))
        self.view = ViewModel({"eye": DetectorView(camera)} if has_camera else {}, ["arm"])
        self.state.view = self.view
        self.view.note_arm("arm", -1.0, AWAY, still=True)

    def see(self, frames=1, without=(), hidden=()):
        names = [name for name in self.everything if name not in without]
        for _ in range(frames):
            self.now_s += 0.1
            poses = [self.state.pose(name) for name in names]
            message = Tracks(
                round(self.now_s * 1e9), 0, "eye", identities=tuple(names),
                skus=tuple(self.state.sku(name) for name in names),
                positions=np.array([pose.position for pose in poses]),
                quaternions=np.array([pose.quaternion for pose in poses]),
                variances=np.tile(SPREAD, (len(names), 1)), ages_s=np.array([1.0 * (name in hidden) for name in names]),
                slots=("",) * len(names),
            )  # fmt: skip
            self.belief.take(message)

    def hide(self, point):
        middle = self.eye + 0.85 * (point - self.eye)
        self.view.note_arm("arm", self.now_s, [[*middle, *middle + [0, 0, 0.01], 0.02]], still=True)

    def slots(self, **options):
        return {slot.name: self.state.slot_view(KIT, slot, **options) for slot in self.state.slots_on_kit_tray(KIT)}


def changes(watch):
    return [c.change for c in watch.told if c.subject == GEAR and "slot" not in c.change]


def test_a_slot_that_an_arm_hides_is_not_empty():
    watch = Watch()
    hidden = watch.state.slot(KIT, "slot_1")
    watch.hide(hidden.position)
    watch.see(10)
    found = watch.slots()
    assert found["slot_1"].content is SlotContent.UNKNOWN
    assert "slot_1 of fanuc_kit_m2l1 was never seen clearly" in found["slot_1"].reason
    assert found["slot_2"].content is SlotContent.EMPTY
    assert watch.state.last_clear_s(KIT, "slot_1") == Unknown("it was never seen clearly")
    watch.view.note_arm("arm", watch.now_s, AWAY, still=True)
    watch.see(2)
    assert watch.slots()["slot_1"].content is SlotContent.UNKNOWN  # a tracker tells what is new after three frames
    watch.see(1)
    assert watch.slots()["slot_1"].content is SlotContent.EMPTY
    assert watch.state.last_clear_s(KIT, "slot_1") == pytest.approx(watch.now_s)


def test_a_slot_is_empty_since_a_moment_only_if_it_was_clear_since_then():
    watch = Watch()
    watch.see(5)
    since_s = watch.now_s
    assert {view.content for view in watch.slots(since_s=since_s).values()} == {SlotContent.UNKNOWN}
    watch.see(4)
    assert {view.content for view in watch.slots(since_s=since_s).values()} == {SlotContent.EMPTY}


def test_a_slot_with_a_part_is_filled_also_while_it_is_hidden():
    watch = Watch()
    watch.see(5)
    found = watch.state.slot_view(TRAY, "slot_1")
    assert (found.content, found.reason) == (SlotContent.FILLED, "")
    watch.hide(watch.state.slot(TRAY, "slot_1").position)
    clear_s = watch.now_s
    watch.see(20, hidden=[found.part])
    later = watch.state.slot_view(TRAY, "slot_1")
    assert (later.content, later.part) == (SlotContent.FILLED, found.part)
    assert later.clear_s == pytest.approx(clear_s)


def test_without_a_camera_the_slots_of_a_tray_that_is_seen_are_clear():
    watch = Watch(has_camera=False)
    watch.see(3)
    assert {view.content for view in watch.slots().values()} == {SlotContent.EMPTY}
    later = Watch(has_camera=False)
    later.see(3, without=["fanuc_kit_m2l1_tray"])
    assert {view.content for view in later.slots().values()} == {SlotContent.UNKNOWN}


def test_missing_is_one_notion_however_it_was_noticed():
    watch = Watch()
    watch.see(3)
    watch.see(3, without=[GEAR])  # tracks do not follow it any more
    assert watch.state.missing == {GEAR}
    assert changes(watch) == ["missing"]
    assert GEAR not in [part.name for part in watch.state.parts()]
    watch.belief.note_missing([GEAR])
    assert changes(watch) == ["missing"]  # told once
    watch.see(1)
    assert watch.state.missing == set()
    assert changes(watch) == ["missing", "seen again"]
    watch.belief.note_missing([GEAR])
    assert watch.state.missing == {GEAR}
    watch.see(1)
    assert watch.state.missing == set()
    assert changes(watch)[2:] == ["missing", "seen again"]


def test_variances_grow_between_looks_and_where_a_hand_worked():
    watch = Watch()
    watch.see(3)
    fresh = watch.state.sd_m(GEAR)
    watch.now_s += 10.0
    later = watch.state.sd_m(GEAR)
    assert fresh < later < 0.001
    assert len(watch.state.estimate(GEAR).variances) == 6
    x, y, _ = watch.state.pose(GEAR).position
    others = watch.state.sd_m("small_gear_1")
    watch.belief.note_disturbed(region=((x - 0.01, y - 0.01), (x + 0.01, y + 0.01)))
    assert watch.state.sd_m(GEAR) > 0.003
    assert watch.state.sd_m("small_gear_1") == others
    watch.see(1)
    assert watch.state.sd_m(GEAR) == pytest.approx(fresh)


def test_what_a_hand_has_set_down_is_believed_there_and_looked_for_there():
    watch, noted = Watch(), []

    class Follower:
        def put(self, name, pose_in_world, variances, known):
            noted.append((name, pose_in_world, len(variances)))

        def disturb(self, names, variances):
            noted.append((sorted(names), len(variances)))

    watch.belief.follower = Follower()
    watch.see(3)
    seat = watch.state.slot(KIT, "slot_1").pose_part_in_world
    watch.belief.note_missing([GEAR])
    watch.belief.note_placed(GEAR, seat, watch.now_s, "fanuc")
    assert watch.state.missing == set()
    assert watch.state.pose(GEAR).distance_m(seat) < 1e-6
    assert watch.slots()["slot_1"].part == GEAR
    assert noted == [(GEAR, noted[0][1], 6)]
    assert noted[0][1].distance_m(seat) < 1e-9
    watch.belief.note_disturbed([GEAR])
    assert noted[1] == ([GEAR], 6)


def test_a_detector_that_misbehaves_is_told_once_with_its_reason():
    watch = Watch()
    bad = DetectorStatus(DetectorState.BLIND, "eye saw nothing in 9 frames")
    for status in (DetectorStatus(), bad, bad, DetectorStatus()):
        watch.belief.note_detectors({"eye": status}, 1)
    told = [c.change for c in watch.told if c.subject == "eye"]
    assert told == ["sees nothing: eye saw nothing in 9 frames", "good"]
    assert watch.state.detectors["eye"].state == "good"
    assert [note.partition(" at ")[0] for note in watch.belief.detector_notes] == [
        "eye sees nothing",
        "eye is good again",
    ]
    assert watch.belief.detector_notes[0].endswith("s: eye saw nothing in 9 frames")
