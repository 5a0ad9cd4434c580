"""Parts of one's own, of any shape: what lies on a kit and what beside it, how they are held and set down."""

from __future__ import annotations

import numpy as np
import pytest

import cellwright as cw
from cellwright.catalogue import part_of_sku
from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.execution.binding import is_touched
from cellwright.execution.grasps import free_grasps
from cellwright.execution.outline import across_m, is_over, leans_on
from cellwright.judge.support import things_on
from cellwright.knowledge import BelievedPart
from cellwright.knowledge.held_pose import hanging_part
from cellwright.perception import capsules_of_sku
from cellwright.perception.sight_lines import extent_of
from cellwright.shapes.part_shape import part_shape
from cellwright.sim import World
from cellwright.sim.resting import resting_pose

GRIPPER = "aprs_fanuc_gripper"
BOXES = {
    "bar": [((0.0, 0.0, 0.010), (0.080, 0.015, 0.020))],
    "bracket": [((0.0, 0.0, 0.004), (0.050, 0.040, 0.008)), ((0.0, 0.0, 0.0255), (0.010, 0.030, 0.035))],
    "angle": [((0.020, 0.0, 0.010), (0.060, 0.014, 0.020)), ((-0.003, 0.032, 0.010), (0.014, 0.050, 0.020))],
}
HEXAGON = [(0.009 * np.cos(a), 0.009 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 6, endpoint=False)]
TRAYS = {"bar": (0.0415, 0.05, 0.2, 0.012), "angle": (0.0585, 0.065, 0.26, 0.012), "hex": (0.0105, 0.03, 0.12, 0.008)}
PLUGIN = """
from cellwright.catalogue import TRAYS, SlotFigures, TrayFigures, TrayKind
from cellwright.orders import DESIGNS, KitDesign

for part, (radius_m, apart_m, size_m, thick_m) in {trays}.items():
    d, sku = apart_m, f"sku_{{part}}"
    for name, kind, places in (
        (f"{{part}}_supply", TrayKind.PARTS, [(-d, -d), (d, -d), (-d, d), (d, d)]),
        (f"{{part}}_kit", TrayKind.KIT, [(-d, 0), (d, 0)]),
    ):
        slots = tuple(
            SlotFigures(name=f"slot_{{n}}", accepts=sku, xy_m=xy, floor_m=0.004,
                        bottom_radius_m=radius_m, top_radius_m=radius_m + 0.004)
            for n, xy in enumerate(places, 1)
        )
        TRAYS.add(name, TrayFigures(
            name=name, title=name, sku=f"sku_{{name}}", kind=kind, slots=slots, size_m=(size_m, size_m),
            thickness_m=thick_m, corner_radius_m=0.01, foot_radius_m=0.01, foot_height_m=0.002, mass_kg=0.3,
            rgba=(0.5, 0.66, 0.84, 1),
        ))
    DESIGNS.add(f"{{part}}_pair", KitDesign.of(f"{{part}}_pair", f"sku_{{part}}_kit", {{sku: 2}}))
"""
CELL = """
name: own_{part}
title: A kit of parts of one's own
plugins: [trays.py]
models:
  bar: {{file: bar.urdf, kind: part, sku: sku_bar}}
  angle: {{file: angle.urdf, kind: part, sku: sku_angle}}
  bracket: {{file: bracket.urdf, kind: part, sku: sku_bracket}}
  hex: {{file: hex.obj, kind: part, units: m, mass_kg: 0.05, origin: bottom, sku: sku_hex}}
robots:
  fanuc:
    {{model: lr_mate_200id, tool: aprs_fanuc_gripper, base: {{xyz_m: [-0.169, -1.14, 0.934]}},
     home_deg: [0, 0, 0, 0, -90, 0]}}
fixtures:
  floor: {{model: floor, pose: {{xyz_m: [0, 0, 0]}}}}
  cart: {{model: fanuc_cart, pose: {{xyz_m: [0.04, -1.16, 0]}}}}
  camera: {{model: fanuc_camera_post, pose: {{xyz_m: [0.359, -1.157, 0]}}}}
trays:
  supply: {{model: {part}_supply, pose: {{xyz_m: [0.18, -0.985, 0.916]}}}}
  kit: {{model: {part}_kit, pose: {{xyz_m: [0.2, -1.28, 0.916]}}}}
populations:
  - {{model: {part}, count: 4, trays: [supply]}}
parts: {{{parts}}}
actual:
  tray: {{x_m: {{distribution: normal, sd: 0.003}}, y_m: {{distribution: normal, sd: 0.003}}}}
sensors:
  - {{type: joint_state, robot: fanuc, rate_hz: 50}}
  - {{type: tool_status, robot: fanuc, rate_hz: 25}}
  - {{type: wrench, robot: fanuc, rate_hz: 50}}
  - {{type: logical_detector, name: detector, camera: camera, rate_hz: 10}}
"""
OTHERS = ", ".join(
    f"loose_{part}: {{model: {part}, pose: {{xyz_m: [0.36, {y_m}, 0.916]}}}}"
    for part, y_m in (("bar", -1.02), ("angle", -1.2), ("hex", -1.1), ("bracket", -1.3))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A bar of 80 x 15 mm, an L whose origin is in its corner, a stem on a foot, a hexagonal prism; and trays."""
    path = tmp_path_factory.mktemp("own")
    for name, boxes in BOXES.items():
        solids = "".join(
            f'<collision><origin xyz="{x} {y} {z}"/><geometry><box size="{a} {b} {c}"/></geometry></collision>'
            for (x, y, z), (a, b, c) in boxes
        )
        x, y, z = np.average([middle for middle, _ in boxes], axis=0, weights=[np.prod(size) for _, size in boxes])
        inertial = f'<origin xyz="{x} {y} {z}"/><mass value="0.06"/><inertia ixx="2e-5" iyy="2e-5" izz="2e-5"/>'
        text = f'<robot name="{name}"><link name="{name}"><inertial>{inertial}</inertial>{solids}</link></robot>'
        (path / f"{name}.urdf").write_text(text)
    corners = [*((x, y, z) for z in (0.0, 0.025) for x, y in HEXAGON)]
    faces = [(1, 6, 5, 4, 3, 2), (7, 8, 9, 10, 11, 12), *((k, k % 6 + 1, k % 6 + 7, k + 6) for k in range(1, 7))]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {' '.join(map(str, face))}" for face in faces]
    (path / "hex.obj").write_text("\n".join(lines))
    (path / "trays.py").write_text(PLUGIN.format(trays=TRAYS))
    for part in TRAYS:
        (path / f"{part}s.yaml").write_text(CELL.format(part=part, parts=OTHERS if part == "bar" else ""))
    return path


@pytest.fixture(scope="module")
def world(folder):
    """The true world, without physics, with a loose part of each shape beside a kit of bars."""
    return World(load_cell(str(folder / "bars.yaml")).model_copy(update={"fidelity": "kinematic"}), seed=0)


def seen(part, xyz_m, yaw_rad=0.0):
    return BelievedPart(f"{part}_at_{xyz_m}", f"sku_{part}", Pose.from_xyz_rpy(xyz_m, [0, 0, yaw_rad]).matrix, 0.0002)


QUARTER = np.pi / 2
POSES = [
    ("bar", (0.0, 0.080, 0.0120), (0, 0, 0), True),
    ("bar", (0.096, 0.0, 0.0120), (0, 0, 0), True),  # its middle over the rim
    ("bar", (0.1078, 0.0, 0.0), (0, 0, QUARTER), False),  # along the side, where its circle is far over the tray
    ("bar", (0.1076, 0.0, 0.0), (0, 0, QUARTER), False),  # flush
    ("bar", (0.1076, 0.0, 0.040), (0, QUARTER, 0), False),  # stands on its end
    ("angle", (0.0, 0.060, 0.0120), (0, 0, 0), True),
    ("angle", (0.109, 0.109, 0.0), (0, 0, np.pi), False),  # round the corner: its middle is over the tray
    ("angle", (0.100, 0.109, 0.0120), (0, 0, np.pi), True),  # one arm on the rim
    ("hex", (0.096, 0.0, 0.0120), (0, 0, 0), True),
    ("bracket", (-0.0594, 0.14217, 0.02093), (1.71258, 0, 0), False),  # on its side, its stem steep against the tray
    ("hex", (0.1083, 0.0, 0.0), (0, 0, QUARTER), False),
]


@pytest.mark.parametrize(("part", "xyz_m", "rpy_rad", "is_on"), POSES)
def test_the_judge_and_the_controller_agree_on_what_lies_on_a_kit(world, part, xyz_m, rpy_rad, is_on):
    name, pose = f"loose_{part}", Pose.from_xyz_rpy(xyz_m, rpy_rad)
    world.place(name, world.pose_of("kit") @ pose)
    size_m, sku = (0.2, 0.2, 0.012), f"sku_{part}"
    assert (name in things_on(world, "kit")) == is_on
    for error_m in (0.0, 0.0004, -0.0004):
        errs = Pose.from_xyz_rpy([error_m, 0.0, -error_m]) @ pose
        assert (is_over(sku, errs, size_m) or leans_on(sku, errs, size_m, 0.001)) == is_on
    world.place(name, Pose.from_xyz_rpy([2.0, 2.0, 1.0]))


def test_what_touches_a_kit_by_a_steep_side_leans_on_it_only_if_it_would_fall_without_it(world):
    """A bar on its long edge, leaning by 10 deg; one as steep that stands on a wide foot would stay."""
    size_m, shape = (0.2, 0.2, 0.012), part_shape(part_of_sku("sku_bar"))
    lean_rad = np.radians(10.0)
    tip = Pose.from_xyz_rpy([0, 0, 0], [0, -lean_rad - QUARTER, 0])  # on its end, its upper end towards the tray
    (x_m, _, z_m), slope = tip.apply([-0.04, 0.0, 0.0]), np.tan(lean_rad)  # its lower end, on the side of the tray
    foot_m = tip.apply(shape.surface)[:, 2].min()
    leaning = Pose.from_xyz_rpy([0.1 - x_m + (0.012 + foot_m - z_m) * slope, 0.0, -foot_m]) @ tip
    assert not shape.stands(leaning)
    assert leans_on("sku_bar", leaning, size_m, 0.001)
    world.place("loose_bar", world.pose_of("kit") @ leaning)
    assert "loose_bar" in things_on(world, "kit")
    world.place("loose_bar", Pose.from_xyz_rpy([2.0, 2.0, 1.0]))
    assert shape.stands(Pose.identity())
    assert shape.stands(Pose.from_xyz_rpy([0, 0, 0], [QUARTER, 0, 0]))


def test_a_part_that_is_let_go_beside_a_tray_comes_to_rest_beside_it(world):
    """Without physics, too."""
    for x_m, height_m in ((0.109, 0.0), (0.104, 0.012)):
        above = Pose.from_xyz_rpy([x_m, 0.0, 0.05], [0, 0, QUARTER])
        world.place("loose_bar", world.pose_of("kit") @ above)
        rest = world.pose_of("kit").inverse() @ resting_pose(world, "loose_bar")
        assert rest.position[2] == pytest.approx(height_m, abs=0.0005)
    world.place("loose_bar", Pose.from_xyz_rpy([2.0, 2.0, 1.0]))


@pytest.mark.usefixtures("world")
def test_the_distance_of_a_part_is_that_of_its_outline():
    assert across_m(seen("bar", (0, 0, 0)), np.array([0.0, 0.02])) == pytest.approx(0.0125, abs=0.0002)
    assert across_m(seen("bar", (0, 0, 0), QUARTER), np.array([0.0, 0.02])) < 0.001
    assert across_m(seen("angle", (0, 0, 0)), np.array([0.025, 0.032])) == pytest.approx(0.021, abs=0.0002)


@pytest.mark.usefixtures("world")
def test_parts_touch_each_other_when_their_outlines_do():
    bar, beside, across = seen("bar", (0, 0, 0)), seen("bar", (0, 0.018, 0)), seen("bar", (0, 0.018, 0), QUARTER)
    assert not is_touched(bar, [bar, beside])
    assert is_touched(bar, [bar, across])
    assert not is_touched(seen("angle", (0, 0, 0)), [seen("hex", (0.025, 0.028, 0))])  # between its arms


@pytest.mark.usefixtures("world")
def test_fingers_find_room_beside_a_long_neighbour():
    hexagon = seen("hex", (0, 0, 0))
    assert free_grasps(hexagon, [seen("bar", (0.0, 0.034, 0))], GRIPPER)
    assert not free_grasps(hexagon, [seen("bar", (0.0, 0.018, 0), 1.0)], GRIPPER)


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("near_rad", [0.0, 3.0, -3.0, 6.0])
@pytest.mark.parametrize("part", ["bar", "angle", "hex"])
def test_a_part_hangs_as_it_was_taken_whichever_way_round(part, near_rad):
    lying = seen(part, (0.2, -1.1, 0.92), 0.3)
    grasp = free_grasps(lying, [lying], GRIPPER, near_rad)[0]
    hangs = hanging_part(grasp.pose_tool(lying), lying.figures, GRIPPER, grasp.half_turn)
    assert hangs.distance_m(lying.pose_in_world) < 1e-9
    assert hangs.angle_rad(lying.pose_in_world) < 1e-6


@pytest.mark.usefixtures("world")
def test_a_held_bar_hides_no_more_than_its_width():
    extent = extent_of("sku_bar")
    assert (extent.half_x_m, extent.half_y_m) == pytest.approx((0.04, 0.0075))
    capsules = capsules_of_sku("sku_bar", Pose.identity())
    assert np.abs(capsules[:, [1, 4]]).max() + capsules[:, 6].max() < 0.02
    for x, y, z in part_shape(part_of_sku("sku_bar")).surface[::50]:
        ends = np.clip(x, capsules[:, 0], capsules[:, 3])
        away = np.hypot(np.hypot(x - ends, y - capsules[:, 1]), z - capsules[:, 2])
        assert (away <= capsules[:, 6] + 1e-9).any()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", "drop:during=transfer:1"])
@pytest.mark.parametrize("part", ["bar", "angle", "hex"])
def test_a_kit_of_own_parts_is_built_and_what_is_dropped_is_recovered(folder, part, fault):
    with cw.Lab.from_cell(str(folder / f"{part}s.yaml"), seed=2) as lab:
        report = lab.run(f"{part}_pair", faults=[fault] if fault else [])
    assert report.done, report.reason
    assert len(report.faults) == bool(fault)


@pytest.mark.slow
@pytest.mark.parametrize("where", [(0.0, 0.080, 0.02), (0.096, 0.0, 0.02)])
def test_a_bar_that_lies_on_a_kit_or_on_its_rim_is_taken_away(folder, where):
    with cw.Lab.from_cell(str(folder / "bars.yaml"), seed=3) as lab:
        lab.world.place("bar_4", lab.world.pose_of("kit") @ Pose.from_xyz_rpy(where))
        lab.perform(lab.clock.sleep(0.8))
        assert "bar_4" in things_on(lab.world, "kit")
        report = lab.run("bar_pair")
    assert report.done, report.reason
