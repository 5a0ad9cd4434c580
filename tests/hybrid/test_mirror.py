"""The mirror: the simulated cell becomes what the external one is, and nothing that a hand holds is touched."""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.hybrid.outside import DETECTOR, TOPIC, heard

import cellwright as cw
from cellwright.cells import DetectorTargetCfg
from cellwright.core.pose import Pose
from cellwright.hybrid import DetectorTarget, Mirror
from cellwright.motion import LineSpeed

OF_FANUC = "fanuc_"


def frames_of(lab, count, sensor=TOPIC):
    """Frames of a laboratory's detector, as it sees its cell now."""
    one, frames = lab.sensor(sensor), []
    for _ in range(count):
        lab.advance(0.1)
        frames.append(one.latest)
    return frames


class Pair:
    """A twin, and the cell that it should become, side by side."""

    def __init__(self, cell, **options):
        self.twin = cw.Lab(cell, seed=1)
        self.real = cw.Lab(cell, seed=2)
        self.mirror = Mirror(self.twin)
        self.told = []

    def look(self, count=6, detector=DETECTOR):
        topic = f"/{detector}/detections"
        self.real.advance(0.3)
        for frame in frames_of(self.real, count, topic):
            own = replace(frame, time_ns=round(self.twin.clock.time_s * 1e9))
            self.mirror.take(self.twin.sensor(topic), own, lambda *told: self.told.append(told))
            self.twin.advance(0.1)

    def off_m(self, names=None):
        """How far things of the twin are from the real ones: of things of one kind, each from the nearest."""
        off = {}
        for name in names or self.near():
            sku = self.twin.world.objects[name].sku
            places = [self.real.world.pose_of(n).position for n, o in self.real.world.objects.items() if o.sku == sku]
            here = self.twin.world.pose_of(name).position
            off[name] = min(float(np.linalg.norm(place - here)) for place in places)
        return off

    def near(self):
        """Things on the Fanuc's table, in the twin."""
        return [n for n in self.twin.world.objects if self.twin.world.pose_of(n).position[1] < -0.85]

    def close(self):
        self.twin.close()
        self.real.close()


@pytest.fixture
def pair(changed):
    with contextlib.closing(Pair(changed())) as both:
        yield both


def test_things_are_put_where_they_are_seen_at_once(pair):
    assert max(pair.off_m().values()) > 0.003
    names = pair.near()
    pair.look(5)
    assert max(pair.off_m(names).values()) < 0.002, pair.off_m(names)
    assert [change for change, _ in pair.told] == ["mirrored"]
    before = {name: pair.twin.world.pose_of(name) for name in names}
    pair.look(20)
    assert all(pair.twin.world.pose_of(name).is_close(before[name]) for name in names)  # noise moves nothing
    assert len(pair.told) == 1


@pytest.mark.slow
def test_the_same_frames_give_the_same_world(changed):
    states = []
    for _ in range(2):
        with contextlib.closing(Pair(changed())) as both:
            both.look(8)
            states.append(both.twin.world.data.qpos.tobytes())
    assert states[0] == states[1]


def test_what_is_far_from_where_it_was_drawn_is_found_at_the_start(pair):
    gear = next(n for n in pair.near() if pair.real.world.objects[n].sku == "sku_part_medium_gear")
    here = pair.real.world.pose_of(gear)
    table = Pose(np.array([0.30, -1.12, here.position[2] - 0.01]), here.quaternion)
    pair.real.world.place(gear, table)
    pair.look(5)
    gears = [n for n, o in pair.twin.world.objects.items() if o.sku == "sku_part_medium_gear"]
    there = [pair.twin.world.pose_of(n).position for n in gears]
    assert min(np.hypot(*(place - table.position)[:2]) for place in there) < 0.004  # no slot says where its middle is


def test_a_tray_takes_its_parts_along_and_a_part_that_was_moved_follows(pair):
    pair.look(5)
    tray = "fanuc_medium_tray"
    gears = [n for n in pair.near() if pair.real.world.objects[n].sku == "sku_part_medium_gear"]
    way = Pose.from_xyz_rpy([0.012, 0.004, 0.0])
    for name in [tray, *gears]:
        pair.real.world.place(name, way @ pair.real.world.pose_of(name))
    pair.look(8)
    assert max(pair.off_m([tray, *gears]).values()) < 0.002
    kit = pair.real.world.pose_of("fanuc_kit_m2l1")
    slot = next(s for s in pair.real.world.objects["fanuc_kit_m2l1"].figures.slots if "medium" in s.accepts)
    seated = kit @ Pose.from_xyz_rpy([*slot.xy_m, 0.006])
    pair.real.world.place(gears[0], seated)
    pair.look(16)
    medium = [n for n, o in pair.twin.world.objects.items() if o.sku == "sku_part_medium_gear"]
    there = [pair.twin.world.pose_of(n).position for n in medium]
    assert min(np.hypot(*(place - seated.position)[:2]) for place in there) < 0.002
    assert sum(pair.twin.world.pose_of(n).position[1] < -0.85 for n in medium) == len(gears)


def test_what_is_near_a_hand_is_left_alone(pair):
    world = pair.twin.world
    gear = next(n for n in pair.near() if world.objects[n].sku == "sku_part_medium_gear")
    below = world.tcp_pose("fanuc").position - (0.0, 0.0, 0.09)
    in_hand = Pose(below, world.pose_of(gear).quaternion)
    world.place(gear, in_hand)
    (x, y, _), (_, _, z) = in_hand.position, pair.real.world.pose_of(gear).position
    pair.real.world.place(gear, Pose(np.array([x - 0.006, y, z]), in_hand.quaternion))
    hidden = pair.real.robot("fanuc").move_joints(np.radians([40, 0, 0, 0, -90, 0]))
    pair.real.perform(hidden)
    pair.look(20)
    assert world.pose_of(gear).is_close(in_hand)


@pytest.mark.slow
def test_a_thing_that_is_not_there_is_left_and_told_once(pair):
    pair.look(5)
    large = [n for n in pair.near() if pair.real.world.objects[n].sku == "sku_part_large_gear"]
    there = {name: pair.twin.world.pose_of(name) for name in large}
    pair.real.world.remove(large[0])
    pair.look(115)
    missed = [reason for _, reason in pair.told if "does not see" in reason]
    assert len(missed) == 1
    assert large[0] in missed[0] or large[1] in missed[0]
    assert all(pair.twin.world.pose_of(name).is_close(pose) for name, pose in there.items())


@pytest.mark.slow
def test_with_physics_parts_stay_where_they_are_put(aprs):
    with contextlib.closing(Pair(aprs)) as both:
        names = both.near()
        both.look(5)
        both.look(15)
        both.look(15, "detector_motoman")
        assert max(both.off_m([*both.twin.world.objects]).values()) < 0.002
        assert max(both.off_m(names).values()) < 0.002
        for name, item in both.twin.world.objects.items():
            up = both.twin.world.pose_of(name).rotation_matrix[2, 2]
            assert up > 0.9995, name
            assert np.abs(both.twin.world.data.qvel[item.dof : item.dof + 6]).max() < 0.01


@pytest.mark.peer
def test_a_twin_becomes_the_cell_of_another_process(aprs, changed):
    command = [sys.executable, "-m", "cellwright", "serve", "aprs", "--any-port", "--json", "--seed", "5"]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process, cw.Lab(aprs, 1, pace=1.0) as lab:
        try:
            assert select.select([process.stdout], [], [], 60.0)[0], "it says nothing"
            addresses = json.loads(process.stdout.readline())["vision"]
            told = []

            async def work():
                mirror, frames = Mirror(lab), heard(lab)
                targets = [
                    DetectorTarget(
                        lab, f"detector_{name}", DetectorTargetCfg(at=at), lambda *event: told.append(event), mirror
                    )
                    for name, at in addresses.items()
                ]
                for one in targets:
                    await one.start()
                await lab.clock.sleep(6.0)
                statuses = [one.status() for one in targets]
                await asyncio.gather(*(one.close() for one in targets))
                return statuses, frames

            statuses, frames = lab.perform(work())
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)
    assert process.returncode == 0
    assert len(frames) > 30
    assert all(status.messages > 30 and status.jitter_s < 0.2 for status in statuses)
    with cw.Lab(aprs, 5) as real:
        for name, item in lab.world.objects.items():
            places = [real.world.pose_of(n).position for n, o in real.world.objects.items() if o.sku == item.sku]
            off_m = min(float(np.linalg.norm(lab.world.pose_of(name).position - place)) for place in places)
            assert off_m < 0.002, (name, off_m, told)


@pytest.mark.slow
def test_a_gear_in_a_hand_is_carried_whatever_detectors_see(aprs):
    """All gears are seen in their slots all the while, and all trays 4 mm beside their places."""
    with cw.Lab(aprs, seed=1) as lab:
        mirror, told, world, arm = Mirror(lab), [], lab.world, lab.robot("fanuc")
        frame, gear = frames_of(lab, 3)[-1], "medium_gear_1"
        aside = replace(frame, positions=frame.positions + np.array([0.004, 0.0, 0.0]))
        start = world.pose_of(gear)

        def look():
            own = replace(aside, time_ns=round(lab.clock.time_s * 1e9))
            mirror.take(lab.sensor(TOPIC), own, lambda *event: told.append(event))

        async def watch():
            while True:
                look()
                await lab.clock.sleep(0.1)

        async def carry():
            await arm.gripper.open()
            above = start @ Pose.from_xyz_rpy([0.0, 0.0, 0.077], [np.pi, 0.0, 0.0])
            await arm.move_tool(above, 0.6)
            grasp = start @ Pose.from_xyz_rpy([0.0, 0.0, 0.027], [np.pi, 0.0, 0.0])
            await arm.move_tool_straight(grasp, LineSpeed(0.12, 0.6, 6.0))
            await arm.gripper.close()
            await arm.move_tool_straight(above, LineSpeed(0.2))
            watching = asyncio.get_running_loop().create_task(watch())
            in_hand = [world.tcp_pose("fanuc").inverse() @ world.pose_of(gear)]
            await lab.clock.sleep(1.5)  # it is seen in its slot just below, 4 mm aside
            in_hand.append(world.tcp_pose("fanuc").inverse() @ world.pose_of(gear))
            await arm.move_joints(np.radians([40, 0, 0, 0, -90, 0]))
            await lab.clock.sleep(1.0)
            in_hand.append(world.tcp_pose("fanuc").inverse() @ world.pose_of(gear))
            there = {name: world.pose_of(name) for name in world.objects}
            await arm.gripper.open()
            await lab.clock.sleep(0.3)
            fallen = world.pose_of(gear)
            await arm.move_joints(np.radians([-40, 0, 0, 0, -90, 0]))
            await lab.clock.sleep(2.0)
            watching.cancel()
            return in_hand, there, fallen

        in_hand, there, fallen = lab.perform(carry())
        assert all(in_hand[0].distance_m(pose) < 0.001 for pose in in_hand)  # it is still held as it was taken
        assert there["fanuc_medium_tray"].position[0] == pytest.approx(frame_x(aside, "medium_gear_vessel"), abs=0.004)
        others = [name for name in there if name.startswith("medium_gear") and name != gear]
        assert min(there[name].distance_m(start) for name in others) > 0.03  # none was taken for it
        assert fallen.distance_m(start) > 0.05
        assert world.pose_of(gear).distance_m(start) < 0.006  # there it is seen, and no hand is near it any more


def frame_x(frame, sku):
    return min(x for name, (x, _, _) in zip(frame.skus, frame.positions, strict=True) if sku in name)
