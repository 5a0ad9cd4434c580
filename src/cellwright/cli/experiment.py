"""`cellwright experiment`: list, run, compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.output import Quiet, err, prepare_output, print_json, say, table, take_folder
from cellwright.cli.progress import Progress
from cellwright.core.extras import need_extra

if TYPE_CHECKING:
    from cellwright.core.results import Result

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Experiments of publications, made again, with data and a page.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]


@app.command("list")
def list_experiments(as_json: Json = False) -> None:
    """Lists the experiments that are installed."""
    from cellwright.experiments import EXPERIMENTS  # here: --help need not wait for them

    titles = {name: EXPERIMENTS.get(name).title for name in EXPERIMENTS}
    if as_json:
        print_json({"experiments": [{"name": name, "title": title} for name, title in titles.items()]})
    else:
        table(None, ["experiment", "title"], list(titles.items()), markup=False)


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which; see `cellwright experiment list`.")],
    seed: Annotated[int, typer.Option(min=0, help="Root of all randomness.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Less work, less certainty.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page and the data; out/NAME, or the next number.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Runs an experiment and saves result.json, CSV files, plots and report.html; exit 0 whatever the figures."""
    from cellwright.experiments import EXPERIMENTS, run_experiment, save_outcome
    from cellwright.experiments.plots import can_plot

    need_extra(f"the experiment '{name}'", "motion", *EXPERIMENTS.get(name).needs)
    folder = take_folder(out, Path("out") / name, ["result.json"], overwrite=overwrite)
    if not can_plot():
        say("there will be no plots: pip install 'cellwright[plots]'", to=err)
    prepare_output(folder / "result.json")
    with Progress(name) as progress:
        outcome = run_experiment(name, progress.conditions(seed, quick=quick))
    written = save_outcome(outcome, folder, lambda text: say(text, to=err))
    if as_json:
        print_json(outcome.result.as_dict())
        return 0
    columns, rows = ["metric", "ours [-]", "95 % interval [-]", "paper [-]", "target [-]", "ok"], _rows(outcome.result)
    filled = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    rows = [tuple(row[at] for at in filled) for row in rows]
    table(f"{outcome.title} (seed {seed})", [columns[at] for at in filled], rows, markup=False)
    say(f"page {written[-1]}, data in {folder}")
    return 0


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A result.json, or the folder it is in.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another of the same experiment.")],
    as_json: Json = False,
) -> int:
    """Puts two results of one experiment (or bench) beside each other."""
    from cellwright.experiments import compare_results, read_result

    compared = compare_results(read_result(first), read_result(second))
    if as_json:
        print_json(compared.as_dict())
        return 0
    rows = [(c.metric, *(_number(v) for v in (c.first, c.second, c.difference))) for c in compared.changes]
    table(None, ["metric", "A [-]", "B [-]", "B - A [-]"], rows, markup=False)
    for what, (one, other) in compared.circumstances.items():
        say(f"{what}: {one} and {other}")
    return 0


def _rows(result: Result) -> list[tuple[str, ...]]:
    from cellwright.experiments.report import interval_text, number_text

    rows: list[tuple[str, ...]] = []
    for name in result.shown:
        value = result.metrics[name]
        ok = ("yes" if result.meets_target(name) else "no") if name in result.targets else ""
        interval = interval_text(result, name)[0]
        rows.append((name, number_text(value), interval, _number(result.paper.get(name)), result.target_text(name), ok))
    return rows


def _number(value: float | None) -> str:
    from cellwright.experiments.report import number_text

    return "" if value is None else number_text(value)
