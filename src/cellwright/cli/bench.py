"""`cellwright bench`: measurements of the software itself, as a table, as JSON or as Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cellwright.bench import BENCHES, Conditions, Result, run_bench
from cellwright.cli.output import err, prepare_output, print_json, say, table

__all__ = ["app"]

app = typer.Typer(help="Measurements of the software itself, with targets.", no_args_is_help=True)


def _add(name: str) -> None:
    """A command for one bench."""

    def command(
        seed: Annotated[int, typer.Option(min=0, help="Root of all randomness.")] = 0,
        quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions, less certainty.")] = False,
        out: Annotated[Path | None, typer.Option(help="Also save the result as JSON here.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
        markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
    ) -> int:
        if out is not None:
            prepare_output(out)
        result = run_bench(name, Conditions(seed, quick, lambda text: say(text, to=err)))
        if out is not None:
            out.write_text(json.dumps(result.as_dict(), indent=2) + "\n", encoding="utf-8")
        if as_json:
            print_json(result.as_dict())
        elif markdown:
            _print_markdown(result)
        else:
            table(f"{name}, seed {seed}", ["metric", "value [-]", "target [-]", "ok"], _rows(result, "[red]no[/]"))
        return 0

    app.command(name, help=f"Measures '{name}'; exit 0 whatever the figures.")(command)


for _name in BENCHES.names():
    _add(_name)


def _rows(result: Result, missed: str) -> list[tuple[str, str, str, str]]:
    """Metric, value, target and whether it is met."""
    rows = []
    for name, value in result.metrics.items():
        bounds = result.target_text(name)
        verdict = ("yes" if result.meets_target(name) else missed) if bounds else ""
        rows.append((name, f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}", bounds, verdict))
    return rows


def _print_markdown(result: Result) -> None:
    print("| metric | value | target | ok |")
    print("|---|---:|---:|---|")
    for name, *rest in _rows(result, "**no**"):
        print(f"| `{name}` | {' | '.join(rest)} |")
    versions = ", ".join(f"{package} {version}" for package, version in result.versions.items())
    print(f"\nSeed {result.seed}; {versions}.")
