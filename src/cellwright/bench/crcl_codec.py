"""Times to read and to write CRCL messages: a motion command, and a status with all its parts."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from cellwright.bench.result import MeasurementFailed
from cellwright.crcl import decode, encode
from cellwright.crcl import messages as m

__all__ = ["full_status", "measure", "move"]

BATCH_S = 0.02  # of processor time: its clock has no finer grain than a millisecond on some systems


def move() -> m.CRCLCommandInstance:
    """Returns a MoveTo as the laboratory's programs send it."""
    pose = m.Pose(m.Point(412.25, -118.5, 96.125), m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, -1.0))
    return m.CRCLCommandInstance(m.MoveTo(17, move_straight=True, end_position=pose))


def full_status() -> m.CRCLStatus:
    """Returns a status with joints, pose, gripper, settings and a force sensor, with numbers of full length."""
    numbers = [(-1) ** i * (i + 1) / 7 for i in range(7)]
    joints = tuple(m.JointStatus(i + 1, joint_position=n, joint_velocity=n / 3) for i, n in enumerate(numbers))
    pose = m.Pose(m.Point(*numbers[:3]), m.Vector(1 / 3, 2 / 3, 2 / 3), m.Vector(2 / 3, -2 / 3, 1 / 3))
    twist = m.Twist(m.Vector(*numbers[:3]), m.Vector(*numbers[3:6]))
    wrench = m.Wrench(m.Vector(*numbers[:3]), m.Vector(*numbers[3:6]))
    force = m.ForceTorqueSensorStatus("wrist", 1234, 5678, *numbers[:6])
    return m.CRCLStatus(
        m.CommandStatus(17, 1234, m.CommandStateEnum.CRCL_WORKING, override_percent=100),
        joint_statuses=m.JointStatuses(joints),
        pose_status=m.PoseStatus(pose, twist=twist, wrench=wrench),
        gripper_status=m.ParallelGripperStatus("gripper", numbers[0], holding_object=False),
        settings_status=m.SettingsStatus(
            length_unit_name=m.LengthUnitEnum.METER,
            angle_unit_name=m.AngleUnitEnum.RADIAN,
            trans_speed_absolute=m.TransSpeedAbsolute(numbers[0]),
            rot_speed_absolute=m.RotSpeedAbsolute(numbers[0]),
        ),
        sensor_statuses=m.SensorStatuses(force_torque_sensor_status=(force,)),
    )


def measure(batches: int, say: Callable[[str], None]) -> dict[str, float]:
    """Measures the processor time of each, the fastest of several batches.

    Raises:
        MeasurementFailed: A message is not what it was after a round trip.
    """
    say("messages read and written")
    metrics: dict[str, float] = {}
    documents: dict[str, m.CRCLCommandInstance | m.CRCLStatus] = {"": move(), "status_": full_status()}
    for name, document in documents.items():
        text = encode(document)
        if decode(text) != document:
            raise MeasurementFailed("the codec", f"{type(document).__name__} is another one after a round trip")
        metrics[f"codec.{name}parse_us"] = _fastest_us(lambda text=text: decode(text), batches)  # type: ignore[misc]
        metrics[f"codec.{name}serialise_us"] = _fastest_us(lambda it=document: encode(it), batches)  # type: ignore[misc]
    return metrics


def _fastest_us(work: Callable[[], object], batches: int) -> float:
    repeats, best_s = 16, float("inf")
    for _ in range(batches):
        took_s = 0.0
        while True:
            start_s = process_time()
            for _ in range(repeats):
                work()
            took_s = process_time() - start_s
            if took_s >= BATCH_S:
                break
            repeats *= 2
        best_s = min(best_s, took_s / repeats)
    return best_s * 1e6
