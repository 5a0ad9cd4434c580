"""A simulated cell with the offsets of the real one: its errors show at the sockets, and Eqn 1 takes them away."""

import math
from dataclasses import replace

import numpy as np
import pytest

import cellwright as cw
from cellwright.core import OffsetMap
from cellwright.core.errors import BadInput
from cellwright.crcl import CrclClient
from cellwright.crcl import messages as m
from cellwright.drawings import Drawings
from cellwright.interfaces import CrclInterface, DetectionsClient, VisionClient, VisionInterface

# Table 1 of the paper: where the Motoman's object recognition reports, and what is to be added there, in millimetres.
POINTS_MM = np.array([[535.9, 157.7], [723.1, -400.3], [523.8, -106.7], [747.3, 155.4]])
OFFSETS_MM = np.array([[0.0, 5.0], [-9.0, -7.0], [-4.0, 0.0], [5.0, 0.0]])
CLIENT = OffsetMap(POINTS_MM, OFFSETS_MM)  # the calibration that the client has of the real cell
ROWS = [
    {"at_m": [x / 1e3, y / 1e3], "offset_m": [dx / 1e3, dy / 1e3, 0.0]}
    for (x, y), (dx, dy) in zip(POINTS_MM.tolist(), OFFSETS_MM.tolist(), strict=True)
]
ANY = {"fanuc": 0, "motoman": 0}


def cell_with(detector_offsets=None, robot_offsets=None):
    """The APRS cell as drawn, its detectors without noise, with the offsets of the real one."""
    cell = cw.load_cell("aprs")
    sensors = [dict(line) for line in cell.sensors]
    for line in sensors:
        if line["type"] == "overhead_detector":
            line |= {"noise": "none", "pull": 0.0}
        if line.get("name") == "detector_motoman" and detector_offsets:
            line["offsets"] = detector_offsets
    robots = {"motoman": {"crcl": {"offsets": robot_offsets}}} if robot_offsets else {}
    exact = cell.model_copy(update={"actual": type(cell.actual)()})
    return exact.changed({"sensors": sensors, "robots": robots, "fidelity": "kinematic"})


def seen(lab, client_type):
    async def work():
        interface = await VisionInterface(lab).start(ports=ANY)
        try:
            async with client_type(interface.addresses["motoman"]) as vision:
                return await vision.next_frame()
        finally:
            await interface.close()

    return lab.perform(work())


def true_places(lab, sku):
    """By the truth, in the Motoman's base, in millimetres."""
    back = lab.nominal.bases["motoman"].inverse()
    items = [item for item in lab.world.objects.values() if item.sku == sku]
    return [back.apply(lab.world.data.qpos[item.qpos : item.qpos + 3])[:2] * 1e3 for item in items]


def away_mm(lab, sku, place):
    return min(math.dist(place, true) for true in true_places(lab, sku))


@pytest.fixture(scope="module")
def bent():
    with cw.Lab(cell_with({"robot": "motoman", "points": ROWS}), seed=1) as lab:
        yield lab


def test_a_client_of_the_vision_socket_corrects_the_errors_of_the_table(bent):
    """The laboratory's protocol sends hundredths of a millimetre; the extended one all digits."""
    frame = seen(bent, VisionClient)
    raw = [away_mm(bent, group.name, (group.x_mm, group.y_mm)) for group in frame]
    corrected = [away_mm(bent, group.name, CLIENT.to_robot((group.x_mm, group.y_mm))) for group in frame]
    assert len(frame) >= 15
    assert max(raw) > 3.0
    assert max(corrected) < max(away for away in plain_errors()) + 0.02


def plain_errors():
    """What is off without any offsets: trays and gears settle by hundredths of a millimetre."""
    with cw.Lab(cell_with(), seed=1) as lab:
        return [away_mm(lab, group.name, (group.x_mm, group.y_mm)) for group in seen(lab, VisionClient)]


def test_corrected_frames_are_those_of_a_detector_without_errors_to_the_last_digit(bent):
    with cw.Lab(cell_with(), seed=1) as lab:
        straight, base = seen(lab, DetectionsClient), lab.nominal.bases["motoman"]
    frame = seen(bent, DetectionsClient)
    assert sorted(frame.skus) == sorted(straight.skus)
    moved_m = []
    for sku, reported in zip(frame.skus, frame.positions, strict=True):
        x, y, z = base.inverse().apply(reported)
        corrected = base.apply([*(CLIENT.to_robot([1e3 * x, 1e3 * y]) / 1e3), z])
        same = [place for kind, place in zip(straight.skus, straight.positions, strict=True) if kind == sku]
        assert min(math.dist(corrected, place) for place in same) < 1e-12  # 1e-9 mm
        moved_m.append(math.dist(corrected, reported))
    assert max(moved_m) > 3e-3


def tool_in_base(lab):
    world = lab.world
    robot = world.robot("motoman")
    return lab.nominal.bases["motoman"].inverse().apply(world.data.site_xpos[robot.gripper.tcp_site])


def test_a_robot_errs_like_the_real_one_and_a_client_brings_it_where_it_is_to_be():
    with cw.Lab(cell_with(robot_offsets={"points": ROWS}), seed=1) as lab:

        async def work():
            interface = CrclInterface(lab)
            found = []
            async with CrclClient(lambda: interface.connect("motoman")) as client:
                (await client.execute(m.InitCanon(0))).check()
                start = (await client.status()).pose_status.pose
                reported = np.array([start.point.x, start.point.y, start.point.z])
                found.append((reported, tool_in_base(lab)))
                for goal_mm in ([640.0, 60.0], [600.0, -80.0]):
                    x, y = CLIENT.to_vision(goal_mm) / 1e3  # what the client commands to be at the goal
                    pose = replace(start, point=m.Point(x, y, start.point.z))
                    (await client.execute(m.MoveTo(0, move_straight=False, end_position=pose))).check()
                    at = (await client.status()).pose_status.pose.point
                    found.append((np.array([at.x, at.y, at.z]), tool_in_base(lab)))
                    assert tool_in_base(lab)[:2] * 1e3 == pytest.approx(goal_mm, abs=1e-3)
                    assert math.dist((x * 1e3, y * 1e3), goal_mm) > 0.5
            await interface.close()
            return found

        for reported, true in lab.perform(work()):
            assert CLIENT.to_robot(reported[:2] * 1e3) == pytest.approx(true[:2] * 1e3, abs=1e-3)
            assert reported[2] == pytest.approx(true[2], abs=1e-6)


def test_drawings_do_not_tell_the_offsets():
    cell = cell_with({"robot": "motoman", "points": ROWS}, {"points": ROWS})
    drawings = Drawings.of(cell)
    assert all("offsets" not in line for line in drawings.cell.sensors)
    assert drawings.cell.robots["motoman"].crcl.offsets is None
    assert cell.robots["motoman"].crcl.offsets is not None


def test_offsets_in_the_frame_of_a_robot_that_is_not_there_are_refused():
    with pytest.raises(BadInput, match="unknown robot 'motorman'; did you mean 'motoman'"):
        cw.Lab(cell_with({"robot": "motorman", "points": ROWS}), seed=1)


def test_rows_of_a_table_in_millimetres_are_refused():
    rows = [{"at_m": row["at_m"], "offset_m": [1e3 * x for x in row["offset_m"]]} for row in ROWS]
    with pytest.raises(BadInput, match="units mixed up"):
        cw.Lab(cell_with({"robot": "motoman", "points": rows}), seed=1)


def test_offsets_of_a_robot_are_in_its_own_frame():
    with pytest.raises(BadInput, match="leave 'robot' away"):
        cell_with(robot_offsets={"robot": "fanuc", "points": ROWS})
