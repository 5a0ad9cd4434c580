"""Files that are wrong: one clear line each; an error when nothing usable remains, otherwise a note."""

from __future__ import annotations

import gzip

import pytest

from cellwright.core.errors import BadInput
from cellwright.models.description import JointKind
from cellwright.models.importing import Notes, read_description

LINKS = '<link name="a"/><link name="b"/>'
BOX = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
JOINT = '<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{inside}</joint>'


def read(tmp_path, text, name="robot.urdf"):
    file = tmp_path / name
    file.write_text(text)
    notes = Notes()
    world = read_description(file, [], notes)
    return world.models[0].model, notes


ERRORS = {
    "empty": ("", "is empty"),
    "no_xml": ("hello", "robot.urdf:1: is not well-formed XML"),
    "cut_off": ('<robot name="r"><link name="a">', "not well-formed XML"),
    "other": ("<html/>", "is neither URDF"),
    "doctype": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r">&x;</robot>', "document type"),
    "no_link": ('<robot name="r"/>', "robot 'r' has no <link>"),
    "nameless_link": ('<robot name="r"><link/></robot>', "<link> has no name"),
    "cycle": (
        f'<robot name="r">{LINKS}'
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
        "its joints run in a circle",
    ),
    "xacro": (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="x"/></robot>',
        "holds <xacro:include>",
    ),
    "expression": (
        '<robot name="r"><link name="a"><visual><origin xyz="${x} 0 0"/><geometry><sphere radius="1"/></geometry>'
        "</visual></link></robot>",
        "that is xacro",
    ),
    "two_numbers": (
        '<robot name="r"><link name="a"><visual><origin xyz="1 2"/><geometry><sphere radius="1"/></geometry></visual>'
        "</link></robot>",
        "has 2 numbers, 3 are needed",
    ),
    "infinite": (
        '<robot name="r"><link name="a"><visual><origin xyz="inf 0 0"/><geometry><sphere radius="1"/></geometry>'
        "</visual></link></robot>",
        "not finite",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_one_line_when_nothing_usable_remains(tmp_path, case):
    text, words = ERRORS[case]
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert words in message
    assert "robot.urdf" in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


NOTED = {
    "two_limits": (
        LINKS + JOINT.format(kind="revolute", inside='<limit lower="-1" upper="1"/><limit lower="-2" upper="2"/>'),
        "changed",
        "has 2 <limit>; the first is used",
    ),
    "limits_swapped": (
        LINKS + JOINT.format(kind="revolute", inside='<limit lower="1" upper="-1"/>'),
        "changed",
        "lower 1 is above upper -1",
    ),
    "limit_no_number": (
        LINKS + JOINT.format(kind="revolute", inside='<limit lower="-1.57." upper="1"/>'),
        "changed",
        "'-1.57.' is not made of numbers",
    ),
    "unknown_type": (LINKS + JOINT.format(kind="bendy", inside=""), "changed", "unknown type 'bendy'"),
    "no_axis": (LINKS + JOINT.format(kind="revolute", inside='<axis xyz="0 0 0"/>'), "changed", "without direction"),
    "long_axis": (LINKS + JOINT.format(kind="continuous", inside='<axis xyz="0 0 2"/>'), "changed", "the length 2"),
    "duplicate_link": (LINKS + '<link name="b"/>' + JOINT.format(kind="fixed", inside=""), "dropped", "used twice"),
    "missing_parent": (
        '<link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>',
        "dropped",
        "link 'a' does not exist",
    ),
    "two_roots": (LINKS, "dropped", "a second root"),
    "two_parents": (
        LINKS
        + '<link name="c"/>'
        + JOINT.format(kind="fixed", inside="")
        + '<joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint>'
        + '<joint name="l" type="fixed"><parent link="c"/><child link="b"/></joint>',
        "dropped",
        "hangs on joint 'j' already",
    ),
    "mimic_nobody": (
        LINKS + JOINT.format(kind="revolute", inside='<limit lower="-1" upper="1"/><mimic joint="x"/>'),
        "dropped",
        "does not exist",
    ),
    "empty_geometry": ('<link name="a"><visual><geometry/></visual></link>', "dropped", "has no geometry"),
    "no_extent": (
        '<link name="a"><visual><geometry><sphere radius="0"/></geometry></visual></link>',
        "dropped",
        "has no extent",
    ),
    "strange_geometry": (
        '<link name="a"><visual><geometry><torus/></geometry></visual></link>',
        "dropped",
        "unknown geometry <torus>",
    ),
    "missing_mesh": (
        '<link name="a"><visual><geometry><mesh filename="package://no/x.stl"/></geometry></visual></link>',
        "dropped",
        "package://no/x.stl not found",
    ),
    "mesh_on_the_web": (
        '<link name="a"><visual><geometry><mesh filename="http://a.b/x.stl"/></geometry></visual></link>',
        "dropped",
        "is not fetched from the network",
    ),
    "scaled_to_nothing": (
        '<link name="a"><visual><geometry><mesh filename="x.stl" scale="1 1 0"/></geometry></visual></link>',
        "changed",
        "scale '1 1 0' leaves nothing of it",
    ),
    "surface": (
        f'<link name="a">{BOX.replace("</collision>", "<surface/></collision>")}</link>',
        "dropped",
        "<surface> in <collision> of link 'a' is not used",
    ),
    "calibration": (
        LINKS
        + '<link name="c"/>'
        + JOINT.format(kind="fixed", inside="<calibration/>")
        + '<joint name="k" type="fixed"><parent link="b"/><child link="c"/><calibration/></joint>',
        "dropped",
        "<calibration> in 2 joints is not used",
    ),
    "old_xacro": (
        LINKS + JOINT.format(kind="fixed", inside='<insert_block name="origin"/>'),
        "dropped",
        "is xacro without its prefix",
    ),
    "picture": (
        '<link name="a"/><material name="m"><texture filename="gone.png"/></material>',
        "dropped",
        "picture gone.png of material 'm'",
    ),
    "gazebo": ('<link name="a"/><gazebo reference="a"/>', "dropped", "1 x <gazebo>"),
    "slash": ('<link name="arm/a"/>', "changed", "a slash parts robots from links"),
}


@pytest.mark.parametrize("case", NOTED)
def test_one_note_for_what_can_be_mended(tmp_path, case):
    text, kind, words = NOTED[case]
    _, notes = read(tmp_path, f'<robot name="r">{text}</robot>')
    assert [note.kind for note in notes if words in note.what] == [kind]


def test_joints_of_one_name_are_both_kept(tmp_path):
    text = LINKS + '<link name="c"/>' + JOINT.format(kind="fixed", inside="")
    text += '<joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint>'
    model, notes = read(tmp_path, f'<robot name="r">{text}</robot>')
    assert [joint.name for joint in model.joints] == ["j", "j_2"]
    assert len(notes) == 1


def test_an_unknown_type_is_fixed_and_a_circle_of_mimics_is_cut(tmp_path):
    model, _ = read(tmp_path, f'<robot name="r">{LINKS}{JOINT.format(kind="bendy", inside="")}</robot>')
    assert model.joints[0].kind is JointKind.FIXED
    inside = '<limit lower="-1" upper="1"/><mimic joint="{0}"/>'
    text = LINKS + '<link name="c"/>' + JOINT.format(kind="revolute", inside=inside.format("k"))
    text += '<joint name="k" type="revolute"><parent link="b"/><child link="c"/>' + inside.format("j") + "</joint>"
    model, notes = read(tmp_path, f'<robot name="r">{text}</robot>')
    assert sum(joint.mimic is not None for joint in model.joints) < 2
    assert any("circle" in note.what for note in notes)


def test_a_folder_an_archive_and_a_tower_of_links_are_one_line_each(tmp_path):
    with pytest.raises(BadInput, match="is a folder; name the file in it"):
        read_description(tmp_path, [], Notes())
    (tmp_path / "robot.urdf.gz").write_bytes(gzip.compress(b"<robot/>")[:20])
    with pytest.raises(BadInput, match="is compressed by gzip"):
        read_description(tmp_path / "robot.urdf.gz", [], Notes())
    text = "".join(f'<link name="l{n}"/>' for n in range(600)) + "".join(
        f'<joint name="j{n}" type="fixed"><parent link="l{n}"/><child link="l{n + 1}"/></joint>' for n in range(599)
    )
    with pytest.raises(BadInput, match="hang on each other more than 500 deep"):
        read(tmp_path, f'<robot name="r">{text}</robot>')


def test_a_thing_of_which_nothing_is_left_is_an_error(tmp_path, load):
    (tmp_path / "robot.urdf").write_text(
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="x.stl"/></geometry></visual></link></robot>'
    )
    with pytest.raises(BadInput, match=r"can be seen or touched \(robot.urdf:1: .*mesh x.stl not found"):
        load(tmp_path / "robot.urdf")


def test_a_gigantic_file_is_refused(tmp_path, monkeypatch):
    from cellwright.models.importing import xml

    monkeypatch.setattr(xml, "MAX_BYTES", 100)
    with pytest.raises(BadInput, match="allowed are 100"):
        read(tmp_path, f'<robot name="r">{LINKS}{" " * 100}</robot>')


def test_numbers_beyond_all_measure_are_no_limits(tmp_path):
    inside = '<limit lower="-1e16" upper="1e16" effort="1e16" velocity="-1"/>'
    model, _ = read(tmp_path, f'<robot name="r">{LINKS}{JOINT.format(kind="revolute", inside=inside)}</robot>')
    assert vars(model.joints[0].limits) == {"lower": None, "upper": None, "velocity": None, "effort": None}


@pytest.mark.parametrize("text", ["<sdf version='1.7'/>", "<sdf version='1.7'><model name='m'/></sdf>", "<mujoco/>"])
def test_sdf_and_mjcf_without_content_are_errors(tmp_path, load, text):
    file = tmp_path / "thing.sdf"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"thing\.sdf"):
        load(file)


def test_a_mechanism_that_is_no_arm_says_why(tmp_path, load):
    link = '<link name="{0}">' + BOX + "</link>"
    file = tmp_path / "slide.urdf"
    file.write_text(
        '<robot name="r">'
        + link.format("a")
        + link.format("b")
        + JOINT.format(kind="prismatic", inside="")
        + "</robot>"
    )
    with pytest.raises(BadInput, match="joint 'j' is prismatic, and arms have revolute joints"):
        load(file, "arm", tip="b")
    file.write_text('<robot name="r">' + link.format("a") + "</robot>")
    with pytest.raises(BadInput, match="no joint moves 'a'"):
        load(file, "arm")


def robot(*joints, tail=""):
    """A chain of boxes, half a metre from each to the next, by joints of these kinds."""
    text = "".join(f'<link name="l{n}">{BOX}</link>' for n in range(len(joints) + 1))
    for n, kind in enumerate(joints):
        text += f'<joint name="j{n}" type="{kind}"><parent link="l{n}"/><child link="l{n + 1}"/>'
        text += f'<origin xyz="0 0 0.5"/><axis xyz="{n % 2} {1 - n % 2} 0"/>'
        text += '<limit lower="-1" upper="1" effort="500" velocity="1"/></joint>'
    return f'<robot name="r">{text}{tail}</robot>'


def test_robots_with_sliding_joints_are_refused_and_arms_on_rails_stand_still(tmp_path, load):
    file = tmp_path / "scara.urdf"
    for kinds, joint in (
        (["revolute", "revolute", "prismatic", "revolute"], "j2"),
        (["prismatic"] * 3 + ["revolute"], "j0"),
    ):
        file.write_text(robot(*kinds))
        for kind in (None, "arm"):
            with pytest.raises(BadInput, match=f"joint '{joint}' is prismatic, .* --kind fixture takes all of it"):
                load(file, kind)
        assert load(file, "fixture").title == "r"
    file.write_text(robot("prismatic", "revolute", "revolute", "revolute"))
    arm = load(file)
    assert [joint.name for joint in arm.joints] == ["j1", "j2", "j3"]
    assert any((note.kind, note.where) == ("dropped", "joint j0") for note in arm.notes)


def test_of_two_arms_one_must_be_named(tmp_path, load):
    other = robot("revolute", "revolute", "revolute").partition(">")[2].removesuffix("</robot>")
    other = other.replace('"l', '"r').replace('"j', '"k')
    tail = other + '<joint name="m" type="fixed"><parent link="l0"/><child link="r0"/></joint>'
    file = tmp_path / "two.urdf"
    file.write_text(robot("revolute", "revolute", "revolute", tail=tail).replace('name="r3"', 'name="left_tool0"', 1))
    file.write_text(file.read_text().replace('child link="r3"', 'child link="left_tool0"'))
    text = (
        '<link name="world_base"/><joint name="w" type="revolute"><parent link="world_base"/><child link="l0"/></joint>'
    )
    file.write_text(file.read_text().replace("</robot>", f"{text}</robot>"))
    with pytest.raises(BadInput, match="it has 2 limbs of 3 joints or more, from 'l1', 'r1' on; --kind arm"):
        load(file)
    left = load(file, base="l0", tip="left_tool0")
    assert [joint.name for joint in left.joints] == ["k0", "k1", "k2"]
