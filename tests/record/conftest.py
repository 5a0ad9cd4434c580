"""A small run of a cell, recorded."""

from __future__ import annotations

import math
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from cellwright.core import Bus
from cellwright.core.messages import Detections, JointState, ToolStatus, WorldTruth, Wrench
from cellwright.record import Recorder

JOINTS = ("joint_1", "joint_2", "joint_3")
METADATA = {"seed": "7", "cell": "aprs", "versions": "cellwright 0.1.0", "model_sha256": "00ff"}


def publish_run(bus: Bus, seconds: float = 3.5, change: Callable[[str, object], object] = lambda t, m: m) -> None:
    """Publishes what two robots and a detector might; `change` may replace a message or drop it with None."""

    def publish(topic: str, message: object) -> None:
        changed = change(topic, message)
        if changed is not None:
            bus.publish(topic, changed)

    rng = np.random.default_rng(5)
    for step in range(round(seconds * 50)):
        time_ns = step * 20_000_000
        angle = time_ns / 1e9
        for robot in ("fanuc", "motoman"):
            position = np.array([math.sin(angle), math.cos(angle), angle])
            publish(
                f"/{robot}/joint_states",
                JointState(
                    time_ns, step, robot, names=JOINTS, position=position, velocity=-position, effort=np.zeros(3)
                ),
            )
            publish(
                f"/{robot}/wrench",
                Wrench(time_ns, step, robot, frame=f"{robot}_flange", force=rng.normal(size=3), torque=np.zeros(3)),
            )
        if step % 5 == 0:
            publish(
                "/fanuc/tool_status",
                ToolStatus(
                    time_ns,
                    step // 5,
                    "fanuc",
                    tool="g1",
                    kind="gripper",
                    width_m=0.03,
                    power=0.0,
                    holding=False,
                    locked=True,
                ),
            )
            n = step // 5 % 4
            table = Detections(
                time_ns,
                step // 5,
                "detector",
                frame="cell",
                skus=("medium_gear",) * n,
                positions=rng.normal(size=(n, 3)),
                quaternions=rng.normal(size=(n, 4)),
                variances=np.full((n, 6), 1e-6),
                scores=np.full(n, 0.9),
            )
            publish("/detector/detections", table)
            truth = WorldTruth(
                time_ns,
                step // 5,
                "world",
                names=("gear",),
                positions=np.full((1, 3), angle),
                quaternions=np.array([[1.0, 0, 0, 0]]),
                contact_pairs=(),
                contact_forces=np.zeros(0),
            )
            publish("/truth/poses", truth)


@pytest.fixture(scope="session")
def run_on() -> Callable[..., None]:
    return publish_run


@pytest.fixture(scope="session")
def log_bytes() -> bytes:
    bus, out = Bus(), BytesIO()
    with Recorder(bus, out, metadata=METADATA):
        publish_run(bus)
    return out.getvalue()


@pytest.fixture
def log_file(log_bytes: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "run.mcap"
    path.write_bytes(log_bytes)
    return path


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Path]:
    """Records a run with changes under a name; returns the file."""

    def make(name: str, metadata: dict[str, str] = METADATA, **options: object) -> Path:
        bus, path = Bus(), tmp_path / name
        with Recorder(bus, path, metadata=metadata):
            publish_run(bus, **options)
        return path

    return make
