"""A whole cell as one URDF: everything at its place, for MuJoCo and for the importer."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.cells import actual_layout, load_cell
from cellwright.models.exporting import ModelFormat, export_spec
from cellwright.sim.compose import compose


@pytest.mark.parametrize("cell", ["rovi", pytest.param("aprs", marks=pytest.mark.slow)])
def test_mujoco_opens_a_cell(cell, tmp_path):
    loaded = load_cell(cell)
    spec = compose(loaded, actual_layout(loaded, 1))
    exported = export_spec(spec, tmp_path / "cell.urdf", ModelFormat.URDF, name=cell, whole=True)
    theirs = mujoco.MjModel.from_xml_path(str(exported.files[0]))
    ours = spec.compile()
    assert (theirs.nq, theirs.nv) == (ours.nq, ours.nv)
    mine, read = mujoco.MjData(ours), mujoco.MjData(theirs)
    rng = np.random.default_rng(4)
    for joint in range(ours.njnt):
        if ours.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
            other = theirs.joint(ours.joint(joint).name)
            assert np.array_equal(ours.jnt_range[joint], other.range)
            value = rng.uniform(*ours.jnt_range[joint])
            mine.qpos[ours.jnt_qposadr[joint]], read.qpos[other.qposadr] = value, value
    mujoco.mj_kinematics(ours, mine)
    mujoco.mj_kinematics(theirs, read)
    for body in range(1, ours.nbody):
        name = ours.body(body).name
        assert np.allclose(mine.body(name).xpos, read.body(name).xpos, rtol=0, atol=1e-9), name
        assert np.allclose(mine.body(name).xmat, read.body(name).xmat, rtol=0, atol=1e-9), name
        if ours.body_mass[body]:
            assert ours.body_mass[body] == theirs.body(name).mass[0]
