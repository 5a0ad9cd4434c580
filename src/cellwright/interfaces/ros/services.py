"""Services of every cell: time, objects, faults. They are for whoever tests a controller, not for the controller."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.cells import Placement
from cellwright.core.clock import LONGEST_S
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.pose import Pose
from cellwright.interfaces.ros.checked import finite, pose_of, refusing
from cellwright.interfaces.ros.graph import OfferedService, RosGraph
from cellwright.judge import FaultScheduler, HandMonitor, parse_fault
from cellwright.lab.lab import Lab
from cellwright.motion import StopCategory

__all__ = ["LabServices", "add_services"]

Request = dict[str, Any]
Array = npt.NDArray[np.float64]

TRIGGER = "std_srvs/srv/Trigger"
ANSWER = "---\nbool success\nstring message\n"
DEFINITIONS = {
    "cellwright_msgs/srv/Step": f"float64 duration_s\n{ANSWER}",
    "cellwright_msgs/srv/Spawn": f"string name\nstring model\ngeometry_msgs/Pose pose\nbool clamped\n{ANSWER}",
    "cellwright_msgs/srv/Remove": f"string name\n{ANSWER}",
    "cellwright_msgs/srv/Place": f"string name\ngeometry_msgs/Pose pose\n{ANSWER}",
    "cellwright_msgs/srv/Fault": f"string fault\n{ANSWER}",
    "cellwright_msgs/srv/Info": (
        "---\nstring cell\nint64 seed\nstring fidelity\nstring version\nfloat64 time_s\nbool is_paused\nfloat64 pace\n"
        "string[] robots\nstring[] mobiles\nstring[] objects\nstring[] models\n"
    ),
}
MOMENTS = {"at", "before", "during", "after"}
STAND_S, LONGEST_STOP_S = 0.05, 5.0


@dataclass(frozen=True)
class _ArmStart:
    """Joint positions of an arm and its fingers, and what its gripper was commanded."""

    qpos: Array
    fingers: dict[str, float]
    opening: float


class LabServices:
    """Pauses and steps time, spawns, removes and places objects, resets the cell, injects faults.

    Args:
        lab: The laboratory, as it is at its beginning: `reset` goes back there.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        world = lab.world
        self._objects = {name: (world.placement(name), world.pose_of(name)) for name in world.objects}
        self._mobiles = {name: world.pose_of(name) for name in world.mobiles}
        self._projectors = {name: switch.is_on for name, switch in lab.projectors.items()}
        self._arms = {name: self._arm(name) for name in lab.robots}
        self._faults: FaultScheduler | None = None

    # ------------------------------------------------------------ time

    async def pause(self, _request: Request) -> Request:
        """Lets no time pass."""
        self._lab.loop.pacing.pause()
        return self._done(f"paused at {self._time}")

    async def resume(self, _request: Request) -> Request:
        """Lets time pass again."""
        self._lab.loop.pacing.resume()
        return self._done(f"goes on at {self._time}")

    async def step(self, request: Request) -> Request:
        """Lets a duration pass while it is paused, one time step where it is 0; answers when it is over."""
        lab = self._lab
        if not lab.loop.pacing.is_paused:
            raise BadInput("time is not paused: call pause first")
        (duration_s,) = finite("duration_s", [request["duration_s"]])
        if not 0.0 <= duration_s <= LONGEST_S:
            raise OutOfRange("duration_s", float(duration_s), 0.0, LONGEST_S, "s")
        lab.loop.pacing.resume()
        try:
            await lab.clock.sleep(float(duration_s))
        finally:
            lab.loop.pacing.pause()
        return self._done(f"paused at {self._time}")

    # ------------------------------------------------------------ objects

    async def spawn(self, request: Request) -> Request:
        """Adds an object: one of the cell's file by its name alone, or any of the catalogue with its model and pose."""
        name, world = request["name"], self._lab.world
        declared = self._lab.nominal.objects.get(name)
        model = request["model"] or (declared.model if declared else "")
        if not model:
            names = [*self._lab.nominal.objects]
            raise UnknownName("object of the cell's file (another one needs a model)", name, names)
        pose = self._pose(request["pose"])
        if pose is None:
            if declared is None:
                raise BadInput(f"'{name}' is not in the cell's file: say where it is to be")
            pose = declared.pose_in_world
        clamped = bool(request["clamped"]) or (declared is not None and declared.is_clamped)
        with refusing():
            world.add(name, model, pose, clamped=clamped)
        return self._done(f"{name} is there, a {model}")

    async def remove(self, request: Request) -> Request:
        """Takes an object away."""
        with refusing():
            self._lab.world.remove(self._known(request["name"]))
        return self._done(f"{request['name']} is gone")

    async def place(self, request: Request) -> Request:
        """Puts an object or a mobile robot somewhere, at rest; without a pose where the cell's file has it."""
        name, lab = request["name"], self._lab
        if name not in lab.world.mobiles:
            self._known(name, lab.world.mobiles)
        pose = self._pose(request["pose"])
        if pose is None:
            drawn = lab.nominal.mobiles if name in lab.world.mobiles else lab.nominal.objects
            if name not in drawn:
                raise BadInput(f"'{name}' is not in the cell's file: say where it is to be")
            pose = drawn[name].pose_in_world
        with refusing():
            if (overlap := lab.world.overlap_at(name, pose)) is not None:
                raise BadInput(f"cannot place '{name}' there: {overlap}")
            lab.world.place(name, pose)
        return self._done(f"{name} is placed")

    async def reset(self, _request: Request) -> Request:
        """Puts everything where it was when the bridge began; time goes on, and motions under way end."""
        lab, world = self._lab, self._lab.world
        async with self._time_passes():
            await self._stop_all()
        if self._faults is not None:
            self._faults.end()
        with refusing():
            for name in [name for name in world.objects if name not in self._objects]:
                world.remove(name)
            for name, (placement, _) in self._objects.items():
                if name not in world.objects:
                    self._put_back(placement)
            for name, start in self._arms.items():
                self._set_arm(name, start)
            for name, pose in [*((n, pose) for n, (_, pose) in self._objects.items()), *self._mobiles.items()]:
                world.place(name, pose)
        for name, is_on in self._projectors.items():
            if lab.projector(name).is_on != is_on:
                lab.projector(name).switch(is_on)
        for name in self._mobiles:
            lab.mobile(name).move(0.0, 0.0)
        if lab.safety is not None and lab.safety.status.stop_category:
            async with self._time_passes():
                await lab.clock.sleep(STAND_S)  # for curtains and scanners to see that nothing is there any more
            await self.reset_safety({})
        return self._done(f"everything is where it was; it is {self._time}")

    async def reset_safety(self, _request: Request) -> Request:
        """Presses the reset button of the safety controller: robots that it has stopped may move again."""
        if (safety := self._lab.safety) is not None:
            with refusing():
                safety.reset()
        return self._done("robots may move")

    # ------------------------------------------------------------ faults, facts

    async def fault(self, request: Request) -> Request:
        """Adds a fault as `--fault` has it, such as `drop:part=*,during=transfer:1`; now where no moment is given."""
        lab, spec = self._lab, request["fault"]
        kind, _, rest = spec.partition(":")
        words = [word for word in rest.split(",") if word]
        if not MOMENTS & {word.partition("=")[0].strip() for word in words}:
            words.append(f"at={lab.clock.time_s:.6f}")
        cfg = parse_fault(f"{kind}:{','.join(words)}")
        if self._faults is None:
            hands = HandMonitor(lab.world, lab.stepper)
            self._faults = FaultScheduler(lab.world, lab.stepper, lab.bus, hands, (), lab.sensors)
        with refusing():
            self._faults.add(cfg)
        return self._done(f"fault {spec} is set")

    async def info(self, _request: Request) -> Request:
        """Returns what cell this is, its time, and the objects of its file, whether they are there or not."""
        from cellwright import __version__
        from cellwright.catalogue import PARTS, TRAYS

        lab = self._lab
        return {
            "cell": lab.cell.name,
            "seed": lab.seed,
            "fidelity": lab.cell.fidelity,
            "version": __version__,
            "time_s": lab.clock.time_s,
            "is_paused": lab.loop.pacing.is_paused,
            "pace": lab.loop.pacing.speed or 0.0,
            "robots": [*lab.robots],
            "mobiles": [*lab.mobiles],
            "objects": [*lab.nominal.objects],
            "models": sorted([*TRAYS, *PARTS]),
        }

    @asynccontextmanager
    async def _time_passes(self) -> AsyncIterator[None]:
        """Lets time pass in a pause, too: what has to come to rest does not while it stands still."""
        pacing = self._lab.loop.pacing
        is_paused = pacing.is_paused
        if is_paused:
            pacing.resume()
        try:
            yield
        finally:
            if is_paused:
                pacing.pause()

    @property
    def _time(self) -> str:
        return f"{self._lab.clock.time_s:.3f} s"

    def _done(self, message: str) -> Request:
        return {"success": True, "message": message}

    def _known(self, name: str, others: Iterable[str] = ()) -> str:
        if name not in self._lab.world.objects:
            raise UnknownName("object", name, [*self._lab.nominal.objects, *others])
        return name

    def _pose(self, pose: Request) -> Pose | None:
        """Returns the pose of a request; None where its quaternion was left at 0."""
        place, turn = pose["position"], pose["orientation"]
        if not any(turn[key] for key in "xyzw"):
            if any(place[key] for key in "xyz"):
                raise BadInput("a pose needs an orientation, w = 1 for none; leave both out for the cell's own place")
            return None
        return pose_of(_Fields(pose))

    def _arm(self, name: str) -> _ArmStart:
        world = self._lab.world
        index = world.robot(name)
        qpos, tool = world.data.qpos, index.gripper
        fingers = {joint: float(qpos[at]) for joint, at in tool.joints.items()} if tool else {}
        return _ArmStart(qpos[index.qpos].copy(), fingers, float(world.data.ctrl[tool.ctrl]) if tool else 0.0)

    async def _stop_all(self) -> None:
        lab = self._lab
        for robot in lab.robots.values():
            robot.stop(StopCategory.IMMEDIATE, "the cell is reset")
        end_s = lab.clock.time_s + LONGEST_STOP_S
        while any(robot.moving for robot in lab.robots.values()) and lab.clock.time_s < end_s:
            await lab.clock.sleep(STAND_S)
        for robot in lab.robots.values():
            robot.reset()

    def _put_back(self, placement: Placement) -> None:
        self._lab.world.add(placement.name, placement.model, placement.pose_in_world, clamped=placement.is_clamped)

    def _set_arm(self, name: str, start: _ArmStart) -> None:
        """Puts an arm and its fingers where they were, at rest, and holds them there."""
        world, robot = self._lab.world, self._lab.robot(name)
        index, data = world.robot(name), world.data
        data.qpos[index.qpos], data.qvel[index.dof] = start.qpos, 0.0
        if (tool := index.gripper) is not None and start.fingers.keys() == tool.joints.keys():
            for joint, place in start.fingers.items():
                data.qpos[tool.joints[joint]] = place
            data.qvel[tool.dof], data.ctrl[tool.ctrl] = 0.0, start.opening
        mujoco.mj_forward(world.model, data)
        robot.hold()


class _Fields:
    """Plain fields of a request, as attributes."""

    def __init__(self, fields: Request) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        value = self._fields[name]
        return _Fields(value) if isinstance(value, dict) else value


def add_services(graph: RosGraph, lab: Lab) -> None:
    """Adds the services of every cell."""
    services = LabServices(lab)
    graph.definitions.update(DEFINITIONS)
    calls: dict[str, Callable[[Request], Awaitable[Request]]] = {
        name: getattr(services, name)
        for name in ("pause", "resume", "step", "reset", "spawn", "remove", "place", "fault", "info")
    }
    for name, call in calls.items():
        own = f"cellwright_msgs/srv/{name.capitalize()}"
        kind = own if own in DEFINITIONS else TRIGGER
        graph.offer(OfferedService(name=f"/cellwright/{name}", service_type=kind, call=call))
    if lab.safety is not None:
        graph.offer(OfferedService(name="/safety/reset", service_type=TRIGGER, call=services.reset_safety))
