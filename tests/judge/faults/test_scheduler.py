"""Every kind of fault really happens, to the world and by physics, at the moment that was asked for."""

import mujoco
import numpy as np
import pytest

from cellwright.bench.gear_transfer import transfer_gear
from cellwright.cells import Cell
from cellwright.core.bus import Bus, Role
from cellwright.core.errors import BadInput, TruthLeak
from cellwright.core.ros import encode
from cellwright.judge import DropMonitor, FaultScheduler, HandMonitor, judge_slot, parse_fault
from cellwright.lab import Lab
from cellwright.motion import LineSpeed
from cellwright.sim import Stepper, World

GEAR = "medium_gear_1"


def kinds(scheduler):
    return [(event.fault, event.subject) for event in scheduler.events]


def at_rest(stand, name=GEAR):
    item = stand.world.objects[name]
    return bool(np.abs(stand.world.data.qvel[item.dof : item.dof + 6]).max() < 0.01)


def test_a_drop_lets_the_gear_fall_and_leaves_the_hand_sound(stand):
    friction, limited = stand.world.model.geom_friction.copy(), stand.world.model.jnt_actfrclimited.copy()
    faults = stand.at("held", "drop:part=*,during=transfer:1,way_mm=60")
    height_m = stand.position()[2]
    stand.lab.perform(stand.shift(0.0, 0.11))
    stand.lab.advance(1.2)
    assert kinds(faults) == [("drop", GEAR)]
    assert [moment for moment, _ in stand.moments()] == ["transfer", "loss"]
    assert stand.position()[2] < height_m - 0.02
    assert at_rest(stand)
    np.testing.assert_array_equal(stand.world.model.geom_friction, friction)
    np.testing.assert_array_equal(stand.world.model.jnt_actfrclimited, limited)
    assert faults.pending == ()


def test_a_drop_does_not_teleport(stand):
    """From one step to the next, the gear moves no faster than gravity and the arm can make it."""
    stand.at("held", "drop:during=transfer:1")
    places = [stand.position().copy()]
    ticking = stand.lab.stepper.every(1, lambda: places.append(stand.position().copy()), order=50, name="test")
    stand.lab.perform(stand.shift(0.12, 0.0))
    ticking.cancel()
    speed_mps = np.linalg.norm(np.diff(places, axis=0), axis=1) / stand.world.clock.tick_s
    assert speed_mps.max() < 1.2
    assert stand.position()[2] < places[0][2] - 0.03


def test_the_second_transfer_is_not_the_first(stand):
    faults = stand.at("held", "drop:during=transfer:2")
    stand.lab.perform(stand.shift(0.08, 0.0))
    assert faults.events == []
    assert len(faults.pending) == 1


def test_other_parts_do_not_count(stand):
    faults = stand.at("held", "drop:part=large*,during=transfer:1", "drop:part=sku_part_small_gear,at=0")
    stand.lab.perform(stand.shift(0.08, 0.0))
    assert faults.events == []
    assert stand.hand_monitor.holds(GEAR)


def test_of_a_tray_that_no_tool_carries_the_events_of_any_part_are_counted(stand):
    faults = stand.at("held", "push:tray=fanuc_kit_s2l2,during=transfer:1,by_mm=10/0")
    stand.lab.perform(stand.shift(0.04, 0.0))
    assert kinds(faults) == [("push", "fanuc_kit_s2l2")]


def test_a_drop_by_time_waits_until_something_is_carried(stand):
    faults = stand.at("held", "drop:at=0")
    stand.lab.advance(0.1)
    assert faults.events == []
    stand.lab.perform(stand.shift(0.08, 0.0))
    assert kinds(faults) == [("drop", GEAR)]


def test_a_push_moves_a_gear_out_of_its_slot_by_hand(stand):
    """Along an arc, with the speed of a hand, and then it rests where physics leaves it."""
    faults = stand.at("start", "push:part=small_gear_8,at=0.1,by_mm=0/150,yaw_deg=30")
    start, places = stand.world.pose_of("small_gear_8"), []
    stand.lab.stepper.every(1, lambda: places.append(stand.position("small_gear_8").copy()), order=50, name="test")
    stand.lab.advance(1.5)
    end = stand.world.pose_of("small_gear_8")
    assert kinds(faults) == [("push", "small_gear_8")]
    assert max(place[2] for place in places) > start.position[2] + 0.015
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() / stand.world.clock.tick_s < 2.0
    assert 0.08 < end.position[1] - start.position[1] < 0.22
    assert at_rest(stand, "small_gear_8")
    assert not stand.world.data.xfrc_applied.any()


def test_a_push_before_the_grasp_moves_the_gear_below_the_hand(stand):
    faults = stand.at("start", "push:before=grasp:1,by_mm=-45/0")
    start = stand.position().copy()

    async def work():
        grasp = stand.grasp()  # where it was seen
        await stand.hover()
        await stand.arm.move_tool_straight(grasp, LineSpeed(0.12, 0.6, 6.0))
        await stand.arm.gripper.close()

    stand.lab.perform(work())
    assert kinds(faults) == [("push", GEAR)]
    assert np.hypot(*(stand.position() - start)[:2]) > 0.015
    assert stand.hand_monitor.held == {}
    assert not judge_slot(stand.world, "fanuc_medium_tray/slot_1").seated


def test_a_pushed_tray_takes_its_gears_along(stand):
    faults = stand.at("start", "push:tray=fanuc_medium_tray,at=0.1,by_mm=-12/9,yaw_deg=3")
    before = stand.world.pose_of("fanuc_medium_tray")
    stand.lab.advance(1.2)
    after = stand.world.pose_of("fanuc_medium_tray")
    assert kinds(faults) == [("push", "fanuc_medium_tray")]
    np.testing.assert_allclose((after.position - before.position)[:2], [-0.012, 0.009], atol=0.003)
    assert np.degrees(after.rpy[2] - before.rpy[2]) == pytest.approx(3, abs=1.0)
    assert all(judge_slot(stand.world, f"fanuc_medium_tray/slot_{n}").seated for n in (1, 2, 3, 4))


def test_nobody_pushes_what_a_gripper_holds(stand):
    faults = stand.at("held", f"push:part={GEAR},at=0")
    stand.lab.advance(0.4)
    assert faults.events == []
    assert stand.hand_monitor.holds(GEAR)


def test_after_a_place_the_hand_must_be_clear(stand):
    faults = stand.at("held", f"push:part={GEAR},after=place:1,by_mm=0/-30")

    async def set_down():
        await stand.shift(0, 0, -0.048)
        await stand.arm.gripper.open()

    stand.lab.perform(set_down())
    stand.lab.advance(0.2)
    assert faults.events == []
    stand.lab.perform(stand.shift(0, 0, 0.05))
    assert kinds(faults) == [("push", GEAR)]


def test_two_gears_change_places(stand):
    faults = stand.at("start", "swap:part=large_gear_1,other=medium_gear_2,at=0.1")
    large, medium = stand.world.pose_of("large_gear_1"), stand.world.pose_of("medium_gear_2")
    stand.lab.advance(1.0)
    assert kinds(faults) == [("swap", "large_gear_1")]
    assert np.hypot(*(stand.position("large_gear_1") - medium.position)[:2]) < 0.02
    assert np.hypot(*(stand.position("medium_gear_2") - large.position)[:2]) < 0.02
    assert at_rest(stand, "large_gear_1")
    assert at_rest(stand, "medium_gear_2")


def test_a_weak_gripper_presses_less_and_recovers(stand):
    faults = stand.at("held", "weak_gripper:robot=fanuc,at=0,factor=0.2,for_s=0.3")
    assert grip_force_n(stand) == pytest.approx(5.0, rel=0.1)
    stand.lab.advance(0.2)
    assert grip_force_n(stand) == pytest.approx(1.0, rel=0.15)
    assert stand.hand_monitor.holds(GEAR), "a fifth of the force still holds a medium gear"
    stand.lab.advance(0.3)
    assert grip_force_n(stand) == pytest.approx(5.0, rel=0.1)
    assert [event.detail for event in faults.events] == ["grips with 0.2 of its force for 0.3 s", "over"]


def test_a_very_weak_gripper_loses_what_it_holds(stand):
    stand.at("held", "weak_gripper:robot=fanuc,after=grasp:1,factor=0.02", "weak_gripper:robot=fanuc,at=0,factor=0.02")
    stand.lab.perform(stand.shift(0.1, 0.0))
    stand.lab.advance(0.3)
    assert stand.hand_monitor.held == {}
    assert ("loss", GEAR) in stand.moments()


def test_oily_pads_press_as_hard_and_let_slip(stand):
    pads = list(stand.world.robots["fanuc"].gripper.pads)
    sound = stand.world.model.geom_friction[pads].copy()
    faults = stand.at("held", "weak_gripper:robot=fanuc,at=0,factor=1,friction=0.5,for_s=0.3")
    stand.lab.advance(0.2)
    assert grip_force_n(stand) == pytest.approx(5.0, rel=0.1)
    np.testing.assert_allclose(stand.world.model.geom_friction[pads], sound / 2)
    assert stand.hand_monitor.holds(GEAR)
    stand.lab.advance(0.3)
    np.testing.assert_allclose(stand.world.model.geom_friction[pads], sound)
    assert faults.events[0].detail == "grips with 1 of its force and 0.5 of its friction for 0.3 s"
    stand.at("held", "weak_gripper:robot=fanuc,at=0,factor=1,friction=0.01")
    stand.lab.advance(0.5)
    assert not stand.hand_monitor.holds(GEAR)


def test_heavy_parts_weigh_more_and_are_what_they_were_afterwards(stand):
    model, body = stand.world.model, stand.world.objects[GEAR].body
    before = [model.body_mass[body], *model.body_inertia[body], *model.body_invweight0[body]]
    faults = stand.at("held", "heavy:part=medium*,at=0,factor=3,for_s=0.3")
    stand.lab.advance(0.2)
    after = [model.body_mass[body], *model.body_inertia[body], *model.body_invweight0[body]]
    np.testing.assert_allclose(np.divide(after, before), [3] * 4 + [1 / 3] * 2, rtol=1e-6)
    other = stand.world.objects["large_gear_1"]
    assert model.body_mass[other.body] == pytest.approx(other.figures.mass_kg)
    assert faults.events[0].detail == "8 of them have 3 times their mass for 0.3 s"
    stand.lab.advance(0.3)
    np.testing.assert_allclose([model.body_mass[body], *model.body_inertia[body]], before[:4])
    stand.at("held", "heavy:part=medium*,at=0,factor=200")
    stand.lab.advance(0.5)
    assert not stand.hand_monitor.holds(GEAR), "4 kg slip out of a hand that presses with 5 N"


def grip_force_n(stand):
    world, force, total = stand.world, np.zeros(6), 0.0
    pad = next(iter(world.robots["fanuc"].gripper.pads))
    for number in range(world.data.ncon):
        if pad in world.data.contact[number].geom:
            mujoco.mj_contactForce(world.model, world.data, number, force)
            total += force[0]
    return total


def frames(stand, source, duration_s):
    got = []
    bus = stand.lab.bus
    subscription = bus.subscribe(f"/{source}/detections", lambda _, m: got.append(m), subscriber="test")
    stand.lab.advance(duration_s)
    bus.unsubscribe(subscription)
    return got


def test_a_blacked_out_detector_sends_nothing_the_other_does(stand):
    faults = stand.at("start", "blackout:detector=detector_fanuc,at=0.3,for_s=0.5")
    times = [frame.time_s for frame in frames(stand, "detector_fanuc", 1.2)]
    assert times
    assert not [time_s for time_s in times if 0.3 <= time_s + 0.05 < 0.8]
    assert max(times) > 0.8
    assert [event.detail for event in faults.events] == ["sends nothing for 0.5 s", "over"]
    stand.at("start", "blackout:detector=detector_fanuc,at=0.3,for_s=0.5")
    assert len(frames(stand, "detector_motoman", 1.2)) == 11


def test_a_blind_detector_sends_empty_frames(stand):
    faults = stand.at("start", "blind:detector=detector_fanuc,at=0.3,for_s=0.5")
    seen = {round(frame.time_s + 0.05, 3): frame for frame in frames(stand, "detector_fanuc", 1.2)}
    blind = [frame for time_s, frame in seen.items() if 0.3 <= time_s < 0.8]
    assert len(blind) == 5
    assert all(frame.skus == () and frame.positions.shape == (0, 3) and len(frame.scores) == 0 for frame in blind)
    assert all(frame.skus for time_s, frame in seen.items() if not 0.3 <= time_s < 0.8)
    assert [event.detail for event in faults.events] == ["sees nothing for 0.5 s", "over"]


def test_a_detector_repeats_an_old_frame(stand):
    stand.at("start", "repeat:detector=detector_fanuc,at=0.3,for_s=0.5")
    numbers = [frame.sequence for frame in frames(stand, "detector_fanuc", 1.2)]
    assert numbers == [0, 1, 2, 2, 2, 2, 2, 7, 8, 9, 10]


@pytest.mark.parametrize(("by_s", "shift_s"), [("4", 4.0), ("-0.1", -0.1)])
def test_the_clock_of_a_detector_jumps(stand, by_s, shift_s):
    stand.at("start", f"clock:detector=detector_fanuc,at=0.3,by_s={by_s},for_s=0.5")
    times_s = [frame.time_s for frame in frames(stand, "detector_fanuc", 1.2)]
    true_s = [0.1 * number for number in range(1, 12)]
    assert times_s == pytest.approx([t + shift_s * (2 <= k < 7) for k, t in enumerate(true_s)])


def test_an_offset_shifts_and_turns_what_is_seen(stand):
    stand.at("start")
    true = frames(stand, "detector_fanuc", 0.6)[-1]
    faults = stand.at("start", "offset:detector=detector_fanuc,at=0,by_mm=8/-3,yaw_deg=2")
    seen = frames(stand, "detector_fanuc", 0.6)[-1]
    assert seen.skus == true.skus
    middle, found = true.positions[:, :2].mean(axis=0), seen.positions[:, :2].mean(axis=0)
    np.testing.assert_allclose(found - middle, [0.008, -0.003], atol=0.0005)
    one, other = (points[:, :2] - points[:, :2].mean(axis=0) for points in (true.positions, seen.positions))
    turn = np.arctan2(*(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0], (one * other).sum(axis=1)))
    np.testing.assert_allclose(np.degrees(np.average(turn, weights=(one**2).sum(axis=1))), 2.0, atol=0.1)
    np.testing.assert_array_equal(seen.positions[:, 2], true.positions[:, 2])
    assert "8.0/-3.0 mm off" in faults.events[0].detail


def test_the_same_seed_gives_the_same_bytes(stand):
    """Messages of detectors, joints and faults, with choices that are drawn."""

    def run():
        stand.at(
            "held", "drop:during=transfer:1,way_mm=20..60", "push:part=small*,at=0.1..0.4,by_mm=20..50", "offset:at=0.2"
        )
        got = []
        subscription = stand.lab.bus.subscribe(
            None, lambda topic, m: got.append((topic, bytes(encode(m)))), subscriber="test", role=Role.RECORDER
        )
        stand.lab.perform(stand.shift(0.12, 0.0))
        stand.lab.advance(0.5)
        stand.lab.bus.unsubscribe(subscription)
        return got, list(stand.scheduler.events)

    (first, events), (second, _) = run(), run()
    assert {event.fault for event in events} == {"drop", "push", "offset"}
    assert len(first) > 50
    assert first == second


def test_a_snapshot_in_the_middle_of_a_push_goes_on_the_same_way(stand):
    faults = stand.at(
        "start", "push:part=small_gear_8,at=0.1,by_mm=0/60", "weak_gripper:robot=fanuc,at=0.05,factor=0.5"
    )
    stand.lab.advance(0.3)
    snapshot, ends = stand.lab.snapshot(), []
    for _ in range(2):
        stand.lab.restore(snapshot)
        assert len(faults.events) == 2
        stand.lab.advance(0.6)
        ends.append(stand.world.data.qpos.tobytes())
    assert ends[0] == ends[1]
    finger = stand.world.model.joint("fanuc/tool/finger_left").id
    assert stand.world.model.jnt_actfrclimited[finger]
    faults.stop()
    assert not stand.world.model.jnt_actfrclimited[finger]


def test_a_fault_can_be_added_while_the_run_goes_on(stand):
    faults = stand.at("held")
    before = stand.lab.snapshot()
    faults.add(parse_fault("drop:during=transfer:1"))
    stand.lab.perform(stand.shift(0.08, 0.0))
    assert kinds(faults) == [("drop", GEAR)]
    stand.lab.restore(before)
    assert (faults.events, len(faults.pending)) == ([], 1)
    with pytest.raises(BadInput, match="unknown part"):
        faults.add(parse_fault("remove:part=nut,at=0"))
    assert len(faults.faults) == 1


def test_only_judge_and_recorder_hear_of_faults(stand):
    with pytest.raises(TruthLeak):
        stand.lab.bus.subscribe("/judge/faults", print, subscriber="controller")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("drop:part=huge_gear,at=0", "unknown part 'huge_gear'"),
        ("push:tray=fanuc_medium_trai,at=0", "did you mean 'fanuc_medium_tray'"),
        ("drop:tray=fanuc_medium_tray,at=0", "unknown tray that a tool carries 'fanuc_medium_tray'"),
        ("swap:other=nut,at=0", "unknown other 'nut'"),
        ("weak_gripper:robot=kuka,at=0", "unknown robot 'kuka' (available: fanuc, motoman)"),
        ("blackout:detector=camera,at=0", "unknown detector 'camera' (available: detector_fanuc, detector_motoman)"),
    ],
)
def test_what_is_not_there_cannot_fail(stand, spec, problem):
    lab = stand.lab
    with pytest.raises(BadInput) as caught:
        FaultScheduler(lab.world, lab.stepper, lab.bus, stand.hand_monitor, [parse_fault(spec)], lab.sensors)
    assert problem in str(caught.value)


def test_a_part_that_is_removed_is_gone(shelf):
    world, stepper, bus, hand_monitor = shelf
    heard = []
    bus.subscribe("/judge/faults", lambda _, event: heard.append(event), subscriber="test", role=Role.JUDGE)
    specs = ["remove:at=0.1", "push:part=gear_*,at=0.1,by_mm=60", "remove:at=0.8", "remove:at=0.9"]
    faults = FaultScheduler(world, stepper, bus, hand_monitor, [parse_fault(spec) for spec in specs])
    poses = {name: world.pose_of(name) for name in world.objects}
    stepper.advance(world.clock.ticks(0.2))
    gone = heard[0].subject
    assert (heard[0].fault, gone in world.objects, len(world.objects)) == ("remove", False, 3)
    pushed = heard[1].subject
    stepper.advance(world.clock.ticks(0.75))
    assert world.pose_of(pushed).distance_m(poses[pushed]) > 0.02 or pushed not in world.objects
    stepper.advance(world.clock.ticks(1.2))
    assert [event.fault for event in heard] == ["remove", "push", "remove", "remove"]
    assert set(world.objects) == {"tray"}
    assert faults.pending == ()


def test_what_is_drawn_depends_on_the_fault_alone(shelf):
    """A fault that is added behind leaves the choices of those before it as they were."""
    world, stepper, bus, hand_monitor = shelf
    start, chosen = world.snapshot(), []
    for more in ([], ["push:part=gear_1,at=0.05"]):
        world.restore(start)
        specs = ["push:part=gear_2,at=0.02..0.08,by_mm=20..50", *more]
        faults = FaultScheduler(world, stepper, bus, hand_monitor, [parse_fault(spec) for spec in specs])
        stepper.advance(world.clock.tick + world.clock.ticks(0.2))
        chosen.append(next((e.time_ns, e.subject, e.detail) for e in faults.events if e.subject == "gear_2"))
        faults.stop()
    assert chosen[0] == chosen[1]


@pytest.mark.long
def test_runs_of_one_seed_with_a_drop_write_the_same_log(tmp_path):
    logs = []
    for number in range(2):
        with Lab.from_cell("aprs", seed=3) as lab:
            hand_monitor = HandMonitor(lab.world, lab.stepper)
            drops = DropMonitor(lab.world, lab.stepper, hand_monitor)
            fault = parse_fault("drop:during=transfer:1,way_mm=30..90")
            FaultScheduler(lab.world, lab.stepper, lab.bus, hand_monitor, [fault], lab.sensors)
            recorder = lab.record(tmp_path / f"{number}.mcap")
            report = transfer_gear(lab)
            assert not report.done
            assert [drop.opened for drop in drops.drops] == [False]
            recorder.close()
        logs.append((tmp_path / f"{number}.mcap").read_bytes())
    assert logs[0] == logs[1]


def test_a_tray_leaves_with_what_lies_in_it_and_empty_trays_change_places():
    cell = {
        "name": "shelf",
        "title": "Trays on the floor",
        "settle_s": 0.2,
        "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
        "trays": {
            "full": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.4, 0.2, 0]}},
            "one": {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.0, 0.0, 0]}},
            "upper": {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.0, 0.0, 0.017]}},
            "other": {"model": "kit_s2l2_tray", "pose": {"xyz_m": [-0.4, 0.0, 0]}},
        },
        "parts": {f"gear_{n}": {"model": "medium_gear", "slot": f"full/slot_{n}"} for n in (1, 2)},
    }
    world = World(Cell.model_validate(cell))
    stepper, bus = Stepper(world.clock, world.engine), Bus()
    specs = ["remove:tray=full,at=0.1", "swap:tray=*m2l1*,at=0.2"]
    faults = FaultScheduler(world, stepper, bus, HandMonitor(world, stepper), [parse_fault(spec) for spec in specs])
    before = {name: world.pose_of(name).position.copy() for name in world.objects}
    stepper.advance(world.clock.ticks(0.5))
    assert set(world.objects) == {"one", "upper", "other"}
    assert kinds(faults) == [("remove", "full"), ("swap", "upper")], "a tray that another stands on stays"
    assert faults.events[0].detail.endswith("with gear_1, gear_2")
    np.testing.assert_allclose(world.pose_of("other").position, before["upper"], atol=0.002)
    np.testing.assert_allclose(world.pose_of("upper").position, before["other"], atol=0.002)
