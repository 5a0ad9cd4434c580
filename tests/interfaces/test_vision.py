"""What a robot's detector sees, over real sockets, in the robot's coordinates; bad listeners harm nobody."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import threading
import time

import pytest

import cellwright as cw
from cellwright.cells import Cell
from cellwright.core.bus import Role
from cellwright.core.config import validate
from cellwright.core.errors import BadInput, ConfigError, UnknownName
from cellwright.crcl import CrclClient
from cellwright.crcl import messages as m
from cellwright.interfaces import BlockingVisionClient, CrclInterface, NoFrame, VisionClient, VisionInterface
from cellwright.lab.camera_detector import CameraDetector
from cellwright.lab.sources import with_source
from cellwright.perception.recognition import Recognised

ANY = {"fanuc": 0, "motoman": 0}


def with_vision(cell: Cell, **changes) -> Cell:
    """The cell with another vision door of the Fanuc."""
    data = cell.model_dump()
    data["robots"]["fanuc"]["vision"] |= changes
    return validate(data, Cell, "mine")


async def in_thread(work, within_s: float = 60.0):
    """What a function gives that blocks, while simulation time goes on."""
    ended, loop, results = asyncio.Event(), asyncio.get_running_loop(), []

    def run():
        try:
            results.append(work())
        finally:
            loop.call_soon_threadsafe(ended.set)

    thread = threading.Thread(target=run)
    thread.start()
    await asyncio.wait_for(ended.wait(), within_s)
    thread.join()
    return results[0]


def served(lab, work, **options):
    """Runs a coroutine function with the doors."""

    async def main():
        interface = VisionInterface(lab, **options)
        try:
            return await work(await interface.start(ports=ANY))
        finally:
            await interface.close()

    return lab.perform(main())


def looks(*robots, **client):
    """A coroutine function: one frame of each of these robots."""

    async def work(interface):
        frames = []
        for robot in robots:
            async with VisionClient(interface.addresses[robot], **client) as vision:
                frames.append(await vision.next_frame())
        return frames

    return work


def things_near(lab, robot):
    """SKU -> x, y in mm of everything that the robot's detector could see, by the truth, in the nominal base."""
    base = lab.nominal.bases[robot]
    places: dict[str, list[tuple[float, float]]] = {}
    for item in lab.world.objects.values():
        x, y, _ = base.inverse().apply(lab.world.data.qpos[item.qpos : item.qpos + 3]) * 1000
        places.setdefault(item.sku, []).append((x, y))
    return places


@pytest.mark.parametrize("pace", [None, 5.0])
def test_each_robot_sees_its_own_table_in_its_own_coordinates(changed, pace):
    with cw.Lab(changed(), seed=3, pace=pace) as lab:
        fanuc, motoman = served(lab, looks("fanuc", "motoman"))
        for robot, frame in (("fanuc", fanuc), ("motoman", motoman)):
            truth = things_near(lab, robot)
            assert len(frame) >= 15, robot  # five trays, four and four and two gears; and some of the other table
            for group in frame:
                nearest = min(math.dist((group.x_mm, group.y_mm), place) for place in truth[group.name])
                assert nearest < 10.0, group  # camera, detector and what is partly hidden; not tenths of a metre
        kinds = {group.name: group.kind for group in fanuc}
        assert kinds == {
            "sku_part_small_gear": "P",
            "sku_part_medium_gear": "P",
            "sku_part_large_gear": "P",
            "sku_small_gear_vessel": "PT",
            "sku_medium_gear_vessel": "PT",
            "sku_large_gear_vessel": "PT",
            "sku_kit_m2l1_vessel": "KT",
            "sku_kit_s2l2_vessel": "KT",
        }
        window = [group for group in motoman if 450 < group.x_mm < 900 and -350 < group.y_mm < 350]
        assert len(window) >= 15  # the lab's own window of that robot
        assert {sub.role for sub in lab.bus.subscriptions} <= {Role.CONTROLLER}
        assert not lab.bus.has_listener("/detector_fanuc/detections")  # closed, it listens no more


@pytest.mark.parametrize(("options", "unit_mm"), [({}, 1000), ({"frame": "world"}, 1000), ({"profile": "aprs-lab"}, 1)])
def test_a_robot_sent_to_what_is_seen_arrives_there(changed, options, unit_mm):
    """Vision and CRCL speak of one frame: the tool goes over the gear that was seen, whatever the profile."""
    with cw.Lab(changed(actual={}), seed=1) as lab:

        async def work(vision):
            crcl = CrclInterface(lab, **options)
            (frame,) = await looks("fanuc")(vision)
            gear = next(group for group in frame if group.name == "sku_part_large_gear")
            async with CrclClient(lambda: crcl.connect("fanuc")) as client:
                (await client.execute(m.InitCanon(0))).check()
                here = (await client.status()).pose_status.pose
                point = m.Point(gear.x_mm / unit_mm, gear.y_mm / unit_mm, here.point.z)
                there = m.Pose(point, here.x_axis, here.z_axis)
                (await client.execute(m.MoveTo(0, move_straight=False, end_position=there))).check()
            await crcl.close()

        served(lab, work, **options)
        tool = lab.world.data.site_xpos[lab.world.robot("fanuc").gripper.tcp_site][:2]
        gears = [item for item in lab.world.objects.values() if item.sku == "sku_part_large_gear"]
        places = [lab.world.data.qpos[item.qpos : item.qpos + 2] for item in gears]
        assert min(math.dist(tool, place) for place in places) < 0.002


def test_frames_come_at_the_detectors_rate_and_a_client_may_come_and_go(changed):
    with cw.Lab(changed(), seed=1) as lab:

        async def work(interface):
            for _ in range(3):
                async with VisionClient(interface.addresses["fanuc"]) as vision:
                    await vision.next_frame()
                    before, begin_s = vision.arrived, lab.clock.time_s
                    await lab.clock.sleep(2.0)
                    await vision.next_frame()
                    assert vision.arrived - before == pytest.approx((lab.clock.time_s - begin_s) * 10, abs=1)

        served(lab, work)


def test_a_detector_of_pictures_takes_some_while_a_client_listens_and_none_for_nobody(changed, monkeypatch):
    pytest.importorskip("cv2")
    taken = []

    class NothingSeen:
        def recognise(self, picture):
            taken.append(picture.time_s)
            return Recognised.nothing(picture.source, picture.time_s)

    monkeypatch.setattr(CameraDetector, "recogniser", NothingSeen())
    cell = with_source(changed(), "camera")
    coarse = [{**line, "binning": 8} if line["type"] == "camera_detector" else line for line in cell.sensors]
    with cw.Lab(cell.model_copy(update={"sensors": tuple(coarse)}), seed=1) as lab:

        async def work(interface):
            await lab.clock.sleep(0.5)
            assert taken == []
            async with VisionClient(interface.addresses["fanuc"]) as vision:
                assert await vision.next_frame() == []
                assert taken
            for _ in range(1000):  # until its leaving is noticed
                if not lab.bus.is_waited_for("/detector_fanuc/detections"):
                    break
                await lab.clock.sleep(0.1)
            await lab.clock.sleep(0.5)  # what was under way may still be recognised
            count = len(taken)
            await lab.clock.sleep(0.5)
            assert len(taken) == count

        served(lab, work)


def test_a_blocking_controller_in_another_thread(changed):
    with cw.Lab(changed(), seed=1, pace=10.0) as lab:

        def control(address):
            with BlockingVisionClient(address) as vision:
                frames = iter(vision)
                return [len(next(frames)) for _ in range(10)]

        counts = served(lab, lambda interface: in_thread(lambda: control(interface.addresses["motoman"])))
        assert len(counts) == 10
        assert min(counts) >= 15  # its own five trays and ten gears, and what it sees of the other table


def test_what_vision_says_can_be_changed_by_the_cell(changed):
    groups = {"sku_part_large_gear": 4, "sku_kit_m2l1_vessel": 1}
    with cw.Lab(with_vision(changed(), rotation="degree", groups=groups), seed=1) as lab:

        async def work(interface):
            reader, writer = await asyncio.open_connection(*interface.servers["fanuc"].address)
            line = (await reader.readline()).decode()
            writer.close()
            return line

        names = served(lab, work).split(",")[0:30:6]
        assert names == ["sku_part_large_gear"] * 4 + ["sku_kit_m2l1_vessel"]
        line = served(lab, work)
        assert line.count("sku_part_large_gear,,,,,P,") == 2  # two of four are there


def test_bad_clients_cost_the_simulation_nothing(changed):
    """One that never reads, one that floods, one that comes and goes: the good one misses nothing, at full speed."""
    with cw.Lab(changed(), seed=1) as lab:

        async def work(interface):
            address = interface.servers["fanuc"].address
            ended = threading.Event()

            def flood():
                while not ended.is_set():  # a flood is refused, and comes again
                    with (
                        contextlib.suppress(OSError),
                        contextlib.closing(socket.create_connection(address)) as handle,
                    ):
                        handle.settimeout(0.1)
                        while not ended.is_set():
                            handle.send(b"x" * 65536)

            def come_and_go():
                while not ended.is_set():
                    with contextlib.suppress(OSError):
                        socket.create_connection(address).close()
                    time.sleep(0.01)

            threads = [threading.Thread(target=target) for target in (flood, come_and_go)]
            with contextlib.closing(socket.socket()) as stuck:
                stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                stuck.connect(address)
                try:
                    for thread in threads:
                        thread.start()
                    async with VisionClient(interface.addresses["fanuc"]) as vision:
                        await vision.next_frame()
                        before, begin_s = vision.arrived, lab.clock.time_s
                        while lab.clock.time_s < begin_s + 30.0:
                            await vision.next_frame()
                        frames = (lab.clock.time_s - begin_s) * 10
                        assert vision.arrived - before == pytest.approx(frames, abs=1)
                        assert interface.servers["fanuc"].lines_dropped > 0
                finally:
                    ended.set()
                    for thread in threads:
                        thread.join()

        served(lab, work)


def test_the_same_log_with_and_without_listeners(changed, tmp_path):
    logs = []
    for name, listens in (("a", False), ("b", True)):
        with cw.Lab(changed(), seed=4) as lab:
            lab.record(tmp_path / name)

            async def work(interface, lab=lab, listens=listens):
                client = VisionClient(interface.addresses["fanuc"])
                if listens:
                    await client.open()
                await lab.clock.until_tick(lab.world.clock.ticks(3.0))
                await client.close()

            served(lab, work)
        logs.append((tmp_path / name).read_bytes())
    assert logs[0] == logs[1]


def test_what_is_wrong_is_named(changed):
    problem = r"robots\.fanuc\.vision\.detector.*did you mean 'detector_fanuc'"
    blind = with_vision(changed(), detector="detector_fanux")
    with cw.Lab(blind, seed=1) as lab, pytest.raises(UnknownName, match=problem):
        VisionInterface(lab)
    with pytest.raises(ConfigError, match=r"robots\.fanuc\.vision\.port"):
        with_vision(changed(), port=70000)
    with pytest.raises(ConfigError, match=r"robots\.fanuc\.vision\.rotation"):
        with_vision(changed(), rotation="turns")
    with cw.Lab(changed(), seed=1) as lab:
        with pytest.raises(UnknownName, match="fanuc, motoman"):
            lab.perform(VisionInterface(lab).start(ports={"ur5": 0}))
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
            ports = {"fanuc": 0, "motoman": taken.getsockname()[1]}
            with pytest.raises(BadInput, match="cannot listen"):
                lab.perform(VisionInterface(lab).start(ports=ports))
        with pytest.raises(NoFrame):
            lab.perform(VisionClient(f"127.0.0.1:{ports['motoman']}", connect_s=0.5).open())


def test_a_cell_without_eyes_has_no_door(changed):
    cell = changed()
    robots = {name: robot.model_copy(update={"vision": None}) for name, robot in cell.robots.items()}
    with cw.Lab(cell.model_copy(update={"robots": robots}), seed=1) as lab:
        assert VisionInterface(lab).servers == {}


def test_the_ports_of_the_cell_are_the_laboratorys(aprs):
    assert {name: robot.vision.port for name, robot in aprs.robots.items()} == {"fanuc": 5001, "motoman": 5002}
