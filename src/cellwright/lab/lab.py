"""A laboratory: one of everything for a cell, wired together."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from cellwright import __version__
from cellwright.cells import Cell
from cellwright.control import (
    DifferentialDrive,
    DifferentialDrives,
    ProjectorSwitch,
    RobotController,
    SafetyController,
)
from cellwright.core.bus import Bus
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError, UnknownName
from cellwright.core.loop import SimulationLoop, WaitClock
from cellwright.core.rich_text import html_table
from cellwright.lab.cell_file import checked_layout, read_cell
from cellwright.lab.cell_picture import CellPicture, camera_picture, whole_picture
from cellwright.lab.snapshot import LabSnapshot
from cellwright.lab.sources import with_source
from cellwright.lab.versions import model_hash, versions
from cellwright.record import Recorder
from cellwright.sensors import Sensor, make_sensor, schedule
from cellwright.sim import Stepper, Suction, TruthPublisher, World

if TYPE_CHECKING:
    from cellwright.orders import Order
    from cellwright.trials import Report
    from cellwright.viewing.notebook import CellFrame

__all__ = ["Lab"]

T = TypeVar("T")

HORIZON_S = 86_400.0
COLLECT_EVERY = 4  # laboratories: one that nobody uses any more holds 60 MB, and to look for it takes 0.2 s
_made = count(1)


class Lab:
    """A cell that runs: world, schedule, sensors, controllers, bus and time.

    `run` does an order, `perform` a coroutine of your own, `advance` lets time pass.

    >>> with cw.Lab.from_cell("aprs", seed=7) as lab:
    ...     robot, joints = lab.robot("fanuc"), lab.sensor("/fanuc/joint_states")
    ...     lab.perform(robot.move_joints(np.radians([20, 10, 0, 0, -90, 0])))
    ...     np.degrees(joints.latest.position).round().tolist()
    [20.0, 10.0, -0.0, -0.0, -90.0, 0.0]

    Args:
        cell: The cell.
        seed: Root of all randomness.
        pace: Simulated seconds per wall second; None runs as fast as possible.
        horizon_s: Simulation time after which a run that has not ended is an error.

    Attributes:
        world: What is really there; for the judge and for tests.
        bus: The message bus.
        robots: Robot -> its controller, which believes the nominal layout.
        mobiles: Mobile robot -> what drives it.
        projectors: Projector -> its switch.
        safety: The cell's guards and zones, if it has any.
        clock: Time to wait by, inside coroutines.
    """

    def __init__(self, cell: Cell, seed: int = 0, *, pace: float | None = None, horizon_s: float = HORIZON_S) -> None:
        if next(_made) % COLLECT_EVERY == 0:
            gc.collect()  # the loop freezes what is there, and Python never finds garbage in what was frozen by itself
        self.cell = cell
        self.seed = seed
        self.nominal = checked_layout(cell, seed)
        self.world = World(cell, seed)
        self._model = model_hash(self.world.model)  # before anything was added or removed: what cell and seed give
        self.bus = Bus()
        self.stepper = Stepper(self.world.clock, self.world.engine)
        self.suction = Suction(self.world, self.stepper) if self.world.vacuums and cell.fidelity == "physics" else None
        self.truth = TruthPublisher(self.world, self.bus, self.stepper)
        self.sensors = self._make_sensors()
        self.loop = SimulationLoop(self.world.clock, self.stepper, pace=pace, horizon_s=horizon_s)
        self.robots = {
            name: RobotController(self.world, self.stepper, self.loop.clock, name, self.nominal.bases[name], self.bus)
            for name in cell.robots
        }
        self.mobiles = self._make_drives()
        self.projectors = {name: ProjectorSwitch(self.world, name, self.bus) for name in self.world.projectors.on}
        self.safety = (
            SafetyController(cell.safety, self.robots, self.bus, self.world, self.stepper) if cell.safety else None
        )
        self._recorders: list[Recorder] = []

    @classmethod
    def from_cell(
        cls,
        cell: str | Path | Cell,
        seed: int = 0,
        *,
        pace: float | None = None,
        fidelity: str | None = None,
        source: str | None = None,
        horizon_s: float = HORIZON_S,
    ) -> Self:
        """Returns a laboratory for a cell by name, by file or as an object.

        Args:
            cell: Which.
            seed: Root of all randomness.
            pace: Simulated seconds per wall second; None runs as fast as possible.
            fidelity: `physics` or `kinematic` instead of the cell's own.
            source: `camera` has detectors recognise objects in pictures; `state`, the default, does not.
            horizon_s: Simulation time after which a run that has not ended is an error.
        """
        loaded = with_source(cell if isinstance(cell, Cell) else read_cell(cell, seed), source)
        if fidelity is not None:
            if fidelity not in ("physics", "kinematic"):
                raise UnknownName("fidelity", fidelity, ["physics", "kinematic"])
            loaded = loaded.model_copy(update={"fidelity": fidelity})
        return cls(loaded, seed, pace=pace, horizon_s=horizon_s)

    def _make_sensors(self) -> list[Sensor[Any]]:
        sensors: dict[str, Sensor[Any]] = {}
        errors = ErrorCollector()
        for place, line in self.cell.sensor_lines():
            with errors.collecting():
                sensor = make_sensor(line, self.world, f"{self.cell.where}: {place}")
                if sensor.topic in sensors:
                    problem = f"another sensor publishes on {sensor.topic} already; give this one a name of its own"
                    raise ConfigError(self.cell.where, place, problem)
                schedule(sensor, self.stepper, self.bus)
                sensors[sensor.topic] = sensor
        errors.raise_errors()
        return list(sensors.values())

    def _make_drives(self) -> dict[str, DifferentialDrive]:
        drives: dict[str, DifferentialDrive] = {}
        for key, cfg in self.cell.mobiles.items():
            starts = {name: self.nominal.mobiles[name].pose_in_world for name in cfg.names(key)}
            drives |= DifferentialDrives(self.world, self.stepper, self.bus, starts, cfg.odometry_hz).robots
        return drives

    @property
    def clock(self) -> WaitClock:
        """Simulation time, to wait by."""
        return self.loop.clock

    def robot(self, name: str) -> RobotController:
        """Returns a robot's controller by name."""
        if name not in self.robots:
            raise UnknownName("robot", name, self.robots, self.cell.where)
        return self.robots[name]

    def mobile(self, name: str) -> DifferentialDrive:
        """Returns the drive of a mobile robot by name."""
        if name not in self.mobiles:
            raise UnknownName("mobile robot", name, self.mobiles, self.cell.where)
        return self.mobiles[name]

    def projector(self, name: str) -> ProjectorSwitch:
        """Returns the switch of a projector by name."""
        if name not in self.projectors:
            raise UnknownName("projector", name, self.projectors, self.cell.where)
        return self.projectors[name]

    def sensor(self, name: str) -> Sensor[Any]:
        """Returns a sensor by its topic, or by its name where no other has it; `latest` is its last message.

        Readings that need not be made while nobody listens, such as those of encoders, are made from now on.
        """
        found = [sensor for sensor in self.sensors if name in (sensor.topic, sensor.source)]
        if len(found) > 1:
            topics = ", ".join(sensor.topic for sensor in found)
            raise BadInput(f"{self.cell.where}: {len(found)} sensors are called '{name}'; say which by topic: {topics}")
        if not found:
            raise UnknownName("sensor", name, [sensor.topic for sensor in self.sensors], self.cell.where)
        found[0].is_kept = True
        return found[0]

    def record(self, path: str | Path) -> Recorder:
        """Writes everything on the bus to a log from now on; closed with the laboratory."""
        metadata = {
            "cell": self.cell.name,
            "seed": str(self.seed),
            "fidelity": self.cell.fidelity,
            "cellwright": __version__,
            "model": self._model,
            **versions(),
        }
        recorder = Recorder(self.bus, path, metadata=metadata, clock=self.world.clock)
        self._recorders.append(recorder)
        return recorder

    def note(self, name: str, content: Mapping[str, str]) -> None:
        """Keeps texts about what is done here, which all logs that are being recorded get at their end."""
        for recorder in self._recorders:
            recorder.note(name, content)

    def perform(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in simulation time and returns what it returns; what it raises is raised here.

        Where an event loop runs already, as in a notebook, a thread does it while the caller waits.
        """
        if asyncio._get_running_loop() is None:
            return self.loop.run(work)
        with ThreadPoolExecutor(1, thread_name_prefix="laboratory") as executor:
            future = executor.submit(self.loop.run, work)
            try:
                return future.result()
            except BaseException:
                if not future.done():  # the caller was interrupted, not the work
                    self.loop.call_soon_threadsafe(self.loop.stop)
                raise

    def run(
        self,
        order: str | Path | Order = "kit_m2l1",
        *,
        quantity: int = 1,
        robots: Sequence[str] | None = None,
        recovery: str = "full",
        planner: str | None = None,
        faults: Sequence[str] = (),
        database: str | Path = "sqlite://",
        calibration: str | Path | None = None,
        targets: str | Path | Mapping[str, Any] | None = None,
    ) -> Report:
        """Does an order with Cellwright's own controller, and judges it by the truth.

        Args:
            order: A kit's name, an order file, or an order.
            quantity: How many, of an order by name.
            robots: The robots that work; all by default.
            recovery: What the controller may do when something goes wrong: `none`, `retry` or `full`.
            planner: A task planner by name; what suits the number of robots by default.
            faults: Faults to apply, such as `drop:part=*,during=transfer:2`.
            database: The database of belief.
            calibration: A calibration file of the cell.
            targets: Which robots and detectors are somewhere else, of a laboratory with a pace: a file, or its content
                such as `{"robots": {"fanuc": "127.0.0.1:64444"}}`.
        """
        from cellwright.cells import CellTargetsCfg
        from cellwright.core.config import validate
        from cellwright.drawings.prior import Drawings
        from cellwright.execution import ExecutionSettings, RecoveryMode
        from cellwright.judge import parse_fault
        from cellwright.orders import Order, find_order
        from cellwright.planning import TASK_PLANNERS
        from cellwright.trials import RunCfg, run_order
        from cellwright.trials.calibrated_ports import calibration_of

        if planner is not None:
            TASK_PLANNERS.get(planner)
        wanted = order if isinstance(order, Order) else find_order(order, quantity)
        where = validate(dict(targets), CellTargetsCfg, "targets") if isinstance(targets, Mapping) else None
        cfg = RunCfg(
            None if robots is None else tuple(robots),
            ExecutionSettings(recovery=RecoveryMode.named(recovery), planner=planner),
            tuple(parse_fault(fault) for fault in faults),
            database,
            header=None if isinstance(order, Order) else {"order": str(order), "quantity": quantity},
            calibration=None if calibration is None else calibration_of(calibration, Drawings.of(self.cell)),
            targets=where,
            targets_file=None if targets is None or where is not None else Path(str(targets)),
        )
        return run_order(self, [wanted], cfg)

    def snapshot(self) -> LabSnapshot:
        """Returns a snapshot of this moment to restore; only between motions."""
        moving = [name for name, robot in self.robots.items() if robot.moving]
        if moving:
            raise BadInput(f"cannot take a snapshot while {', '.join(moving)} moves: take it between motions")
        sensors = tuple(sensor.save() for sensor in self.sensors)
        return LabSnapshot(self.world.snapshot(), self.stepper.save(), self.truth.save(), sensors)

    def restore(self, snapshot: LabSnapshot) -> None:
        """Goes back to a moment: from here the same commands give the same messages, bit for bit."""
        self.world.restore(snapshot.world)
        self.stepper.load(snapshot.schedule)
        self.truth.load(snapshot.truth)
        for sensor, state in zip(self.sensors, snapshot.sensors, strict=True):
            sensor.load(state)

    def advance(self, duration_s: float) -> None:
        """Lets time pass, as fast as possible; for use between jobs, not inside coroutines."""
        self.stepper.advance(self.world.clock.tick + self.world.clock.ticks(duration_s))

    def picture(self, camera: str | None = None, *, size: tuple[int, int] | None = None) -> CellPicture:
        """Returns a picture of the cell as it is now, which a notebook shows; `save(FILE)` writes it, `array` has it.

        >>> with cw.Lab.from_cell("aprs") as lab:
        ...     lab.picture("camera_fanuc", size=(320, 240)).array.shape
        (240, 320, 3)

        Args:
            camera: A camera of the cell, or a sensor that takes pictures; the view of the cell's file without.
            size: Columns and rows; when not given 960 x 540, or the camera's own, at most 960 along a side.
        """
        if camera is None:
            return whole_picture(self.world, size)
        return camera_picture(self.world, camera, self.sensors, size)

    def show(self, height_px: int = 600) -> CellFrame:
        """Returns the cell as it is now in three dimensions, for a notebook: to be turned, zoomed and looked at.

        Where the viewer's page was not built, a picture and the reason stand in its place.

        Args:
            height_px: The frame's height.
        """
        from cellwright.viewing.notebook import show_lab

        return show_lab(self, height_px)

    def __repr__(self) -> str:
        return f"<laboratory {self._title()}; robots {', '.join(self.robots) or 'none'}>"

    def _repr_html_(self) -> str:
        arms = [
            (name, "robot", robot.state.value, robot.tool.name if robot.tool else "")
            for name, robot in self.robots.items()
        ]
        drives = [(name, "mobile robot", "", "") for name in self.mobiles]
        readings = [
            (s.topic, s.cfg.type, f"{s.cfg.rate_hz:g} Hz" if s.cfg.rate_hz else "on demand", "") for s in self.sensors
        ]
        return html_table(self._title(), ["name", "is", "state or rate", "tool"], [*arms, *drives, *readings])

    def _title(self) -> str:
        return f"{self.cell.name}, seed {self.seed}, {self.cell.fidelity}, at {self.world.clock.time_s:.2f} s"

    def close(self) -> None:
        """Ends the recordings and the event loop."""
        for recorder in self._recorders:
            recorder.close()
        self._recorders.clear()
        if not self.loop.is_closed():
            self.loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
