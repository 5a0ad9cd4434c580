"""One cell as it was built, before and after it was calibrated: does it work, and how far is a hand beside a part."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from time import process_time

import numpy as np

from cellwright.cells import load_cell
from cellwright.core.errors import CellwrightError, JobFailed, SimulationError
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.experiments.experiment import DataTable
from cellwright.lab import Lab
from cellwright.perception.calibration import Calibration, corrected_detections, write_calibration
from cellwright.trials.registration import calibrate_cell

__all__ = ["CalibrationRow", "run_calibration", "table_of"]

CELL, ORDER, ROBOT = "aprs@as_built", "kit_m2l1", "fanuc"
ROBOTS = ("fanuc", "motoman")
SAME_M = 0.028  # a detection is of the object that is nearer than half the distance of two small gears
FRAMES = 5


@dataclass(frozen=True, kw_only=True)
class CalibrationRow:
    """One reality of the cell.

    Attributes:
        seed: Decides it.
        uncalibrated: Status of the order with the drawings alone.
        uncalibrated_reason: In one line.
        calibration: `done`, or why there is none.
        calibrated: Status of the order with the calibration; empty without one.
        calibrated_reason: In one line.
        uncalibrated_mm: Hand beside part, for every part of the robot's table, by the drawings.
        calibrated_mm: The same with the calibration.
        transform_mm: Distance of the hands of both robots when they are sent to a place that both have touched.
        calibrate_sim_s: Simulated time of the calibration.
        calibrate_cpu_s: Processor time of it.
    """

    seed: int
    uncalibrated: str = ""
    uncalibrated_reason: str = ""
    calibration: str = ""
    calibrated: str = ""
    calibrated_reason: str = ""
    uncalibrated_mm: tuple[float, ...] = ()
    calibrated_mm: tuple[float, ...] = ()
    transform_mm: tuple[float, ...] = field(default=())
    calibrate_sim_s: float = float("nan")
    calibrate_cpu_s: float = float("nan")


def run_calibration(seed: int) -> CalibrationRow:
    """Runs the order in one reality, calibrates it, and runs the order again."""
    status, reason = _run(seed, None)
    found = {"uncalibrated": status, "uncalibrated_reason": reason, "uncalibrated_mm": hand_errors_mm(seed, None)}
    start_s = process_time()
    try:
        run = calibrate_cell(load_cell(CELL), ROBOTS, seed)
    except JobFailed as error:
        return CalibrationRow(seed=seed, calibration=str(error), **found)  # type: ignore[arg-type]
    spent_s, fitted = process_time() - start_s, run.fitted
    if fitted.problems:
        return CalibrationRow(seed=seed, calibration="; ".join(fitted.problems), **found)  # type: ignore[arg-type]
    status, reason = _run(seed, fitted.calibration)
    return CalibrationRow(
        seed=seed,
        calibration="done",
        calibrated=status,
        calibrated_reason=reason,
        calibrated_mm=hand_errors_mm(seed, fitted.calibration),
        transform_mm=transform_errors_mm(seed, fitted.calibration),
        calibrate_sim_s=run.measured.duration_s,
        calibrate_cpu_s=spent_s,
        **found,  # type: ignore[arg-type]
    )


def _run(seed: int, calibration: Calibration | None) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder, Lab(load_cell(CELL), seed) as lab:
        file = None
        if calibration is not None:
            file = Path(folder) / "calibration.yaml"
            write_calibration(calibration, file)
        try:
            report = lab.run(ORDER, robots=(ROBOT,), calibration=file)
        except SimulationError as error:
            return "error", str(error)
    return report.status.value, report.reason


def hand_errors_mm(seed: int, calibration: Calibration | None) -> tuple[float, ...]:
    """Returns how far the hand is beside each part when it is sent over it, in the plane, by the truth.

    The robot is asked for the joints that it would take, and these are taken with the real base, tool and zeros.
    """
    with Lab(load_cell(CELL), seed) as lab:
        world = lab.world
        vision = lab.cell.robots[ROBOT].vision
        assert vision is not None
        sensor = next(one for one in lab.sensors if one.source == vision.detector)
        frames = [one for one in (sensor.sample() for _ in range(FRAMES)) if isinstance(one, Detections)]
        if calibration is not None:
            frames = [corrected_detections(calibration, vision.detector, frame) for frame in frames]
        errors = []
        for item in world.objects.values():
            true = world.pose_of(item.name).position
            seen = [place for frame in frames for place in _near(frame, item.sku, true)]
            if item.is_tray or not seen or _camera_over(lab, true) != vision.detector:
                continue
            hand = _hand(lab, ROBOT, calibration, np.mean(seen, axis=0))
            if hand is not None:
                errors.append(1e3 * float(np.hypot(*(hand - true)[:2])))
        return tuple(errors)


def _hand(lab: Lab, robot: str, calibration: Calibration | None, place: np.ndarray) -> np.ndarray | None:
    """Returns where the hand of a robot really is that is sent to a place, tool down; None where it does not get."""
    controller, layout = lab.robot(robot), lab.world.layout
    kinematics, tool = controller.kinematics, controller.ring.pose_tool_in_flange
    home_rad = np.radians(lab.cell.robots[robot].home_deg)
    down = kinematics.forward(home_rad) @ tool
    own = calibration.robots[robot] if calibration is not None else None
    base = own.base.pose if own is not None else lab.nominal.bases[robot]
    goal = Pose(place, (base @ down).quaternion)
    command = own.in_base(goal) if own is not None else base.inverse() @ goal
    try:
        joints_rad = kinematics.nearest(command @ tool.inverse(), home_rad)
    except CellwrightError:
        return None
    real = kinematics.forward(joints_rad + layout.joint_zeros_rad[robot])
    return (layout.bases[robot] @ real @ layout.tools[robot] @ tool).position


def _camera_over(lab: Lab, place: np.ndarray) -> str:
    """Returns the detector whose camera is drawn nearest above a place: that of the table there."""
    lines = {str(line["name"]): line["camera"] for line in lab.cell.sensors if line.get("camera")}
    cameras = {name: lab.nominal.cameras[camera].pose_in_world.position for name, camera in lines.items()}
    return min(cameras, key=lambda name: float(np.hypot(*(cameras[name] - place)[:2])))


def _near(frame: Detections, sku: str, true: np.ndarray) -> list[np.ndarray]:
    rows = [row for row, its in enumerate(frame.skus) if its == sku]
    away = {row: float(np.hypot(*(frame.positions[row] - true)[:2])) for row in rows}
    nearest = min(rows, key=away.__getitem__, default=None)
    return [frame.positions[nearest]] if nearest is not None and away[nearest] < SAME_M else []


def transform_errors_mm(seed: int, calibration: Calibration) -> tuple[float, ...]:
    """Returns how far the hands of two robots are apart when both are sent to a place that both have touched."""
    errors = []
    with Lab(load_cell(CELL), seed) as lab:
        for transform in calibration.transforms:
            names = transform.robot, transform.in_robot
            base = calibration.robots[names[0]].base.pose
            pairs = next(one for one in calibration.pair_sets if (one.source, one.target) == names)
            for pair in pairs.pairs:
                hands = [_hand(lab, name, calibration, base.apply(pair.from_m)) for name in names]
                if hands[0] is not None and hands[1] is not None:
                    errors.append(1e3 * float(np.linalg.norm(hands[0] - hands[1])))
    return tuple(errors)


def table_of(rows: list[CalibrationRow]) -> DataTable:
    """Returns all rows as a table; of several figures the worst."""
    names = [one.name for one in fields(CalibrationRow)]
    data = [
        {
            key: max(value, default=float("nan")) if isinstance(value, tuple) else value
            for key, value in asdict(row).items()
        }
        for row in rows
    ]
    return DataTable(names, [[row[name] for name in names] for row in data])
