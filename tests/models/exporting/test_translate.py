"""Files in other formats, and exported arms that come back as arms."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import ROBOTS, find_model
from cellwright.core.errors import BadInput
from cellwright.models import build
from cellwright.models.exporting import ModelFormat, describe, export_file, export_spec
from cellwright.models.importing import ModelSettings, Notes, import_figures, read_description
from cellwright.motion import ArmKinematics


def test_urdf_to_sdf_to_mjcf_to_urdf(tmp_path, read, same_mechanism):
    folders = [tmp_path / name for name in ("urdf", "sdf", "mjcf", "again")]
    for folder in folders:
        folder.mkdir()
    first, second, third, fourth = (
        folder / f"arm.{ending}" for folder, ending in zip(folders, ("urdf", "sdf", "xml", "urdf"), strict=True)
    )
    export_spec(build(find_model("lr_mate_200id")[1]), first, ModelFormat.URDF, name="arm")
    export_file(first, [], second, ModelFormat.SDF)
    same_mechanism(read(first), read(second))
    assert (second.parent / "arm_meshes" / "colours.mtl").read_bytes() == (
        first.parent / "arm_meshes" / "colours.mtl"
    ).read_bytes()
    export_file(second, [], third, ModelFormat.MJCF)
    ours, theirs = build(find_model("lr_mate_200id")[1]).compile(), mujoco.MjModel.from_xml_path(str(third))
    assert theirs.body_mass.sum() == pytest.approx(ours.body_mass.sum(), abs=1e-9)
    assert np.array_equal(theirs.jnt_range, ours.jnt_range)
    export_file(third, [], fourth, ModelFormat.URDF)
    back = read(fourth)
    efforts = [joint.limits.effort for joint in back.joints if joint.limits.lower is not None]
    assert efforts == [joint.effort_limit_nm for joint in ROBOTS.get("lr_mate_200id").joints]


def test_file_is_not_written_over_itself(tmp_path):
    path = tmp_path / "a.urdf"
    path.write_text("<robot name='a'><link name='b'/></robot>")
    with pytest.raises(BadInput, match="would be written over itself"):
        export_file(path, [], path, ModelFormat.URDF)
    assert path.read_text().startswith("<robot")


@pytest.mark.parametrize("form", [ModelFormat.URDF, ModelFormat.SDF])
@pytest.mark.parametrize("name", ["ur5", pytest.param("sia20f", marks=pytest.mark.slow)])
def test_arm_comes_back_as_an_arm(name, form, tmp_path):
    arm = ROBOTS.get(name)
    export_spec(build(arm), tmp_path / f"x.{form}", form, name=name, fastened=True)
    back = import_figures("x", ModelSettings(file=f"x.{form}", tip="flange"), tmp_path, "arm")
    for ours, theirs in zip(arm.joints, back.joints, strict=True):
        assert theirs.position_limits_rad == ours.position_limits_rad
        assert theirs.velocity_limit_radps == ours.velocity_limit_radps
        assert theirs.effort_limit_nm == ours.effort_limit_nm
    for ours, theirs in zip(arm.links, back.links, strict=True):
        assert theirs.mass_kg == pytest.approx(ours.mass_kg, abs=1e-9)
    mine, read = ArmKinematics(arm), ArmKinematics(back)
    rng = np.random.default_rng(3)
    for joints in rng.uniform(mine.lower_rad, mine.upper_rad, (20, len(arm.joints))):
        assert mine.forward(joints).is_close(read.forward(joints))
    assert describe(back.spec, name="x").model().link("link_2").inertial is not None


def test_urdf_of_a_cell_becomes_a_world(tmp_path, kinematics):
    ball = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    links = "".join(f"<link name='{name}'>{ball}</link>" for name in ("table", "base", "arm", "cup"))
    joint = "<joint name='{0}_{1}' type='{1}'><parent link='{2}'/><child link='{0}'/><origin xyz='{3}'/>{4}</joint>"
    joints = joint.format("table", "fixed", "world", "1 2 0", "") + joint.format("base", "fixed", "world", "0 1 0", "")
    joints += joint.format("arm", "continuous", "base", "0 0 1", "<axis xyz='0 0 1'/>")
    joints += joint.format("cup", "floating", "world", "3 0 1", "")
    (tmp_path / "cell.urdf").write_text(f"<robot name='cell'><link name='world'/>{links}{joints}</robot>")
    export_file(tmp_path / "cell.urdf", [], tmp_path / "cell.sdf", ModelFormat.SDF)
    world = read_description(tmp_path / "cell.sdf", [], Notes())
    assert {p.model.name: p.model.static for p in world.models} == {"table": True, "base": False, "cup": False}
    found = {}
    for placed in world.models:
        poses = kinematics(placed.model, {"arm_continuous": 0.5})
        found |= {link: (placed.pose @ pose).position.tolist() for link, pose in poses.items()}
    assert found == {"table": [1, 2, 0], "base": [0, 1, 0], "arm": [0, 1, 1], "cup": [3, 0, 1]}
    assert [j.parent for p in world.models for j in p.model.joints] == ["world", "base"]  # the arm stays fastened
