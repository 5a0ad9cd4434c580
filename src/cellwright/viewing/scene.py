"""The scene of the viewer: all that can be seen of a world, made once."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import FURNITURE
from cellwright.core.pose import Pose
from cellwright.models.furniture import CAMERA_TURN
from cellwright.rendering.sky import Background
from cellwright.sim import World
from cellwright.sim.picture import cell_view
from cellwright.viewing.colour_rows import changing_materials
from cellwright.viewing.meshes import pack_mesh
from cellwright.viewing.packet import Blob, pack
from cellwright.viewing.surfaces import Surfaces

__all__ = ["make_scene", "moving_bodies", "pose_row"]

GEOM_TYPES = {
    mujoco.mjtGeom.mjGEOM_MESH: "mesh",
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_PLANE: "plane",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule",
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: "ellipsoid",
}
SEEN_GROUPS = (0, 1, 2)
DIGITS = 6  # of a position in metres and of a quaternion's numbers: a micrometre


def make_scene(world: World, *, truth: bool = True) -> bytes:
    """Returns the scene of a world as it is now, as a packet.

    Args:
        world: What is to be seen.
        truth: Whether parts and trays are where they are; else only their looks are told, for what is believed.
    """
    model, data = world.appearance.now()
    blob, surfaces = Blob(), Surfaces(model, changing_materials(world, model))
    header: dict[str, Any] = {"cell": world.cell.name, "bodies": _bodies(world, model, data, truth)}
    header["geoms"], header["meshes"] = _geoms(model, blob, surfaces)
    header["materials"] = surfaces.materials
    header["textures"] = surfaces.pack_textures(blob)
    header["lights"] = _lights(model, data)
    lamp = model.vis.headlight
    header["headlight"] = {key: _rounded(getattr(lamp, key)) for key in ("diffuse", "ambient", "specular")}
    header["cameras"] = _cameras(world, model)
    view = cell_view(world)
    header["view"] = {"eye": view.eye_in_world_m, "target": view.target_in_world_m, "fovy_rad": view.fovy_rad}
    strips = Background(model).strips()
    sides = strips[0]
    header["sky"] = {
        "top": _rounded(strips[1][-1]),
        "horizon": _rounded(sides[len(sides) // 2]),
        "floor": _rounded(strips[2][-1]),
    }
    header["zones"] = _zones(world)
    header["frames"] = _frames(world, model)
    header["moving"] = moving_bodies(world, truth=truth)
    return pack("scene", header, blob)


def moving_bodies(world: World, *, truth: bool = True) -> list[int]:
    """Returns the numbers of all bodies that may move, in the order of the scene; without truth not the things."""
    model, _ = world.appearance.now()
    moving = [int(body) for body in np.flatnonzero(model.body_weldid != 0)]
    return [body for body in moving if truth or model.body(body).name not in world.objects]


def pose_row(pose: Pose) -> list[float]:
    """Returns position and quaternion as the viewer's page has them."""
    return _rounded([*pose.position, *pose.quaternion])


def _rounded(values: Any) -> list[float]:
    return [float(value) + 0.0 for value in np.round(np.asarray(values, float).reshape(-1), DIGITS)]


def _bodies(world: World, model: Any, data: Any, truth: bool) -> list[dict[str, Any]]:
    rows = []
    for body in range(model.nbody):
        name = model.body(body).name
        row: dict[str, Any] = {"name": name, "label": _label(name), "kind": _kind(world, name)}
        thing = world.objects.get(name)
        row["pose"] = None if thing and not truth else _rounded([*data.xpos[body], *data.xquat[body]])
        rows.append(row | ({"sku": thing.sku} if thing else {}))
    return rows


def _label(name: str) -> str:
    """Returns a body's name for people: that of the thing, and what it is of it."""
    thing, _, part = name.partition("/")
    part = part.removeprefix("tool/") if part != "tool" else part
    return thing if part in ("", "furniture") else f"{thing} {part.replace('_', ' ').replace('/', ' ')}"


def _kind(world: World, name: str) -> str:
    thing, _, part = name.partition("/")
    if thing in world.objects:
        return "tray" if world.objects[thing].is_tray else "part"
    if thing in world.robots:
        return "tool" if part.startswith("tool") else "robot"
    if thing in world.cell.tools:
        return "tool"
    if thing in world.mobiles:
        return "mobile"
    fixture = world.cell.fixtures.get(thing)
    if fixture is not None and FURNITURE.get(fixture.model).cameras:
        return "camera"
    return "world" if name == "world" else "furniture"


def _geoms(model: Any, blob: Blob, surfaces: Surfaces) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the geoms that are seen, and the meshes that they share."""
    rows: list[dict[str, Any]] = []
    meshes: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}  # of a mesh in the model -> here
    for geom in map(int, np.flatnonzero(np.isin(model.geom_group, SEEN_GROUPS))):
        kind = GEOM_TYPES.get(mujoco.mjtGeom(model.geom_type[geom]))
        if kind is None or not surfaces.is_seen(geom):
            continue
        row: dict[str, Any] = {"body": int(model.geom_bodyid[geom]), "type": kind}
        has_uvs = False
        if kind == "mesh":
            mesh = int(model.geom_dataid[geom])
            if mesh not in numbers:
                numbers[mesh] = len(meshes)
                meshes.append(pack_mesh(model, mesh, blob))
            row["mesh"] = numbers[mesh]
            has_uvs = "uvs" in meshes[numbers[mesh]]
        row["size"] = _rounded(model.geom_size[geom])
        row["pose"] = _rounded([*model.geom_pos[geom], *model.geom_quat[geom]])
        row["material"] = surfaces.material_of(geom, has_uvs=has_uvs)
        rows.append(row)
    return rows, meshes


def _lights(model: Any, data: Any) -> list[dict[str, Any]]:
    return [
        {
            "position": _rounded(data.light_xpos[light]),
            "direction": _rounded(data.light_xdir[light]),
            "diffuse": _rounded(model.light_diffuse[light]),
            "ambient": _rounded(model.light_ambient[light]),
            "specular": _rounded(model.light_specular[light]),
            "directional": bool(model.light_type[light] == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL),
            "shadow": bool(model.light_castshadow[light]),
        }
        for light in np.flatnonzero(model.light_active)
    ]


def _cameras(world: World, model: Any) -> list[dict[str, Any]]:
    """Returns the cameras of the cell, then those that robots on wheels carry."""
    rows = []
    seeing: dict[str, list[str]] = {}
    for _, line in world.cell.sensor_lines():
        if line.get("camera") and line.get("name"):
            seeing.setdefault(str(line["camera"]), []).append(str(line["name"]))
    for camera in world.layout.cameras.values():
        columns, lines = camera.resolution_px
        fovy_rad = 2 * math.atan(math.tan(camera.fov_rad / 2) * lines / columns)
        row = {"name": camera.name, "body": 0, "pose": pose_row(camera.pose_in_world), "fovy_rad": fovy_rad}
        rows.append(row | {"width": columns, "height": lines, "sensors": seeing.get(camera.name, [])})
    for mobile in world.mobiles.values():
        camera = model.camera(f"{mobile.name}/camera")
        pose = Pose(camera.pos, camera.quat) @ CAMERA_TURN.inverse()
        row = {"name": mobile.name, "body": int(camera.bodyid[0]), "pose": pose_row(pose)}
        columns, lines = (int(pixels) for pixels in model.cam_resolution[camera.id])
        rows.append(row | {"fovy_rad": math.radians(float(camera.fovy[0])), "width": columns, "height": lines})
    return rows


def _zones(world: World) -> list[dict[str, Any]]:
    safety = world.cell.safety
    if safety is None:
        return []
    boxes = [(name, "zone", *zone.box) for name, zone in safety.zones.items()]
    boxes += [(name, "curtain", *guard.box) for name, guard in safety.inputs.items() if guard.box is not None]
    rows = []
    for name, kind, middle, size_m in boxes:
        half = np.array(size_m) / 2
        row = {"name": name, "kind": kind, "low": _rounded(-half), "high": _rounded(half), "pose": pose_row(middle)}
        rows.append(row)
    return rows


def _frames(world: World, model: Any) -> list[dict[str, Any]]:
    """Returns frames that people ask for: of robots, of their tools, of cameras."""
    rows: list[dict[str, Any]] = []

    def add(name: str, body: int, pose: Pose) -> None:
        rows.append({"name": name, "body": body, "pose": pose_row(pose)})

    for name, base in world.layout.bases.items():
        add(f"{name} base", 0, base)
    for number in range(model.nsite):
        site = model.site(number)
        if site.name.endswith(("/flange", "/tcp")):
            thing, _, part = site.name.partition("/")
            add(f"{thing} {part.rpartition('/')[2]}", int(site.bodyid[0]), Pose(site.pos, site.quat))
    for mobile in world.mobiles.values():
        add(mobile.name, model.body(mobile.name).id, Pose.identity())
    for camera in world.layout.cameras.values():
        add(camera.name, 0, camera.pose_in_world)
    return rows
