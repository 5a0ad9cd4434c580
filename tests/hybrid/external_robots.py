"""Robots of another laboratory, with a thread and an event loop of their own, at addresses; and ours that use them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from types import SimpleNamespace

import cellwright as cw
from cellwright.cells import CellTargetsCfg
from cellwright.crcl import ClientOptions, CrclClient
from cellwright.hybrid import LabTargets
from cellwright.interfaces import CrclInterface

WAIT_S = 30.0
QUICK = ClientOptions(poll_s=0.02)


class ExternalRobots:
    """The other laboratory: `at` has addresses, `lab` is for looking at, `do` runs a coroutine function in it."""

    def __init__(self, cell, seed=2, pace=1.0, profile="spec"):
        self._made = cell, seed, pace, profile
        self.at, self.lab, self.problem = {}, None, None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(WAIT_S)
        assert self.problem is None, self.problem

    def _run(self):
        cell, seed, pace, profile = self._made
        try:
            with cw.Lab(cell, seed, pace=pace) as self.lab:
                self.lab.perform(self._serve(profile))
        except BaseException as error:
            self.problem = error
        finally:
            self._ready.set()

    async def _serve(self, profile):
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        crcl = CrclInterface(self.lab, profile=profile)
        await crcl.start(ports=dict.fromkeys(crcl.servers, 0))
        self.at = {robot: "{}:{}".format(*server.address) for robot, server in crcl.servers.items()}
        self._ready.set()
        await self._ended.wait()
        await crcl.close()

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result(WAIT_S)

    def robot(self, name="fanuc"):
        return self.lab.robot(name)

    def close(self):
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(WAIT_S)


@contextlib.contextmanager
def serving(cell, **more):
    robots = ExternalRobots(cell, **more)
    try:
        yield robots
    finally:
        robots.close()


def cfg_of(**robots):
    """The targets of some robots, each by its settings."""
    return CellTargetsCfg.model_validate({"robots": robots})


@contextlib.asynccontextmanager
async def hybrid(lab, cfg=None, **more):
    """Ours with its targets: events, reasons of stops, and `client(robot)` for commands to its server."""
    said, stops = [], []
    targets = LabTargets(lab, cfg, say=said.append, on_stop=stops.append, **more)
    crcl = CrclInterface(lab, stand_in=targets.stand_in)
    ours = SimpleNamespace(targets=targets, said=said, stops=stops, crcl=crcl)

    def client(robot="fanuc"):
        return CrclClient(lambda: crcl.connect(robot), peer=robot, options=QUICK)

    ours.client = client
    try:
        async with targets:
            yield ours
    finally:
        await crcl.close()


async def until(lab, true, at_most_s=WAIT_S):
    """Waits for a condition, in our time."""
    end_s = lab.clock.time_s + at_most_s
    while not true():
        assert lab.clock.time_s < end_s, "it has not come true"
        await lab.clock.sleep(0.02)
