"""A robot on two driven wheels as a MuJoCo model: wheels, motors, skids, and places for its sensors and lamps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.mobiles import MobileFigures
from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_rpy
from cellwright.models.arm_visuals import add_hulls, add_pieces
from cellwright.models.contact_settings import PLASTIC, ContactSurface, GeomGroup, make_collision
from cellwright.models.furniture import camera_frame, vertical_fov_rad
from cellwright.shapes.epuck import BODY, WHEELS, epuck_hull, epuck_pieces

__all__ = ["build_mobile", "fit_wheels"]

# Harder ones make a robot hop on a rough floor: wheels leave it for single steps, and the skid never comes to rest.
# Friction of the skid would have it stick and slip.
TYRE = ContactSurface(friction=(0.8, 0.005, 0.0001), priority=1, solref=(0.01, 1.0), solimp=(0.85, 0.95, 0.001))
SKID = ContactSurface(friction=(0.0, 0.0, 0.0), condim=1, priority=2, solref=(0.02, 2.0), solimp=(0.9, 0.95, 0.001))
TYRE_GIVES_M = 0.000074  # half of what a tyre sinks in: a wheel rolls on its radius less this
TRANSPARENT = {"clear": 0.40, "ring": 0.45}  # finish -> how opaque it is


def build_mobile(figures: MobileFigures) -> mujoco.MjSpec:
    """Returns the robot as a spec whose root body `body` has its frame on the floor, without a joint.

    Bodies `body`, `wheel_left`, `wheel_right`; a hinge and a motor of the same name for each wheel, positive forwards,
    commanded with its speed in rad/s. Sites `prox0` ... (x is the way they look) and `imu`; camera `camera`; each lamp
    is a material of its name. Sensors `accelerometer` and `gyroscope`.

    A wheel touches the floor as an ellipsoid, in one point below its middle. As a cylinder it would touch in two, and
    turn by some per cent less than its wheels say.
    """
    spec = mujoco.MjSpec()
    spec.modelname = figures.name
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name=BODY)
    body.explicitinertial = True
    body.mass, body.ipos, body.inertia = (
        figures.body_mass_kg,
        figures.body_com_xyz_m,
        figures.body_inertia_diagonal_kgm2,
    )
    bodies = {BODY: body}
    for name, side in zip(WHEELS, (1.0, -1.0), strict=True):
        bodies[name] = _add_wheel(spec, body, figures, name, side)
    for sensor, kind in (
        ("accelerometer", mujoco.mjtSensor.mjSENS_ACCELEROMETER),
        ("gyroscope", mujoco.mjtSensor.mjSENS_GYRO),
    ):
        spec.add_sensor(name=sensor, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="imu")
    for number, skid in enumerate(figures.skids):
        foot = body.add_geom(
            name=f"skid_{number}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[skid.radius_m, 0.0, 0.0],
            pos=[*skid.xy_m, skid.radius_m + skid.clearance_m],
            mass=0.0,
        )
        make_collision(foot, SKID).contype = 0
    add_hulls(bodies, [epuck_hull(figures)], PLASTIC)
    _add_sensors(body, figures)
    lamps = {lamp.name: figures.colours["dark"] for lamp in figures.leds}
    add_pieces(spec, bodies, epuck_pieces(figures), {**figures.colours, **lamps})
    for finish, alpha in TRANSPARENT.items():
        spec.material(finish).rgba[3] = alpha
    return spec


def fit_wheels(
    spec: Any,
    radii_m: tuple[float, float],
    base_m: float,
    frictions: tuple[float, float],
    torques_nm: tuple[float, float],
) -> None:
    """Gives a robot the wheels and motors that it really has.

    Args:
        spec: The robot.
        radii_m: Rolling radii, left and right.
        base_m: How far apart they are.
        frictions: Of the tyres, left and right.
        torques_nm: The largest of the motors, left and right.
    """
    for number, (name, side) in enumerate(zip(WHEELS, (1.0, -1.0), strict=True)):
        spec.body(name).pos[1] = side * base_m / 2
        tyre, motor = spec.geom(name), spec.actuator(name)
        tyre.size[0] = tyre.size[2] = radii_m[number] + TYRE_GIVES_M
        tyre.friction[0] = frictions[number]
        motor.forcerange = (-torques_nm[number], torques_nm[number])


def _add_wheel(spec: Any, body: Any, figures: MobileFigures, name: str, side: float) -> Any:
    radius, half = figures.wheel_radius_m, figures.wheel_width_m / 2
    wheel = body.add_body(name=name, pos=[0.0, side * figures.wheel_base_m / 2, radius])
    wheel.explicitinertial = True
    wheel.mass, wheel.ipos = figures.wheel_mass_kg, [0.0, 0.0, 0.0]
    across = figures.wheel_mass_kg * (radius**2 / 4 + half**2 / 3)
    wheel.inertia = [across, figures.wheel_mass_kg * radius**2 / 2, across]
    hinge = wheel.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0])
    hinge.armature = figures.rotor_inertia_kgm2
    size = [radius + TYRE_GIVES_M, half, radius + TYRE_GIVES_M]
    tyre = wheel.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_ELLIPSOID, size=size, mass=0.0)
    # Wheels meet the floor and what lies on it, not each other: half as many pairs to look at.
    make_collision(tyre, replace(TYRE, friction=(figures.wheel_friction, *TYRE.friction[1:]))).contype = 0
    motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_velocity(kv=figures.motor_damping_nms_per_rad)
    motor.ctrllimited = True
    motor.ctrlrange = (-figures.max_speed_radps, figures.max_speed_radps)
    motor.forcelimited = True
    motor.forcerange = (-figures.motor_torque_nm, figures.motor_torque_nm)
    return wheel


def _add_sensors(body: Any, figures: MobileFigures) -> None:
    for sensor in figures.proximity:
        turn = quaternion_from_rpy(np.array([0.0, 0.0, sensor.yaw_rad]))
        body.add_site(name=sensor.name, pos=sensor.xyz_m, quat=turn, size=[0.001] * 3, group=GeomGroup.COLLISION)
    body.add_site(name="imu", pos=figures.imu_xyz_m, size=[0.001] * 3, group=GeomGroup.COLLISION)
    camera = figures.camera
    body.add_camera(
        name=camera.name,
        fovy=np.degrees(vertical_fov_rad(camera.fov_rad, camera.resolution_px)),
        resolution=camera.resolution_px,
        **camera_frame(Pose.from_xyz_rpy(camera.xyz_m, camera.rpy_rad)),
    )
