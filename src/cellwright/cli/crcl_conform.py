"""`cellwright crcl conform`: tries any CRCL server against the rules."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cellwright.cli.crcl_options import Json, Server
from cellwright.cli.output import err, prepare_output, print_json, say
from cellwright.core.errors import OutOfRange
from cellwright.crcl.conform import CheckResult, ConformOptions, Verdict, as_html, plan, select
from cellwright.crcl.conform import conform as run_battery
from cellwright.crcl.connection import parse_address, tcp

__all__ = ["conform"]

COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.AMBIGUOUS: "yellow", Verdict.SKIPPED: "bright_black"}
MAX_REACH_MM = 200.0


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
    dry_run: Annotated[bool, typer.Option("--plan", help="Say what would be done, and end.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the report as a page.")] = None,
    as_json: Json = False,
) -> int:
    """Tries a CRCL server against the rules: exit 0 when nothing failed, 1 when something did or nobody is there.

    The robot is moved a little, slowly, straight up and back; the space above it must be free. The session is closed
    with EndCanon whatever happens. Nobody else should command the robot meanwhile.
    """
    parse_address(server)
    if not 1.0 <= reach_mm <= MAX_REACH_MM:
        raise OutOfRange("reach", reach_mm, 1.0, MAX_REACH_MM, "mm")
    options = ConformOptions(may_move=not no_motion, reach_m=reach_mm / 1000, tool_changer=tool_changer)
    checks = select(only)
    if html is not None:
        prepare_output(html)
    told = plan(options, checks)
    if dry_run:
        if as_json:
            listed = [
                {"name": c.name, "area": c.area, "clause": c.clause, "does": c.does, "moves": c.moves} for c in checks
            ]
            print_json({"plan": told, "checks": listed})
            return 0
        for line in told:
            say(line)
        for item in checks:
            say(f"  {item.name}{' (moves)' if item.moves else ''}: {item.does} {item.clause}")
        return 0
    for line in told:
        say(line, to=err)
    show = (lambda _result: None) if as_json else _show
    report = asyncio.run(run_battery(tcp(server), peer=server, options=options, names=only, on_result=show))
    if html is not None:
        html.write_text(as_html(report), encoding="utf-8")
    if as_json:
        print_json(report.as_dict())
    else:
        counts = ", ".join(f"{number} {name}" for name, number in report.counts.items() if number)
        say(f"{server}: {counts}; {report.ended}" + (f"; {html}" if html is not None else ""))
    return 0 if report.conforms else 1


def _show(result: CheckResult) -> None:
    say(Text(f"{result.verdict.value:9}", COLOURS[result.verdict]), f" {result.check.name}: {result.reason}")
    if result.verdict is Verdict.FAIL:
        say(f"          rule: {result.check.clause}")
        for exchange in result.evidence[-4:]:
            say(
                f"          {exchange.time_s:.3f} s, {exchange.connection}, {exchange.direction}: {exchange.text[:160]}"
            )
