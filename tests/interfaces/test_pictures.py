"""The picture socket: frames with intrinsics and time stamps, on demand and at a rate."""

import asyncio
import json
import struct

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import Cell
from cellwright.interfaces import PictureInterface

pytest.importorskip("numba", reason="the extra `cameras` is not installed")

CELL = {
    "name": "small",
    "title": "A tray and a camera above it",
    "fidelity": "kinematic",
    "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.0, 0.0, 0.0]}}},
    "cameras": {
        "eye": {"pose": {"xyz_m": [0, 0, 0.6], "rpy_deg": [0, 90, 90]}, "fov_deg": 40, "resolution_px": [48, 32]}
    },
    "sensors": [
        {"type": "color_camera", "camera": "eye", "rate_hz": 10, "renderer": "soft"},
        {"type": "depth_camera", "name": "deep", "camera": "eye", "noise": [], "with_points": True, "renderer": "soft"},
        {"type": "segmentation_camera", "name": "truth", "camera": "eye", "rate_hz": 10, "renderer": "soft"},
    ],
}


class Client:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def connect(cls, interface):
        host, port = interface.server.address
        return cls(*await asyncio.open_connection(host, port))

    def ask(self, **request):
        self.writer.write(json.dumps(request).encode() + b"\n")

    async def frame(self):
        (length,) = struct.unpack("<I", await self.reader.readexactly(4))
        header = json.loads(await self.reader.readexactly(length))
        return header, await self.reader.readexactly(header["bytes"])


def served(job, **more):
    """Runs a job with a laboratory's picture interface, in step with the wall clock, as sockets need it."""
    with cw.Lab(Cell.model_validate({**CELL, **more}), seed=1, pace=5.0) as lab:

        async def run():
            interface = await PictureInterface(lab).start(port=0)
            try:
                return await asyncio.wait_for(job(lab, interface), 30)
            finally:
                await interface.close()

        return lab.perform(run())


def test_pictures_come_with_intrinsics_pose_and_time():
    async def job(lab, interface):
        client = await Client.connect(interface)
        hello, _ = await client.frame()
        assert hello["topics"] == {
            "/eye/image_raw": "Image",
            "/deep/depth": "Depth",
            "/deep/points": "PointCloud",
        }  # and no truth
        client.ask(subscribe=["/eye/image_raw"])
        frames = [await client.frame() for _ in range(2)]
        return frames, lab.sensor("eye").latest

    frames, latest = served(job)
    for header, data in frames:
        assert (header["height"], header["width"], header["encoding"]) == (32, 48, "rgb8")
        assert len(data) == 32 * 48 * 3
        assert header["intrinsics"]["matrix"][0][0] == pytest.approx(24 / np.tan(np.radians(20)))
        assert header["pose"]["frame"] == "world"
        assert header["pose"]["position_m"] == pytest.approx([0, 0, 0.6])
    assert frames[1][0]["time_ns"] - frames[0][0]["time_ns"] == 100_000_000
    assert latest.pixels.shape == (32, 48, 3)


def test_a_picture_on_demand_depths_and_points():
    async def job(lab, interface):
        client = await Client.connect(interface)
        await client.frame()
        client.ask(subscribe=["/deep/depth", "/deep/points"])
        client.ask(capture="deep")
        frames = [await client.frame() for _ in range(2)]
        return {header["topic"]: (header, data) for header, data in frames}

    frames = served(job)
    header, data = frames["/deep/depth"]
    depth_m = np.frombuffer(data, "<f4").reshape(header["height"], header["width"])
    points = np.frombuffer(frames["/deep/points"][1], "<f4").reshape(-1, 3)
    assert np.isfinite(depth_m).sum() == len(points) > 100
    assert np.nanmax(depth_m) == pytest.approx(points[:, 2].max())


def test_a_client_switches_a_projector():
    async def job(lab, interface):
        client, wrong, vain = [await Client.connect(interface) for _ in range(3)]
        hellos = [(await one.frame())[0] for one in (client, wrong, vain)]
        client.ask(switch={"spot": True})
        client.ask(subscribe=["/deep/depth"])
        client.ask(capture="deep")
        await client.frame()
        wrong.ask(switch={"spot": 1})
        vain.ask(switch={"spod": True})
        errors = [(await one.frame())[0]["error"] for one in (wrong, vain)]
        return hellos[0], lab.projector("spot").is_on, errors

    spot = {"pose": {"xyz_m": [0, 0, 0.6], "rpy_deg": [0, 90, 90]}, "fov_deg": 30}
    hello, is_on, errors = served(job, projectors={"spot": spot})
    assert hello["projectors"] == {"spot": False}
    assert is_on
    assert "each with true or false" in errors[0]
    assert "did you mean 'spot'" in errors[1]


def test_one_bad_client_hurts_no_other():
    async def job(lab, interface):
        good, *bad = [await Client.connect(interface) for _ in range(6)]
        for client in (good, *bad):
            await client.frame()
        good.ask(subscribe=["/eye/image_raw"])
        bad[0].writer.write(b"GET / HTTP/1.1\r\n\r\n")
        bad[1].ask(subscribe=["/truth/segmentation"])
        bad[2].ask(capture="nobody")
        bad[3].writer.write(b"[" * 3000 + b"\n")
        bad[4].writer.write(b" " * 5000 + b"{}\n")
        errors = [(await client.frame())[0]["error"] for client in bad]
        ends = [await client.reader.read() for client in bad]
        return errors, ends, [(await good.frame())[0]["sequence"] for _ in range(2)], interface.server.clients

    errors, ends, sequences, clients = served(job)
    assert "JSON" in errors[0]
    assert "/eye/image_raw" in errors[1]
    assert "/truth/segmentation" not in errors[1]
    assert "unknown camera 'nobody'" in errors[2]
    assert "JSON" in errors[3]
    assert "longer than 4096 bytes" in errors[4]
    assert ends == [b""] * 5
    assert sequences[1] == sequences[0] + 1
    assert clients == 1


def test_nothing_is_taken_while_nobody_wants_it():
    async def job(lab, interface):
        await lab.clock.sleep(0.25)
        before = lab.bus.listeners("/eye/image_raw")
        client = await Client.connect(interface)
        await client.frame()
        client.ask(subscribe=["/eye/image_raw"])
        await client.frame()
        during = lab.bus.listeners("/eye/image_raw")
        client.writer.close()
        while interface.server.clients:
            await lab.clock.sleep(0.05)
        return before, during, lab.bus.listeners("/eye/image_raw")

    assert served(job) == (0, 1, 0)
