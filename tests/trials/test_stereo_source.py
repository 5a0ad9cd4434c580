"""A look by stereo: the projector is on while pictures are taken and at no other time; a missing picture is named."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.trials.stereo_source import MORE_FRAMES, StereoSource, mean_picture

HERE = Pose.from_xyz_rpy([0.4, 1.05, 0.75])


def picture(name: str) -> Picture:
    return Picture(
        source=name,
        time_s=0.0,
        pixels=np.full((4, 4, 3), 90, np.uint8),
        matrix=np.eye(3),
        distortion=np.zeros(5),
        pose_camera_in_world=HERE,
    )


class Bench:
    """A clock, a camera, a projector and a method that write down what is done."""

    def __init__(self, *names: str, fails: bool = False) -> None:
        self.pictures, self.fails = tuple(map(picture, names)), fails
        self.time_s, self.lines = 0.0, []

    async def sleep(self, duration_s: float) -> None:
        self.time_s += duration_s
        self.lines.append("wait")

    def camera(self) -> tuple[Picture, ...]:
        if self.fails:
            raise RuntimeError("no camera")
        self.lines.append("pictures")
        return self.pictures

    def light(self, on: bool) -> None:
        self.lines.append("on" if on else "off")

    def locate(self, left: Picture, right: Picture) -> PoseMeasurement:
        self.lines.append(f"{left.source}, {right.source}")
        return PoseMeasurement(
            status=MeasurementStatus.FOUND, pose_in_world=HERE, variances=np.full(6, 1e-6), quality=1.0
        )

    def measure(self, *, lit: bool = True, looks: int = 1) -> PoseMeasurement:
        source = StereoSource(self, self.camera, self, self.light if lit else None)
        return [asyncio.run(source.measure()) for _ in range(looks)][-1]


def test_the_projector_is_on_while_the_pictures_are_taken():
    bench = Bench("left", "right")
    assert bench.measure().status is MeasurementStatus.FOUND
    assert bench.lines == ["on", "wait", "pictures", "off", "wait", "left, right"]
    assert bench.time_s > 0, "looking is not free"


def test_the_second_look_is_without_it_and_the_third_with_it_again():
    bench = Bench("left", "right")
    bench.measure(looks=3)
    lights = [line for line in bench.lines if line in ("on", "off", "pictures")]
    more = ["pictures"] * MORE_FRAMES
    assert lights == ["on", "pictures", "off", *more, "on", *more, "off"]


def test_the_mean_of_pictures_has_less_noise_and_the_time_of_the_last():
    rng = np.random.default_rng(3)
    clear = picture("left")
    pictures = [
        replace(clear, time_s=n / 30, pixels=np.clip(rng.normal(90, 15, (60, 60, 3)), 0, 255).astype(np.uint8))
        for n in range(MORE_FRAMES)
    ]
    mean = mean_picture(pictures)
    assert mean.time_s == pictures[-1].time_s
    assert mean.pixels.dtype == np.uint8
    assert mean.pixels.std() < 1.2 * 15 / MORE_FRAMES**0.5
    assert abs(mean.pixels.mean() - 90) < 1
    assert mean_picture([pictures[0], clear]) is clear, "of two sizes there is no mean"


def test_it_is_switched_off_whatever_happens():
    bench = Bench(fails=True)
    with pytest.raises(RuntimeError):
        bench.measure()
    assert bench.lines[-1] == "off"


def test_without_a_projector_it_looks_all_the_same():
    assert Bench("left", "right").measure(lit=False).status is MeasurementStatus.FOUND


@pytest.mark.parametrize("names", [(), ("left",)])
def test_pictures_that_are_kept_back_are_a_bad_pair(names):
    found = Bench(*names).measure()
    assert found.status is MeasurementStatus.BAD_PAIR
    assert found.reason == f"the stereo camera gave {len(names)} pictures, not two"
    assert found.pose_in_world is None
