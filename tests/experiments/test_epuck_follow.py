import numpy as np
import pytest

from cellwright.core.pose import Pose
from cellwright.core.results import MeasurementConditions
from cellwright.experiments.epuck_follow import FollowJob, FollowRun, RandomWay, _cell, epuck_follow, follow_leader
from cellwright.lab import Lab
from cellwright.mobile import BusRobot, FollowByTransform, RobotReadings


def run_with(ends_m):
    errors = np.zeros((300, len(ends_m)))
    errors[-1] = ends_m
    return FollowRun(job=FollowJob("range", len(ends_m), 0), errors_m=errors, paths_m=[])


def test_a_follower_is_lost_that_is_five_centimetres_off_in_the_end():
    run = run_with([0.02, 0.051, -0.06, 0.049])
    assert run.lost.tolist() == [False, True, True, False]
    assert run.kept_errors_m.shape == (2 * 250,)


def test_a_leader_goes_the_way_of_its_seed_and_never_back():
    ways = [RandomWay(np.random.default_rng(seed)) for seed in (1, 1, 2)]
    speeds = [[way.update(RobotReadings("a", time_s=t / 10)) for t in range(100)] for way in ways]
    assert speeds[0] == speeds[1] != speeds[2]
    assert 3 <= len({speed for speed, _ in speeds[0]}) <= 7  # legs of 1.5 to 4 s
    assert all(0.02 <= speed <= 0.05 and abs(turn) <= 0.6 for speed, turn in speeds[0])


def test_followers_keep_their_gap_by_what_they_see():
    run = follow_leader(FollowJob("range", 2, 3, duration_s=12.0))
    assert not run.lost.any()
    assert np.abs(run.errors_m).max() < 0.02
    moved = [float(np.linalg.norm(path[-1] - path[0])) for path in run.paths_m]
    assert min(moved) > 0.2


def test_a_leader_that_is_carried_away_is_followed_where_its_odometry_says():
    with Lab(_cell("tf", 1), 0) as lab:
        leader, follower = lab.mobiles
        program = BusRobot(
            lab.bus, follower, FollowByTransform(leader, 0.15), lab.mobile(follower).move, others=[leader]
        )
        lab.mobile(leader).move(0.04, 0.0)
        lab.advance(3.0)
        lab.mobile(leader).stop()
        lab.advance(0.5)
        believed = program.readings.frames.pose(f"{leader}/base_link", f"{follower}/base_link").position
        before = lab.world.pose_of(follower).position
        lab.world.place(leader, Pose.from_xyz_rpy([1.0, 1.0, 0.0]))
        lab.advance(3.0)
        there = program.readings.frames.pose(f"{leader}/base_link", f"{follower}/base_link").position
        assert there == pytest.approx(believed, abs=0.02)
        assert lab.world.pose_of(follower).position == pytest.approx(before, abs=0.02)


@pytest.mark.slow
def test_losses_have_intervals_that_count_rows(monkeypatch):
    monkeypatch.setattr("cellwright.experiments.epuck_follow.COUNTS", (1, 5))
    monkeypatch.setattr("cellwright.experiments.epuck_follow.FollowJob", ShortJob)
    found = epuck_follow(MeasurementConditions(seed=1, quick=True), workers=1)
    for name in ("range", "tf", "tf_exact"):
        assert found.metrics[f"{name}.loss_5_n"] == 2
        assert (
            found.metrics[f"{name}.loss_5_low"]
            <= found.metrics[f"{name}.loss_5"]
            <= found.metrics[f"{name}.loss_5_high"]
        )
    assert len(found.tables["followers"].rows) == 3 * (1 + 5) * 2


class ShortJob(FollowJob):
    def __init__(self, method, followers, seed):
        super().__init__(method, followers, seed, duration_s=11.0)
