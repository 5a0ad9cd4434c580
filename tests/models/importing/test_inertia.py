"""Masses and moments: those given, those mended, those guessed."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.pose import Pose
from cellwright.models.description import (
    BoxGeometry,
    CapsuleGeometry,
    CylinderGeometry,
    EllipsoidGeometry,
    Inertial,
    JointDescription,
    JointKind,
    LinkDescription,
    ModelDescription,
    Shape,
    SphereGeometry,
)
from cellwright.models.importing.build import build_description
from cellwright.models.importing.inertia import complete_inertials, shape_inertial
from cellwright.models.importing.meshes import MeshStore
from cellwright.models.importing.notes import Notes

size = st.floats(0.01, 1.0)
KINDS = {
    BoxGeometry: lambda a, b, c: (BoxGeometry((a, b, c)), mujoco.mjtGeom.mjGEOM_BOX, [a / 2, b / 2, c / 2]),
    CylinderGeometry: lambda a, b, c: (CylinderGeometry(a, b), mujoco.mjtGeom.mjGEOM_CYLINDER, [a, b / 2, 0]),
    CapsuleGeometry: lambda a, b, c: (CapsuleGeometry(a, b), mujoco.mjtGeom.mjGEOM_CAPSULE, [a, b / 2, 0]),
    SphereGeometry: lambda a, b, c: (SphereGeometry(a), mujoco.mjtGeom.mjGEOM_SPHERE, [a, 0, 0]),
    EllipsoidGeometry: lambda a, b, c: (EllipsoidGeometry((a, b, c)), mujoco.mjtGeom.mjGEOM_ELLIPSOID, [a, b, c]),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(a=size, b=size, c=size)
def test_shapes_weigh_what_the_engine_makes_of_them(kind, a, b, c):
    geometry, geom, sizes = KINDS[kind](a, b, c)
    found = shape_inertial(Shape(geometry=geometry), MeshStore(Notes()), 500.0)
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="b").add_geom(type=geom, size=sizes, density=500.0)
    model = spec.compile()
    assert found.mass_kg == pytest.approx(model.body_mass[1], rel=1e-9)
    np.testing.assert_allclose(
        np.sort(np.diag(found.inertia_kgm2)), np.sort(model.body_inertia[1]), rtol=1e-6, atol=1e-15
    )


def done(*links, joints=()):
    notes = Notes()
    model = complete_inertials(ModelDescription(name="m", links=links, joints=tuple(joints)), MeshStore(notes), notes)
    return model, notes


def with_moments(*moments, mass=2.0, shapes=()):
    tensor = np.diag(moments)
    return LinkDescription(
        name="a", inertial=Inertial(mass_kg=mass, pose=Pose.identity(), inertia_kgm2=tensor), collisions=shapes
    )


def test_moments_that_break_the_triangle_inequality_are_raised():
    model, notes = done(with_moments(1.0, 0.1, 0.2))
    moments = np.sort(np.linalg.eigvalsh(model.links[0].inertial.inertia_kgm2))
    assert moments[2] == pytest.approx(1.0)
    assert moments[0] + moments[1] >= moments[2]
    assert [note.kind for note in notes] == ["changed"]
    build_description(model, MeshStore(notes), notes).compile()


def test_rounding_is_mended_without_a_word_and_good_moments_stay():
    _, notes = done(with_moments(0.300001, 0.1, 0.2))
    assert list(notes) == []
    model, notes = done(with_moments(0.3, 0.2, 0.2))
    np.testing.assert_array_equal(model.links[0].inertial.inertia_kgm2, np.diag([0.3, 0.2, 0.2]))


@pytest.mark.parametrize("moments", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (-1.0, 1.0, 1.0)])
def test_moments_that_no_such_body_has_give_way_to_those_of_its_shape(moments):
    """Real files have zeros and ones where somebody did not know."""
    shape = Shape(geometry=BoxGeometry((0.1, 0.1, 0.1)))
    model, notes = done(with_moments(*moments, shapes=(shape,)))
    expected = np.eye(3) * 2.0 * 0.1**2 / 6
    np.testing.assert_allclose(model.links[0].inertial.inertia_kgm2, expected, atol=1e-12)
    assert [note.kind for note in notes] == ["guessed"]


def test_several_shapes_are_weighed_about_their_common_centre():
    shapes = tuple(Shape(geometry=SphereGeometry(0.1), pose=Pose.from_xyz_rpy([x, 0, 0])) for x in (-1, 1))
    model, notes = done(LinkDescription(name="a", collisions=shapes))
    mass = 4 / 3 * np.pi * 1e-3 * 1000
    inertial = model.links[0].inertial
    assert inertial.mass_kg == pytest.approx(2 * mass)
    np.testing.assert_allclose(inertial.pose.position, 0, atol=1e-12)
    assert inertial.inertia_kgm2[1, 1] == pytest.approx(2 * mass * (1 + 0.4 * 0.01))
    assert "no inertial" in notes[0].what


def test_a_massless_link_between_two_joints_is_no_body():
    hinge = JointKind.CONTINUOUS
    joints = [
        JointDescription(
            name="yaw", kind=hinge, parent="base", child="mid", pose=Pose.from_xyz_rpy([0, 0, 1]), axis=(0, 0, 1)
        ),
        JointDescription(
            name="pitch", kind=hinge, parent="mid", child="arm", pose=Pose.from_xyz_rpy([0, 0.5, 0], [0.3, 0, 0])
        ),
    ]
    box = Shape(geometry=BoxGeometry((0.1, 0.1, 0.1)))
    model, notes = done(
        LinkDescription(name="base", collisions=(box,)),
        LinkDescription(name="mid"),
        LinkDescription(name="arm", collisions=(box,)),
        joints=joints,
    )
    compiled = build_description(model, MeshStore(notes), notes).compile()
    assert compiled.nbody == 3
    assert compiled.nv == 2
    data = mujoco.MjData(compiled)
    data.qpos[:] = [0.7, -0.4]
    mujoco.mj_kinematics(compiled, data)
    expected = (
        Pose.from_xyz_rpy([0, 0, 1])
        @ Pose.from_xyz_rpy([0, 0, 0], [0, 0, 0.7])
        @ Pose.from_xyz_rpy([0, 0.5, 0], [0.3, 0, 0])
        @ Pose.from_xyz_rpy([0, 0, 0], [-0.4, 0, 0])
    )
    np.testing.assert_allclose(data.body("arm").xpos, expected.position, atol=1e-12)
    np.testing.assert_allclose(data.body("arm").xmat.reshape(3, 3), expected.rotation_matrix, atol=1e-12)


def test_a_moving_link_without_anything_gets_a_gram():
    joint = JointDescription(name="j", kind=JointKind.CONTINUOUS, parent="base", child="arm")
    model, notes = done(LinkDescription(name="base"), LinkDescription(name="arm"), joints=[joint])
    assert model.links[0].inertial is None
    assert model.links[1].inertial.mass_kg == pytest.approx(0.001)
    assert [note.where for note in notes] == ["link arm"]
    build_description(model, MeshStore(notes), notes).compile()


@pytest.mark.parametrize(("moment", "kept"), [(0.004, True), (0.01, False), (1e-7, False)])
def test_moments_that_the_shape_cannot_have_are_mended(moment, kept):
    """A radius of gyration beyond the shape, or next to none, is what `cell check` calls wrong, too."""
    given = Inertial(mass_kg=1.0, pose=Pose.identity(), inertia_kgm2=np.eye(3) * moment)
    box = Shape(geometry=BoxGeometry((0.1, 0.1, 0.1)))
    model, notes = done(LinkDescription(name="arm", inertial=given, collisions=(box,)))
    assert bool(model.links[0].inertial.inertia_kgm2[0, 0] == moment) is kept
    assert len(notes) == (0 if kept else 1)


@pytest.mark.parametrize("seen", [(), (Shape(geometry=BoxGeometry((0.2, 0.3, 0.2))),)], ids=["nothing seen", "seen"])
def test_good_moments_stay_where_what_is_touched_is_only_a_placeholder(seen):
    """Heads and screens of real robots have a ball of 1 mm as collision shape."""
    given = Inertial(mass_kg=0.55, pose=Pose.identity(), inertia_kgm2=np.diag([0.0046, 0.0035, 0.0040]))
    ball = (Shape(geometry=SphereGeometry(0.001)),)
    model, notes = done(LinkDescription(name="head", inertial=given, collisions=ball, visuals=seen))
    np.testing.assert_array_equal(model.links[0].inertial.inertia_kgm2, given.inertia_kgm2)
    assert list(notes) == []


def test_a_mass_is_not_guessed_from_a_placeholder():
    link = LinkDescription(
        name="head",
        collisions=(Shape(geometry=SphereGeometry(0.001)),),
        visuals=(Shape(geometry=BoxGeometry((0.1, 0.1, 0.1))),),
    )
    model, notes = done(link)
    assert model.links[0].inertial.mass_kg == pytest.approx(1.0)
    assert "1 kg from its visual geometry" in notes[0].what


@pytest.mark.parametrize(
    ("moments", "why"),
    [
        ((0.0, 0.0, 0.0), "one is zero"),
        ((-1.0, 1.0, 1.0), "one is negative"),
        ((0.5, 0.5, 0.5), "150 times those of its shape"),
        ((0.02, 0.02, 0.02), "its mass would be 115.5% of its reach away from its middle"),
        ((1e-7, 1e-7, 1e-7), "its mass would be 0.3% of its reach away from its middle"),
    ],
)
def test_what_is_noted_of_moments_is_what_is_wrong_with_them(moments, why):
    _, notes = done(with_moments(*moments, shapes=(Shape(geometry=BoxGeometry((0.1, 0.1, 0.1))),)))
    assert f"cannot be ({why})" in notes[0].what
