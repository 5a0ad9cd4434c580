"""Any small mechanism, written as URDF or SDF and read back, is the same one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_vector
from cellwright.models.description import (
    BoxGeometry,
    CylinderGeometry,
    FrameDescription,
    Inertial,
    JointDescription,
    JointKind,
    LimitsDescription,
    LinkDescription,
    Material,
    Mimic,
    ModelDescription,
    Shape,
    SphereGeometry,
)
from cellwright.models.exporting import sdf_text, urdf_text
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.sdf import read_sdf
from cellwright.models.importing.urdf import read_urdf

MOVING = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)
reals = st.floats(-10, 10)
positive = st.floats(1e-3, 1e3)
vectors = st.tuples(reals, reals, reals)
angles = st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi]) | st.floats(-np.pi, np.pi)


@st.composite
def poses(draw) -> Pose:
    if draw(st.booleans()):
        return Pose.from_xyz_rpy(draw(vectors), draw(st.tuples(angles, angles, angles)))
    return Pose(np.array(draw(vectors)), quaternion_from_vector(np.array(draw(vectors))))


@st.composite
def inertials(draw) -> Inertial | None:
    if draw(st.integers(0, 3)) == 0:
        return None
    mass, pose = draw(positive), draw(poses())
    points = np.array(draw(st.lists(vectors, min_size=3, max_size=3))) + np.diag([1.0, 2.0, 3.0])
    second = sum(np.outer(p, p) for p in points) + 0.1 * np.eye(3)
    return Inertial(mass_kg=mass, pose=pose, inertia_kgm2=np.trace(second) * np.eye(3) - second)


@st.composite
def shapes(draw) -> Shape:
    size = draw(st.tuples(positive, positive, positive))
    geometry = draw(st.sampled_from([BoxGeometry(size), CylinderGeometry(*size[:2]), SphereGeometry(size[0])]))
    unit = st.floats(0, 1)
    rgba = draw(st.none() | st.tuples(unit, unit, unit, unit))
    return Shape(pose=draw(poses()), geometry=geometry, material=Material(rgba=rgba))


@st.composite
def limits(draw, kind: JointKind) -> LimitsDescription:
    lower = upper = None
    if kind is not JointKind.CONTINUOUS:
        lower = draw(reals)
        upper = lower + draw(positive)
    return LimitsDescription(
        lower=lower, upper=upper, velocity=draw(st.none() | positive), effort=draw(st.none() | positive)
    )


@st.composite
def joints(draw, number: int, earlier: list[JointDescription]) -> JointDescription:
    kind = draw(st.sampled_from([JointKind.FIXED, *MOVING]))
    common = {
        "name": f"joint_{number}",
        "kind": kind,
        "parent": f"link_{draw(st.integers(0, number - 1))}",
        "child": f"link_{number}",
        "pose": draw(poses()),
    }
    if kind is JointKind.FIXED:
        return JointDescription(**common)
    axis = np.array(draw(vectors))
    axis = axis / np.linalg.norm(axis) if np.linalg.norm(axis) > 0.1 else np.array([0.0, 0.0, 1.0])
    leaders = [joint.name for joint in earlier if joint.kind in MOVING and joint.mimic is None]
    mimic = Mimic(draw(st.sampled_from(leaders)), draw(reals), draw(reals)) if leaders and draw(st.booleans()) else None
    losses = st.just(0.0) | positive
    return JointDescription(
        **common,
        axis=tuple(axis.tolist()),
        limits=draw(limits(kind)),
        damping=draw(losses),
        friction=draw(losses),
        mimic=mimic,
    )


@st.composite
def models(draw) -> ModelDescription:
    count = draw(st.integers(1, 5))
    links = tuple(
        LinkDescription(
            name=f"link_{number}",
            inertial=draw(inertials()),
            visuals=tuple(draw(st.lists(shapes(), max_size=2))),
            collisions=tuple(draw(st.lists(shapes(), max_size=2))),
        )
        for number in range(count)
    )
    made: list[JointDescription] = []
    for number in range(1, count):
        made.append(draw(joints(number, made)))
    frames = [FrameDescription(name="tip", link=f"link_{draw(st.integers(0, count - 1))}", pose=draw(poses()))]
    return ModelDescription(
        name="m", links=links, joints=tuple(made), frames=tuple(frames if draw(st.booleans()) else [])
    )


def seen_only(model: ModelDescription) -> ModelDescription:
    """Formats give colours to what is seen, not to what is touched."""
    links = [
        replace(link, collisions=tuple(replace(shape, material=Material()) for shape in link.collisions))
        for link in model.links
    ]
    return replace(model, links=tuple(links))


@pytest.mark.parametrize("form", ["urdf", "sdf"])
@settings(max_examples=settings().max_examples // 2)
@given(model=models())
def test_write_and_read(form, model, same_mechanism, same_shapes):
    path, notes = Path("m.xml"), Notes()
    if form == "urdf":
        back = read_urdf(path, FileFinder(path), notes, urdf_text(model, Notes()).encode())
    else:
        back = read_sdf(path, FileFinder(path), notes, sdf_text(model, Notes()).encode()).models[0].model
    ours = seen_only(model)
    same_mechanism(ours, back)
    same_shapes(ours, back)
    assert not notes
