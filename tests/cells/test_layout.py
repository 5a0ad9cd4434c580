"""Layouts: the drawings, and how reality differs from them."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import PARTS, TRAYS, seated_height_m
from cellwright.cells import Cell, PoseCfg, actual_layout, cell_json_schema, load_cell, nominal_layout
from cellwright.core.pose import Pose
from cellwright.core.yaml_text import parse_yaml

REGION = {"min_xy_m": [0.3, -1.0], "max_xy_m": [1.2, 1.0], "z_m": 0.0}


def poses(layout) -> dict[str, np.ndarray]:
    places = {f"base {n}": p for n, p in layout.bases.items()}
    places |= {f"tool {n}": p for n, p in layout.tools.items()}
    places |= {f"camera {n}": camera.pose_in_world for n, camera in layout.cameras.items()}
    places |= {n: o.pose_in_world for n, o in layout.objects.items()}
    arrays = {n: np.concatenate([p.position, p.quaternion]) for n, p in places.items()}
    return arrays | {f"zeros {n}": z for n, z in layout.joint_zeros_rad.items()}


def same(a, b) -> bool:
    first, second = poses(a), poses(b)
    return first.keys() == second.keys() and all(np.array_equal(first[n], second[n]) for n in first)


APRS = load_cell("aprs")


@pytest.fixture(scope="module")
def aprs() -> Cell:
    return APRS


def test_the_lab_has_what_it_should(aprs):
    layout = nominal_layout(aprs, 0)
    assert set(layout.bases) == {"fanuc", "motoman"}
    assert Counter(p.model for p in layout.parts) == {"medium_gear": 8, "large_gear": 4, "small_gear": 8}
    assert len(layout.trays) == 10
    assert set(layout.cameras) == {"camera_fanuc", "camera_motoman"}
    assert layout.objects["fanuc_kit_m2l1"].model == "kit_m2l1_tray"


def test_the_nominal_layout_is_that_of_the_drawings(aprs):
    layout = nominal_layout(aprs, 123)
    for name, robot in aprs.robots.items():
        assert layout.bases[name].is_close(robot.base.pose)
        assert layout.tools[name].is_close(Pose.identity())
        assert not layout.joint_zeros_rad[name].any()
    for tray in layout.trays:
        assert tray.pose_in_world.is_close(aprs.trays[tray.name].pose.pose)
    straight_down = Pose.from_xyz_rpy([0.359, -1.157, 1.963], [0, np.pi / 2, np.pi / 2])
    assert layout.cameras["camera_fanuc"].pose_in_world.is_close(straight_down)
    assert same(layout, nominal_layout(aprs, 7))


def test_the_actual_layout_differs_by_the_configured_errors(aprs):
    nominal = nominal_layout(aprs, 0)
    rows = [actual_layout(aprs, seed) for seed in range(120)]
    tray = [
        nominal.objects["fanuc_kit_m2l1"].pose_in_world.inverse() @ r.objects["fanuc_kit_m2l1"].pose_in_world
        for r in rows
    ]
    xyz, yaw = np.array([p.position for p in tray]), np.array([p.rpy[2] for p in tray])
    assert xyz.std(axis=0) == pytest.approx([0.003, 0.003, 0.0], rel=0.25, abs=1e-12)
    assert np.degrees(yaw).std() == pytest.approx(1.0, rel=0.25)
    assert np.abs(xyz.mean(axis=0)).max() < 0.001
    base = np.array([(nominal.bases["motoman"].inverse() @ r.bases["motoman"]).position for r in rows])
    assert base.std(axis=0) == pytest.approx([0.0005, 0.0005, 0.0], rel=0.25, abs=1e-12)
    tool = np.array([r.tools["fanuc"].position for r in rows])
    assert tool.std(axis=0) == pytest.approx([0.0002] * 3, rel=0.25)
    zeros = np.degrees([r.joint_zeros_rad["fanuc"] for r in rows])
    assert zeros.std(axis=0) == pytest.approx([0.005] * 6, rel=0.25)
    calibrated = nominal.cameras["camera_fanuc"].pose_in_world
    cameras = np.array([r.cameras["camera_fanuc"].pose_in_world.position - calibrated.position for r in rows])
    assert cameras.std(axis=0) == pytest.approx([0.0005, 0.0005, 0.0], rel=0.25, abs=1e-12)


GOLDEN = {  # positions and quaternions of seed 3, as they have been since the errors of tables and lenses were none
    ("aprs", "base fanuc"): [-0.1690750707819, -1.1400781400869, 0.934, 0.9999999628558, 0, 0, 0.0002725588098],
    ("aprs", "tool motoman"): [0.000106253989, -0.0003754235127, 5.25583336e-05, 1, 0, 0, 0],
    ("aprs", "camera camera_fanuc"): [0.3589939147093, -1.1568941576094, 1.963, 0.5, -0.5, 0.5, 0.5],
    ("aprs", "large_gear_3"): [-0.2299305593189, -0.7650040115229, 0.894, 0.6968837701003, 0, 0, 0.7171840844378],
    ("kitting", "s2l2_tray_2"): [0.3979997054181, -0.3796645771002, 0.911, 0.9999993377477, 0, 0, -0.0011508710503],
}


@pytest.mark.parametrize(("name", "thing"), GOLDEN)
def test_what_a_seed_means_does_not_change(name, thing):
    assert poses(actual_layout(load_cell(name), 3))[thing] == pytest.approx(GOLDEN[name, thing], abs=1e-12)


def test_backlash_is_a_number_a_list_or_drawn_for_each_joint(make_cell):
    def plays(backlash_deg, seed: int = 0) -> np.ndarray:
        cell = make_cell(actual={"backlash_deg": backlash_deg})
        assert not nominal_layout(cell, seed).backlash_rad["arm"].any()
        return np.degrees(actual_layout(cell, seed).backlash_rad["arm"])

    assert plays(0.02) == pytest.approx([0.02] * 6)
    drawn = {"distribution": "uniform", "low": 0.01, "high": 0.03}
    assert plays([0.02, 0.02, 0.01, 0, 0, drawn])[:5] == pytest.approx([0.02, 0.02, 0.01, 0, 0])
    rows = np.array([plays({"distribution": "normal", "sd": 0.01}, seed) for seed in range(40)])
    assert (rows > 0).all()  # half of the draws are below zero, and a play is not
    assert np.sqrt((rows**2).mean(axis=0)) == pytest.approx([0.01] * 6, rel=0.4)
    assert not make_cell().actual.backlash_deg


def test_backlash_leaves_the_other_errors_as_they_were(aprs):
    errors = aprs.actual.model_copy(update={"backlash_deg": 0.02})
    assert same(actual_layout(aprs.model_copy(update={"actual": errors}), 3), actual_layout(aprs, 3))


def test_a_seed_gives_one_layout_and_another_seed_another(aprs):
    assert same(actual_layout(aprs, 3), actual_layout(aprs, 3))
    assert not same(actual_layout(aprs, 3), actual_layout(aprs, 4))
    three, four = poses(actual_layout(aprs, 3)), poses(actual_layout(aprs, 4))
    assert not any(np.array_equal(three[name], four[name]) for name in three)


def test_the_order_of_entries_does_not_matter(aprs):
    data = aprs.model_dump(mode="json")
    turned = {key: dict(reversed(value.items())) if isinstance(value, dict) else value for key, value in data.items()}
    turned["populations"] = list(reversed(data["populations"]))
    assert same(actual_layout(Cell.model_validate(turned), 5), actual_layout(aprs, 5))


def test_the_order_of_shuffled_and_scattered_populations_does_not_matter(make_cell):
    populations = [
        {"model": "medium_gear", "count": 2, "trays": ["supply"], "shuffle": True},
        {"model": "small_gear", "count": 3, "region": REGION},
    ]
    one = actual_layout(make_cell(populations=populations), 11)
    other = actual_layout(make_cell(populations=populations[::-1]), 11)
    assert same(one, other)


def test_a_new_entry_leaves_the_others_as_they_were(make_cell, aprs):
    before = poses(actual_layout(aprs, 5))
    tray = {"model": "kit_m2l1_tray", "pose": {"xyz_m": [3, 3, 0]}}
    cell = Cell.model_validate(aprs.model_dump() | {"trays": {"a_first": tray} | aprs.model_dump()["trays"]})
    after = poses(actual_layout(cell, 5))
    assert all(np.array_equal(after[name], before[name]) for name in before)


def test_parts_in_trays_follow_their_tray(aprs):
    nominal, actual = nominal_layout(aprs, 2), actual_layout(aprs, 2)
    tray, gear = "motoman_large_tray", "large_gear_3"
    inside = [
        layout.objects[tray].pose_in_world.inverse() @ layout.objects[gear].pose_in_world
        for layout in (nominal, actual)
    ]
    assert inside[0].is_close(inside[1], tolerance_m=1e-12, tolerance_rad=1e-9)
    assert nominal.objects[gear].pose_in_world.distance_m(actual.objects[gear].pose_in_world) > 1e-4


def test_a_population_fills_slots_in_the_trays_own_order(make_cell):
    layout = nominal_layout(make_cell(), 0)
    tray, gear = TRAYS.get("medium_gear_tray"), PARTS.get("medium_gear")
    for number in (1, 2):
        slot = tray.slots[number - 1]
        place = layout.objects["supply"].pose_in_world.inverse() @ layout.objects[f"medium_gear_{number}"].pose_in_world
        assert place.position == pytest.approx([*slot.xy_m, seated_height_m(tray, slot, gear)])


def test_a_population_leaves_out_slots_that_are_taken(make_cell):
    cell = make_cell(
        parts={"gear": {"slot": "supply/slot_1"}},
        populations=[{"model": "medium_gear", "count": 3, "trays": ["supply"]}],
    )
    layout = nominal_layout(cell, 0)
    places = [
        layout.objects[n].pose_in_world.position for n in ("gear", "medium_gear_1", "medium_gear_2", "medium_gear_3")
    ]
    assert min(np.linalg.norm(a - b) for a, b in combinations(places, 2)) > 0.07


def test_shuffled_slots_depend_on_the_seed_alone(make_cell):
    cell = make_cell(populations=[{"model": "medium_gear", "count": 2, "trays": ["supply"], "shuffle": True}])
    seen = set()
    for seed in range(30):
        layout = nominal_layout(cell, seed)
        assert same(layout, nominal_layout(cell, seed))
        seen.add(tuple(np.round(layout.objects["medium_gear_1"].pose_in_world.position[:2], 3)))
    assert len(seen) == 4


def test_scripted_parts_lie_at_their_pose_or_in_their_slot(make_cell):
    layout = nominal_layout(make_cell(), 0)
    assert layout.objects["lonely"].pose_in_world.is_close(Pose.from_xyz_rpy([0.8, 0, 0]))
    tray = TRAYS.get("kit_m2l1_tray")
    place = layout.objects["kit"].pose_in_world.inverse().apply(layout.objects["gear"].pose_in_world.position)
    assert place[:2] == pytest.approx(tray.slots[0].xy_m)


@pytest.mark.parametrize("seed", range(5))
def test_scattered_parts_keep_clear_of_each_other_of_trays_and_of_scripted_parts(make_cell, seed):
    populations = [{"model": m, "count": 8, "region": REGION} for m in ("large_gear", "small_gear")]
    layout = nominal_layout(make_cell(populations=populations), seed)
    loose = [p for p in layout.parts if p.name != "gear"]
    assert len(loose) == 17
    for a, b in combinations(loose, 2):
        apart = np.linalg.norm((a.pose_in_world.position - b.pose_in_world.position)[:2])
        assert apart > PARTS.get(a.model).tip_radius_m + PARTS.get(b.model).tip_radius_m
    for part in loose[1:]:
        x, y, z = part.pose_in_world.position
        assert 0.3 <= x <= 1.2 and -1.0 <= y <= 1.0 and z == 0.0  # noqa: PT018
        for tray in layout.trays:
            place = tray.pose_in_world.inverse().apply(part.pose_in_world.position)
            beyond = np.abs(place[:2]) - np.array(TRAYS.get(tray.model).size_m) / 2
            assert np.hypot(*np.maximum(beyond, 0)) > PARTS.get(part.model).tip_radius_m


def test_scattered_parts_lie_alike_in_both_layouts(make_cell):
    cell = make_cell(
        populations=[{"model": "small_gear", "count": 20, "region": REGION}],
        actual={"tray": {"x_m": {"sd": 0.003}, "y_m": {"sd": 0.003}}},
    )
    for seed in range(5):
        nominal, actual = poses(nominal_layout(cell, seed)), poses(actual_layout(cell, seed))
        assert not np.array_equal(nominal["supply"], actual["supply"])
        assert all(np.array_equal(nominal[f"small_gear_{n}"], actual[f"small_gear_{n}"]) for n in range(1, 21))


angles = st.floats(-180, 180)
places = st.floats(-99, 99)


@given(st.tuples(places, places, places), st.tuples(angles, st.floats(-85, 85), angles))
def test_a_pose_survives_the_way_through_a_file(xyz, rpy):
    pose = PoseCfg(xyz_m=xyz, rpy_deg=rpy).pose
    again = PoseCfg(xyz_m=tuple(pose.position), rpy_deg=tuple(np.degrees(pose.rpy))).pose
    assert again.is_close(pose, tolerance_m=1e-9, tolerance_rad=1e-7)


@given(seed=st.integers(0, 2**63 - 1))
@settings(max_examples=15)
def test_any_seed_gives_a_layout_and_gives_it_again(seed):
    assert same(actual_layout(APRS, seed), actual_layout(APRS, seed))


def test_a_cell_survives_the_way_through_plain_data(aprs):
    assert Cell.model_validate(aprs.model_dump(mode="json")).model_dump() == aprs.model_dump()


def test_a_cell_knows_its_file_and_keeps_it(aprs):
    assert aprs.file is not None
    assert aprs.where.endswith("aprs.yaml")
    assert aprs.model_copy(update={"fidelity": "kinematic"}).where == aprs.where
    assert Cell(name="mine", title="Mine").where == "mine"
    assert "file" not in aprs.model_dump()


def check_keys(schema, part, data, path=""):
    """That objects have the keys that their schema requires and no others, all the way down."""
    options = [p for p in part.get("anyOf", [part]) if p.get("type") != "null"]
    part = schema["$defs"][options[0]["$ref"].rsplit("/", 1)[1]] if "$ref" in options[0] else options[0]
    if isinstance(data, dict) and {"properties", "patternProperties"} & set(part):
        named = next(iter(part.get("patternProperties", {}).values()), None)  # a mapping from names of one's own
        assert set(part.get("required", [])) <= set(data), path
        for key, value in data.items():
            inner = part.get("properties", {}).get(key, named)
            assert inner is not None or part.get("additionalProperties") is True, f"{path}.{key}"
            check_keys(schema, inner or {}, value, f"{path}.{key}")
    if isinstance(data, list):
        for value in data:
            check_keys(schema, part.get("items", {}) or {}, value, path)


def test_the_published_schema_describes_the_lab(aprs):
    schema = cell_json_schema()
    assert schema["required"] == ["name", "title"]
    assert "file" not in schema["properties"]
    data = parse_yaml(aprs.file.read_text(encoding="utf-8"), aprs.file)
    check_keys(schema, schema, data)
    with pytest.raises(AssertionError, match="tols"):
        check_keys(schema, schema, {**data, "robots": {"fanuc": {**data["robots"]["fanuc"], "tols": 1}}})
    with pytest.raises(AssertionError, match="fanuc"):
        check_keys(schema, schema, {**data, "robots": {"fanuc": {"model": "sia20f"}}})
    assert "sia20f" in schema["$defs"]["RobotCfg"]["properties"]["model"]["examples"]
    assert schema["$defs"]["PopulationCfg"]["properties"]["count"]["maximum"] == 500


@pytest.mark.parametrize(("name", "stopped"), [("aprs", {"gate": ["motoman"]}), ("rovi", {"gate": ["ur5"]})])
def test_each_robot_of_a_shipped_cell_has_a_zone_an_emergency_stop_and_a_curtain(name, stopped):
    cell = load_cell(name)
    zones, inputs = cell.safety.zones, cell.safety.inputs
    assert [zone.robots for zone in zones.values()] == [(robot,) for robot in cell.robots]
    assert {guard.kind for guard in inputs.values()} == {"e_stop", "gate", "light_curtain"}
    reached = {n: [r for z in guard.zones for r in zones[z].robots] for n, guard in inputs.items()}
    everyone = list(cell.robots)
    assert reached == {"e_stop": everyone, "curtain_front": everyone} | stopped
    middle, size = inputs["curtain_front"].box
    for item in nominal_layout(cell, 0).objects.values():  # well inside, behind the curtain
        assert abs((middle.inverse() @ item.pose_in_world).position[1]) > 0.3
    assert size[0] > 2
    assert size[2] > 1.4


def gap_m(a, b) -> float:
    """Distance of two trays' outlines, along the edge that separates them best; negative when they overlap."""
    outlines = []
    for tray in (a, b):
        x, y = np.array(TRAYS.get(tray.model).size_m) / 2
        outlines.append(tray.pose_in_world.apply([[x, y, 0], [-x, y, 0], [-x, -y, 0], [x, -y, 0]])[:, :2])
    edges = np.concatenate([np.roll(outline, -1, axis=0) - outline for outline in outlines])
    normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1, keepdims=True)
    first, second = (outline @ normals.T for outline in outlines)
    return float(np.maximum(second.min(axis=0) - first.max(axis=0), first.min(axis=0) - second.max(axis=0)).max())


def test_the_labs_trays_stand_apart_by_five_times_their_errors(aprs):
    """Otherwise some seed in a few hundred gives a lab in which two trays overlap."""
    trays = nominal_layout(aprs, 0).trays
    assert min(gap_m(a, b) for a, b in combinations(trays, 2)) > 5 * np.hypot(0.003, 0.003) - 0.001
    for seed in range(40):
        assert min(gap_m(a, b) for a, b in combinations(actual_layout(aprs, seed).trays, 2)) > 0
