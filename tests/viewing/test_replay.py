"""The world as it was at any moment of a log, against the world that was recorded."""

import json
from pathlib import Path

import numpy as np
import pytest

from cellwright.cells import Cell, load_cell
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.record import read_log
from cellwright.sim import TickOrder
from cellwright.viewing.replay import GONE_Z_M, ReplayWorld
from cellwright.viewing.trace import trace_blocks


def watch(lab):
    """Notes the world at the moments at which the truth is told, from now on."""
    moments = {}

    def note():
        moments[lab.world.clock.time_ns / 1e9] = positions_of(lab.world)

    lab.stepper.every(lab.world.clock.period_ticks(20), note, order=TickOrder.RECORD, name="test")
    return moments


def positions_of(world):
    """Returns the numbers of every joint by name."""
    model, data = world.model, world.data
    return {str(model.joint(i).name): data.joint(i).qpos.copy() for i in range(model.njnt)}


def worst_error(replayed, moments):
    """Returns the largest difference between what was and what is replayed, in m and rad."""
    worst = 0.0
    for time_s, was in moments.items():
        now = positions_of(replayed.pose(time_s))
        worst = max(worst, *(float(np.abs(now[name] - numbers).max()) for name, numbers in was.items()))
    return worst


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    """A log of e-pucks that drive, what was there, and their lamps at some moments."""
    path = tmp_path_factory.mktemp("drive") / "log.mcap"
    with Lab.from_cell("epucks", seed=3) as lab:
        moments = watch(lab)
        lab.record(path)
        lab.mobiles["ePuck0"].drive(6.0, 4.0)
        lab.advance(0.4)
        lab.mobiles["ePuck1"].set_led(2)
        lab.advance(0.6)
        lab.mobiles["ePuck1"].set_led(2, False)
        lab.advance(0.2)
    return path, moments


def test_mobile_robots_and_wheels_are_where_they_were(drive):
    path, moments = drive
    replayed = ReplayWorld(path)
    assert len(moments) >= 24
    assert worst_error(replayed, moments) < 1e-6
    backwards = dict(reversed(moments.items()))
    assert worst_error(replayed, backwards) < 1e-6


def test_lamps_are_lit_when_they_were(drive):
    replayed = ReplayWorld(drive[0])
    lit = [bool(replayed.pose(time_s).leds.on["ePuck1"][2]) for time_s in (0.3, 0.5, 0.9, 1.15, 0.5)]
    assert lit == [False, True, True, False, True]


def test_between_keys_things_move_evenly_and_turn_the_short_way(drive):
    path, moments = drive
    replayed = ReplayWorld(path)
    times = sorted(moments)
    a, b = moments[times[10]], moments[times[11]]
    middle = positions_of(replayed.pose((times[10] + times[11]) / 2))
    assert middle["ePuck0"][:3] == pytest.approx((a["ePuck0"][:3] + b["ePuck0"][:3]) / 2, abs=1e-9)
    turned = middle["ePuck0"][3:]
    assert np.linalg.norm(turned) == pytest.approx(1)
    assert turned == pytest.approx((a["ePuck0"][3:] + b["ePuck0"][3:]) / 2, abs=1e-4)


@pytest.fixture(scope="module")
def bench_cell():
    """One arm, and a part beside it."""
    return Cell.model_validate(
        {
            "name": "bench",
            "title": "One arm",
            "robots": {
                "arm": {
                    "model": "lr_mate_200id",
                    "base": {"xyz_m": [0, 0, 0]},
                    "tool": "aprs_fanuc_gripper",
                    "home_deg": [0, 0, 0, 0, -90, 0],
                }
            },
            "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
            "parts": {
                "gear": {"model": "medium_gear", "pose": {"xyz_m": [0.45, 0.12, 0]}},
                "large": {"model": "large_gear", "pose": {"xyz_m": [0.3, 0.35, 0]}},
            },
        }
    )


@pytest.fixture(scope="module")
def changed(bench_cell, tmp_path_factory):
    """A log in which an arm and its fingers move, a part falls late, one is taken away and one is added."""
    path = tmp_path_factory.mktemp("bench") / "log.mcap"
    with Lab(bench_cell, seed=1) as lab:
        lab.record(path)
        lab.advance(0.5)
        lab.world.place("gear", Pose.from_xyz_rpy([0.45, 0.12, 0.05]))
        lab.perform(lab.robots["arm"].move_joints(np.radians([10, 0, 0, 0, -90, 0])))
        lab.world.remove("large")
        lab.world.add("new", "small_gear", Pose.from_xyz_rpy([0.3, -0.3, 0.02]))
        changed_s = lab.world.clock.time_s
        for turn_deg in (60, -60, 0):
            lab.perform(lab.robots["arm"].move_joints(np.radians([turn_deg, 0, 0, 0, -90, 0])))
    return path, changed_s


def test_what_did_not_move_for_long_does_not_creep(bench_cell, changed):
    replayed = ReplayWorld(changed[0], bench_cell)
    lying = replayed.pose(0.1).pose_of("gear").position
    assert replayed.pose(0.49).pose_of("gear").position == pytest.approx(lying, abs=1e-9)
    assert replayed.pose(0.55).pose_of("gear").position[2] > lying[2] + 0.02


def test_what_was_removed_is_gone_and_what_was_added_comes(bench_cell, changed):
    path, changed_s = changed
    replayed = ReplayWorld(path, bench_cell)
    for time_s, gone, there in ((changed_s - 0.1, "new", "large"), (changed_s + 0.3, "large", "new")) * 2:
        world = replayed.pose(time_s)
        assert replayed.gone == {gone}
        assert world.pose_of(gone).position[2] == GONE_Z_M
        assert -0.01 < world.pose_of(there).position[2] < 0.1
    assert replayed.pose(changed_s + 0.3).pose_of("new").position[:2] == pytest.approx([0.3, -0.3], abs=0.01)


def test_a_log_cut_in_half_is_replayed_as_far_as_it_goes(bench_cell, changed, tmp_path):
    data = changed[0].read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) // 2])
    half, whole = ReplayWorld(cut, bench_cell), ReplayWorld(changed[0], bench_cell)
    assert 0.5 < half.end_s < whole.end_s
    assert positions_of(half.pose(0.6))["gear"] == pytest.approx(positions_of(whole.pose(0.6))["gear"])
    cut.write_bytes(data[:600])
    with pytest.raises(BadInput, match="record it again"):
        ReplayWorld(cut, bench_cell)


def test_a_variant_of_a_cell_is_found(tmp_path):
    with Lab.from_cell("epucks@one", seed=1) as lab:
        lab.record(tmp_path / "log.mcap")
        lab.advance(0.2)
    assert list(ReplayWorld(tmp_path / "log.mcap").world.mobiles) == list(lab.world.mobiles)


def test_a_cell_that_is_a_file_is_found_by_the_note(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        Path(load_cell("epucks").where).read_text(encoding="utf-8").replace("name: epucks", "name: mine"),
        encoding="utf-8",
    )
    with Lab.from_cell(file, seed=1) as lab:
        lab.record(tmp_path / "log.mcap")
        lab.note("run", {"cell": str(file)})
        lab.advance(0.2)
    assert ReplayWorld(tmp_path / "log.mcap").cell.name == "mine"
    about = json.loads(trace_blocks(tmp_path / "log.mcap")["run"])["about"]
    assert about["cell"] == "mine", "the path says nothing to who gets the page"


def test_a_log_that_does_not_fit_is_refused_in_one_line(bench_cell, changed, drive, tmp_path):
    with pytest.raises(BadInput, match=r"unknown cell 'bench'.*give the cell's file"):
        ReplayWorld(changed[0])
    with pytest.raises(BadInput, match=r"cell 'epucks' with seed 1 is not the one that was recorded"):
        ReplayWorld(changed[0], "epucks")
    with Lab(bench_cell, seed=1) as lab:
        lab.record(tmp_path / "old.mcap")
        lab.bus.unsubscribe(lab.bus.subscriptions[-1])
    with pytest.raises(BadInput, match=r"has no /truth/joints and /truth/looks.*record the run again"):
        ReplayWorld(tmp_path / "old.mcap", bench_cell)
    from cellwright.core.bus import Bus
    from cellwright.record import Recorder

    Recorder(Bus(), tmp_path / "foreign.mcap").close()
    with pytest.raises(BadInput, match="does not name its cell and seed"):
        ReplayWorld(tmp_path / "foreign.mcap")


@pytest.mark.slow
def test_a_kitting_run_is_replayed_as_it_was(tmp_path):
    path = tmp_path / "log.mcap"
    with Lab(load_cell("aprs"), seed=7) as lab:
        moments = watch(lab)
        lab.record(path)
        lab.run("kit_m2l1")
    replayed = ReplayWorld(read_log(path))
    assert len(moments) > 300
    assert worst_error(replayed, moments) < 1e-6
