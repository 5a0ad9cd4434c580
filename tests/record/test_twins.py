"""External robots beside their twins, from logs that are made by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cellwright.core.messages import JointState, ShadowReport, ToolStatus
from cellwright.record import compare_twins

EXTERNAL, TWIN = "/fanuc/external/", "/fanuc/"
PERIOD_S = 0.02


def entry(topic, message):
    return SimpleNamespace(topic=topic, message=message)


def joints(topic, angle_of_time, times_s):
    zeros = np.zeros(2)
    return [
        entry(
            f"{topic}joint_states",
            JointState(
                round(time_s * 1e9), n, "fanuc",
                names=("a", "b"), position=np.array([angle_of_time(time_s), 0.0]), velocity=zeros, effort=zeros,
            ),
        )
        for n, time_s in enumerate(times_s)
    ]  # fmt: skip


def hands(topic, holding_of_time, times_s):
    return [
        entry(
            f"{topic}tool_status",
            ToolStatus(
                round(time_s * 1e9), n, "fanuc", tool="t", kind="gripper", width_m=0.0, power=0.0,
                holding=holding_of_time(time_s), locked=True,
            ),
        )
        for n, time_s in enumerate(times_s)
    ]  # fmt: skip


def shadow(number, external="done", simulated="done", external_s=2.0, simulated_s=3.0, joint_rad=0.1, end_m=0.004):
    return entry(
        "/fanuc/external/shadow",
        ShadowReport(
            number, number, "fanuc", target="fanuc", command="MoveTo", external_s=external_s, simulated_s=simulated_s,
            external=external, simulated=simulated, joint_rad=joint_rad, end_m=end_m, end_rad=0.0,
        ),
    )  # fmt: skip


def compared(*entries):
    messages = [one for some in entries for one in some]
    return compare_twins(SimpleNamespace(entries=lambda: iter(messages)))


def test_a_log_without_external_robots_has_nothing_to_compare():
    assert compared(joints(TWIN, np.sin, np.arange(0, 2, PERIOD_S))) == []


def test_lag_and_difference_of_a_twin_that_is_late():
    times = np.arange(0.0, 2.5, PERIOD_S)
    (twin,) = compared(
        joints(EXTERNAL, lambda t: 0.5 * t, times), joints(TWIN, lambda t: 0.5 * max(t - 0.12, 0.0), times)
    )
    assert (twin.robot, twin.reports) == ("fanuc", len(times))
    assert twin.lag_s_p50 == pytest.approx(0.12, abs=0.006)
    assert twin.lag_s_p95 == pytest.approx(0.12, abs=0.03)
    assert twin.joint_rad_p50 == pytest.approx(0.06, abs=1e-6)
    assert twin.joint_rad_max == pytest.approx(0.06, abs=1e-6)
    assert (twin.commands, twin.outcome_agreement, twin.hands_differ) == (0, None, None)


def test_a_twin_at_rest_has_no_lag_and_reports_without_order_are_sorted():
    times = np.arange(0.0, 3.0, PERIOD_S)
    theirs = joints(EXTERNAL, lambda _t: 0.2, times)
    (twin,) = compared(reversed(theirs), joints(TWIN, lambda _t: 0.25, times))
    assert twin.lag_s_p50 is None
    assert twin.joint_rad_p95 == pytest.approx(0.05)


def test_hands_that_tell_different_things():
    times = np.arange(0.0, 4.0, 0.1)
    both = joints(EXTERNAL, lambda _t: 0.0, times), joints(TWIN, lambda _t: 0.0, times)
    (twin,) = compared(*both, hands(EXTERNAL, lambda t: t >= 1.0, times), hands(TWIN, lambda t: t >= 2.0, times))
    assert twin.hands_differ == pytest.approx(0.25, abs=0.03)


def test_commands_that_both_did():
    (twin,) = compared(
        [shadow(1), shadow(2, simulated_s=4.0, joint_rad=0.2), shadow(3, simulated="it was in the way", joint_rad=2.0)],
        [shadow(4, external="stopped", simulated="it was in the way"), shadow(5, external_s=0.0, joint_rad=0.0)],
    )
    assert twin.commands == 5
    assert twin.outcome_agreement == pytest.approx(4 / 5)
    assert twin.time_ratio == pytest.approx(1.75)
    assert twin.command_rad_p95 == pytest.approx(0.19, abs=0.01)
    assert twin.end_mm_p95 == pytest.approx(4.0)
    assert (twin.reports, twin.joint_rad_p50) == (0, None)
    assert twin.as_dict()["robot"] == "fanuc"
