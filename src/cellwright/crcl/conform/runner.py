"""Runs the checks one after the other, keeps the robot near home, and closes the session whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from cellwright.core.errors import BadInput, JobFailed, UnknownName
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
from cellwright.crcl.conform.check import REGISTERED, Check, CheckEnded, CheckVerdict
from cellwright.crcl.conform.probe import Probe, distance_m
from cellwright.crcl.conform.report import CheckResult, ConformReport
from cellwright.crcl.conform.restore import put_back
from cellwright.crcl.connection import Connector
from cellwright.crcl.errors import EncodeError
from cellwright.crcl.link import NoAnswer
from cellwright.crcl.messages import EndCanon, InitCanon, StopConditionEnum, StopMotion

__all__ = ["CHECKS", "conform", "plan", "select"]

AREAS = (session, status, units, reports, commands, wire, connections, motion, limits, malformed)
"""The groups of checks in their order."""

CHECKS = sorted(
    (item for area in AREAS for item in REGISTERED if area.__name__.endswith(f".{item.area}")),
    key=lambda item: item.harms,
)
"""All checks in the order in which they are run: what may do harm to the server comes last."""

AWAY_FACTOR = 2.0
BACK_M = 5e-4
GIVE_UP_AFTER = 3
CLOSE_S = 60.0


def select(
    names: Sequence[str] | None = None, without: Sequence[str] = (), *, tool_changer: bool = False
) -> list[Check]:
    """Returns the checks of those names, or of those areas; all if None.

    Args:
        names: Which; a check that needs an option only if it is named itself.
        without: Which not.
        tool_changer: Whether that option is given.

    Raises:
        UnknownName: There is no such check or area. BadInput: None is left.
    """
    known = {item.area for item in CHECKS} | {item.name for item in CHECKS}
    for name in (*(names or ()), *without):
        if name not in known:
            raise UnknownName("check", name, known)

    def is_chosen(item: Check) -> bool:
        in_area = not names or item.area in names
        return item.name in (names or ()) or (in_area and (tool_changer or not item.needs))

    left = [c for c in CHECKS if is_chosen(c) and c.name not in without and c.area not in without]
    if not left:
        raise BadInput("no check is left to be tried")
    return left


def plan(options: ConformOptions, checks: Sequence[Check]) -> list[str]:
    """Returns what the checks will do to the robot, for the person who stands beside it."""
    moving = [item for item in checks if item.moves and _skip_reason(item, options) == ""]
    lines = [f"{len(checks)} checks, {len(moving)} of which may move the robot"]
    if moving:
        lines += [
            f"moves: at most {1000 * options.reach_m:g} mm straight up from where it stands and back, at no more than "
            f"{1000 * options.speed_mps:g} mm/s, the last joint by {options.turn_rad:g} rad",
            "targets out of reach are sent at 5 mm/s to see whether they are refused; whatever moves then is stopped "
            "at the first millimetre",
            "the end effector is set to what it is set to already; the tool changer "
            + ("is opened and closed" if options.tool_changer else "is not touched"),
        ]
    else:
        lines.append("nothing is sent that could move the robot")
    lines.append("units, speeds and reports are changed and put back; the session is closed with EndCanon at the end")
    return lines


async def conform(
    connect: Connector,
    *,
    peer: str = "the server",
    options: ConformOptions | None = None,
    names: Sequence[str] | None = None,
    without: Sequence[str] = (),
    on_result: Callable[[CheckResult], None] = lambda _result: None,
) -> ConformReport:
    """Runs the checks against a server, whatever that answers.

    Args:
        connect: Makes connections to it.
        peer: Its name in the report.
        options: What may be done.
        names: Which checks or areas; all by default.
        without: Which checks or areas not.
        on_result: Is called after each check.

    Raises:
        ConnectionFailed: No server is there. UnknownName: There is no such check. BadInput: None is left.
    """
    options = options or ConformOptions()
    checks = select(names, without, tool_changer=options.tool_changer)
    probe = Probe(connect, options)
    start_s, results = probe.now_s(), []
    await _look(probe)
    obstacle, obstacle_to_begin, silent, unready = "", "", 0, 0
    restored = ended = ""
    try:
        for item in checks:
            skip = _skip_reason(item, options) or (obstacle if item.moves else "")
            if silent >= GIVE_UP_AFTER or (item.prepared and unready >= GIVE_UP_AFTER):
                skip = f"{GIVE_UP_AFTER} checks in a row could not begin, the last one since it {obstacle_to_begin}"
            if skip:
                results.append(CheckResult(item, CheckVerdict.SKIPPED, skip))
            else:
                result, begun = await _run(probe, item)
                results.append(result)
                obstacle_to_begin = result.reason if not begun else obstacle_to_begin
                silent = 0 if begun is not None else silent + 1
                if item.prepared and begun is not None:
                    unready = 0 if begun else unready + 1
                if item.moves and begun:
                    obstacle = await _go_home(probe)
            on_result(results[-1])
    finally:
        restored, ended = await asyncio.shield(asyncio.ensure_future(_close(probe)))
    return ConformReport(peer, results, ended, probe.now_s() - start_s, restored, tuple(probe.findings.lines))


def _skip_reason(item: Check, options: ConformOptions) -> str:
    if item.moves and not options.may_move:
        return "the robot may not be moved (--no-motion)"
    if item.needs == "tool-changer" and not options.tool_changer:
        return "the tool changer may not be used (--tool-changer)"
    return ""


async def _look(probe: Probe) -> None:
    """Asks once before anything is judged: what is set now is put back in the end, and a cold server warms up."""
    connection = await probe.open()
    with contextlib.suppress(JobFailed):
        probe.note(await probe.ask(connection))
    await probe.end()


async def _run(probe: Probe, item: Check) -> tuple[CheckResult, bool | None]:
    """Returns the result, and whether the check could begin: False if the session did not open, None if silent."""
    probe.transcript.take()
    start_s, begun = probe.now_s(), None
    verdict = CheckVerdict.SKIPPED
    try:
        async with asyncio.timeout(probe.options.check_s):
            await probe.begin(prepared=item.prepared, moves=item.moves)
            begun = True
            if item.moves and probe.home is None:
                probe.home = await probe.pose()
            verdict, reason = CheckVerdict.PASS, await item.run(probe) or ""
    except CheckEnded as ended:
        begun, reason = bool(begun), ended.reason
        verdict = ended.verdict if begun else CheckVerdict.SKIPPED
    except JobFailed as error:
        reason = f"cannot go on: {error}"
        if item.name == "answers":
            verdict = CheckVerdict.FAIL
        elif begun and not await _is_alive(probe):
            verdict, reason = CheckVerdict.FAIL, f"the server does not answer any more: {error}"
        elif begun and item.harms and isinstance(error, NoAnswer):
            verdict, reason = CheckVerdict.FAIL, f"the server was silent for a while: {error}"
    except EncodeError as error:
        verdict, reason = CheckVerdict.AMBIGUOUS, f"cannot be tried with what the server tells: {error}"
    except TimeoutError:
        reason = f"cannot go on: not over after {probe.options.check_s:g} s"
    except Exception as error:  # a check that stumbles over an unexpected answer must not end all the others
        reason = f"the check itself failed: {type(error).__name__}: {error}"
    took_s = probe.now_s() - start_s
    await probe.end()
    evidence, findings = tuple(probe.transcript.take()), probe.fresh_findings()
    return CheckResult(item, verdict, reason, evidence, took_s, findings), begun


async def _is_alive(probe: Probe) -> bool:
    """Returns whether a new connection is answered, in the time that a cold server has."""
    probe.silences = max(probe.silences, 1)
    try:
        return await probe.responds(await probe.open())
    except JobFailed:
        return False


async def _go_home(probe: Probe, *, tries: int = 2) -> str:
    """Moves the robot back to where it stood; returns why that failed, after which nothing is moved any more.

    One answer that is lost is no such reason: it is tried again.
    """
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
        if isinstance(error, JobFailed) and tries > 1:
            return await _go_home(probe, tries=tries - 1)
        return f"the robot could not be taken back ({error}): it is not moved any more"
    finally:
        await probe.end()


async def _close(probe: Probe) -> tuple[str, str]:
    """Stops, opens a session to end whatever error there is, puts settings back, and closes the session.

    All four are tried, come what may; returns how the last two went.
    """
    restored = "nothing was put back"
    ended = "it is not known whether EndCanon was done"

    async def close() -> None:
        nonlocal restored, ended
        for command in (StopMotion(0, StopConditionEnum.NORMAL), InitCanon(0), EndCanon(0)):
            try:
                await probe.end()
                probe.main = await probe.open()
                answer = await probe.do(command)
                ended = "EndCanon done" if answer.done else f"EndCanon is {answer.text}"
                if isinstance(command, InitCanon) and answer.done:
                    restored = await put_back(probe)
            except JobFailed as error:
                ended = f"it is not known whether EndCanon was done: {error}"

    try:
        async with asyncio.timeout(CLOSE_S):
            await close()
    except TimeoutError:
        ended = f"it is not known whether EndCanon was done: the server took more than {CLOSE_S:g} s"
    await probe.end()
    return restored, ended
