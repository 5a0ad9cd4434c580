"""An external cell with a seed of its own, whose detector is served on a real socket, well or badly."""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import replace

import cellwright as cw
from cellwright.interfaces import VisionEncoder, VisionServer

DETECTOR, TOPIC = "detector_fanuc", "/detector_fanuc/detections"
RAW = "/detector_fanuc/external/detections"
PACE = 4.0


class Outside:
    """The external cell: its laboratory, the server of its detector, and what is wrong with what it sends."""

    def __init__(self, cell, seed=2):
        self.lab = cw.Lab(cell, seed)
        base = self.lab.nominal.bases["fanuc"]
        self.server = VisionServer(VisionEncoder(base, {}))
        self.change = lambda frame: frame
        self.is_sending = True
        self.offset_s = 5000.0
        self.made = []
        self.lab.bus.subscribe(TOPIC, self._take, subscriber="server")

    def _take(self, _topic, frame):
        self.made.append(frame)
        if self.is_sending:
            told = replace(frame, time_ns=frame.time_ns + round(self.offset_s * 1e9))
            if (told := self.change(told)) is not None:
                self.server.send(told)

    @property
    def address(self):
        return "{}:{}".format(*self.server.address)

    async def run(self, clock):
        """Its time is that of the laboratory that looks at it."""
        while True:
            self.lab.advance(0.05)
            await clock.sleep(0.05)


@contextlib.asynccontextmanager
async def running(outside, lab):
    await outside.server.start(port=0)
    task = asyncio.get_running_loop().create_task(outside.run(lab.clock))
    try:
        yield outside
    finally:
        task.cancel()
        await outside.server.close()
        outside.lab.close()


def heard(lab, topic=TOPIC):
    """The frames on a topic from now on."""
    frames = []
    lab.bus.subscribe(topic, lambda _topic, frame: frames.append(frame), subscriber="test")
    return frames


def errors_m(frame, lab):
    """How far each thing of a frame is from the nearest true one of its kind."""
    poses = {}
    for name, item in lab.world.objects.items():
        poses.setdefault(item.sku, []).append(lab.world.pose_of(name).position)
    return [
        min(math.hypot(*(place[:2] - position[:2])) for place in poses[sku])
        for sku, position in zip(frame.skus, frame.positions, strict=True)
    ]
