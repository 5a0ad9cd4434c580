"""The composition of a cell and a layout into one MuJoCo specification."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import FURNITURE, MOBILES, PARTS, ROBOTS, TOOLS, TRAYS, arena
from cellwright.cells import Cell, Layout, MobilePlacement, Placement
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.models.build import builder
from cellwright.models.furniture import camera_frame, vertical_fov_rad
from cellwright.models.mobile import fit_wheels
from cellwright.rendering.environment import add_environment
from cellwright.sim.leds import LIT_SHELL
from cellwright.sim.physics import apply_options
from cellwright.sim.tool_compose import add_changer, add_tools

__all__ = ["attach_object", "clamp_data", "clamp_name", "compose", "detach_object"]

LEAST_STAGE_M = 0.5
CLAMP_SOLREF, CLAMP_SOLIMP = (0.002, 1.0), (0.99, 0.999)  # as hard as the walls of straight slots


def compose(cell: Cell, layout: Layout, objects: Iterable[Placement] | None = None) -> Any:
    """Returns the whole cell as an `MjSpec`, with the layout's loose objects or with those given.

    Names: a robot's elements are `<robot>/<element>`, its tool's `<robot>/tool/<element>`; the body of a loose object
    or of a mobile robot has its own name, its other elements are `<object>/<element>`.
    """
    spec = mujoco.MjSpec()
    spec.modelname = cell.name
    spec.memory = 64 * 2**20
    apply_options(spec, cell.timestep_s, grips=bool(cell.robots) or not cell.mobiles)
    add_environment(spec, **_stage(cell, layout))
    for name, fixture in cell.fixtures.items():
        _attach(spec, build(FURNITURE.get(fixture.model)), name, layout.fixtures[name])
    for name, robot in cell.robots.items():
        arm_figures = ROBOTS.get(robot.model)
        arm = build(arm_figures)
        flange = arm.body(arm_figures.flange_body)
        if robot.tool is not None:
            mount = flange.add_frame(**_frame(layout.tools[name]))
            mount.attach_body(build(TOOLS.get(robot.tool)).body("tool"), "tool/", "")
        if robot.changer is not None:
            add_changer(flange, robot.changer, layout.tools[name])
        _attach(spec, arm, name, layout.bases[name])
    _aim_cameras(spec, layout)
    add_tools(spec, cell, layout)
    if cell.arena is not None:
        walls = cell.arena
        figures = arena(
            walls.size_m,
            walls.wall_height_m,
            walls.wall_thickness_m,
            walls.inner_walls_m,
            walls.lines_m,
            walls.line_width_m,
        )
        _attach(spec, builder(figures), "arena", walls.pose.pose)
    like: dict[str, str] = {}
    for mobile in layout.mobiles.values():
        _attach_mobile(spec, mobile, like.setdefault(mobile.model, mobile.name))
    for placement in layout.objects.values() if objects is None else objects:
        attach_object(spec, placement)
    spec.dedup_assets()
    return spec


def attach_object(spec: Any, placement: Placement) -> None:
    """Adds a loose tray or part."""
    figures = (TRAYS if placement.model in TRAYS else PARTS).get(placement.model)
    body = _attach(spec, build(figures), placement.name, placement.pose_in_world)
    body.name = placement.name
    body.add_freejoint(name=placement.name)
    if placement.is_clamped:
        weld = spec.add_equality(name=clamp_name(placement.name), type=mujoco.mjtEq.mjEQ_WELD)
        weld.objtype = mujoco.mjtObj.mjOBJ_BODY
        weld.name1, weld.name2, weld.active = "world", placement.name, True
        weld.data = clamp_data(placement.pose_in_world)
        weld.solref[:2], weld.solimp[:2] = CLAMP_SOLREF, CLAMP_SOLIMP


def clamp_name(tray: str) -> str:
    """Returns the name of the weld that clamps a tray."""
    return f"{tray}/clamp"


def clamp_data(pose_in_world: Pose) -> Any:
    """Returns the numbers of a weld that holds a body at a pose: anchor in the body, its pose in the world, scale."""
    data = np.zeros(mujoco.mjNEQDATA)
    data[:11] = [0.0, 0.0, 0.0, *pose_in_world.position, *pose_in_world.quaternion, 1.0]
    return data


def _aim_cameras(spec: Any, layout: Layout) -> None:
    """Gives the cameras of fixtures the pose and the field that they have in the layout, and adds all others."""
    for camera in layout.cameras.values():
        fixture = layout.fixtures.get(camera.fixture, Pose.identity())
        place = fixture.inverse() @ camera.pose_in_world
        made = spec.camera(f"{camera.fixture}/{camera.lens}") if camera.fixture else None
        made = made or spec.worldbody.add_camera(name=camera.name)
        frame = camera_frame(place)
        made.pos, made.quat, made.resolution = frame["pos"], frame["quat"], camera.resolution_px
        made.fovy = np.degrees(vertical_fov_rad(camera.fov_rad, camera.resolution_px))


def _stage(cell: Cell, layout: Layout) -> dict[str, Any]:
    """Returns light and shadows for the work area: what the robots reach, loose objects, and the arena."""
    points = [np.array(item.pose_in_world.position) for item in layout.objects.values()]
    points += [np.array(item.pose_in_world.position) for item in layout.mobiles.values()]
    for name, base in layout.bases.items():
        reach_m = ROBOTS.get(cell.robots[name].model).reach_m
        points += [np.array(base.position) - reach_m, np.array(base.position) + reach_m]
    if cell.arena is not None:
        half = np.array([*cell.arena.size_m, 0.0]) / 2
        points += [np.array(cell.arena.pose.xyz_m) - half, np.array(cell.arena.pose.xyz_m) + half]
    points = points or [np.array(pose.position) for pose in layout.fixtures.values()]
    if not points:
        return {}
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    centre_m, radius_m = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    return {"centre_m": tuple(float(x) for x in centre_m), "radius_m": max(radius_m, LEAST_STAGE_M)}


def _attach_mobile(spec: Any, placement: MobilePlacement, like: str) -> None:
    """Adds a mobile robot; what does not glow has the finish of the first of its kind: drawing has room for 999."""
    figures = MOBILES.get(placement.model)
    robot = build(figures)
    fit_wheels(
        robot,
        placement.wheel_radii_m,
        placement.wheel_base_m,
        placement.wheel_frictions,
        placement.motor_torques_nm,
    )
    shared: dict[str, str] = {}
    if like != placement.name:
        own = {LIT_SHELL, *(lamp.name for lamp in figures.leds)}
        shared = {geom.name: geom.material for geom in robot.geoms if geom.material and geom.material not in own}
        for geom in shared:
            robot.geom(geom).material = ""
        for finish in set(shared.values()):
            robot.delete(robot.material(finish))
    body = _attach(spec, robot, placement.name, placement.pose_in_world)
    for geom, finish in shared.items():
        spec.geom(f"{placement.name}/{geom}").material = f"{like}/{finish}"
    body.name = placement.name
    body.add_freejoint(name=placement.name)


def detach_object(spec: Any, name: str) -> None:
    """Removes a loose object and its assets, so that its name is free; shared meshes pass to another that uses them."""
    for weld in [eq for eq in spec.equalities if eq.name == clamp_name(name)]:
        spec.delete(weld)
    spec.delete(spec.body(name))
    own = f"{name}/"
    for material in [m for m in spec.materials if m.name.startswith(own)]:
        spec.delete(material)
    for mesh in [m for m in spec.meshes if m.name.startswith(own)]:
        users = [geom for geom in spec.geoms if geom.meshname == mesh.name]
        if not users:
            spec.delete(mesh)
            continue
        mesh.name = f"{users[0].name.partition('/')[0]}/{mesh.name.removeprefix(own)}"
        for geom in users:
            geom.meshname = mesh.name


def _attach(spec: Any, child: Any, name: str, pose: Pose) -> Any:
    frame = spec.worldbody.add_frame(**_frame(pose))
    return frame.attach_body(child.worldbody.first_body(), f"{name}/", "")


def _frame(pose: Pose) -> dict[str, Any]:
    return {"pos": np.array(pose.position), "quat": np.array(pose.quaternion)}
