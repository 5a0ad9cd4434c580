"""Compares external robots with their twins in one log: joints, lag, hands, and commands that both have done."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.messages import JointState, ShadowReport, ToolStatus
from cellwright.record.log import Log

__all__ = ["TwinComparison", "compare_twins"]

Array = npt.NDArray[np.float64]

EXTERNAL = "/external/"
MOVING_RADPS = 0.05  # from which on a lag shows in the joints
LAGS_S = np.arange(0.0, 1.5, 0.005)
WINDOW_S = 1.0  # of motion, over which one lag is told
GAP_S = 1.0  # without a report, after which nothing is compared


@dataclass(frozen=True)
class TwinComparison:
    """The difference between an external robot and its simulated twin or shadow.

    Attributes:
        robot: The robot.
        reports: How many reports of joints were compared.
        joint_rad_p50: The median of the largest difference of a joint, at the same time.
        joint_rad_p95: The same, of 95 in 100 reports.
        joint_rad_max: The largest.
        lag_s_p50: By how much the twin is late, in stretches of motion.
        lag_s_p95: The same, of 95 in 100 stretches.
        hands_differ: The share of time in which one hand says that it holds something and the other does not.
        commands: How many commands both have done in shadow mode.
        outcome_agreement: The share of those that ended alike.
        time_ratio: The median of how long the simulated robot took, as a share of the external one's time.
        command_rad_p95: The largest difference of a joint in a command that both did, of 95 in 100.
        end_mm_p95: The distance of the tools after it, of 95 in 100.
    """

    robot: str
    reports: int
    joint_rad_p50: float | None
    joint_rad_p95: float | None
    joint_rad_max: float | None
    lag_s_p50: float | None
    lag_s_p95: float | None
    hands_differ: float | None
    commands: int
    outcome_agreement: float | None
    time_ratio: float | None
    command_rad_p95: float | None
    end_mm_p95: float | None

    def as_dict(self) -> dict[str, Any]:
        """Returns it as JSON has it."""
        return asdict(self)


def compare_twins(log: Log) -> list[TwinComparison]:
    """Returns a comparison for every robot that was external in a log; none when none was."""
    joints: dict[str, list[tuple[float, Array]]] = {}
    hands: dict[str, list[tuple[float, bool]]] = {}
    shadows: dict[str, list[ShadowReport]] = {}
    for entry in log.entries():
        message = entry.message
        if isinstance(message, JointState):
            joints.setdefault(entry.topic, []).append((message.time_s, np.asarray(message.position)))
        elif isinstance(message, ToolStatus):
            hands.setdefault(entry.topic, []).append((message.time_s, message.holding))
        elif isinstance(message, ShadowReport):
            shadows.setdefault(message.target, []).append(message)
    robots = [topic.split("/")[1] for topic in (*joints, *hands) if EXTERNAL in topic]
    return [_compared(robot, joints, hands, shadows.get(robot, [])) for robot in sorted({*robots, *shadows})]


def _compared(
    robot: str,
    joints: dict[str, list[tuple[float, Array]]],
    hands: dict[str, list[tuple[float, bool]]],
    shadows: list[ShadowReport],
) -> TwinComparison:
    theirs = joints.get(f"/{robot}{EXTERNAL}joint_states", [])
    ours = joints.get(f"/{robot}/joint_states", [])
    differences, lags = _joints(theirs, ours)
    commands = len(shadows)
    alike = [(one.external == "done") is (one.simulated == "done") for one in shadows]
    both = [one for one in shadows if one.external == one.simulated == "done"]
    ratios = [one.simulated_s / one.external_s for one in both if one.external_s > 0.0 and one.joint_rad != 0.0]
    return TwinComparison(
        robot=robot,
        reports=len(differences),
        joint_rad_p50=_quantile(differences, 0.5),
        joint_rad_p95=_quantile(differences, 0.95),
        joint_rad_max=_quantile(differences, 1.0),
        lag_s_p50=_quantile(lags, 0.5),
        lag_s_p95=_quantile(lags, 0.95),
        hands_differ=_hands(hands.get(f"/{robot}{EXTERNAL}tool_status", []), hands.get(f"/{robot}/tool_status", [])),
        commands=commands,
        outcome_agreement=sum(alike) / commands if commands else None,
        time_ratio=_quantile(ratios, 0.5),
        command_rad_p95=_quantile([one.joint_rad for one in both if np.isfinite(one.joint_rad)], 0.95),
        end_mm_p95=_quantile([1000 * one.end_m for one in both], 0.95),
    )


def _joints(theirs: list[tuple[float, Array]], ours: list[tuple[float, Array]]) -> tuple[list[float], list[float]]:
    """Returns the differences of the joints report by report, and the lag of each stretch of motion."""
    if len(theirs) < 2 or len(ours) < 2:
        return [], []
    times, angles = _series(theirs)
    twin_times, twin_angles = _series(ours)
    inside = (times >= twin_times[0]) & (times <= twin_times[-1])
    differences = [
        float(np.abs(angle - _at(twin_times, twin_angles, time)).max())
        for time, angle in zip(times[inside], angles[inside], strict=True)
    ]
    lags, begin = [], 0
    for end in range(1, len(times) + 1):
        is_gap = end < len(times) and times[end] - times[end - 1] > GAP_S
        if end == len(times) or is_gap or times[end] - times[begin] > WINDOW_S:
            lag_s = _lag(times[begin:end], angles[begin:end], twin_times, twin_angles)
            if lag_s is not None:
                lags.append(lag_s)
            begin = end
    return differences, lags


def _lag(times: Array, angles: Array, twin_times: Array, twin_angles: Array) -> float | None:
    """Returns by how much later the twin was where the external robot was; None for one that hardly moves."""
    if len(times) < 4 or times[-1] - times[0] < WINDOW_S / 2:
        return None
    speeds = np.abs(np.diff(angles, axis=0)).max(axis=1) / np.maximum(np.diff(times), 1e-6)
    if np.median(speeds) < MOVING_RADPS:
        return None
    errors = [
        sum(float(((angle - _at(twin_times, twin_angles, time + lag_s)) ** 2).sum())
            for time, angle in zip(times, angles, strict=True))
        for lag_s in LAGS_S.tolist()
    ]  # fmt: skip
    return float(LAGS_S[int(np.argmin(errors))])


def _hands(theirs: list[tuple[float, bool]], ours: list[tuple[float, bool]]) -> float | None:
    if not theirs or not ours:
        return None
    times = np.array([time for time, _ in ours])
    same = [holding is ours[max(int(np.searchsorted(times, time, side="right")) - 1, 0)][1] for time, holding in theirs]
    return 1.0 - sum(same) / len(same)


def _series(reports: list[tuple[float, Array]]) -> tuple[Array, Array]:
    times = np.array([time for time, _ in reports])
    order = np.argsort(times, kind="stable")
    return times[order], np.array([angles for _, angles in reports])[order]


def _at(times: Array, angles: Array, time: float) -> Array:
    """Returns the angles at a time, between two reports."""
    after = int(np.clip(np.searchsorted(times, time), 1, len(times) - 1))
    before = after - 1
    share = np.clip((time - times[before]) / max(times[after] - times[before], 1e-9), 0.0, 1.0)
    result: Array = angles[before] + share * (angles[after] - angles[before])
    return result


def _quantile(values: list[float], share: float) -> float | None:
    return float(np.quantile(values, share)) if values else None
