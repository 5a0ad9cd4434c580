"""Runs the checks one after the other, keeps the robot near home, and closes the session whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from cellwright.core.errors import JobFailed, UnknownName
from cellwright.crcl.conform import (
    commands,
    connections,
    limits,
    malformed,
    motion,
    reports,
    session,
    status,
    units,
    wire,
)
from cellwright.crcl.conform.answer import ConformOptions
from cellwright.crcl.conform.check import REGISTERED, Check, CheckEnded, Verdict
from cellwright.crcl.conform.probe import Probe, distance_m
from cellwright.crcl.conform.report import CheckResult, ConformReport
from cellwright.crcl.connection import Connector
from cellwright.crcl.messages import EndCanon, InitCanon, StopConditionEnum, StopMotion

__all__ = ["CHECKS", "conform", "plan", "select"]

AREAS = (session, status, units, reports, commands, wire, connections, motion, limits, malformed)
"""The parts of the battery in their order: what may do harm to the server comes last."""

CHECKS = [item for area in AREAS for item in REGISTERED if area.__name__.endswith(f".{item.area}")]
"""All checks in the order in which they are run."""

AWAY_FACTOR = 2.0
BACK_M = 5e-4
GIVE_UP_AFTER = 3
CANNOT_GO_ON = "cannot go on"
NOBODY = f"the server did not answer in {GIVE_UP_AFTER} checks in a row"


def select(names: Sequence[str] | None) -> list[Check]:
    """The checks of those names, or of those areas; all if None.

    Raises:
        UnknownName: There is no such check or area.
    """
    if not names:
        return list(CHECKS)
    areas = {item.area for item in CHECKS}
    for name in names:
        if name not in areas and name not in {item.name for item in CHECKS}:
            raise UnknownName("check", name, {*areas, *(item.name for item in CHECKS)})
    return [item for item in CHECKS if item.name in names or item.area in names]


def plan(options: ConformOptions, checks: Sequence[Check]) -> list[str]:
    """What the battery will do to the robot, for the one who stands beside it."""
    moving = [item for item in checks if item.moves and _skip_reason(item, options) == ""]
    said = [f"{len(checks)} checks, {len(moving)} of which may move the robot"]
    if moving:
        said += [
            f"moves: at most {1000 * options.reach_m:g} mm straight up from where it stands and back, at no more than "
            f"{1000 * options.speed_mps:g} mm/s, the last joint by {options.turn_rad:g} rad",
            "targets out of reach are sent at 5 mm/s to see whether they are refused; whatever moves then is stopped "
            "at the first millimetre",
            "the end effector is set to what it is set to already; the tool changer "
            + ("is opened and closed" if options.tool_changer else "is not touched"),
        ]
    else:
        said.append("nothing is sent that could move the robot")
    said.append("units, speeds and reports are changed; the session is closed with EndCanon at the end")
    return said


async def conform(
    connect: Connector,
    *,
    peer: str = "the server",
    options: ConformOptions | None = None,
    names: Sequence[str] | None = None,
    on_result: Callable[[CheckResult], None] = lambda _result: None,
) -> ConformReport:
    """Runs the battery against a server.

    Args:
        connect: Makes connections to it.
        peer: What it is called in the report.
        options: What may be done.
        names: Which checks or areas; all by default.
        on_result: Is told after each check.

    Raises:
        ConnectionFailed: Nobody is there. UnknownName: There is no such check.
    """
    options, checks = options or ConformOptions(), select(names)
    probe = Probe(connect, options)
    start_s, results = probe.now_s(), []
    await (await probe.open()).close()
    obstacle, silent = "", 0
    try:
        for item in checks:
            skip = _skip_reason(item, options) or (obstacle if item.moves else "")
            skip = NOBODY if silent >= GIVE_UP_AFTER else skip
            if skip:
                results.append(CheckResult(item, Verdict.SKIPPED, skip))
            else:
                results.append(await _run(probe, item))
                silent = silent + 1 if results[-1].reason.startswith(CANNOT_GO_ON) else 0
                if item.moves:
                    obstacle = await _go_home(probe)
            on_result(results[-1])
    finally:
        ended = await asyncio.shield(asyncio.ensure_future(_close(probe)))
    return ConformReport(peer, results, ended, probe.now_s() - start_s)


def _skip_reason(item: Check, options: ConformOptions) -> str:
    if item.moves and not options.may_move:
        return "the robot may not be moved (--no-motion)"
    if item.needs == "tool-changer" and not options.tool_changer:
        return "the tool changer may not be used (--tool-changer)"
    return ""


async def _run(probe: Probe, item: Check) -> CheckResult:
    probe.transcript.take()
    start_s = probe.now_s()
    try:
        await probe.begin(prepared=item.prepared, moves=item.moves)
        if item.moves and probe.home is None:
            probe.home = await probe.pose()
        verdict, reason = Verdict.PASS, await item.run(probe) or ""
    except CheckEnded as ended:
        verdict, reason = ended.verdict, ended.reason
    except JobFailed as error:
        # A check that expects the connection to end says so itself; otherwise nobody can go on.
        verdict, reason = (Verdict.FAIL if item.name == "answers" else Verdict.AMBIGUOUS), f"{CANNOT_GO_ON}: {error}"
    took_s = probe.now_s() - start_s
    await probe.end()
    return CheckResult(item, verdict, reason, tuple(probe.transcript.take()), took_s)


async def _go_home(probe: Probe) -> str:
    """Takes the robot back to where it stood; says why that failed, after which nothing is moved any more."""
    home = probe.home
    if home is None:
        return ""
    try:
        await probe.begin(prepared=True, moves=True)
        away_m = distance_m(await probe.pose(), home)
        if away_m > AWAY_FACTOR * probe.options.reach_m:
            return f"the robot is {1000 * away_m:.0f} mm from where it began: it is not moved any more"
        if away_m > BACK_M:
            answer = await probe.move(home)
            if not answer.done:
                return f"the robot could not be taken back, MoveTo is {answer.text}: it is not moved any more"
        return ""
    except (CheckEnded, JobFailed) as error:
        return f"the robot could not be taken back ({error}): it is not moved any more"
    finally:
        await probe.end()


async def _close(probe: Probe) -> str:
    """Stops, opens a session to end whatever error there is, and closes it; all three are tried, come what may."""
    ended = ""
    for command in (StopMotion(0, StopConditionEnum.NORMAL), InitCanon(0), EndCanon(0)):
        try:
            await probe.end()
            probe.main = await probe.open()
            answer = await probe.do(command)
            ended = "EndCanon done" if answer.done else f"EndCanon is {answer.text}"
        except JobFailed as error:
            ended = f"it is not known whether EndCanon was done: {error}"
    await probe.end()
    return ended
