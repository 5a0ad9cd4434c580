"""What other people's parsers say: urdfdom, which ROS uses, and libsdformat, which Gazebo uses."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import numpy as np
import pytest

from cellwright.catalogue import find_model
from cellwright.cells import actual_layout, load_cell
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.models.description import WORLD, JointKind
from cellwright.models.exporting import ModelFormat, describe, export_spec
from cellwright.sim.compose import compose

pytestmark = pytest.mark.peer
MODELS = ["lr_mate_200id", "robotiq_2f_85", "kit_m2l1_tray", "rovi"]
READER = Path(__file__).with_name("sdf_reader.cc")


def written(name: str, path: Path, form: ModelFormat):
    """A model, or a cell, in a file; and what it says."""
    if name == "rovi":
        cell = load_cell(name)
        spec = compose(cell, actual_layout(cell, 0))
        export_spec(spec, path, form, name=name, whole=True)
        return describe(spec).world.models
    spec = build(find_model(name)[1])
    export_spec(spec, path, form, name=name, fastened=name == "lr_mate_200id")
    return describe(spec, name=name).world.models


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.skipif(not which("check_urdf"), reason="check_urdf is not installed (Debian: liburdfdom-tools)")
def test_urdfdom_reads_it(name, tmp_path):
    placed = written(name, tmp_path / "x.urdf", ModelFormat.URDF)
    done = subprocess.run(["check_urdf", tmp_path / "x.urdf"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Successfully Parsed" in done.stdout
    told = done.stdout.split()
    for item in placed:
        prefix = f"{item.model.name}/" if len(placed) > 1 else ""
        for link in item.model.links:
            assert link.name in told or f"{prefix}{link.name}" in told


@pytest.fixture(scope="session")
def sdf_reader(tmp_path_factory) -> Path:
    """A program that prints what libsdformat reads."""
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "sdformat12"], capture_output=True, text=True, check=False
    ) if which("pkg-config") else None  # fmt: skip
    if flags is None or flags.returncode or not which("g++"):
        pytest.skip("libsdformat is not installed (Debian: libsdformat-dev, g++, pkg-config)")
    program = tmp_path_factory.mktemp("reader") / "sdf_reader"
    subprocess.run(["g++", "-std=c++17", READER, "-o", program, *flags.stdout.split()], check=True)
    return program


@pytest.mark.parametrize("name", MODELS)
def test_libsdformat_reads_it(name, tmp_path, sdf_reader):
    placed = written(name, tmp_path / "x.sdf", ModelFormat.SDF)
    done = subprocess.run([sdf_reader, tmp_path / "x.sdf"], capture_output=True, text=True, check=False)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line for line in lines if line[0] == "error"] == []
    links = {(line[1], line[2]): np.array(line[3:], float) for line in lines if line[0] == "link"}
    joints = {(line[1], line[2]): np.array(line[3:], float) for line in lines if line[0] == "joint"}
    for item in placed:
        model = item.model
        poses = {root: Pose.identity() for root in model.roots}
        for joint in model.joints:
            if joint.parent != WORLD and model.joint_of(joint.child) is joint:
                poses[joint.child] = poses[joint.parent] @ joint.pose
        for link in model.links:
            mass, *numbers = links[model.name, link.name]
            if link.inertial is not None:
                assert mass == link.inertial.mass_kg
            read = Pose(np.array(numbers[:3]), np.array(numbers[3:7]))
            assert poses[link.name].is_close(read), link.name
        for joint in model.joints:
            if joint.kind is JointKind.REVOLUTE:
                lower, upper, speed, effort, *axis = joints[model.name, joint.name]
                limits = joint.limits
                assert (lower, upper, speed, effort) == (limits.lower, limits.upper, limits.velocity, limits.effort)
                assert np.allclose(poses[joint.child].rotation_matrix @ np.array(joint.axis), axis, atol=1e-9)
