"""MJCF: what is written is read again, whatever the model leaves unsaid."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import KINDS, find_model
from cellwright.models import build
from cellwright.models.exporting import ModelFormat, export_spec

SOON = ("tool_changer", "wsg_50")  # the changer has a body that never says where its mass is
ALL = [name for registry in KINDS.values() for name in registry]


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in SOON else pytest.mark.slow) for n in ALL])
def test_mujoco_reads_it_to_the_bit(name, tmp_path):
    spec = build(find_model(name)[1])
    exported = export_spec(spec, tmp_path / "x.xml", ModelFormat.MJCF, name=name)
    ours, theirs = spec.compile(), mujoco.MjModel.from_xml_path(str(exported.files[0]))
    arrays = [field for field in dir(ours) if field.startswith(("body_", "jnt_", "dof_", "geom_", "site_", "mesh_"))]
    assert len(arrays) > 100
    for field in arrays:
        assert np.array_equal(getattr(ours, field), getattr(theirs, field)), field
