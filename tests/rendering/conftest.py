"""A table with one of every kind of geom, light and plain: what both renderers must draw alike."""

import mujoco
import numpy as np
import pytest

from cellwright.rendering import FLOOR_MATERIAL, View, add_environment

COLOURS = {
    "table": (0.82, 0.83, 0.85),
    "sphere": (0.85, 0.20, 0.15),
    "cylinder": (0.95, 0.72, 0.10),
    "capsule": (0.15, 0.45, 0.80),
    "ellipsoid": (0.20, 0.65, 0.35),
    "box": (0.55, 0.30, 0.65),
    "mesh": (0.30, 0.75, 0.80),
}
SHAPES = {
    "table": (mujoco.mjtGeom.mjGEOM_BOX, [0.5, 0.4, 0.02], [0.0, 0.0, 0.5]),
    "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, [0.08, 0, 0], [-0.3, -0.1, 0.6]),
    "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, [0.06, 0.1, 0], [-0.05, -0.2, 0.62]),
    "capsule": (mujoco.mjtGeom.mjGEOM_CAPSULE, [0.05, 0.1, 0], [0.15, 0.15, 0.67]),
    "ellipsoid": (mujoco.mjtGeom.mjGEOM_ELLIPSOID, [0.12, 0.06, 0.05], [0.3, -0.2, 0.57]),
    "box": (mujoco.mjtGeom.mjGEOM_BOX, [0.07, 0.05, 0.1], [-0.25, 0.2, 0.62]),
}


def ball(rings: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a coarse unit sphere."""
    sectors = 2 * rings
    polar = np.linspace(0, np.pi, rings + 1)[1:-1]
    around = np.arange(sectors) * 2 * np.pi / sectors
    vertices = [(0.0, 0.0, 1.0)]
    vertices += [(np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)) for p in polar for a in around]
    vertices.append((0.0, 0.0, -1.0))
    faces = []
    for j in range(sectors):
        k = (j + 1) % sectors
        faces.append((0, 1 + j, 1 + k))
        for i in range(len(polar) - 1):
            a, b = 1 + i * sectors, 1 + (i + 1) * sectors
            faces += [(a + j, b + j, b + k), (a + j, b + k, a + k)]
        last = 1 + (len(polar) - 1) * sectors
        faces.append((len(vertices) - 1, last + k, last + j))
    return np.array(vertices), np.array(faces)


def add_ball_mesh(spec, name: str, radius_m: float, rings: int = 12) -> None:
    vertices, faces = ball(rings)
    mesh = spec.add_mesh(name=name)
    mesh.uservert = (radius_m * vertices).reshape(-1)
    mesh.userface = faces.reshape(-1)
    mesh.usernormal = vertices.reshape(-1)
    mesh.userfacenormal = faces.reshape(-1)


def compiled(spec):
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def build_table(*, plain: bool = False):
    """The scene; `plain` = without light and shade, every geom in exactly its own colour."""
    spec = mujoco.MjSpec()
    add_environment(spec, centre_m=(0.0, 0.0, 0.5), radius_m=1.2)
    if plain:
        for light in spec.lights:
            light.active = False
        spec.visual.headlight.ambient = (1, 1, 1)
        spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)
    world = spec.worldbody
    world.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1], material=FLOOR_MATERIAL)
    for name, (kind, size, place) in SHAPES.items():
        world.add_geom(name=name, type=kind, size=size, pos=place, rgba=[*COLOURS[name], 1], group=2)
    add_ball_mesh(spec, "ball", 0.07)
    world.add_geom(
        name="mesh", type=mujoco.mjtGeom.mjGEOM_MESH, meshname="ball", pos=[0.02, 0.0, 0.59], rgba=[*COLOURS["mesh"], 1]
    )
    # What is touched and not seen: a box in group 3 in front of everything.
    world.add_geom(
        name="hidden",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.6, 0.02, 0.6],
        pos=[0, -0.6, 0.6],
        rgba=[1, 0, 1, 1],
        group=3,
    )
    camera = world.add_camera(name="front", pos=[0.4, -1.6, 1.2])
    camera.alt.xyaxes = [1, 0.25, 0, -0.1, 0.4, 0.9]
    camera.fovy = 40
    return compiled(spec)


@pytest.fixture(scope="session")
def table():
    return build_table()


@pytest.fixture(scope="session")
def plain_table():
    return build_table(plain=True)


@pytest.fixture
def view():
    return View(eye_in_world_m=(0.75, -1.5, 1.35), target_in_world_m=(0.0, -0.03, 0.5))


@pytest.fixture(scope="session")
def colours():
    return COLOURS


@pytest.fixture(scope="session")
def make_scene():
    """Builds and compiles a spec by a function."""

    def make(fill):
        spec = mujoco.MjSpec()
        fill(spec)
        return compiled(spec)

    return make


@pytest.fixture(scope="session")
def add_mesh_ball():
    return add_ball_mesh
