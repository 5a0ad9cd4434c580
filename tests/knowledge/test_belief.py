"""What is believed follows what is tracked: the lab's real frames, recorded detectors, and hand-made trouble."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core import Bus
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import Detections, Tracks
from cellwright.core.pose import Pose
from cellwright.drawings.workstation import workstation_of
from cellwright.knowledge import Belief, Database, Evidence, Unknown, WorldModel, fill, records
from cellwright.knowledge.belief_writer import note_held, note_released
from cellwright.orders import DESIGNS
from cellwright.perception import Tracker
from cellwright.record import Recorder, read_log, replay
from cellwright.sensors import make_sensor, schedule
from cellwright.sim import Stepper, World
from cellwright.trials.kitting_controller import expected_in

FRAMES = Path(__file__).parents[3] / "shared" / "aprs" / "vision"
GEAR, TRAY, LONG = "sku_part_medium_gear", "sku_medium_gear_vessel", "sku_large_gear_vessel"
PERIOD_NS = 50_000_000
VARIANCES = np.array([0.0005**2] * 3 + [0.05**2] * 3)


@pytest.fixture
def model(file):
    database = Database(file)
    with database.session() as session:
        session.add(records.KittingWorkstation(name="cell"))
    yield WorldModel(database)
    database.close()


@pytest.fixture
def changes():
    return []


@pytest.fixture
def belief(model, changes):
    return Belief(model, changes.append)


class Camera:
    """Reports rows of (SKU, x, y, yaw) with noise, in an order that changes, as the lab's does; a tracker follows."""

    def __init__(self, belief, name="camera", sd_m=0.0, tracker=None):
        self.belief, self.name, self.sd_m, self.count = belief, name, sd_m, 0
        self.tracker, self.rng = tracker or Tracker(expected_in(belief.state)), np.random.default_rng(1)

    def see(self, rows, frames=1, score=0.9):
        told = []
        for _ in range(frames):
            order = self.rng.permutation(len(rows))
            seen = [rows[i] for i in order]
            positions = np.array([(x, y, 0.0) for _, x, y, _ in seen]).reshape(-1, 3)
            positions = positions + self.rng.normal(0.0, 1.0, positions.shape) * self.sd_m
            turns = np.array([Pose.from_xyz_rpy((0, 0, 0), (0, 0, yaw)).quaternion for *_, yaw in seen]).reshape(-1, 4)
            message = Detections(
                self.count * PERIOD_NS, self.count, self.name, frame="world",
                skus=tuple(s for s, *_ in seen), positions=positions, quaternions=turns,
                variances=np.tile(VARIANCES, (len(seen), 1)), scores=np.full(len(seen), score),
            )  # fmt: skip
            self.count += 1
            told += self.belief.take(self.tracker.take(message))
        return [(c.subject, c.change.split()[0]) for c in told]

    @property
    def now_s(self):
        return (self.count - 1) * PERIOD_NS / 1e9


def seen(belief, sku=None):
    """The objects that detectors look for, or those of one kind."""
    things = [thing for thing in belief.state.objects.values() if thing.sku and belief.state.has_pose(thing.name)]
    return [thing.name for thing in things if sku in (None, thing.sku)]


def place(belief, name):
    return belief.world_model.pose_in(name, "cell").position


# ------------------------------------------------------------ the lab's frames


def read_frames(path):
    """Frames of (SKU, x, y, yaw); groups without a position are what was not found."""
    lines = list(csv.reader(path.read_text().splitlines()))
    if lines[0][0] == "name":
        groups = [lines[1:]]
    else:
        groups = [[line[i : i + 6] for i in range(0, len(line) - 5, 6)] for line in lines]
    return [
        [(g[0], float(g[2]) / 1e3, float(g[3]) / 1e3, float(g[1])) for g in frame if g[2].strip() and g[3].strip()]
        for frame in groups
    ]


def distinct(frames):
    """How many objects of each kind there are: places farther apart than the scatter of any."""
    found = {}
    for sku, x, y, _ in (row for frame in frames for row in frame):
        near = [p for p in found.setdefault(sku, []) if np.hypot(p[0] - x, p[1] - y) < 0.01]
        if not near:
            found[sku].append((x, y))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "captur_jan_25_2017",
        "capture_jan_24_2017",
        "capture_jan_31_2017_motoman_shared_table_objects",
        "fanuc_cart_objects_capture_feb_24_all_parts_in_kits",
        "flipping_kit_rotation",
        "motoman_capture_jan_26_2017",
    ],
)
def test_frames_of_the_real_lab(name, belief):
    path = FRAMES / f"{name}.csv"
    if not path.exists():
        pytest.skip("the lab's recorded frames are not here")
    frames = [frame for frame in read_frames(path) if frame]
    frames = frames * (3 if len(frames) == 1 else 1)  # a still camera would have sent the same again
    camera = Camera(belief)
    told, spread, places = [], [], []
    for frame in frames:
        told += camera.see(frame)
        if seen(belief):
            first = seen(belief)[0]
            spread.append(np.sqrt(belief.state.variances(first)[0]))
            places.append({n: place(belief, n) for n in seen(belief)})
    truth = distinct(frames)
    assert {sku: len(seen(belief, sku)) for sku in truth} == {sku: len(p) for sku, p in truth.items()}
    assert {change for _, change in told} == {"new"}  # nothing moved, nothing got lost
    for before, after in zip(places, places[1:], strict=False):  # noqa: RUF007
        assert all(np.linalg.norm(after[n] - before[n]) < 0.005 for n in before), "an identity changed places"
    for sku, known in truth.items():
        for x, y in known:
            assert min(np.hypot(*(place(belief, n)[:2] - (x, y))) for n in seen(belief, sku)) < 0.001
    if len(frames) > 5:
        assert spread[-1] < 0.8 * spread[0]


def test_tray_that_the_lab_sees_flipped_keeps_its_direction(belief):
    path = FRAMES / "flipping_kit_rotation.csv"
    if not path.exists():
        pytest.skip("the lab's recorded frames are not here")
    camera = Camera(belief)
    turns = []
    for frame in read_frames(path):
        camera.see(frame)
        turns += [belief.world_model.pose_in(n, "cell").rpy[2] for n in seen(belief, "sku_kit_m2l1_vessel")]
    assert turns
    assert np.allclose(np.abs(turns), np.pi / 2, atol=0.05)  # a mean of both would be 0


# ------------------------------------------------------------ recorded detectors


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Two seconds of the cell's own detectors in a log, and where everything really was."""
    cell = load_cell("aprs").model_copy(update={"fidelity": "kinematic"})
    world, bus = World(cell, seed=4), Bus()
    stepper = Stepper(world.clock, world.engine)
    for line in cell.sensors:
        if line["type"] == "overhead_detector":
            schedule(make_sensor(line, world, "aprs"), stepper, bus)
    log = tmp_path_factory.mktemp("recording") / "run.mcap"
    recorder = Recorder(bus, log, clock=world.clock)
    stepper.advance(world.clock.tick + world.clock.ticks(2.0))
    assert recorder.close().messages == 0
    return read_log(log), {name: (item.sku, world.pose_of(name)) for name, item in world.objects.items()}


def play(log, belief):
    topics = [name for name in log.topics if name.endswith("/detections")]
    tracker = Tracker(expected_in(belief.state))
    assert replay(log, lambda _, message: belief.take(tracker.take(message)), topics=topics).published > 20


def test_recorded_detectors_find_every_object(recording, belief, changes):
    log, truth = recording
    play(log, belief)
    counts = {sku: sum(s == sku for s, _ in truth.values()) for sku, _ in truth.values()}
    assert {sku: len(seen(belief, sku)) for sku in counts} == counts
    assert {c.change.split()[0] for c in changes} == {"new"}
    names = {}
    for name, (sku, pose) in truth.items():
        gaps = {n: np.linalg.norm(place(belief, n) - pose.position) for n in seen(belief, sku)}
        names[name] = min(gaps, key=gaps.get)
        assert gaps[names[name]] < 0.003  # the camera's mounting error is part of it
    assert len(set(names.values())) == len(truth)


def test_recorded_detectors_correct_the_drawings(recording, file, changes):
    log, truth = recording
    database = Database(file)
    fill(database, workstation_of(load_cell("aprs")), [DESIGNS.get(n) for n in ("kit_s2l2", "kit_m2l1")])
    model = WorldModel(database)
    belief = Belief(model, changes.append)
    drawn = seen(belief)
    play(log, belief)
    assert changes == []
    assert seen(belief) == drawn
    for name, (_, pose) in truth.items():  # a kit is where its tray is
        assert np.linalg.norm(model.pose_in(name, "aprs").position - pose.position) < 0.003
    assert all(belief.state.source(name).startswith("detector_") for name in drawn)
    database.close()


# ------------------------------------------------------------ what is told


def rows_of(*xs, y=0.0):
    return [(GEAR, x, y, 0.0) for x in xs]


def names_by_x(belief):
    return sorted(seen(belief), key=lambda n: place(belief, n)[0])


def test_something_new_is_told_and_stored(belief, changes):
    camera = Camera(belief)
    camera.see(rows_of(0.1), frames=2)
    assert seen(belief) == []
    assert changes == []
    assert camera.see(rows_of(0.1)) == [("medium_gear_1", "new")]
    assert seen(belief, GEAR) == ["medium_gear_1"]
    assert [(c.source, c.evidence) for c in changes] == [("belief", "camera")]
    with belief.world_model.database.session() as session:
        part = records.Part.get(session, "medium_gear_1")
        assert (part.sku.name, part.primary_location.ref_object.name) == (GEAR, "cell")


def test_static_object_becomes_better_known_and_is_stored_so(belief):
    camera = Camera(belief, sd_m=0.0005)
    camera.see(rows_of(0.1), frames=3)
    (name,) = seen(belief)
    first = np.sqrt(belief.state.variances(name))
    camera.see(rows_of(0.1), frames=60)
    last = np.sqrt(belief.state.variances(name))
    assert (last < first / 1.9).all()
    assert abs(place(belief, name)[0] - 0.1) < 4 * last[0]
    assert belief.state.source(name) == "camera"
    again = Belief(WorldModel(belief.world_model.database)).state
    assert np.allclose(again.variances(name), belief.state.variances(name), rtol=1e-9)
    assert again.seen_s(name) == pytest.approx(camera.now_s)
    assert again.deviation_m(name) == pytest.approx(last[:3].max())
    with belief.world_model.database.session() as session:
        location = records.Part.get(session, name).primary_location
        assert location.position_standard_deviation == pytest.approx(last[:3].max())


def test_gear_that_is_moved_is_told_once_when_it_rests(belief, changes):
    camera = Camera(belief, sd_m=0.0003)
    camera.see(rows_of(0.1, 0.4), frames=20)
    moved, _ = names_by_x(belief)
    before = len(changes)
    for step in range(1, 31):  # 0.2 m/s, past the other
        assert camera.see([(GEAR, 0.1 + 0.01 * step, 0.1, 0.0), (GEAR, 0.4, 0.0, 0.0)]) == []
    camera.see([(GEAR, 0.4, 0.1, 0.0), (GEAR, 0.4, 0.0, 0.0)], frames=60)
    assert [(c.subject, c.change.split()[0]) for c in changes[before:]] == [(moved, "moved")]
    assert float(changes[-1].change.split()[1]) == pytest.approx(np.hypot(0.3, 0.1), abs=0.002)
    assert np.allclose(place(belief, moved)[:2], (0.4, 0.1), atol=0.001)
    assert len(seen(belief)) == 2


def test_slow_push_adds_up_and_jitter_does_not(belief):
    camera = Camera(belief, sd_m=0.0005)
    camera.see(rows_of(0.1), frames=20)
    assert camera.see(rows_of(0.1), frames=400) == []
    told = [change for step in range(20) for change in camera.see(rows_of(0.1 + 0.0005 * step), frames=20)]
    assert 1 <= len(told) <= 2
    assert {change for _, change in told} == {"moved"}


def test_one_wrong_look_is_no_motion(belief, changes):
    camera = Camera(belief, sd_m=0.0003)
    camera.see(rows_of(0.1, 0.4), frames=20)
    before = len(changes)
    for step in range(80):
        camera.see(rows_of(0.1 if step % 8 else 0.15, 0.4))
    assert changes[before:] == []
    assert len(seen(belief)) == 2


def test_removed_gear_is_told_once_and_again_when_it_is_back(belief):
    camera = Camera(belief)
    camera.see(rows_of(0.1, 0.4), frames=20)
    gone, stays = names_by_x(belief)
    assert camera.see(rows_of(0.4), frames=40) == [(gone, "missing")]
    assert camera.now_s - belief.state.seen_s(gone) == pytest.approx(2.0)
    assert belief.state.seen_s(stays) == pytest.approx(camera.now_s)
    assert camera.see(rows_of(0.1, 0.4)) == [(gone, "seen")]
    assert camera.see(rows_of(0.1, 0.4), frames=20) == []


def test_what_a_hand_holds_is_there_whatever_was_missed_before(belief):
    with belief.world_model.database.session() as session:
        session.add(records.ParallelGripper(name="tool"))
    belief.reload()
    Camera(belief).see(rows_of(0.1, 0.4), frames=20)
    held, other = names_by_x(belief)
    belief.note_missing([held, other])
    note_held(belief, "tool", held)
    assert belief.state.missing == {other}
    belief.note_missing([held])
    assert belief.state.missing == {other}


def test_what_a_hand_holds_is_neither_missing_nor_moved(belief):
    with belief.world_model.database.session() as session:
        session.add(records.ParallelGripper(name="tool"))
    belief.reload()
    camera = Camera(belief)
    camera.see(rows_of(0.1, 0.4), frames=20)
    held, _ = names_by_x(belief)
    note_held(belief, "tool", held)
    assert camera.see(rows_of(0.12, 0.4), frames=40) == []  # it waits in the air
    assert camera.see(rows_of(0.4), frames=40) == []  # something hides it
    note_released(belief, "tool")
    assert camera.see(rows_of(0.4)) == [(held, "missing")]
    assert camera.see(rows_of(0.12, 0.4), frames=20) == [(held, "seen"), (held, "moved")]


def test_blind_detector_says_nothing_until_it_sees_again(belief):
    left = Camera(belief, "left")
    right = Camera(belief, "right", tracker=left.tracker)
    for _ in range(20):
        left.see(rows_of(0.1))
        right.see(rows_of(0.4))
    assert {belief.state.source(n) for n in seen(belief)} == {"left", "right"}
    unseen, _ = names_by_x(belief)
    assert right.see(rows_of(0.4), frames=100) == []
    left.count = right.count
    assert left.see(rows_of(0.1)) == [(unseen, "seen")]


def test_last_frame_of_every_detector_is_known_and_can_be_waited_for(belief):
    Camera(belief, "left").see([(GEAR, 0.1, 0.2, 0.0)], frames=3)
    Camera(belief, "right").see([], frames=2)
    assert belief.frames_s == {"left": pytest.approx(0.1), "right": pytest.approx(0.05)}
    belief.watch_all(7.0)
    assert belief.watched_s == {"left": 7.0, "right": 7.0}


def test_tray_that_is_turned_for_good_is_told_once(belief):
    camera = Camera(belief)
    camera.see([(LONG, 0.1, 0.0, 0.0)], frames=20)
    (name,) = seen(belief)
    assert camera.see([(LONG, 0.1, 0.0, 1.0)], frames=30) == [(name, "turned")]
    assert belief.world_model.pose_in(name, "cell").rpy[2] == pytest.approx(1.0, abs=0.01)
    with belief.world_model.database.session() as session:
        assert isinstance(records.SolidObject.get(session, name), records.PartsTray)


def test_unknown_is_a_value_with_its_reason(belief):
    with belief.world_model.database.session() as session:
        cell = records.KittingWorkstation.get(session, "cell")
        spot = records.PoseLocationOn(name="g", ref_object=cell, point=records.Point(0.1, 0.0, 0.0))
        spot.x_axis, spot.z_axis = records.Vector(1.0, 0.0, 0.0), records.Vector(0.0, 0.0, 1.0)
        sku = records.StockKeepingUnit(name=GEAR)
        session.add(records.Part(name="drawn", sku=sku, primary_location=spot))
        session.add(records.Part(name="nowhere", sku=sku))
    belief.reload()
    state = belief.state
    assert state.seen_s("drawn") == Unknown("no detector has seen it")
    assert state.estimate("drawn").evidence is Evidence.DRAWN
    assert state.deviation_m("drawn") == Unknown("nothing is stored about it")
    assert state.estimate("nowhere") == state.point("nowhere") == Unknown("it has no pose")
    assert Camera(belief).see([(GEAR, 0.112, 0.01, 0.3)]) == []
    assert np.allclose(place(belief, "drawn")[:2], (0.112, 0.01), atol=0.001)
    assert (state.seen_s("drawn"), state.estimate("drawn").evidence) == (0.0, Evidence.SEEN)
    belief.note_missing(["drawn"])
    assert state.estimate("drawn") == Unknown("it should have been seen and was not")
    assert state.parts() == []


def test_nonsense_is_refused(belief):
    with pytest.raises(BadInput, match="cannot take 'str'; allowed: Tracks"):
        belief.take("gear")
    Camera(belief).see(rows_of(0.1), frames=3)
    with pytest.raises(UnknownName, match="did you mean 'medium_gear_1'"):
        belief.state.variances("medium_gear_2")


def test_new_object_needs_a_workstation(file):
    belief = Belief(WorldModel(Database(file)))
    with pytest.raises(BadInput, match="has no workstation"):
        Camera(belief).see(rows_of(0.1), frames=3)
    belief.world_model.database.close()


# ------------------------------------------------------------ what others write


def test_what_another_program_writes_is_seen(model, file):
    belief = Belief(model)
    Camera(belief).see(rows_of(0.1), frames=3)
    belief.follow()
    tree = belief.world_model.tree
    belief.follow()
    assert belief.world_model.tree is tree, "nothing was written by others"
    script = (
        "import sys; from cellwright.knowledge import Database, records\n"
        "database = Database(sys.argv[1])\n"
        "with database.session() as session:\n"
        "    tool = records.ParallelGripper(name='tool')\n"
        "    tool.held_object = records.Part.get(session, 'medium_gear_1')\n"
        "    session.add(tool)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(file)], check=True, timeout=60)
    assert belief.state.held == {}
    belief.follow()
    assert belief.state.held == {"tool": "medium_gear_1"}
    assert belief.state.parts() == []


# ------------------------------------------------------------ tracks and stable states


def tracks(count, rows):
    names, skus, xs, slots = zip(*rows, strict=True)
    positions = np.array([(x, 0.0, 0.0) for x in xs])
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1))
    variances = np.tile(VARIANCES, (len(rows), 1))
    return Tracks(
        count * PERIOD_NS,
        count,
        "tracker",
        identities=names,
        skus=skus,
        positions=positions,
        quaternions=turns,
        variances=variances,
        ages_s=np.zeros(len(rows)),
        slots=slots,
    )


@pytest.fixture
def tray(model):
    with model.database.session() as session:
        cell = records.KittingWorkstation.get(session, "cell")
        spot = records.PoseLocationOn(name="tray_at", ref_object=cell, point=records.Point(0.5, 0.0, 0.0))
        spot.x_axis, spot.z_axis = records.Vector(0.0, 1.0, 0.0), records.Vector(0.0, 0.0, 1.0)
        made = records.PartsTray(name="tray", sku=records.StockKeepingUnit(name=TRAY), primary_location=spot)
        made.slot = [records.Slot(name="tray_slot_1"), records.Slot(name="tray_slot_2")]
        session.add(made)
    model.reload()


def test_tracks_bring_objects_and_slots(tray, model, changes):
    belief = Belief(model, changes.append)
    belief.take(tracks(1, [("a", GEAR, 0.52, "tray_slot_1"), ("b", GEAR, 0.1, "")]))
    assert sorted(seen(belief, GEAR)) == ["a", "b"]
    assert [(c.subject, c.change) for c in changes] == [
        ("a", f"new {GEAR}"), ("b", f"new {GEAR}"), ("a", "in slot tray_slot_1"),
    ]  # fmt: skip
    assert np.allclose(place(belief, "a"), (0.52, 0.0, 0.0))
    assert np.allclose(belief.world_model.pose_in("a", "tray").position, (0.0, -0.02, 0.0))
    with belief.world_model.database.session() as session:
        held = records.Slot.get(session, "tray_slot_1")
        assert (held.slot_part.name, held.is_occupied) == ("a", True)
        assert [p.name for p in records.PartsTray.get(session, "tray").part] == ["a"]
        assert records.Part.get(session, "a").primary_location.ref_object.name == "tray"
    assert belief.take(tracks(2, [("a", GEAR, 0.52, "tray_slot_1"), ("b", GEAR, 0.1, "")])) == []
    told = belief.take(tracks(3, [("a", GEAR, 0.2, "")]))
    assert [(one.subject, one.change) for one in told] == [("b", "missing"), ("a", "out of its slot")]
    assert np.allclose(place(belief, "a"), (0.2, 0.0, 0.0))
    with belief.world_model.database.session() as session:
        assert not records.Slot.get(session, "tray_slot_1").is_occupied
        assert records.PartsTray.get(session, "tray").part == []


def test_belief_goes_on_when_something_is_attached(tray, model):
    belief = Belief(model)
    camera = Camera(belief, sd_m=0.0003)
    rows = [(TRAY, 0.5, 0.0, np.pi / 2), *rows_of(0.1, 0.2, 0.52)]
    camera.see(rows, frames=5)
    names = seen(belief, GEAR)
    inside = max(names, key=lambda n: place(belief, n)[0])
    belief.world_model.attach({inside: "tray"})  # by another user of the model
    shifted = [(TRAY, 0.5, 0.004, np.pi / 2), *rows_of(0.1, 0.2), (GEAR, 0.52, 0.004, 0.0)]
    assert camera.see(shifted, frames=60) == []
    assert sorted(seen(belief, GEAR)) == sorted(names)
    assert np.allclose(belief.world_model.pose_in(inside, "tray").position[:2], (0.0, -0.02), atol=0.001)
    assert np.allclose(place(belief, inside)[:2], (0.52, 0.004), atol=0.001)


def test_stable_state_is_told_and_restored(belief, changes):
    camera = Camera(belief)
    camera.see(rows_of(0.1), frames=5)
    name = seen(belief)[0]
    spread = belief.state.variances(name)
    belief.mark_stable("before take", 7)
    camera.see(rows_of(0.1, 0.4), frames=5)
    assert len(seen(belief)) == 2
    belief.restore("before take", 8)
    assert seen(belief) == [name]
    assert np.array_equal(belief.state.variances(name), spread)
    assert [(c.change, c.stable) for c in changes if c.stable] == [("marked", True), ("restored", True)]


def test_changes_go_over_a_bus(model):
    bus, heard = Bus(), []
    bus.subscribe("/belief", lambda topic, change: heard.append(change.subject), subscriber="test")
    belief = Belief(model, lambda change: bus.publish("/belief", change))
    Camera(belief).see(rows_of(0.1), frames=3)
    assert heard == ["medium_gear_1"]
