"""What it takes for two descriptions to say the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_vector
from cellwright.models.description import WORLD, JointKind, MeshFile, ModelDescription
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.sdf import read_sdf
from cellwright.models.importing.urdf import read_urdf

TOLERANCE = 1e-9


def forward(model: ModelDescription, positions: dict[str, float]) -> dict[str, Pose]:
    """Every link's pose in the frame of the root, by the joints' definition alone."""
    found = {root: Pose.identity() for root in model.roots}
    waiting = list(found)
    while waiting:
        parent = waiting.pop()
        for joint in model.joints:
            if joint.parent == parent and model.joint_of(joint.child) is joint:
                found[joint.child] = found[parent] @ joint.pose @ motion(joint, positions.get(joint.name, 0.0))
                waiting.append(joint.child)
    return found


def motion(joint, position: float) -> Pose:
    axis, anchor = np.array(joint.axis), np.array(joint.anchor_m)
    if joint.kind is JointKind.PRISMATIC:
        return Pose.from_xyz_rpy(axis * position)
    if joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
        turn = Pose(np.zeros(3), quaternion_from_vector(axis * position))
        return Pose(anchor - turn.apply(anchor), turn.quaternion)
    return Pose.identity()


def draw_positions(model: ModelDescription, rng: np.random.Generator) -> dict[str, float]:
    positions = {}
    for joint in model.joints:
        if joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC):
            low = -np.pi if joint.limits.lower is None else joint.limits.lower
            high = np.pi if joint.limits.upper is None else joint.limits.upper
            positions[joint.name] = float(rng.uniform(low, high))
    return positions


def flattened(model: ModelDescription) -> ModelDescription:
    """The model with the names that the importer gives: a slash parts robots from links."""

    def flat(name: str) -> str:
        return name.replace("/", "_")

    return replace(
        model,
        links=tuple(replace(link, name=flat(link.name)) for link in model.links),
        joints=tuple(
            replace(
                joint,
                name=flat(joint.name),
                parent=flat(joint.parent),
                child=flat(joint.child),
                mimic=joint.mimic and replace(joint.mimic, joint=flat(joint.mimic.joint)),
            )
            for joint in model.joints
        ),
        frames=tuple(replace(frame, name=flat(frame.name), link=flat(frame.link)) for frame in model.frames),
    )


def assert_same_mechanism(
    ours: ModelDescription, theirs: ModelDescription, renamed: dict[str, str] | None = None
) -> None:
    """Links, masses, inertia, joints, limits and forward kinematics, to 1e-9.

    `theirs` may have more links that weigh nothing, which is what frames become.
    """
    names = renamed or {}
    their_links = {link.name: link for link in theirs.links}
    their_joints = {joint.name: joint for joint in theirs.joints}
    for link in ours.links:
        assert_same_inertial(link, their_links[link.name])
    assert sum(link.inertial.mass_kg for link in theirs.links if link.inertial) == pytest.approx(
        sum(link.inertial.mass_kg for link in ours.links if link.inertial), abs=TOLERANCE * len(ours.links)
    )
    for joint in ours.joints:
        if joint.parent == WORLD or ours.joint_of(joint.child) is not joint:
            continue
        other = their_joints[names.get(joint.name, joint.name)]
        assert (other.kind, other.parent, other.child) == (joint.kind, joint.parent, joint.child)
        assert other.limits == joint.limits
        assert (other.damping, other.friction) == (joint.damping, joint.friction)
        if joint.mimic is None:
            assert other.mimic is None
        else:
            leader = names.get(joint.mimic.joint, joint.mimic.joint)
            expected = (leader, joint.mimic.multiplier, joint.mimic.offset)
            assert (other.mimic.joint, other.mimic.multiplier, other.mimic.offset) == expected
    rng = np.random.default_rng(5)
    for _ in range(5):
        positions = draw_positions(ours, rng)
        mine = forward(ours, positions)
        read = forward(theirs, {names.get(name, name): value for name, value in positions.items()})
        for name, pose in mine.items():
            assert pose.is_close(read[name]), name
        for frame in ours.frames:
            at = mine[frame.link] @ frame.pose
            there = next((f for f in theirs.frames if f.name == frame.name), None)
            assert at.is_close(read[there.link] @ there.pose if there else read[frame.name]), frame.name


def assert_same_inertial(link, other) -> None:
    if link.inertial is None:
        assert other.inertial is None or other.inertial.mass_kg <= 1e-9  # SDF knows no link without a mass
        return
    assert other.inertial.mass_kg == link.inertial.mass_kg
    centres = [each.inertial.pose.position for each in (link, other)]
    assert np.allclose(*centres, rtol=0, atol=TOLERANCE)
    tensors = []
    for each in (link, other):
        turn = each.inertial.pose.rotation_matrix
        tensors.append(turn @ each.inertial.inertia_kgm2 @ turn.T)
    assert np.allclose(*tensors, rtol=0, atol=TOLERANCE * np.abs(tensors[0]).max())


def assert_same_shapes(ours: ModelDescription, theirs: ModelDescription) -> None:
    """Every shape with its place, geometry and colour; meshes by the file's name."""
    for link in ours.links:
        other = next(each for each in theirs.links if each.name == link.name)
        for mine, read in ((link.visuals, other.visuals), (link.collisions, other.collisions)):
            assert len(mine) == len(read)
            for a, b in zip(mine, read, strict=True):
                assert a.pose.is_close(b.pose)
                assert same_geometry(a.geometry, b.geometry), (a, b)
                assert a.material.rgba == b.material.rgba


def same_geometry(a, b) -> bool:
    if isinstance(a, MeshFile):
        return isinstance(b, MeshFile) and (a.uri, a.scale) == (b.uri, b.scale)
    return a == b


@pytest.fixture(scope="session")
def flat() -> Callable[[ModelDescription], ModelDescription]:
    """A model with names as the importer gives them."""
    return flattened


@pytest.fixture(scope="session")
def same_mechanism() -> Callable[..., None]:
    """Fails where two models differ in more than 1e-9."""
    return assert_same_mechanism


@pytest.fixture(scope="session")
def same_shapes() -> Callable[..., None]:
    """Fails where two models look or touch differently."""
    return assert_same_shapes


@pytest.fixture(scope="session")
def kinematics() -> Callable[..., dict[str, Pose]]:
    """Poses of all links, in the root's frame."""
    return forward


@pytest.fixture(scope="session")
def draw() -> Callable[..., dict[str, float]]:
    """Joint positions within the limits."""
    return draw_positions


@pytest.fixture
def read() -> Callable[[Path], ModelDescription]:
    """Reads a description with the importer's own reader."""

    def reader(path: Path) -> ModelDescription:
        if path.suffix == ".urdf":
            return read_urdf(path, FileFinder(path), Notes())
        (placed,) = read_sdf(path, FileFinder(path), Notes()).models
        return placed.model

    return reader
