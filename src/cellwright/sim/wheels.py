"""The wheels of all mobile robots together: motors, step counters, the floor below, and rolling without forces.

One array operation serves fifty robots as it serves one; a loop over robots would cost more than their physics.

A stepper motor is told whole steps, and turns with them while its torque lasts. Here it is a servo on the angle that
was commanded: a spring and a damper, limited to the motor's torque. The set point follows the commanded speed at the
drive's acceleration, and ripples once per cycle of steps. When the wheel is farther behind than the spring can pull
with that torque, the rotor falls into the next place where it fits, four steps on: these are lost, and the robot does
not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import MobileFigures
from cellwright.shapes.epuck import WHEELS
from cellwright.sim.floor import FloorHeights, floor_table

if TYPE_CHECKING:
    from cellwright.sim.world import World

__all__ = ["Wheels"]

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

CHECK_STEPS = 8  # of physics, after which is seen what motors have lost; to look each time would take a tenth longer
CYCLE_STEPS = 4  # after so many steps the currents in a stepper motor's two coils are the same again
ROUGH_M = 0.002  # by so much the volumes grow in which contacts are looked for; more than any floor is rough


class Wheels:
    """Left and right wheel of every mobile robot, a row each.

    Attributes:
        rows: Robot -> its row.
        asked_rad: The angles that the motors were commanded to turn since the start: (robots, 2).
        lost_rad: How much of that they have lost since.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.rows = {name: row for row, name in enumerate(world.mobiles)}
        placed = [world.layout.mobiles[name] for name in world.mobiles]
        figures = [robot.figures for robot in world.mobiles.values()]
        self._radii_m = np.array([robot.wheel_radii_m for robot in placed]).reshape(-1, 2)
        self._base_m = np.array([robot.wheel_base_m for robot in placed])
        self._counts_turned = np.array([[robot.counters == "turned"] for robot in placed], bool)
        self._steps_per_rad = _column(1 / one.step_rad for one in figures)
        self._cycle_rad = _column(CYCLE_STEPS * one.step_rad for one in figures)
        self._gain_per_s = _column(one.motor_stiffness_nm_per_rad / one.motor_damping_nms_per_rad for one in figures)
        torques_nm = np.array([robot.motor_torques_nm for robot in placed]).reshape(-1, 2)
        self._most_lag_rad = torques_nm / _column(one.motor_stiffness_nm_per_rad for one in figures)
        timestep_s = world.cell.timestep_s
        self._timestep_s = timestep_s
        self._most_change_radps = _column(one.max_acceleration_radps2 * timestep_s for one in figures)
        self._lead = _column(_inertia_kgm2(one) / one.motor_damping_nms_per_rad / timestep_s for one in figures)
        self._phase_per_rad = 2 * np.pi / self._cycle_rad
        self._ripple_radps = _column(one.speed_ripple for one in figures) / self._phase_per_rad / timestep_s
        self.asked_rad: Array = np.zeros((len(placed), 2))
        self.lost_rad: Array = np.zeros((len(placed), 2))
        self._speeds: Array = np.zeros((len(placed), 2))
        self._turned_rad = np.empty((len(placed), 2))
        self._steps = 0  # of physics
        self._is_rough = bool(placed and world.cell.floor_roughness and world.cell.fidelity == "physics")
        self._model: Any = None
        self._floor: FloorHeights | None = None
        world.bind(self._look_up)
        if placed:
            world.add_component("wheels", self)

    def _look_up(self) -> None:
        model, robots = self._world.model, self._world.mobiles.values()
        self._qpos = np.array([robot.wheel_qpos for robot in robots], np.intp).reshape(-1, 2)
        self._dof = np.array([robot.wheel_dof for robot in robots], np.intp).reshape(-1, 2)
        self._ctrl = np.array([robot.ctrl for robot in robots], np.intp).reshape(-1, 2)
        self._body = np.array([robot.qpos for robot in robots], np.intp)
        self._imu = np.array([[robot.accelerometer, robot.gyroscope] for robot in robots], np.intp).reshape(-1, 2)
        model.actuator_ctrlrange[self._ctrl] = (-np.inf, np.inf)  # set points are beyond, while a motor catches up
        self._angles = self._world.data.qpos
        self._ctrl_view = self._world.data.ctrl
        if self._is_rough and model is not self._model:
            self._look_up_feet()
        self._model = model

    def _look_up_feet(self) -> None:
        """Looks up all that stands on the floor: wheels, by two of their half axes, and skids."""
        world, model = self._world, self._world.model
        wheels = [model.geom(f"{name}/{wheel}").id for name in world.mobiles for wheel in WHEELS]
        skids = [
            model.geom(f"{name}/skid_{number}").id
            for name, robot in world.mobiles.items()
            for number in range(len(robot.figures.skids))
        ]
        feet = np.array(wheels + skids, np.intp)
        self._coordinates_m = world.data.geom_xpos.reshape(-1)
        self._sizes = model.geom_size.reshape(-1)
        self._size_at = np.concatenate([3 * feet, 3 * feet[: len(wheels)] + 2])
        self._foot_of_size = np.concatenate([np.arange(len(feet)), np.arange(len(wheels))])
        self._plain_m = self._sizes[self._size_at]
        self._rough_m = np.empty_like(self._plain_m)
        table = floor_table(world.seed, world.cell.floor_roughness)
        self._floor = FloorHeights(table, 3 * feet[:, None] + np.arange(2))
        model.geom_rbound[feet] += ROUGH_M  # or contacts are not even looked for
        model.geom_aabb[feet, 3:] += ROUGH_M
        for body in np.unique(model.geom_bodyid[feet]):
            first = model.body_bvhadr[body]
            model.bvh_aabb[first : first + model.body_bvhnum[body], 3:] += ROUGH_M

    @property
    def is_idle(self) -> bool:
        """Whether there are none."""
        return not self.rows

    def counts(self) -> Counts:
        """Returns the counted steps since a robot was placed, those commanded or those turned: (robots, 2)."""
        angles = np.where(self._counts_turned, self._angles[self._qpos], self.asked_rad)
        return np.asarray(np.rint(angles * self._steps_per_rad).astype(np.int64))

    def count(self, row: int) -> tuple[int, int]:
        """Returns the counted steps of one robot, left and right: quicker for one than all of them."""
        per_rad = self._steps_per_rad.item(row, 0)
        if self._counts_turned.item(row, 0):
            left, right = (self._angles.item(at) for at in self._qpos[row].tolist())
        else:
            left, right = self.asked_rad.item(row, 0), self.asked_rad.item(row, 1)
        return round(left * per_rad), round(right * per_rad)

    def lost_steps(self) -> Counts:
        """Returns how many steps each motor has lost, in truth: (robots, 2)."""
        return np.asarray(np.rint(self.lost_rad * self._steps_per_rad).astype(np.int64))

    def command(self, row: int, left_radps: float, right_radps: float) -> None:
        """Commands the speeds of a robot's motors."""
        ctrl, (left, right) = self._world.data.ctrl, self._ctrl[row]
        ctrl[left], ctrl[right] = left_radps, right_radps

    def commanded(self, row: int) -> tuple[float, float]:
        """Returns the commanded speeds of a robot's motors."""
        left, right = self._world.data.ctrl[self._ctrl[row]]
        return float(left), float(right)

    def rest(self, row: int) -> None:
        """Stops a robot's motors where its wheels are now; the counters begin there."""
        self.command(row, 0.0, 0.0)
        self._speeds[row], self.lost_rad[row], self.asked_rad[row] = 0.0, 0.0, self._angles[self._qpos[row]]

    def engage(self, count: int) -> None:
        """Computes the set points of the motors for so many physics steps, which nothing that happens changes."""
        wanted, speeds, step_s = self._ctrl_view[self._ctrl], self._speeds, self._timestep_s
        self._wanted = wanted
        each = np.empty((count, *speeds.shape))
        pushes = None
        if speeds.tobytes() == wanted.tobytes():  # quicker than to compare the numbers
            each[:] = speeds
        else:
            pushes, most = np.empty_like(each), self._most_change_radps
            for row, push in zip(each, pushes, strict=True):
                change = np.minimum(np.maximum(wanted - speeds, -most), most)  # np.clip takes three times as long
                speeds = speeds + change
                row[:], push[:] = speeds, change
            self._speeds = speeds
        asked = np.empty((count + 1, *speeds.shape))
        asked[0] = self.asked_rad
        np.multiply(each, step_s, out=asked[1:])
        np.add.accumulate(asked, out=asked)
        self.asked_rad = asked[-1]
        swings = np.sin(asked * self._phase_per_rad)
        ahead = each + (swings[1:] - swings[:-1]) * self._ripple_radps
        if pushes is not None:
            ahead += pushes * self._lead
        self._checks = range(-self._steps % CHECK_STEPS, count, CHECK_STEPS)
        self._asked, self._ahead = asked[:-1], ahead
        self._plan = self._set_points(0)
        self._steps += count

    def drive(self, number: int) -> None:
        """Sets what a physics step needs: the motors' set points, and how high the floor is below each foot."""
        turned = self._turned_rad
        self._angles.take(self._qpos, out=turned, mode="clip")
        if number in self._checks:
            self._lose_steps(number)
        np.multiply(turned, self._gain_per_s, out=turned)
        self._ctrl_view[self._ctrl] = np.subtract(self._plan[number], turned, out=turned)
        if self._floor is not None:
            rough = self._rough_m
            self._floor.heights_m(self._coordinates_m).take(self._foot_of_size, out=rough, mode="clip")
            self._sizes[self._size_at] = np.add(rough, self._plain_m, out=rough)

    def release(self) -> None:
        """Puts back what the robots command, and the radii of their wheels, after the steps."""
        self._ctrl_view[self._ctrl] = self._wanted
        if self._floor is not None:
            self._sizes[self._size_at] = self._plain_m

    def _set_points(self, first: int) -> list[Array]:
        """Returns the set points of this and the other steps: speeds, and what draws wheels to their angles."""
        return list(self._ahead[first:] + (self._asked[first:] - self.lost_rad) * self._gain_per_s)

    def _lose_steps(self, number: int) -> None:
        """Lets the motors that are too far behind lose whole cycles of steps."""
        lag_rad = self._asked[number] - self.lost_rad - self._turned_rad
        excess = np.abs(lag_rad) - self._most_lag_rad
        if (excess > 0).any():
            lost = np.sign(lag_rad) * self._cycle_rad * np.ceil(np.maximum(excess, 0.0) / self._cycle_rad)
            self.lost_rad = self.lost_rad + lost
            self._plan[number:] = self._set_points(number)

    def roll(self, duration_s: float) -> bool:
        """Moves all robots on exact arcs, as commanded and through obstacles; returns whether any moved.

        Speeds change at once. Accelerometers feel gravity and the curve, gyroscopes the turn.
        """
        if not self.rows:
            return False
        data = self._world.data
        speeds: Array = data.ctrl[self._ctrl]
        data.qvel[self._dof] = speeds
        rolled = speeds * self._radii_m
        ahead_mps, turn_radps = rolled.mean(axis=1), (rolled[:, 1] - rolled[:, 0]) / self._base_m
        felt = np.zeros((len(speeds), 2, 3))
        felt[:, 0, 1], felt[:, 0, 2] = ahead_mps * turn_radps, -self._world.model.opt.gravity[2]
        felt[:, 1, 2] = turn_radps
        data.sensordata[self._imu[:, :, None] + np.arange(3)] = felt
        if not speeds.any():
            return False
        turned = speeds * duration_s
        self.asked_rad = self.asked_rad + turned
        ahead, turn = ahead_mps * duration_s, turn_radps * duration_s
        data.qpos[self._qpos] += turned
        w, z = data.qpos[self._body + 3], data.qpos[self._body + 6]
        yaw = 2 * np.arctan2(z, w)
        chord, middle = ahead * np.sinc(turn / (2 * np.pi)), yaw + turn / 2
        data.qpos[self._body] += chord * np.cos(middle)
        data.qpos[self._body + 1] += chord * np.sin(middle)
        data.qpos[self._body + 3], data.qpos[self._body + 6] = np.cos((yaw + turn) / 2), np.sin((yaw + turn) / 2)
        return True

    def save(self) -> tuple[int, Array, Array, Array]:
        """Returns what was commanded and lost, and how fast the set points turn."""
        return self._steps, self.asked_rad.copy(), self.lost_rad.copy(), self._speeds.copy()

    def load(self, state: tuple[int, Array, Array, Array]) -> None:
        """Restores what `save` returned."""
        self._steps, *arrays = state
        self.asked_rad, self.lost_rad, self._speeds = (array.copy() for array in arrays)

    def let_go(self, part: str) -> None:
        """Does nothing: wheels hold no parts."""


def _inertia_kgm2(figures: MobileFigures) -> float:
    """Returns what each of two motors has to accelerate straight ahead, as felt at its wheel."""
    half_kg = figures.body_mass_kg / 2 + figures.wheel_mass_kg
    return (half_kg + figures.wheel_mass_kg / 2) * figures.wheel_radius_m**2 + figures.rotor_inertia_kgm2


def _column(numbers: Any) -> Array:
    return np.array(list(numbers), float).reshape(-1, 1)
