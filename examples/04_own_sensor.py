"""A sensor of your own: a configuration, a message, a sample function.

Shows:

- a message class: the recorder and the ROS mapping follow from its fields
- a sensor class under the name that a cell's YAML uses; topic, rate, delay, dropout, noise and snapshots come with it
- `check_sensor`, which tells whether it keeps the contract
- `lab.sensor`, which has its last message

In a file of its own, `plugins: [tool_height.py]` in a cell's YAML makes it known; in a package, an entry point of the
group `cellwright.sensors`.
"""

from dataclasses import dataclass

import numpy as np

import cellwright as cw


@dataclass(slots=True)
class ToolHeight(cw.messages.Message):
    """The height of a tool above the floor."""

    height_m: float


class ToolHeightCfg(cw.SensorCfg):
    """A scale that measures the height of a robot's tool, and drifts."""

    robot: str
    noise: cw.NoiseCfg = cw.NoiseCfg(sd=0.0005, random_walk=0.001, resolution=0.0001)


@cw.SENSORS.register("tool_height")
class ToolHeightSensor(cw.Sensor[ToolHeightCfg]):
    """Measures the height of a tool, on `/<robot>/tool_height`."""

    Cfg, message_type = ToolHeightCfg, ToolHeight

    def sample(self):
        """Returns one reading, with the errors that the cell's file asks for."""
        return ToolHeight(*self.header(), self.noisy(self.world.tcp_pose(self.cfg.robot).position[2]))


line = {"type": "tool_height", "robot": "fanuc", "rate_hz": 20}  # in a file: - {type: tool_height, ...}
cell = cw.load_cell("aprs")
cell = cell.model_copy(update={"sensors": (*cell.sensors, line)})

with cw.Lab.from_cell(cell, seed=0) as lab:
    print("problems:", cw.check_sensor(line, lab.world))
    sensor = lab.sensor("/fanuc/tool_height")
    lab.advance(0.1)
    start = lab.snapshot()
    readings = []
    for _ in range(2):  # the second time from the snapshot
        lab.restore(start)
        above = sensor.latest.height_m
        lab.perform(lab.robot("fanuc").move_joints(np.radians([0, 20, 0, 0, -90, 0])))
        readings.append(sensor.latest)
print(f"reading {readings[0].sequence}: from {above:.3f} m down to {readings[0].height_m:.3f} m")
print("the same again:", readings[0] == readings[1])
