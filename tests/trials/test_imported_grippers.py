"""Grippers from files, shaped like those of public descriptions, in a cell: how quick they are and what they feel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml

from cellwright.control import GraspStatus
from cellwright.core.pose import Pose
from cellwright.lab import Lab

pytestmark = pytest.mark.usefixtures("own_models")

LINKAGE = Path(__file__).parents[1] / "models" / "importing" / "data" / "gripper.urdf"
LINK = '<link name="{0}">{2}<collision><origin xyz="{1}"/><geometry>{3}</geometry></collision></link>'
SLIDE = (
    '<joint name="{0}" type="prismatic"><parent link="palm"/><child link="{0}"/><origin xyz="0 {1} {2}"/>'
    '<axis xyz="0 {3} 0"/><limit {4}/>{5}</joint>'
)
HEAVY = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
MIMIC = '<mimic joint="left"/>'


def hand() -> str:
    """Two sliding fingers, one follows the other; a coarse hull for planners fills the room between them."""
    limit = 'lower="0" upper="0.04" effort="100" velocity="0.2"'
    return "".join(
        [
            LINK.format("palm", "0 0 0.03", "", '<box size="0.06 0.2 0.06"/>'),
            LINK.format("coarse", "0 0 0.1", "", '<sphere radius="0.03"/>'),
            '<joint name="coarse" type="fixed"><parent link="palm"/><child link="coarse"/></joint>',
            LINK.format("left", "0 0.0075 0.045", "", '<box size="0.0175 0.015 0.0185"/>'),
            LINK.format("right", "0 -0.0075 0.045", "", '<box size="0.0175 0.015 0.0185"/>'),
            SLIDE.format("left", 0, 0.0584, 1, limit, '<dynamics damping="30" friction="2"/>'),
            SLIDE.format("right", 0, 0.0584, -1, limit, MIMIC),
        ]
    )


def heavy() -> str:
    """Fingers of a kilogram each, as placeholders have it, on a drive of ten newtons."""
    limit = 'lower="-0.001" upper="0.0301" effort="10" velocity="0.041"'
    return "".join(
        [
            LINK.format("palm", "0 0 0.03", HEAVY, '<box size="0.08 0.11 0.06"/>'),
            LINK.format("left", "0 0 0", HEAVY, '<box size="0.03 0.01 0.01"/>'),
            LINK.format("right", "0 0 0", HEAVY, '<box size="0.03 0.01 0.01"/>'),
            SLIDE.format("left", 0.0055, 0.0789, 1, limit, ""),
            SLIDE.format("right", -0.0055, 0.0789, -1, limit, MIMIC),
        ]
    )


def silent() -> str:
    """Says nothing of force and speed."""
    return heavy().replace(' effort="10" velocity="0.041"', "").replace(HEAVY, "")


def strong() -> str:
    """A linkage whose drive has 44 newton metres, which is hundreds of newtons at the pads."""
    text = LINKAGE.read_text().replace('effort="1000" velocity="2"', 'effort="44" velocity="0.5"')
    return text.partition(">\n")[2].partition('name="two_fingers">')[2].removesuffix("</robot>\n")


@dataclass
class Bench:
    """An arm with a gripper, and blocks that can be put between its fingers."""

    lab: Lab
    closed_m: float

    @property
    def gripper(self):
        return self.lab.robots["arm"].gripper

    def put(self, block: str | None) -> None:
        far = [Pose(np.array([0.1 * n, 0.0, 5.0]), np.array([1.0, 0, 0, 0])) for n in range(2)]
        for name, pose in zip(("thin", "wide"), far, strict=True):
            self.lab.world.place(name, self.lab.world.tcp_pose("arm") if name == block else pose)

    def close(self, force_n: float):
        """How it ended, when the fingers stood, and whether they said on their way that they hold something."""
        start_s, seen = self.lab.clock.time_s, []

        async def work():
            task = self.lab.loop.create_task(self.gripper.move(self.closed_m, force_n))
            while not task.done():
                await self.lab.clock.sleep(0.002)
                seen.append((self.lab.clock.time_s - start_s, self.gripper.width_m, self.gripper.holding))
            return task.result()

        grasp = self.lab.perform(work())
        stood_s = next(time_s for time_s, width_m, _ in seen if abs(width_m - grasp.width_m) < 0.001)
        return grasp, stood_s, any(holding for *_, holding in seen[:-1])


@pytest.fixture(params=[hand, heavy, silent, strong], ids=lambda make: make.__name__)
def bench(request, tmp_path):
    (tmp_path / "tool.urdf").write_text(f'<robot name="g">{request.param()}</robot>')
    models = {"hand": {"file": "tool.urdf"}}
    inertial = HEAVY.replace('"1"', '"0.05"').replace("0.01", "0.00003")
    for name, width_m in (("thin", 0.004), ("wide", 0.04)):
        link = LINK.format(name, "0 0 0", inertial, f'<box size="{width_m} 0.012 0.008"/>')
        (tmp_path / f"{name}.urdf").write_text(f'<robot name="{name}">{link}</robot>')
        models[name] = {"file": f"{name}.urdf"}
    robot = {"model": "ur5", "tool": "hand", "base": {"xyz_m": [0, 0, 0.5]}, "home_deg": [0, -90, 90, -90, -90, 0]}
    cell = {
        "name": "bench",
        "title": "A gripper",
        "models": models,
        "robots": {"arm": robot},
        "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
        "parts": {name: {"model": name, "pose": {"xyz_m": [1, n, 0.004]}} for n, name in enumerate(("thin", "wide"))},
    }
    (tmp_path / "cell.yaml").write_text(yaml.safe_dump(cell))
    with Lab.from_cell(tmp_path / "cell.yaml") as lab:
        lab.world.model.opt.gravity[:] = 0.0
        yield Bench(lab, 2 * lab.world.robots["arm"].gripper.figures.closed_m)


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_a_gripper_is_as_quick_with_any_force_and_holds_when_it_holds(bench, share):
    figures = bench.lab.world.robots["arm"].gripper.figures
    force_n = share * figures.grip_force_n
    bench.put(None)
    grasp, stood_s, early = bench.close(force_n)
    assert (grasp.status, early, bench.gripper.holding) == (GraspStatus.REACHED, False, False)
    assert stood_s == pytest.approx(figures.closing_time_s, rel=0.2)  # a kilogram needs 0.1 s to get going
    for block, width_m in (("thin", 0.004), ("wide", 0.040)):
        bench.lab.perform(bench.gripper.open())
        if block == "wide":  # as wide as the opening, nearly
            bench.lab.perform(bench.gripper.move(0.0405))
        bench.put(block)
        grasp, _, early = bench.close(force_n)
        assert (grasp.status, early) == (GraspStatus.HOLDING, False), (block, grasp.reason)
        assert grasp.width_m == pytest.approx(width_m, abs=0.0015)
        bench.lab.advance(0.3)
        assert bench.gripper.holding
        bench.put(None)  # pulled out
        held = []
        for _ in range(30):
            bench.lab.advance(0.01)
            held.append(bench.gripper.holding)
        assert not any(held)
        bench.lab.advance(figures.closing_time_s)
        assert bench.gripper.width_m == pytest.approx(bench.closed_m, abs=0.0006)
        assert not bench.gripper.holding


FIGURES = {  # force of each finger, time from open to closed: by effort and speed of the driven joint
    "hand": (50.0, 0.04 / 0.2),
    "heavy": (5.1, 0.0311 / 0.041),
    "silent": (40.0, 0.5),
    "strong": (44 * 0.9 / (0.0440 - 0.0012) / 2, 0.9 / 0.5),
}


def test_force_and_speed_are_those_of_the_file_or_stated_ones(bench, request):
    name = request.node.callspec.id
    figures = bench.lab.world.robots["arm"].gripper.figures
    assert (figures.grip_force_n, figures.closing_time_s) == pytest.approx(FIGURES[name], rel=0.01)
    assert figures.force_limits_n == pytest.approx((figures.grip_force_n / 10, figures.grip_force_n))
    notes = {note.where: note.what for note in figures.notes}
    if name == "silent":
        assert notes["closing time"].startswith("the file gives no speed: 0.5 s")
        assert notes["grip force"].startswith("the file gives no effort: 40 N of each finger")
    if name == "hand":
        assert notes["link coarse"] == "a shape fills the room between the fingers: it is not touched"
