"""Arms in URDF and SDF have the frames that ROS-Industrial's arms have: base_link, base, flange, tool0."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import ROBOTS
from cellwright.catalogue.model_settings import ModelSettings
from cellwright.models import build
from cellwright.models.description import ModelDescription
from cellwright.models.exporting import ModelFormat, export_file, export_spec
from cellwright.models.importing import Notes, import_figures, read_description, write_figures

DATA = Path(__file__).parents[1] / "importing" / "data"
AXES = {"ur5": (0, 0, np.pi), "lr_mate_200id": (0, 0, 0), "sia20f": (0, 0, 0)}
HEIGHTS_M = {"ur5": 0.0, "lr_mate_200id": 0.330, "sia20f": 0.410}


def read(file: Path) -> ModelDescription:
    world = read_description(file, [], Notes())
    assert world is not None
    return world.models[0].model


def posed(file: Path, *joints: float) -> mujoco.MjData:
    """MuJoCo's own reading of a URDF, its first joints turned."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    data.qpos[: len(joints)] = joints
    mujoco.mj_kinematics(model, data)
    return data


@pytest.mark.parametrize("arm", HEIGHTS_M)
@pytest.mark.parametrize("form", [ModelFormat.URDF, ModelFormat.SDF])
def test_our_arms_have_the_makers_base_and_both_flanges(tmp_path, arm, form):
    file = tmp_path / f"arm.{form}"
    figures = ROBOTS.get(arm)
    export_spec(build(figures), file, form, name=arm, arms={arm: figures})
    model = read(file)
    names = [link.name for link in model.links] + [frame.name for frame in model.frames]
    assert list(model.roots) == ["base_link"]
    assert {"base_link", "base", "flange", "tool0"} <= set(names)
    assert len(names) == len(set(names))
    if form is ModelFormat.URDF:
        data = posed(file, 0.3, -0.4, 0.5)
        np.testing.assert_allclose(data.body("base").xpos, [0, 0, HEIGHTS_M[arm]], atol=1e-9)
        np.testing.assert_allclose(data.body("base").xmat[0], np.cos(AXES[arm][2]), atol=1e-9)
        tool, flange = (data.body(name).xmat.reshape(3, 3) for name in ("tool0", "flange"))
        np.testing.assert_allclose(tool[:, 2], flange[:, 0], atol=1e-9)  # z out of the one, x out of the other
        np.testing.assert_allclose(data.body("tool0").xpos, data.body("flange").xpos, atol=1e-9)


def test_the_ur5_s_tool0_is_where_the_published_vector_has_it(tmp_path):
    file = tmp_path / "ur5.urdf"
    export_spec(build(ROBOTS.get("ur5")), file, ModelFormat.URDF, name="ur5", arms={"ur5": ROBOTS.get("ur5")})
    data = posed(file, 0.3, -1.2, 1.4, -0.9, -1.3, 0.5)
    np.testing.assert_allclose(data.body("tool0").xpos, [0.475931, 0.284520, 0.283868], atol=1e-6)


@pytest.mark.parametrize("file", ["ur5.urdf", "lr_mate_200id.urdf"])
def test_an_imported_arm_goes_out_with_the_links_that_it_came_with(tmp_path, file):
    settings = ModelSettings(file=str(DATA / file))
    figures = import_figures("mine", settings, DATA)
    sheet = write_figures(figures, settings, DATA / file, tmp_path)[0]
    for form in (ModelFormat.URDF, ModelFormat.SDF):
        out = tmp_path / f"again.{form}"
        export_file(sheet, [], out, form)
        again = read(out)
        assert {link.name for link in again.links} == {link.name for link in read(DATA / file).links}
        back = import_figures("again", ModelSettings(file=str(out)), tmp_path)
        assert [j.name for j in back.joints] == [j.name for j in figures.joints]  # type: ignore[union-attr]
        assert (back.base_link, back.tip_link) == (figures.base_link, figures.tip_link)  # type: ignore[union-attr]
