"""A whole cell as one URDF: everything at its place, for MuJoCo and for the importer."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.cells import actual_layout, load_cell
from cellwright.models.exporting import ModelFormat, describe, export_spec
from cellwright.models.exporting.mechanism import as_one_model
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.source import read_source
from cellwright.sim.compose import compose

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("aprs@lab_tools", "epucks")]


@pytest.mark.parametrize("cell", ["rovi", *SLOW])
def test_a_cell_is_opened_again(cell, tmp_path):
    loaded = load_cell(cell)
    spec = compose(loaded, actual_layout(loaded, 1))
    exported = export_spec(spec, tmp_path / "cell.urdf", ModelFormat.URDF, name=cell, whole=True)
    ours, path = spec.compile(), exported.files[0]
    compare(ours, mujoco.MjModel.from_xml_path(str(path)), lambda name: name)
    source = read_source(path, ModelSettings(file=str(path)), [], Notes())
    back = source.spec.compile()
    compare(ours, back, lambda name: name.replace("/", "_"))
    loose = {ours.body(int(b)).name for b in ours.jnt_bodyid[ours.jnt_type == mujoco.mjtJoint.mjJNT_FREE]}
    assert {back.body(int(b)).name for b in back.jnt_bodyid[back.jnt_type == mujoco.mjtJoint.mjJNT_FREE]} == {
        name.replace("/", "_") for name in loose
    }
    weight = sum(float(ours.body(body).subtreemass[0]) for body in range(1, ours.nbody) if _moves(ours, body))
    assert sum(float(back.body_subtreemass[body]) for body in range(1, back.nbody) if _moves(back, body)) == (
        pytest.approx(weight, abs=1e-9)  # what comes between weighs nothing
    )
    described = {joint.name.replace("/", "_"): joint for joint in as_one_model(describe(spec).world).joints}
    assert len(source.velocity_limits) > 1
    for joint, speed in source.velocity_limits.items():
        assert described[joint].limits.velocity == speed


def _moves(model, body: int) -> bool:
    """Whether it is the first of what moves."""
    return bool(model.body_weldid[body]) and not model.body_weldid[model.body_parentid[body]]


def compare(ours, theirs, called) -> None:
    """Places of all bodies with joints anywhere, masses, limits."""
    assert (theirs.nq, theirs.nv) == (ours.nq, ours.nv)
    mine, read = mujoco.MjData(ours), mujoco.MjData(theirs)
    rng = np.random.default_rng(4)
    for joint in range(ours.njnt):
        if ours.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
            other = theirs.joint(called(ours.joint(joint).name))
            limited = bool(ours.jnt_limited[joint])
            if limited and theirs.jnt_limited[other.id]:  # an imported follower goes where its leader does
                assert np.array_equal(ours.jnt_range[joint], other.range)
            value = rng.uniform(*(ours.jnt_range[joint] if limited else (-3.0, 3.0)))
            mine.qpos[ours.jnt_qposadr[joint]], read.qpos[other.qposadr] = value, value
    mujoco.mj_kinematics(ours, mine)
    mujoco.mj_kinematics(theirs, read)
    for body in range(1, ours.nbody):
        name = ours.body(body).name
        assert np.allclose(mine.body(name).xpos, read.body(called(name)).xpos, rtol=0, atol=1e-9), name
        assert np.allclose(mine.body(name).xmat, read.body(called(name)).xmat, rtol=0, atol=1e-9), name
        if ours.body_mass[body]:
            assert ours.body_mass[body] == theirs.body(called(name)).mass[0]
