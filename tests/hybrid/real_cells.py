"""Orders in a laboratory beside a real cell in a process of its own, over wires; and what was told to its robots."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from tests.hybrid.faulty_wire import FaultyWire

import cellwright as cw
from cellwright.cells import CellTargetsCfg
from cellwright.core.messages import ActionEvent, CrclCommand
from cellwright.crcl import CRCLCommandInstance, MessageStream, MoveThroughTo, MoveTo, decode
from cellwright.record import read_log
from cellwright.trials.run import RunCfg, run_order

WAIT_S = 30.0
MOVED_RAD = 0.05
ONE_GEAR = cw.Order.of("one_gear", {cw.KitDesign.of("one_gear", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 1}): 1})


@contextlib.contextmanager
def wires(**made):
    """Faulty wires in a thread and a loop of their own: by name, address and settings; yields them by name."""
    loop, running, ready = asyncio.new_event_loop(), {}, threading.Event()

    async def serve():
        async with contextlib.AsyncExitStack() as stack:
            for name, (at, settings) in made.items():
                running[name] = await stack.enter_async_context(FaultyWire(at, **settings))
            running["ended"] = asyncio.Event()
            ready.set()
            await running["ended"].wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(WAIT_S)
    try:
        yield running
    finally:
        loop.call_soon_threadsafe(running["ended"].set)
        thread.join(WAIT_S)


def targets_of(real, *, crcl=None, vision=None, **settings):
    """The targets of a cell whose Fanuc and its camera are real, perhaps over wires."""
    robot = {"at": crcl or real.crcl["fanuc"], **settings}
    detector = {"at": vision or real.vision["detector_fanuc"]}
    if "on_loss" in settings:
        detector["on_loss"] = settings["on_loss"]
    return CellTargetsCfg.model_validate({"robots": {"fanuc": robot}, "detectors": {"detector_fanuc": detector}})


class Runs:
    """Runs an order with the Fanuc alone; calls `at_action(number, targets)` when an action has begun."""

    def __init__(self, folder, cell, *, pace, seed=1):
        self.folder, self.cell, self.pace, self.seed = folder, cell, pace, seed
        self.log, self.database, self.world = folder / "log.mcap", folder / "run.db", folder / "run.world"
        self.said, self.actions = [], 0

    def run(self, targets, at_action=lambda _number, _targets: None, *, order=ONE_GEAR, resume=None):
        with cw.Lab.from_cell(self.cell, self.seed, pace=self.pace) as lab:
            lab.record(self.log)
            made = []

            def hear(_topic, event):
                if event.phase == "start":
                    self.actions += 1
                    at_action(self.actions, made[0])

            def begin(of_run):
                made.append(of_run)
                lab.bus.declare("/execution/actions", ActionEvent)
                lab.bus.subscribe("/execution/actions", hear, subscriber="test")

            cfg = RunCfg(
                database=self.database, world_file=self.world, targets=targets,
                on_targets=begin, say=self.said.append,
            )  # fmt: skip
            report = run_order(lab, [order], cfg, resume)
            self.moving = [name for name, robot in lab.robots.items() if robot.moving]
            return report


def interrupted_run(folder, crcl, vision, pace):
    """Begins an order in this process, tells when the real robot is on its way, and is waited for by nobody."""
    real = SimpleNamespace(crcl={"fanuc": crcl}, vision={"detector_fanuc": vision})
    runs = Runs(Path(folder), "aprs", pace=pace)

    def tell(number, targets):
        if number == 1:
            asyncio.get_running_loop().create_task(_tell_motion(targets))

    runs.run(targets_of(real), tell)


async def _tell_motion(targets):
    target = targets.robots["fanuc"]
    before = np.array(target.read().positions)
    while np.abs(np.array(target.read().positions) - before).max() < MOVED_RAD:
        await target.clock.sleep(0.02)
    print("on its way", flush=True)


def _poses(log, topic):
    found = []
    for entry in log.entries():
        if entry.topic != topic or not isinstance(entry.message, CrclCommand):
            continue
        for document in MessageStream().feed(entry.message.document.encode()):
            command = decode(document, CRCLCommandInstance).crcl_command
            if isinstance(command, MoveTo):
                found.append(command.end_position)
            elif isinstance(command, MoveThroughTo):
                found.extend(command.waypoint)
    return np.array([[pose.point.x, pose.point.y, pose.point.z] for pose in found])


def strays_m(file):
    """How far each commanded place of the external Fanuc is from the nearest one that the controller has named."""
    log = read_log(file)
    told, named = _poses(log, "/fanuc/external/crcl_command"), _poses(log, "/fanuc/crcl_command")
    if not len(told):
        return np.zeros(0)
    return np.array([np.linalg.norm(named - place, axis=1).min() for place in told])
