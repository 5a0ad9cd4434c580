"""Vacuum tools on an arm: pump, vacuum switch, and what they hold."""

import pytest

from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.core.messages import ToolStatus
from cellwright.core.pose import Pose
from cellwright.motion import LineSpeed

ARM = {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0]}, "home_deg": [0, 0, 0, 0, -90, 0]}
DOWN = (3.141592653589793, 0.0, 0.0)
TOP_M = 0.008


@pytest.fixture
def make(open_lab):
    """An arm with a cup over a thin gear on the floor."""

    def make(fidelity="physics"):
        return open_lab(
            robots={"arm": {**ARM, "tool": "small_vacuum"}},
            parts={"gear": {"model": "thin_gear", "pose": {"xyz_m": [0.45, 0, 0]}}},
            sensors=({"type": "tool_status", "robot": "arm", "rate_hz": 25},),
            fidelity=fidelity,
        )

    return make


async def _reach(arm, x_m, z_m):
    await arm.move_tool(Pose.from_xyz_rpy((x_m, 0, z_m + 0.05), DOWN), 0.5)
    await arm.move_tool_straight(Pose.from_xyz_rpy((x_m, 0, z_m), DOWN), LineSpeed(0.1))


async def _lift(arm, x_m, z_m):
    await arm.move_tool_straight(Pose.from_xyz_rpy((x_m, 0, z_m), DOWN), LineSpeed(0.2))


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_it_takes_carries_and_lets_go(make, fidelity):
    lab = make(fidelity)
    arm, heard = lab.robots["arm"], []
    lab.bus.subscribe("/arm/tool_status", lambda _topic, message: heard.append(message), subscriber="test")

    async def take():
        await _reach(arm, 0.45, TOP_M - 0.0015 if fidelity == "physics" else TOP_M)
        assert not arm.tool.holding
        level = await arm.tool.close()
        await _lift(arm, 0.45, 0.2)
        return level

    assert lab.perform(take()) == pytest.approx(1.0, abs=0.06)
    assert arm.tool.holding
    assert arm.tool.kind == "vacuum"
    assert arm.vacuum.powered
    assert lab.world.pose_of("gear").position[2] == pytest.approx(0.2 - TOP_M, abs=0.003)
    lab.advance(0.1)
    status = heard[-1]
    assert isinstance(status, ToolStatus)
    assert (status.tool, status.kind, status.holding, status.locked) == ("small_vacuum", "vacuum", True, True)
    assert status.power == pytest.approx(1.0, abs=0.02)
    lab.perform(arm.tool.open())
    lab.advance(0.5)
    assert not arm.tool.holding
    assert lab.world.pose_of("gear").position[2] < 0.03
    assert not heard[-1].holding
    assert heard[-1].power == 0.0


def test_a_cup_in_the_air_or_on_an_edge_holds_nothing(make):
    lab = make()
    arm = lab.robots["arm"]

    async def take(x_m, z_m):
        await _reach(arm, x_m, z_m)
        return await arm.tool.close()

    assert lab.perform(take(0.45, 0.1)) == 0.0
    assert arm.vacuum.powered
    assert not arm.tool.holding
    lab.perform(arm.tool.open())
    assert lab.perform(take(0.45 + 0.025, TOP_M - 0.001)) == 0.0, "the lip is half over the edge"
    lab.perform(_lift(arm, 0.475, 0.1))
    assert lab.world.pose_of("gear").position[2] < 0.002


def test_swung_too_fast_it_loses_a_heavy_load_by_itself(open_lab):
    """A cube of 1.4 kg, three times the rating: it stays where it is while the pump runs on."""
    lab = open_lab(
        robots={"arm": {**ARM, "tool": "small_vacuum"}},
        parts={"cube": {"model": "cube", "pose": {"xyz_m": [0.45, 0, 0.04]}}},
    )
    arm = lab.robots["arm"]

    async def take():
        await _reach(arm, 0.45, 0.0785)
        assert await arm.tool.close() > 0.9
        assert arm.tool.holding
        await _lift(arm, 0.45, 0.2)

    lab.perform(take())
    assert not arm.tool.holding
    assert arm.vacuum.powered
    assert lab.world.pose_of("cube").position[2] < 0.05


def test_power_is_a_share(make):
    lab = make()
    arm = lab.robots["arm"]

    async def take():
        await _reach(arm, 0.45, TOP_M - 0.0015)
        await arm.tool.set(0.5)

    lab.perform(take())
    assert arm.vacuum.power == 0.5
    assert arm.vacuum.level == pytest.approx(0.5, abs=0.03)
    assert arm.tool.holding
    with pytest.raises(OutOfRange, match="arm vacuum power"):
        lab.perform(arm.tool.set(1.5))


def test_a_cup_has_no_fingers(make):
    arm = make().robots["arm"]
    assert not arm.has_gripper
    with pytest.raises(JobFailed, match=r"^arm has no gripper$"):
        arm.gripper.width_m  # noqa: B018


def test_a_snapshot_remembers_the_vacuum(make):
    lab = make()
    arm = lab.robots["arm"]

    async def take():
        await _reach(arm, 0.45, TOP_M - 0.0015)
        await arm.tool.close()
        await _lift(arm, 0.45, 0.1)

    lab.perform(take())
    moment = lab.snapshot()
    lab.perform(arm.tool.open())
    lab.advance(0.3)
    assert lab.world.pose_of("gear").position[2] < 0.05
    lab.restore(moment)
    lab.advance(0.3)
    assert arm.tool.holding
    assert lab.world.pose_of("gear").position[2] > 0.08
