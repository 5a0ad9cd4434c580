"""Shapes of descriptions that robot makers really write, and that were once read wrongly."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np
import pytest

from cellwright.core.errors import BadInput
from cellwright.models import build
from cellwright.models.contact_settings import GeomGroup
from cellwright.models.description import JointKind
from cellwright.models.importing import ImportedFixtureFigures, Notes, UnclearKindError, read_description
from cellwright.models.importing.kind import guess_kind

BOX = '<{}><origin xyz="0 0 0.1"/><geometry><box size="0.08 0.08 0.2"/></geometry></{}>'
COLLISION, VISUAL = BOX.format("collision", "collision"), BOX.format("visual", "visual")
INERTIAL = '<inertial><mass value="{}"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-2" upper="2" effort="{}" velocity="2"/>'


def joint(name: str, parent: str, child: str, axis: str = "0 0 1", kind: str = "revolute", more: str = "") -> str:
    limit = LIMIT.format(80) if not more and kind == "revolute" else more
    text = f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    return text + f'<origin xyz="0 0 0.2"/><axis xyz="{axis}"/>{limit}</joint>'


def chain(prefix: str, count: int, inside: str = VISUAL + COLLISION, effort: float = 80) -> str:
    """A row of links with revolute joints; the first link is `<prefix>0`."""
    text = "".join(f'<link name="{prefix}{n}">{inside}</link>' for n in range(count + 1))
    for n in range(count):
        axis = ("0 0 1", "0 1 0", "1 0 0")[n % 3]
        text += joint(f"{prefix}j{n + 1}", f"{prefix}{n}", f"{prefix}{n + 1}", axis, more=LIMIT.format(effort))
    return text


def write(folder, text: str, name: str = "robot.urdf"):
    (folder / name).write_text(text if text.startswith("<sdf") else f'<robot name="maker">{text}</robot>')
    return folder / name


def pairs(figures) -> set[frozenset[str]]:
    return {frozenset((pair.bodyname1, pair.bodyname2)) for pair in figures.spec.excludes}


# --- names --------------------------------------------------------------------------------------------------------

SRDF = """<robot name="maker"><virtual_joint name="v" type="fixed" parent_frame="world" child_link="link0"/>
<group name="arm"><chain base_link="link0" tip_link="link3"/></group>
<disable_collisions link1="link0" link2="link1" reason="Adjacent"/>
<disable_collisions link1="link0" link2="link3" reason="Never"/>{}</robot>"""


def test_an_srdf_may_name_the_base_link(load, tmp_path):
    file = write(tmp_path, chain("link", 3))
    (tmp_path / "maker.srdf").write_text(SRDF.format(""))
    figures = load(file)
    assert {"link0", "link3", "flange"} <= {body.name for body in figures.spec.bodies}
    assert figures.base_body == "link0"
    assert frozenset(("link0", "link3")) in pairs(figures)
    build(figures).compile()


MJCF = """<mujoco><compiler angle="radian"/><worldbody>
<body name="{0}"><geom type="box" size=".05 .05 .05"/><body name="l1" pos="0 0 .2">
<joint name="j1" axis="0 0 1" range="-2 2"/><geom type="box" size=".03 .03 .08"/><site name="flange"/>
<body name="l2" pos="0 0 .2"><joint name="j2" axis="0 1 0" range="-2 2"/><geom type="box" size=".03 .03 .08"/>
<body name="l3" pos="0 0 .2"><joint name="j3" axis="1 0 0" range="-2 2"/><geom type="box" size=".03 .03 .08"/>
<site name="tcp"/></body></body></body></body></worldbody>
<tendon><spatial name="cable"><site site="flange"/><site site="tcp"/></spatial></tendon>
<contact><exclude body1="{0}" body2="l1"/><exclude body1="{0}" body2="l3"/></contact>
<equality><weld name="w" body1="{0}" body2="l1" active="false"/></equality></mujoco>"""


def test_a_joint_beside_the_arm_is_held_where_it_is_drawn_whatever_its_own_spring_wants(load, tmp_path):
    claw = '<body name="claw"><joint name="c" axis="0 0 1" range="-3 3" stiffness=".05" springref="2.6"/>'
    other = claw.replace('"c', '"d').replace('range="-3 3"', 'range="0.2 3"')  # drawn where it may not be
    claws = f'{claw}<geom size=".01"/></body>{other}<geom size=".01"/></body>'
    (tmp_path / "arm.xml").write_text(MJCF.format("b").replace('<site name="tcp"/>', f'<site name="tcp"/>{claws}'))
    figures = load(tmp_path / "arm.xml")
    assert len(figures.joints) == 3
    model = build(figures).compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    assert max(abs(data.joint(name).qpos[0]) for name in "cd") < 1e-3


@pytest.mark.parametrize("base", ["link0", "base", "base_link"])
def test_an_mjcf_arm_may_exclude_weld_and_tie_what_it_calls_by_name(load, tmp_path, base):
    (tmp_path / "arm.xml").write_text(MJCF.format(base))
    figures = load(tmp_path / "arm.xml")
    assert figures.base_body == base
    assert figures.flange_body == "cellwright_flange"  # the file has a flange of its own
    assert {frozenset((base, "l1")), frozenset((base, "l3"))} <= pairs(figures)
    model = build(figures).compile()
    assert (model.ntendon, model.neq) == (1, 1)


def test_an_arm_of_any_base_name_stands_in_a_cell(own_models, tmp_path):
    from cellwright.cells import load_cell
    from cellwright.sim import World

    (tmp_path / "arm.xml").write_text(MJCF.format("pedestal"))
    text = "name: mine\ntitle: t\nmodels: {theirs: {file: arm.xml, home_rad: [0.3, -0.4, 0.5]}}\n"
    (tmp_path / "cell.yaml").write_text(text + "robots: {r: {model: theirs, base: {xyz_m: [1, 2, 0.5]}}}\n")
    world = World(load_cell(tmp_path / "cell.yaml"), 0)
    index = world.robots["r"]
    assert world.model.body(index.base_body).name == "r/pedestal"
    np.testing.assert_allclose(world.data.xpos[index.base_body], [1, 2, 0.5])
    np.testing.assert_allclose(world.data.qpos[index.qpos], [0.3, -0.4, 0.5], atol=1e-3)  # the figures' home


def test_what_follows_an_arm_s_joint_starts_where_the_home_puts_it(own_models, tmp_path):
    from cellwright.cells import load_cell
    from cellwright.sim import World

    text = chain("link", 3) + f'<link name="rod">{VISUAL}{INERTIAL.format(1)}</link>'
    write(
        tmp_path, text + joint("rodj", "link1", "rod", "0 1 0", "continuous", '<mimic joint="linkj2" multiplier="-2"/>')
    )
    cell = "name: c\ntitle: t\nmodels: {a: {file: robot.urdf, home_rad: [0.1, 0.4, 0.2]}}\n"
    (tmp_path / "cell.yaml").write_text(cell + "robots: {r: {model: a, base: {xyz_m: [0, 0, 0]}}}\nsettle_s: 0\n")
    world = World(load_cell(tmp_path / "cell.yaml"), 0)
    assert world.data.joint("r/rodj").qpos[0] == pytest.approx(-0.8, abs=1e-6)


def test_a_guessed_home_is_clear_of_what_the_arm_stands_on(load, tmp_path):
    squat = chain("link", 4).replace('<origin xyz="0 0 0.2"/>', '<origin xyz="0 0 0.1"/>')
    figures = load(write(tmp_path, squat))
    model = build(figures).compile()
    data = mujoco.MjData(model)
    for j, angle in zip(figures.joints, figures.home_rad, strict=True):
        data.joint(j.name).qpos[0] = angle
    mujoco.mj_kinematics(model, data)
    moving = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] and model.geom_contype[g]]
    heights = [data.geom_xpos[g, 2] - np.abs(data.geom_xmat[g].reshape(3, 3)[2]) @ model.geom_size[g] for g in moving]
    assert min(heights) > 0.009


def test_a_home_outside_the_limits_is_told_of_the_figures(load, tmp_path):
    (tmp_path / "arm.xml").write_text(MJCF.format("b"))
    with pytest.raises(BadInput, match="home_rad: j2 at 45 rad is outside -2 to 2 rad"):
        load(tmp_path / "arm.xml", home_rad=(0.0, 45.0, 0.0))


def test_an_srdf_that_names_unknown_links_and_joints_is_noted(load, tmp_path):
    file = write(tmp_path, chain("link", 3))
    more = '<disable_collisions link1="link1" link2="hand"/><disable_collisions link1="hand" link2="finger"/>'
    more += '<end_effector name="e" parent_link="palm"/><passive_joint name="wheel"/><group_state name="home" '
    more += 'group="arm"><joint name="nowhere" value="1"/><joint name="linkj2" value="0.4"/></group_state>'
    srdf = tmp_path / "maker.srdf"
    srdf.write_text(SRDF.format(more))
    found = {note.what for note in load(file).notes if note.where == "SRDF"}
    assert any("links that it has not (finger, hand): not used; --srdf" in what for what in found)
    notes = [note.what for note in load(file, srdf=str(srdf)).notes if "maker.srdf" in note.where]
    for words in (
        "<disable_collisions>: unknown links 'hand', 'finger'",
        "<end_effector>: link 'palm' does not exist",
        "<passive_joint>: joint 'wheel' does not exist",
        "<group_state/joint>: joint 'nowhere' does not exist",
    ):
        assert words in notes


def test_an_srdf_names_links_with_slashes_as_the_urdf_does(load, tmp_path):
    file = write(tmp_path, chain("left/link", 3))
    (tmp_path / "maker.srdf").write_text(SRDF.format("").replace("link0", "left/link0").replace('"link', '"left/link'))
    assert frozenset(("left_link0", "left_link3")) in pairs(load(file))


# --- masses and drives --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("doubled", [True, False])
def test_links_of_collision_shapes_alone_are_neither_weighed_nor_drawn(load, tmp_path, doubled):
    text = chain("link", 3, VISUAL + COLLISION * doubled + INERTIAL.format(2))
    for n in range(4):
        text += f'<link name="link{n}_sc">{COLLISION.replace("0.08 0.08", "0.3 0.3")}</link>'
        text += joint(f"sc{n}", f"link{n}", f"link{n}_sc", kind="fixed")
    figures = load(write(tmp_path, text))
    assert figures.mass_kg == pytest.approx(8)
    model = build(figures).compile()
    rough = model.body("link2_sc")
    own = range(int(rough.geomadr[0]), int(rough.geomadr[0] + rough.geomnum[0]))
    groups = [int(model.geom_group[geom]) for geom in own]
    assert groups == ([] if doubled else [GeomGroup.COLLISION])  # its neighbour is touched, or it is; it is never seen
    noted = next(note.what for note in figures.notes if "link0_sc" in note.where)
    assert ("neither weighed nor drawn, nor touched" in noted) is doubled


def test_an_arm_with_rough_shapes_that_reach_below_its_base_stands_on_a_floor(own_models, tmp_path):
    from cellwright.cells import load_cell
    from cellwright.sim import World

    text = chain("link", 3) + f'<link name="link1_sc">{COLLISION.replace("0.08 0.2", "0.08 0.9")}</link>'
    write(tmp_path, text + joint("sc", "link1", "link1_sc", kind="fixed"))
    cell = "name: c\ntitle: t\nmodels: {a: {file: robot.urdf}}\nrobots: {r: {model: a, base: {xyz_m: [0, 0, 0]}}}\n"
    (tmp_path / "cell.yaml").write_text(cell + "fixtures: {floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}}\n")
    World(load_cell(tmp_path / "cell.yaml"), 0)


def test_a_robot_of_collision_shapes_alone_is_weighed_and_drawn(load, tmp_path):
    figures = load(write(tmp_path, chain("link", 3, COLLISION)))
    assert figures.mass_kg == pytest.approx(4 * 0.08 * 0.08 * 0.2 * 1000)
    assert any("drawn as what is touched" in note.what for note in figures.notes)


def test_a_guessed_payload_yields_to_the_efforts_of_a_file_that_gives_masses(load, tmp_path):
    heavy = VISUAL + COLLISION + INERTIAL.format(10)
    strong = load(write(tmp_path, chain("link", 3, heavy, 200)))
    assert strong.payload_kg == pytest.approx(0.15 * 30)
    weak = load(write(tmp_path, chain("link", 3, heavy, 28)))
    assert [j.effort_limit_nm for j in weak.joints] == [28] * 3
    assert weak.mass_kg == pytest.approx(40)
    assert weak.payload_kg < 3
    assert "carries no more" in next(note.what for note in weak.notes if note.where == "payload")
    feeble = load(write(tmp_path, chain("link", 3, heavy, 3)))
    assert [j.effort_limit_nm for j in feeble.joints] == [3] * 3
    assert any("does not carry what hangs on it" in note.what for note in feeble.notes)


# --- joints -------------------------------------------------------------------------------------------------------


def sdf(links: Iterable[str], joints: Iterable[tuple[str, str, str]], version: str = "1.4", static: str = "") -> str:
    text = "".join(
        f'<link name="{name}"><pose>0 0 {0.2 * n} 0 0 0</pose><collision name="c"><geometry><box><size>.1 .1 .1</size>'
        f"</box></geometry></collision></link>"
        for n, name in enumerate(links)
    )
    for name, parent, child in joints:
        text += f'<joint name="{name}" type="revolute"><parent>{parent}</parent><child>{child}</child><axis>'
        text += "<xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>"
    return f'<sdf version="{version}"><model name="m">{static}{text}</model></sdf>'


@pytest.mark.parametrize("version", ["1.4", "1.7"])
def test_sdf_joints_that_are_called_like_links_are_renamed_as_libsdformat_does(tmp_path, version):
    links = ["base", "l1", "l2", "l3", "l3_joint"]
    joints = [("l1", "base", "l1"), ("l2", "l1", "l2"), ("l3", "l2", "l3"), ("l2", "l3", "l3_joint")]
    file = write(tmp_path, sdf(links, joints, version), "m.sdf")
    notes = Notes()
    world = read_description(file, [], notes)
    assert world is not None
    model = world.models[0].model
    assert [j.name for j in model.joints] == ["l1_joint", "l2_joint", "l3_joint0", "l2_joint0"]
    assert [(j.parent, j.child) for j in model.joints] == [(parent, child) for _, parent, child in joints]
    assert sum("the name is taken; it is called" in note.what for note in notes) == 4


def test_a_mimic_still_finds_a_joint_that_was_renamed(tmp_path):
    text = sdf(["base", "l1", "l2"], [("l1", "base", "l1"), ("l2", "base", "l2")])
    text = text.replace("</limit></axis></joint></model>", '</limit><mimic joint="l1"/></axis></joint></model>')
    world = read_description(write(tmp_path, text, "m.sdf"), [], Notes())
    assert world is not None
    mimic = world.models[0].model.joints[1].mimic
    assert mimic is not None
    assert mimic.joint == "l1_joint"


@pytest.mark.parametrize("at", [0.0, 0.5])
def test_limits_that_leave_no_way_fix_a_joint_there_in_urdf_and_sdf(tmp_path, at):
    limit = f'<limit lower="{at}" upper="{at}" effort="1" velocity="1"/>'
    still = '<link name="a"/><link name="b"/>' + joint("j", "a", "b", "0 1 0", more=limit)
    other = sdf(["a", "b"], [("j", "a", "b")]).replace("<lower>-1</lower><upper>1<", f"<lower>{at}</lower><upper>{at}<")
    for file in (write(tmp_path, still), write(tmp_path, other, "m.sdf")):
        notes = Notes()
        world = read_description(file, [], notes)
        assert world is not None
        (fixed,) = world.models[0].model.joints
        assert fixed.kind is JointKind.FIXED
        np.testing.assert_allclose(fixed.pose.position, [0, 0, 0.2], atol=1e-12)
        assert fixed.pose.rpy[1] == pytest.approx(at)
        assert [note.what for note in notes if note.where == "joint j"] == [
            f"its limits leave no way: it is fixed at {at:g}"
        ]


def test_what_follows_a_fixed_joint_is_fixed_and_a_slide_stands_where_its_limits_are(tmp_path):
    text = '<link name="a"/><link name="b"/><link name="c"/>'
    text += joint("j", "a", "b", "0 0 1", "prismatic", '<limit lower="0.3" upper="0.3" effort="1" velocity="1"/>')
    text += joint("k", "b", "c", "0 1 0", "revolute", '<limit lower="0" upper="1"/><mimic joint="j" multiplier="2"/>')
    world = read_description(write(tmp_path, text), [], Notes())
    assert world is not None
    slide, follower = world.models[0].model.joints
    assert (slide.kind, follower.kind) == (JointKind.FIXED, JointKind.FIXED)
    np.testing.assert_allclose(slide.pose.position, [0, 0, 0.5], atol=1e-12)
    assert follower.pose.rpy[1] == pytest.approx(0.6)


def test_a_six_axis_arm_with_a_seventh_joint_without_way_has_six(load, tmp_path):
    text = chain("link", 6) + f'<link name="tool">{VISUAL}</link>'
    text += joint("lock", "link6", "tool", more='<limit lower="0" upper="0" effort="0" velocity="0"/>')
    assert len(load(write(tmp_path, text)).joints) == 6


# --- kinds --------------------------------------------------------------------------------------------------------


def limbs(*counts: int, kind: str = "revolute") -> str:
    """Limbs on one palm, each with so many joints."""
    text = f'<link name="palm">{COLLISION}</link>'
    for number, count in enumerate(counts):
        more = "" if kind == "revolute" else '<limit effort="1" velocity="1"/>'
        text += chain(f"f{number}_", count - 1, COLLISION)
        text += joint(f"root{number}", "palm", f"f{number}_0", "1 0 0", kind, more)
    return text


UNCLEAR = {
    "three-finger hand": (limbs(4, 4, 3), "it has 3 limbs of 3 joints or more, from 'f0_0', 'f1_0', 'f2_0' on"),
    "dual-arm": (limbs(7, 7, 2), "it has 2 limbs of 3 joints or more"),
    "tricycle": (limbs(1, 1, 1, kind="continuous"), "nothing limits the turning of root0, root1, root2"),
    "arm on wheels": (limbs(6, 1, 1, 1), "beside a chain of 6 joints it has 3 more, from 'f1_0', 'f2_0', 'f3_0' on"),
    "door": (limbs(1), "neither an arm nor a gripper"),
}


@pytest.mark.parametrize("case", UNCLEAR)
def test_what_is_not_clearly_one_kind_is_refused_with_the_choices(load, tmp_path, case):
    text, why = UNCLEAR[case]
    file = write(tmp_path, text)
    with pytest.raises(UnclearKindError) as refused:
        load(file)
    line = str(refused.value)
    assert why in line
    assert "--kind arm, tool, part or fixture says it" in line
    assert "\n" not in line
    assert isinstance(load(file, "fixture"), ImportedFixtureFigures)


def test_an_arm_may_have_a_head_and_a_hand(load, tmp_path):
    hand = '<link name="left"/><link name="right"/>' + joint("jl", "f0_5", "left") + joint("jr", "f0_5", "right")
    figures = load(write(tmp_path, limbs(6, 1) + hand))
    assert [j.name for j in figures.joints] == ["root0", *(f"f0_j{n}" for n in range(1, 6))]


def test_one_of_two_arms_may_be_named(load, tmp_path):
    left = load(write(tmp_path, limbs(7, 7)), base="palm", tip="f0_6")
    assert len(left.joints) == 7
    with pytest.raises(BadInput, match="unknown link"):
        load(tmp_path / "robot.urdf", tip="f9_6")


def test_a_loose_sdf_object_that_becomes_a_fixture_is_noted(load, tmp_path):
    loose = load(write(tmp_path, sdf(["can"], []), "can.sdf"))
    assert isinstance(loose, ImportedFixtureFigures)
    assert "loose in the file: it stands fast here; --kind part" in next(n.what for n in loose.notes if n.where == "m")
    fast = load(write(tmp_path, sdf(["can"], [], static="<static>true</static>"), "can.sdf"))
    assert not any("loose" in note.what for note in fast.notes)
    (tmp_path / "can.xml").write_text(
        "<mujoco><worldbody><body name='c'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    assert any("loose in the file" in note.what and note.where == "c" for note in load(tmp_path / "can.xml").notes)
    part = load(tmp_path / "can.sdf", "part")
    assert not any("loose" in note.what for note in part.notes)


def test_a_robot_is_never_called_a_fixture_by_itself(tmp_path):
    from cellwright.catalogue.model_settings import ModelSettings
    from cellwright.models.importing.source import read_source

    for text, _ in UNCLEAR.values():
        file = write(tmp_path, text)
        source = read_source(file, ModelSettings(file=str(file)), [], Notes())
        try:
            assert guess_kind(source) == "tool"  # a door: what becomes of it shows when it is made
        except UnclearKindError:
            continue


# --- units --------------------------------------------------------------------------------------------------------


def test_limits_in_degrees_and_sizes_in_millimetres_are_noted(load, tmp_path):
    text = chain("link", 3).replace('lower="-2" upper="2"', 'lower="-170" upper="170"').replace('y="2"', 'y="180"')
    notes = {note.where: note.what for note in load(write(tmp_path, text)).notes}
    assert notes["joints linkj1, linkj2, linkj3"].endswith("degrees may be meant; taken as written")
    text = chain("link", 3).replace('xyz="0 0 0.2"', 'xyz="0 0 200"')
    notes = {note.where: note.what for note in load(write(tmp_path, text)).notes}
    assert "600.2 m from end to end; millimetres may be meant" in notes["size"]
    plain = [note.what for note in load(write(tmp_path, chain("link", 3))).notes]
    assert not any("may be meant" in what for what in plain)


def test_bad_mechanisms_are_one_line(load, tmp_path):
    (tmp_path / "arm.xml").write_text(MJCF.format("b").replace('range="-2 2"', 'range="-2 2" limited="maybe"', 1))
    with pytest.raises(BadInput, match=r"arm\.xml: is no MJCF file"):
        load(tmp_path / "arm.xml")


def test_an_arm_is_not_chosen_among_several_even_where_the_file_is_said_to_be_one(load, tmp_path):
    for counts in ((7, 7), (7, 6)):
        with pytest.raises(BadInput, match="has 2 limbs of 3 joints or more, from 'f0_0', 'f1_0' on; --tip names"):
            load(write(tmp_path, limbs(*counts)), "arm")
    assert len(load(tmp_path / "robot.urdf", "arm", tip="f1_5").joints) == 6
    assert len(load(write(tmp_path, limbs(6, 1, 1, 1)), "arm").joints) == 6


HAND_WORDS = (
    "nothing couples .*, which move a finger each; a gripper has one drive that its other joints follow "
    r"\(mimic\), or two fingers of the same travel"
)


def fingers(form: str, count: int, mimic: bool = False, upper: float = 0.03) -> str:
    """A palm with fingers that slide inwards, each by itself or after the first; the last by its own travel."""
    ends = [0.03] * (count - 1) + [upper]
    text = ""
    for n in range(count):
        x, y = 0.05 * np.cos(2 * np.pi * n / count), 0.05 * np.sin(2 * np.pi * n / count)
        axis = f"{-x / 0.05:.6f} {-y / 0.05:.6f} 0"
        follow = '<mimic joint="slide0"/>' if mimic and n else ""
        if form == "urdf":
            text += f'<link name="finger{n}"><collision><geometry><box size="0.01 0.01 0.06"/></geometry></collision>'
            text += f'</link><joint name="slide{n}" type="prismatic"><parent link="palm"/><child link="finger{n}"/>'
            text += f'<origin xyz="{x} {y} 0.06"/><axis xyz="{axis}"/>{follow}'
            text += f'<limit lower="0" upper="{ends[n]}" effort="20" velocity="0.1"/></joint>'
        elif form == "sdf":
            text += f"<link name='finger{n}'><pose>{x} {y} 0.06 0 0 0</pose><collision name='c'><geometry><box>"
            text += f"<size>0.01 0.01 0.06</size></box></geometry></collision></link><joint name='slide{n}' "
            text += f"type='prismatic'><parent>palm</parent><child>finger{n}</child><axis><xyz>{axis}</xyz><limit>"
            text += f"<lower>0</lower><upper>{ends[n]}</upper><effort>20</effort></limit></axis></joint>"
        else:
            text += f'<body name="finger{n}" pos="{x} {y} 0.06"><joint name="slide{n}" type="slide" axis="{axis}" '
            text += f'range="0 {ends[n]}"/><geom type="box" size="0.005 0.005 0.03"/></body>'
    box = "<geometry><box size='0.1 0.1 0.04'/></geometry>"
    if form == "urdf":
        return f'<robot name="h"><link name="palm"><collision>{box}</collision></link>{text}</robot>'
    if form == "sdf":
        palm = "<collision name='c'><geometry><box><size>.1 .1 .04</size></box></geometry></collision>"
        return f"<sdf version='1.7'><model name='h'><link name='palm'>{palm}</link>{text}</model></sdf>"
    drives = "".join(f'<motor joint="slide{n}"/>' for n in range(count))
    palm = '<body name="palm"><geom type="box" size=".05 .05 .02"/>'
    return f"<mujoco><worldbody>{palm}{text}</body></worldbody><actuator>{drives}</actuator></mujoco>"


@pytest.mark.parametrize("base", ["", "palm"])
@pytest.mark.parametrize("form", ["urdf", "sdf", "xml"])
def test_a_hand_whose_fingers_have_drives_of_their_own_is_no_gripper(load, tmp_path, form, base):
    file = tmp_path / f"hand.{form}"
    file.write_text(fingers(form, 3))
    for kind, error in ((None, UnclearKindError), ("tool", BadInput)):
        with pytest.raises(error, match=HAND_WORDS) as refused:
            load(file, kind, base=base)
        assert "\n" not in str(refused.value)
    file.write_text(fingers(form, 2, upper=0.01))
    with pytest.raises(BadInput, match=HAND_WORDS):
        load(file, "tool", base=base)
    file.write_text(fingers(form, 2))
    assert load(file, "tool", base=base).open_m == pytest.approx(0.045, abs=1e-4)
    if form == "urdf":
        file.write_text(fingers(form, 3, mimic=True))
        assert any(note.where == "fingers" for note in load(file, base=base).notes)


@pytest.mark.parametrize("kind", [None, "arm"])
def test_a_base_with_several_limbs_does_not_choose_one_of_them(load, tmp_path, kind):
    """A hand of three fingers with three joints each, from its palm on, is no arm; from a finger on it is one."""
    file = write(tmp_path, limbs(4, 4, 3))
    with pytest.raises(BadInput, match="it has 3 limbs of 3 joints or more, from 'f0_0', 'f1_0', 'f2_0' on"):
        load(file, kind, base="palm")
    assert len(load(file, kind, base="palm", tip="f1_3").joints) == 4


def test_what_carries_the_base_of_one_arm_is_not_weighed(load, tmp_path):
    """One arm of a robot with a torso: that stays as a shape, and the arm weighs what its links weigh."""
    inside = VISUAL + COLLISION + INERTIAL.format(2)
    text = f'<link name="torso">{VISUAL}{COLLISION}{INERTIAL.format(35)}</link><link name="mount"/>'
    text += joint("fixed", "torso", "mount", kind="fixed") + chain("left", 6, inside) + chain("right", 6, inside)
    text += joint("l", "mount", "left0") + joint("r", "torso", "right0")
    arm = load(write(tmp_path, text), base="mount")
    assert [joint.name for joint in arm.joints][:2] == ["l", "leftj1"]
    model = build(arm).compile()
    assert arm.mass_kg == pytest.approx(14.0)
    assert model.body_mass.sum() == pytest.approx(14.0)
    assert model.body("torso").geomnum[0] > 0
    assert [n.what for n in arm.notes if n.where == "link torso"] == [
        "carries 'mount': stands still, is seen and touched, but is not weighed"
    ]
