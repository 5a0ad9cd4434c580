"""`cellwright bench`: measurements of the software itself, as a table, as JSON or as Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cellwright.bench import BENCHES, Result, run_bench
from cellwright.cli.output import Quiet, prepare_output, print_json, table
from cellwright.cli.progress import Progress

__all__ = ["app"]

app = typer.Typer(help="Measurements of the software itself, with targets.", no_args_is_help=True)


def _add(name: str) -> None:
    """Adds the command of one bench."""

    def command(
        seed: Annotated[int, typer.Option(min=0, help="Root of all randomness.")] = 0,
        quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions, less certainty.")] = False,
        runs: Annotated[int, typer.Option(min=1, help="Measure so often; the median counts, the range is shown.")] = 1,
        out: Annotated[Path | None, typer.Option(help="Also save the result as JSON here.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
        quiet: Quiet = False,
    ) -> int:
        if out is not None:
            prepare_output(out)
        results = []
        with Progress(name) as progress:
            conditions = progress.conditions(seed, quick=quick)
            for number in range(1, runs + 1):
                if runs > 1:
                    conditions.say(f"run {number} of {runs}")
                results.append(run_bench(name, conditions))
        result = Result.median_of(results)
        if out is not None:
            out.write_text(json.dumps(result.as_dict(), indent=2) + "\n", encoding="utf-8")
        if as_json:
            print_json(result.as_dict())
        elif markdown:
            _print_markdown(result)
        else:
            title = f"{name}, seed {seed}" + (f", median of {runs} runs" if runs > 1 else "")
            headings = [
                f"{heading} [-]" if heading in ("value", "target") else heading for heading in _headings(result)
            ]
            table(title, headings, _rows(result, "[red]no[/]"))
        return 0

    app.command(name, help=f"Measures '{name}'; exit 0 whatever the figures.")(command)


for _name in BENCHES.names():
    _add(_name)


def _headings(result: Result) -> list[str]:
    """Returns the names of the columns; several runs have one more."""
    return ["metric", "value", *(["range"] if result.ranges else []), "target", "ok"]


def _rows(result: Result, missed: str) -> list[tuple[str, ...]]:
    """Returns rows of metric, value, range of several runs, target and whether it is met."""
    rows = []
    for name, value in result.metrics.items():
        bounds = result.target_text(name)
        verdict = ("yes" if result.meets_target(name) else missed) if bounds else ""
        ends = [" to ".join(_number(end) for end in result.ranges[name])] if result.ranges else []
        rows.append((name, _number(value), *ends, bounds, verdict))
    return rows


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _print_markdown(result: Result) -> None:
    headings = _headings(result)
    print(f"| {' | '.join(headings)} |")
    print(f"|{'|'.join('---' if heading in ('metric', 'ok') else '---:' for heading in headings)}|")
    for name, *rest in _rows(result, "**no**"):
        print(f"| `{name}` | {' | '.join(rest)} |")
    versions = ", ".join(f"{package} {version}" for package, version in result.versions.items())
    several = f"; median of {result.runs} runs" if result.runs > 1 else ""
    print(f"\nSeed {result.seed}{several}; {versions}.")
