"""A vacuum tool as a MuJoCo model: compliant cups whose lips are rings of contact points, drawn on by adhesion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.models.arm_visuals import add_hulls, add_pieces
from cellwright.models.contact_settings import METAL, PAD, make_collision
from cellwright.shapes.vacuum import LIP_RADIUS_M, cup_suffixes, vacuum_shape

__all__ = ["build_vacuum"]


def build_vacuum(figures: VacuumFigures) -> mujoco.MjSpec:
    """Returns the tool as a spec whose root body `tool` has the flange's frame; attach it at the flange.

    Bodies `tool` and `cup`; joints `bellows` (along z, out is positive), `tilt_x`, `tilt_y`; geoms `lip_0` and so
    on, round the lip; site `tcp`, fixed to the tool, in the middle of the lip of a cup that nothing presses on.

    Actuator `power` moves nothing: its command, 0 to 1, is whether the pump runs. Actuator `suck` is an adhesion of
    all contacts of the cup, whose command is left to the physics of the seal (`sim.Suction`): a pump draws on a part
    only while the lip seals. Its activation is the vacuum, 0 to 1, which follows with the time of evacuation.

    A tool with several cups has `cup_1`, `bellows_1`, `tilt_x_1`, `lip_1_0`, `suck_1` and so on, and one `power`.
    """
    spec = mujoco.MjSpec()
    spec.modelname = figures.name
    spec.compiler.degree = False
    tool = spec.worldbody.add_body(name="tool")
    root_m = figures.tcp_xyz_m[2] - figures.cup_length_m
    tool.mass, tool.ipos = figures.body_mass_kg, [0.0, 0.0, 0.4 * root_m]
    tool.inertia = _cylinder(figures.body_mass_kg, figures.mount_radius_m, root_m)
    if figures.array_number > 1:
        tool.inertia = tool.inertia + _bar(figures)
    bodies = {"tool": tool}
    for suffix, (x, y) in zip(cup_suffixes(figures), figures.cups_xy_m, strict=True):
        bodies[f"cup{suffix}"] = _add_cup(tool, figures, suffix, np.array(figures.tcp_xyz_m) + [x, y, 0.0])
    for body in bodies.values():
        body.explicitinertial = True
        body.gravcomp = 1.0
    tool.add_site(name="tcp", pos=figures.tcp_xyz_m, size=[0.003] * 3, group=4)
    _add_actuators(spec, figures)
    for suffix in cup_suffixes(figures):
        spec.add_exclude(name=f"tool-cup{suffix}", bodyname1="tool", bodyname2=f"cup{suffix}")
    shape = vacuum_shape(figures)
    add_hulls(bodies, shape.hulls, METAL)
    add_pieces(spec, bodies, shape.pieces(), figures.colours)
    return spec


def _cylinder(mass_kg: float, radius_m: float, length_m: float) -> Any:
    across = mass_kg * (3 * radius_m**2 + length_m**2) / 12
    return np.array([across, across, mass_kg * radius_m**2 / 2])


def _bar(figures: VacuumFigures) -> Any:
    """Returns the bar's share of the moments of a tool whose mass is otherwise about its axis: a third, along x."""
    length_m = 2 * figures.array_radius_m + figures.bar_size_m[0]
    return figures.body_mass_kg / 3 * length_m**2 / 12 * np.array([0.0, 1.0, 1.0])


def _add_cup(tool: Any, figures: VacuumFigures, suffix: str, place_m: Any) -> Any:
    cup = tool.add_body(name=f"cup{suffix}", pos=place_m)
    cup.mass, cup.ipos = figures.cup_mass_kg, [0.0, 0.0, -figures.cup_length_m / 2]
    cup.inertia = _cylinder(figures.cup_mass_kg, figures.cup_diameter_m / 2, figures.cup_length_m)
    _add_joints(cup, figures, suffix)
    _add_lip(cup, figures, suffix)
    return cup


def _add_joints(cup: Any, figures: VacuumFigures, suffix: str) -> None:
    slide = cup.add_joint(name=f"bellows{suffix}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0])
    slide.range = (-figures.press_m, figures.stretch_m)
    slide.limited = True
    slide.stiffness[0], slide.damping[0] = figures.stiffness_npm, figures.damping_nspm
    for name, axis in (("tilt_x", [1.0, 0.0, 0.0]), ("tilt_y", [0.0, 1.0, 0.0])):
        hinge = cup.add_joint(name=name + suffix, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
        hinge.pos = [0.0, 0.0, -figures.cup_length_m / 2]
        hinge.range = (-figures.tilt_limit_rad, figures.tilt_limit_rad)
        hinge.limited = True
        hinge.stiffness[0], hinge.damping[0] = figures.tilt_stiffness_nmprad, figures.tilt_damping_nmsprad
        hinge.armature = 1e-5


def _add_lip(cup: Any, figures: VacuumFigures, suffix: str) -> None:
    surface = replace(PAD, friction=(figures.lip_friction, *PAD.friction[1:]))
    ring_m = figures.cup_diameter_m / 2 - LIP_RADIUS_M
    for number in range(figures.lip_points):
        angle = 2 * np.pi * number / figures.lip_points
        place = [ring_m * np.cos(angle), ring_m * np.sin(angle), -LIP_RADIUS_M]
        point = cup.add_geom(
            name=f"lip{suffix}_{number}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[LIP_RADIUS_M, 0, 0],
            pos=place,
            mass=0.0,
        )
        make_collision(point, surface)
        point.gap = figures.seal_gap_m


def _add_actuators(spec: Any, figures: VacuumFigures) -> None:
    suffixes = cup_suffixes(figures)
    power = spec.add_actuator(name="power", target=f"bellows{suffixes[0]}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    power.ctrllimited, power.ctrlrange, power.gainprm[0] = True, (0.0, 1.0), 0.0
    for suffix in suffixes:
        suck = spec.add_actuator(name=f"suck{suffix}", target=f"cup{suffix}", trntype=mujoco.mjtTrn.mjTRN_BODY)
        suck.set_to_adhesion(gain=figures.holding_force_n)
        suck.ctrllimited, suck.ctrlrange = True, (0.0, 1.0)
        suck.dyntype = mujoco.mjtDyn.mjDYN_FILTEREXACT
        suck.dynprm[0] = figures.evacuation_s
