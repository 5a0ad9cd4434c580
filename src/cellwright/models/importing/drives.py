"""The figures of drives that descriptions leave out, by stated rules, unless the file or the user gives them."""

from __future__ import annotations

from math import pi
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue.arms import DriveFigures
from cellwright.catalogue.model_settings import JointSettings
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.sampling import configurations

__all__ = ["RULES", "described_effort", "drive_figures", "loads"]

Array = npt.NDArray[np.float64]

SAMPLES = 200
SPEED_RADPS = pi / 2
RAMP_S = 0.3
TORQUE_SHARE = 0.6
JERK_RAMP_S = 0.1
GEAR_RATIO = 100.0
REFLECTED_SHARE = 0.2
LOSS_SHARE = 0.05
LEAST_INERTIA_KGM2 = 1e-3
LOWEST_HZ, HIGHEST_HZ = 6.0, 25.0
SET_POINT_SHARE, SET_POINT_S = 0.4, 0.002  # of the effort, for the way to the next set point: see ArmFigures
TURN_RAD = 2 * pi

RULES = {
    "velocity_limit_radps": "estimated: 90 deg/s, where the file gives none",
    "effort_limit_nm": "estimated: twice the largest weight torque plus full speed within 0.3 s, a position loop of "
    "6 Hz, where the file gives none",
    "acceleration_limit_radps2": "estimated: full speed within 0.3 s, or 60 % of what torque is left beside the weight",
    "jerk_limit_radps3": "estimated: full acceleration within 0.1 s",
    "gear_ratio": "estimated: 100",
    "rotor_inertia_kgm2": "estimated: behind its gear a fifth of the driven inertia, or what keeps the loop at 25 Hz",
    "driven_inertia_kgm2": "estimated: largest diagonal of the mass matrix over random poses, without drives",
    "viscous_damping_nms_per_rad": "estimated: 5 % of the effort is lost at full speed, where the file gives none",
}
"""Figure -> how it is found."""


def loads(model: Any, joints: list[str]) -> tuple[Array, Array]:
    """Returns largest inertia and largest weight torque of each joint over random poses, without its drive."""
    data = mujoco.MjData(model)
    dofs = np.array([int(model.joint(name).dofadr[0]) for name in joints])
    inertia, weight = np.zeros(len(dofs)), np.zeros(len(dofs))
    full = np.zeros((model.nv, model.nv))
    for qpos in configurations(model, SAMPLES):
        data.qpos[:] = qpos
        data.qvel[:] = 0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, full)
        torque = np.zeros(model.nv)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, torque)
        inertia = np.maximum(inertia, np.diag(full)[dofs] - model.dof_armature[dofs])
        weight = np.maximum(weight, np.abs(torque[dofs]))
    return np.maximum(inertia, LEAST_INERTIA_KGM2), weight


def drive_figures(
    model: Any, name: str, speed_radps: float | None, load: tuple[float, float], given: JointSettings, notes: Notes
) -> DriveFigures:
    """Returns the figures of one joint: what the user gives, else what the file says, else the rules.

    Args:
        model: Compiled; weight and inertia as the file has them, or as they were guessed.
        name: Of the joint.
        speed_radps: Highest speed by the file.
        load: Its largest inertia and weight torque.
        given: The user's figures.
        notes: Gets a note for every guess.
    """
    joint, where = model.joint(name), f"joint {name}"
    inertia, weight = load
    limits = given.position_limits_rad
    if limits is None:
        limits = (float(joint.range[0]), float(joint.range[1]))
        if not model.jnt_limited[joint.id]:
            limits = (-TURN_RAD, TURN_RAD)
            notes.guessed(where, "no position limits: one turn either way")
    speed = given.velocity_radps or speed_radps
    if not speed:
        speed = SPEED_RADPS
        notes.guessed(where, f"no speed limit: {np.degrees(speed):.0f} deg/s")
    effort = given.effort_nm or described_effort(model, name)
    if not effort:
        stiff = _stiffness(inertia * (1 + REFLECTED_SHARE), LOWEST_HZ) * speed * SET_POINT_S / SET_POINT_SHARE
        effort = _rounded(max(2 * weight + inertia * speed / RAMP_S, stiff))
        rule = f"{effort:g} N m (twice its load's weight, full speed within {RAMP_S:g} s)"
        notes.guessed(where, f"no effort limit: {rule}")
    ratio = given.gear_ratio or GEAR_RATIO
    rotor = given.rotor_inertia_kgm2
    if rotor is None:
        own = float(model.dof_armature[joint.dofadr[0]])
        kp = SET_POINT_SHARE * effort / (speed * SET_POINT_S)
        least = kp / (2 * pi * HIGHEST_HZ) ** 2 - inertia
        rotor = max(own, REFLECTED_SHARE * inertia, least) / ratio**2
    spare = max(effort - weight, 0.1 * effort) * TORQUE_SHARE / (inertia + rotor * ratio**2)
    acceleration = given.acceleration_radps2 or _rounded(min(speed / RAMP_S, spare))
    damping = given.damping_nms_per_rad
    if damping is None:
        damping = float(np.ravel(model.dof_damping[joint.dofadr[0]])[0]) or LOSS_SHARE * effort / speed
    return DriveFigures(
        position_limits_rad=limits,
        velocity_limit_radps=speed,
        acceleration_limit_radps2=acceleration,
        jerk_limit_radps3=given.jerk_radps3 or _rounded(acceleration / JERK_RAMP_S),
        effort_limit_nm=effort,
        rotor_inertia_kgm2=rotor,
        gear_ratio=ratio,
        driven_inertia_kgm2=inertia,
        viscous_damping_nms_per_rad=damping,
    )


def described_effort(model: Any, name: str) -> float:
    """Returns the effort of a joint, by itself or by its actuator in the file; zero where neither says anything."""
    joint = model.joint(name)
    if model.jnt_actfrclimited[joint.id]:
        return float(np.abs(model.jnt_actfrcrange[joint.id]).max())
    for number in range(model.nu):
        on_joint = model.actuator_trntype[number] == mujoco.mjtTrn.mjTRN_JOINT
        if on_joint and model.actuator_trnid[number, 0] == joint.id and model.actuator_forcelimited[number]:
            gear = abs(float(model.actuator_gear[number, 0])) or 1.0
            return float(np.abs(model.actuator_forcerange[number]).max()) * gear
    return 0.0


def _stiffness(inertia: float, frequency_hz: float) -> float:
    return inertia * (2 * pi * frequency_hz) ** 2


def _rounded(value: float) -> float:
    """Returns the number with three digits: a guess pretends no more."""
    return float(f"{value:.3g}")
