"""`cellwright crcl conform`: tries any CRCL server against the rules."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cellwright import __version__
from cellwright.cli.crcl_options import Json, Server
from cellwright.cli.output import Quiet, err, is_quiet, print_json, say, tell
from cellwright.cli.page_file import command_line, prepare_page, write_page
from cellwright.core.errors import OutOfRange
from cellwright.crcl.conform import CheckResult, CheckVerdict, ConformOptions, as_html, plan, select
from cellwright.crcl.conform import conform as run_checks
from cellwright.crcl.connection import parse_address, tcp

__all__ = ["conform"]

COLOURS = {
    CheckVerdict.PASS: "green",
    CheckVerdict.FAIL: "red",
    CheckVerdict.AMBIGUOUS: "yellow",
    CheckVerdict.SKIPPED: "bright_black",
}
MAX_REACH_MM = 200.0
MIN_TIMEOUT_S, MAX_TIMEOUT_S = 0.05, 600.0


def conform(
    server: Server,
    reach_mm: Annotated[
        float, typer.Option("--reach-mm", metavar="MM", help="How far up from where it stands the robot may go.")
    ] = 20.0,
    no_motion: Annotated[bool, typer.Option("--no-motion", help="Command no move at all.")] = False,
    tool_changer: Annotated[bool, typer.Option("--tool-changer", help="Open and close the tool changer, too.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="A check or an area; may be repeated.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--except", metavar="NAME", help="A check or an area that is left out; may be repeated."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long the server may take for an answer.")
    ] = ConformOptions.answer_s,
    dry_run: Annotated[bool, typer.Option("--plan", help="Say what would be done, and end.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the report as a page, too.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Tries a CRCL server against the rules: exit 0 when all was tried and nothing failed.

    Exit 1: a check failed or was skipped (--no-motion skips all that move), a status broke the schema, or there is
    no server. Checks that are left out by --only or --except are not skipped.

    The robot is moved a little, slowly, straight up and back; the space above it must be free. Units, speeds and
    reports are put back and the session is closed with EndCanon, whatever happens. Checks that may harm a server come
    last. No other client should command the robot meanwhile.
    """
    parse_address(server)
    if not 1.0 <= reach_mm <= MAX_REACH_MM:
        raise OutOfRange("reach", reach_mm, 1.0, MAX_REACH_MM, "mm")
    if not MIN_TIMEOUT_S <= timeout <= MAX_TIMEOUT_S:
        raise OutOfRange("timeout", timeout, MIN_TIMEOUT_S, MAX_TIMEOUT_S, "s")
    options = ConformOptions(may_move=not no_motion, reach_m=reach_mm / 1000, tool_changer=tool_changer)
    options, without = options.with_answer_time(timeout), without or []
    checks = select(only, without, tool_changer=tool_changer)
    if html is not None:
        prepare_page(html, overwrite=overwrite)
    lines = plan(options, checks)
    if dry_run:
        if as_json:
            listed = [
                {"name": c.name, "area": c.area, "clause": c.clause, "does": c.does, "moves": c.moves} for c in checks
            ]
            print_json({"plan": lines, "checks": listed})
            return 0
        for line in lines:
            say(line)
        for item in checks:
            say(f"  {item.name}{' (moves)' if item.moves else ''}: {item.does} {item.clause}")
        return 0
    for line in lines:
        tell(line)
    show = (lambda _result: None) if as_json else _show
    running = run_checks(tcp(server), peer=server, options=options, names=only, without=without, on_result=show)
    report = asyncio.run(running)
    if html is not None:
        write_page(html, as_html(report, command=command_line(), versions={"cellwright": __version__}))
    if as_json:
        print_json(report.as_dict())
    else:
        counts = ", ".join(f"{number} {name}" for name, number in report.counts.items() if number)
        for line in report.findings:
            say(f"finding in the server's answers: {line}")
        saved = f"; {html}" if html is not None else ""
        say(f"{server}: {counts}; {report.ended}; {report.restored}{saved}")
        if not report.complete:
            say("exit 1, since checks were skipped (--except NAME leaves a check out)", to=err)
    return 0 if report.conforms and report.complete else 1


def _show(result: CheckResult) -> None:
    if is_quiet() and result.verdict is CheckVerdict.PASS:
        return
    say(Text(f"{result.verdict.value:9}", COLOURS[result.verdict]), f" {result.check.name}: {result.reason}")
    if result.verdict is CheckVerdict.FAIL:
        say(f"          rule: {result.check.clause}")
        for exchange in result.evidence[-4:]:
            say(
                f"          {exchange.time_s:.3f} s, {exchange.connection}, {exchange.direction}: {exchange.text[:160]}"
            )
