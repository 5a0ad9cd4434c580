"""Parts from files: what `cell check` says of a tool and a part is what happens when the tool takes it."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from cellwright.catalogue import PARTS, TOOLS, part_grasp
from cellwright.cells import load_cell
from cellwright.checks.cell import check_cell
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.models import build
from cellwright.motion import LineSpeed

pytestmark = pytest.mark.usefixtures("own_models")

LINKAGE = Path(__file__).parents[1] / "models" / "importing" / "data" / "gripper.urdf"
TABLE_M = 0.916
PLACE = Pose.from_xyz_rpy([0.3, -1.1, TABLE_M], [0.0, 0.0, 0.4])
CELL = {
    "name": "own",
    "title": "A UR5 and a part from a file",
    "robots": {
        "ur": {"model": "ur5", "base": {"xyz_m": [-0.169, -1.14, 0.934]}, "home_deg": [0, -100, 100, -90, -90, 0]}
    },
    "fixtures": {
        "floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}},
        "cart": {"model": "fanuc_cart", "pose": {"xyz_m": [0.04, -1.16, 0]}},
    },
}


def box(x_mm, y_mm, z_mm, at_mm=(0, 0, 0)):
    """A box that stands at a point."""
    return at_mm, z_mm, f'<box size="{x_mm / 1000} {y_mm / 1000} {z_mm / 1000}"/>'


def drum(radius_mm, z_mm, at_mm=(0, 0, 0)):
    return at_mm, z_mm, f'<cylinder radius="{radius_mm / 1000}" length="{z_mm / 1000}"/>'


FOOT = box(60, 40, 8)
SHAPES = {
    "stem on a foot": [FOOT, box(10, 60, 50, (0, 0, 8))],
    "angle": [FOOT, box(10, 60, 50, (-25, 0, 8))],
    "peg on a disc": [drum(30, 8), drum(5, 50, (0, 0, 8))],
    "thick stem": [FOOT, box(24, 60, 50, (0, 0, 8))],
    "flat plate": [box(16, 60, 9)],
}


def write_part(folder, solids):
    """As URDF, of several geoms."""
    shapes = "".join(
        f'<collision><origin xyz="{x / 1e3} {y / 1e3} {z / 1e3 + high / 2e3}"/><geometry>{text}</geometry></collision>'
        for (x, y, z), high, text in solids
    )
    inertial = (
        '<inertial><origin xyz="0 0 0.02"/><mass value="0.06"/><inertia ixx="3e-5" iyy="3e-5" izz="3e-5"/></inertial>'
    )
    (folder / "part.urdf").write_text(f'<robot name="part"><link name="l">{inertial}{shapes}</link></robot>')


def write_mesh(folder):
    """The stem on a foot as one outline, drawn along y: what is hollow of it is found by the import."""
    outline = [(-30, 0), (30, 0), (30, 8), (5, 8), (5, 58), (-5, 58), (-5, 8), (-30, 8)]
    flat = [(0, 1, 2), (0, 2, 7), (3, 4, 5), (3, 5, 6), (2, 3, 6), (2, 6, 7)]
    count, lines = len(outline), []
    lines += [f"v {x} {y} {z}" for y in (-20, 20) for x, z in outline]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in flat]
    lines += [f"f {c + count + 1} {b + count + 1} {a + count + 1}" for a, b, c in flat]
    for a in range(count):
        b = (a + 1) % count
        lines += [f"f {b + 1} {a + 1} {a + count + 1}", f"f {b + 1} {a + count + 1} {b + count + 1}"]
    (folder / "part.obj").write_text("\n".join(lines))


def write_cell(folder, tool, file="part.urdf", fidelity="physics"):
    model = {"file": file, "kind": "part"} | ({"units": "mm", "mass_kg": 0.06} if file.endswith("obj") else {})
    tools = {"hand": {"file": str(LINKAGE)}} if tool == "hand" else {}
    cell = CELL | {
        "fidelity": fidelity,
        "models": {"own": model} | tools,
        "robots": {"ur": CELL["robots"]["ur"] | {"tool": tool}},
        "parts": {
            "one": {
                "model": "own",
                "pose": {"xyz_m": PLACE.position.tolist(), "rpy_deg": [0, 0, float(np.degrees(0.4))]},
            }
        },
    }
    (folder / "cell.yaml").write_text(yaml.safe_dump(cell))
    return folder / "cell.yaml"


def grasp_of(file):
    return {finding.check: finding for finding in check_cell(load_cell(file))}["grasp own"]


def take(file, xyz_m=None, yaw_rad=None):
    """Takes the part as the check says, or elsewhere: the width when closed, how far it was lifted, what held it."""
    with Lab.from_cell(file) as lab:
        robot, part = lab.robot("ur"), lab.world.objects["one"].figures
        grip = part_grasp(part, lab.world.robots["ur"].gripper.figures)
        point = PLACE.apply(xyz_m or grip.xyz_m)
        turn_rad = 0.4 + (grip.yaw_rad if yaw_rad is None else yaw_rad)
        turn_rad = (turn_rad + np.pi / 2) % np.pi - np.pi / 2
        at = Pose.from_xyz_rpy(point, [np.pi, 0, turn_rad])
        above = Pose(at.position + [0, 0, 0.1], at.quaternion)
        before = lab.world.pose_of("one")

        async def work():
            await robot.gripper.open()
            await robot.move_tool(above)
            await robot.move_tool_straight(at, LineSpeed(0.1))
            width_m = await robot.gripper.close()
            await robot.move_tool_straight(above, LineSpeed(0.1))
            return width_m

        width_m = lab.perform(work())
        return width_m, float(lab.world.pose_of("one").position[2] - before.position[2]), robot.gripper.holding


TAKEN = [("stem on a foot", "robotiq_2f_85"), ("peg on a disc", "wsg_50"), ("flat plate", "hand"), ("mesh", "wsg_50")]
SLOWLY = [
    (shape, tool)
    for shape in ("stem on a foot", "angle", "peg on a disc", "flat plate", "mesh")
    for tool in ("robotiq_2f_85", "wsg_50", "aprs_fanuc_gripper", "hand")
    if (shape, tool) not in TAKEN
]
WIDTHS_M = {"flat plate": 0.016}


@pytest.mark.parametrize(("shape", "tool"), [*TAKEN, *(pytest.param(*pair, marks=pytest.mark.slow) for pair in SLOWLY)])
def test_a_part_is_as_wide_as_the_check_says_where_the_tool_takes_it(tmp_path, shape, tool):
    if shape == "mesh":
        write_mesh(tmp_path)
    else:
        write_part(tmp_path, SHAPES[shape])
    file = write_cell(tmp_path, tool, "part.obj" if shape == "mesh" else "part.urdf")
    found = grasp_of(file)
    assert found.ok, found.detail
    told_m = found.values[f"ur.{tool}.width_m"]
    cell = load_cell(file)
    grip = part_grasp(PARTS.get(cell.parts["one"].model), TOOLS.get(cell.robots["ur"].tool))
    assert (grip.xyz_m[2], grip.width_m) == pytest.approx((found.values[f"ur.{tool}.height_m"], told_m))
    if tool != "hand":  # which may take it the other way round, whose pads are long
        assert told_m == pytest.approx(WIDTHS_M.get(shape, 0.010), abs=1e-4)
    width_m, lifted_m, is_held = take(file)
    assert width_m == pytest.approx(told_m, abs=0.0005)
    assert lifted_m == pytest.approx(0.1, abs=0.002)
    assert is_held


@pytest.mark.parametrize(
    ("solids", "words"),
    [
        ([FOOT, box(24, 60, 50, (0, 0, 8))], "from above the jaws open 20 mm and need 25 mm"),
        ([FOOT, box(1.5, 60, 50, (0, 0, 8))], "from above .*1.5 mm is thinner than the closed jaws"),
    ],
)
def test_a_part_that_the_check_refuses_cannot_be_taken(tmp_path, solids, words):
    write_part(tmp_path, solids)
    file = write_cell(tmp_path, "aprs_fanuc_gripper")
    found = grasp_of(file)
    assert not found.ok
    assert re.search(words, found.detail), found.detail
    width_m, lifted_m, is_held = take(file, xyz_m=(0.0, 0.0, 0.03), yaw_rad=0.0)
    assert not is_held, width_m
    assert lifted_m < 0.01


GRIPPERS = ["aprs_fanuc_gripper", "aprs_motoman_gripper", "robotiq_2f_85", "wsg_50", "hand"]


@pytest.mark.parametrize("tool", GRIPPERS)
@pytest.mark.parametrize(("high_mm", "room_mm"), [(30, 5.0), (12, 5.0), (6, 3.0)])
def test_no_finger_comes_nearer_to_the_table_than_is_promised(tmp_path, tool, high_mm, room_mm):
    """By the engine's own distances, from open fingers to those that hold."""
    write_part(tmp_path, [box(15, 30, high_mm)])
    cell = load_cell(write_cell(tmp_path, tool))
    part, figures = PARTS.get(cell.parts["one"].model), TOOLS.get(cell.robots["ur"].tool)
    grip = part_grasp(part, figures)
    assert not grip.problem
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(name="table", type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 0.5], pos=[0, 0, -0.5])
    flange = Pose.from_xyz_rpy(grip.xyz_m, [np.pi, 0, 0]) @ Pose.from_xyz_rpy(figures.tcp_xyz_m).inverse()
    frame = spec.worldbody.add_frame(pos=flange.position, quat=flange.quaternion)
    frame.attach_body(build(figures).body("tool"), "tool/", "")
    model = spec.compile()
    data = mujoco.MjData(model)
    table, gaps_m = model.geom("table").id, []
    for half_m in np.linspace(figures.open_m, grip.width_m / 2, 5):
        for joint, position in figures.joints_at(half_m).items():
            data.qpos[model.joint(f"tool/{joint}").qposadr[0]] = position
        mujoco.mj_kinematics(model, data)
        touching = [g for g in range(model.ngeom) if g != table and model.geom_contype[g]]
        gaps_m += [mujoco.mj_geomDistance(model, data, table, geom, 0.1, None) for geom in touching]
    assert min(gaps_m) >= room_mm / 1000 - 2e-4  # adaptive grippers reach out a little farther on their way
    assert min(gaps_m) < room_mm / 1000 + 0.02  # nor is it far away


def test_a_wide_flat_part_that_fingers_on_linkages_close_above_is_refused(tmp_path):
    """Open by 70 mm, the pads of an adaptive gripper are 9 mm higher than closed; those of a parallel one are not."""
    write_part(tmp_path, [box(70, 120, 9)])
    file = write_cell(tmp_path, "robotiq_2f_85")
    refused = grasp_of(file)
    assert not refused.ok
    assert "from above nothing is between the pads where they close" in refused.detail
    assert take(file)[1] < 0.01
    file = write_cell(tmp_path, "wsg_50")
    assert grasp_of(file).values["ur.wsg_50.width_m"] == pytest.approx(0.070, abs=1e-4)
    _, lifted_m, is_held = take(file)
    assert is_held
    assert lifted_m == pytest.approx(0.1, abs=0.002)


def test_a_kinematic_cell_takes_a_part_as_the_check_says(tmp_path):
    write_part(tmp_path, SHAPES["stem on a foot"])
    width_m, lifted_m, is_held = take(write_cell(tmp_path, "robotiq_2f_85", fidelity="kinematic"))
    assert width_m == pytest.approx(0.010, abs=1e-4)
    assert lifted_m == pytest.approx(0.1, abs=1e-3)
    assert is_held
