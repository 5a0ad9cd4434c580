"""`cellwright bench epucks`: speed of robots on wheels with all their senses but pictures, all of them listened to."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time

import numpy as np

from cellwright.bench.patrol import listen
from cellwright.bench.physics_mobiles import start_driving
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.catalogue import MOBILE_PROFILES
from cellwright.cells import Cell, load_cell
from cellwright.lab import Lab
from cellwright.sensors import SENSORS

__all__ = ["bench_epucks", "cell_with_senses"]

SIZES: Mapping[str, tuple[int, int]] = {"one": (1, 10), "ten": (10, 4), "fifty": (50, 2)}  # robots, seconds
RUNS, QUICK_RUNS = 5, 2
PROFILE = "epuck2"  # has the most sensors
TARGETS: Mapping[str, Mapping[str, float]] = {
    "epucks.sensors_rtf_1": {"min": 100},
    "epucks.sensors_rtf_10": {"min": 15},
    "epucks.sensors_rtf_50": {"min": 2},
}


def cell_with_senses(variant: str) -> Cell:
    """Returns the cell with robots of the profile with the most sensors, which takes no pictures by itself."""
    lines = [{"type": "encoders", "rate_hz": 25.0}]
    if "imu" in SENSORS and all(line["type"] != "imu" for line in MOBILE_PROFILES.get(PROFILE).sensors):
        lines.append({"type": "imu", "rate_hz": 30.0})
    return load_cell(f"epucks@{variant}").changed({"mobiles": {"ePuck": {"profile": PROFILE, "sensors": lines}}})


def bench_epucks(conditions: MeasurementConditions) -> Measurement:
    """Measures simulated seconds per second of processor time, the best of several runs of each size.

    `sensors_to_blind` is the speed with senses as a share of that of the same robots without any, measured in turns, so
    that it says the same on a machine that has other things to do.
    """
    metrics: dict[str, float] = {}
    for variant, (robots, seconds) in SIZES.items():
        conditions.say(f"{robots} e-puck{'s' if robots > 1 else ''} with all senses but pictures, driving about")
        cell = cell_with_senses(variant)
        runs = QUICK_RUNS if conditions.quick else RUNS
        blind = cell.changed({"mobiles": {"ePuck": {"profile": None, "sensors": []}}})
        pairs = [[_seconds_spent(each, conditions.seed, seconds) for each in (cell, blind)] for _ in range(runs)]
        spent_s = np.median(pairs, axis=2)  # run, with and without senses
        metrics[f"epucks.sensors_rtf_{robots}"] = float(1 / spent_s[:, 0].min())
        metrics[f"epucks.sensors_to_blind_{robots}"] = float(np.median(spent_s[:, 1] / spent_s[:, 0]))
        with Lab(cell, conditions.seed) as lab:
            count = _count_messages(lab)
        metrics[f"epucks.sensors_messages_per_s_{robots}"] = count
    return Measurement(metrics, TARGETS)


def _seconds_spent(cell: Cell, seed: int, seconds: int) -> list[float]:
    """Returns the processor time of simulated seconds, one after the other."""
    spent = []
    with Lab(cell, seed) as lab:

        async def work() -> None:
            start_driving(lab)
            await lab.clock.sleep(0.5)
            for _ in range(seconds):
                start_s = process_time()
                await lab.clock.sleep(1.0)
                spent.append(process_time() - start_s)

        lab.perform(work())
    return spent


def _count_messages(lab: Lab) -> float:
    """Returns how many messages a second are listened to."""
    taken: list[None] = []
    lab.bus.subscribe(None, lambda _topic, _message: taken.append(None), subscriber="bench")
    listen(lab)
    lab.advance(1.0)
    return float(len(taken))


BENCHES.add("epucks", bench_epucks)
