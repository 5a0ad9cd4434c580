"""A sensor of your own: a configuration, a message, a sample function.

Shows:

- a message class: the recorder and the ROS mapping follow from its fields
- a sensor class under the name that a cell's YAML uses; rate, delay, dropout and a random stream come with it
- `check_sensor`, which tells whether it keeps the contract

A package of its own would name the class by an entry point of the group `cellwright.sensors` instead.
"""

from dataclasses import dataclass

import numpy as np

import cellwright as cw
from cellwright.cells import load_cell
from cellwright.core.messages import Message
from cellwright.sensors import SENSORS, Noise, NoiseCfg, Sensor, SensorCfg, check_sensor, make_sensor
from cellwright.sim import World


@dataclass(slots=True)
class ToolHeight(Message):
    """The height of a tool above the floor."""

    height_m: float


class ToolHeightCfg(SensorCfg):
    """A laser that measures the height of a robot's tool."""

    robot: str
    noise: NoiseCfg = NoiseCfg(sd=0.0005, resolution=0.0001)


@SENSORS.register("tool_height")
class ToolHeightSensor(Sensor[ToolHeightCfg]):
    """Measures the height of a tool."""

    Cfg, message_type = ToolHeightCfg, ToolHeight
    source = property(lambda self: self.cfg.robot)
    topic = property(lambda self: f"/{self.source}/tool_height")

    def __init__(self, cfg, context):
        super().__init__(cfg, context)
        self.noise = Noise(cfg.noise, 1, 1 / cfg.rate_hz, context.rng)

    def sample(self):
        """Returns one reading, with the errors that the cell's file asks for."""
        height_m = self.noise.apply(self.world.tcp_pose(self.cfg.robot).position[2:])
        return ToolHeight(*self.header(), float(height_m[0]))


line = {"type": "tool_height", "robot": "fanuc", "rate_hz": 20}  # in a file: - {type: tool_height, ...}
cell = load_cell("aprs")
cell = cell.model_copy(update={"sensors": (*cell.sensors, line)})
print("problems:", check_sensor(lambda: make_sensor(line, World(cell, 0), "example")))

with cw.Lab.from_cell(cell, seed=0) as lab:
    heights = []
    lab.bus.subscribe("/fanuc/tool_height", lambda _, message: heights.append(message.height_m), subscriber="example")
    lab.perform(lab.robot("fanuc").move_joints(np.radians([0, 20, 0, 0, -90, 0])))
print(f"{len(heights)} readings, from {heights[0]:.3f} m down to {heights[-1]:.3f} m")
