"""`cellwright trial --seeds`: one trial over many seeds, and what is printed about them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from rich.text import Text

from cellwright.cli.output import counted, err, prepare_output, print_json, say, table, take_folder
from cellwright.cli.page_file import command_line
from cellwright.cli.progress import Progress
from cellwright.core.errors import BadInput, UnknownName
from cellwright.experiments.seeds import parse_seeds, seeds_text
from cellwright.experiments.trial_sweep import KEEP, Keep, SeedJob, SeedRow, TrialSweep, sweep_seeds
from cellwright.experiments.trial_sweep_files import SWEEP_FILES, save_sweep
from cellwright.trials.cfg import EXTERNAL, TrialCfg
from cellwright.trials.controller_command import ControllerCommand

__all__ = ["run_sweep"]

SHOWN_ROWS = 20  # of more, only those that are not done
LONGEST_REASON = 400


def run_sweep(
    file: Path,
    cfg: TrialCfg,
    seeds: str,
    *,
    changes: Mapping[str, Any],
    controller: str | None,
    command: ControllerCommand | None,
    pace: float | None,
    workers: int | None,
    keep: str,
    out: Path | None,
    overwrite: bool,
    junit: Path | None,
    trace: bool,
    as_json: bool,
) -> int:
    """Runs a trial with every seed and reports; interrupted, it reports the seeds that are over."""
    wanted = parse_seeds(seeds)
    if keep not in KEEP:
        raise UnknownName("value", keep, KEEP, "--keep")
    if (controller or cfg.controller) == EXTERNAL and command is None:
        raise BadInput(
            '--seeds starts a controller for each seed: add --controller-command "python ctl.py {crcl.fanuc}", '
            "or --controller internal"
        )
    if junit is not None:
        prepare_output(junit)
    usual = Path("out") / "trial" / f"{cfg.trial}-seeds"
    folder = take_folder(out, usual, SWEEP_FILES.values(), overwrite=overwrite)
    told = shlex.join(command.words) if command else controller or cfg.controller
    sweep = TrialSweep(cfg.trial, Path(cfg.cell).stem, told, wanted, keep=cast(Keep, keep))
    jobs = [
        SeedJob(
            file=file,
            seed=seed,
            changes=changes,
            controller=controller,
            command=command,
            pace=pace,
            folder=folder / f"seed-{seed}",
            keep=sweep.keep,
            trace=trace,
            repeat=_repeat(file, seed, controller, command, pace, changes),
        )
        for seed in wanted
    ]
    interrupted = False
    with Progress("seeds") as progress:

        def tell(row: SeedRow) -> None:
            progress.update(len(sweep.rows), len(wanted))

        try:
            sweep_seeds(sweep, jobs, workers, tell)
        except KeyboardInterrupt:
            interrupted = True
    save_sweep(sweep, folder, command_line(), junit)
    if as_json:
        print_json(sweep.as_dict() | {"files": {what: folder / name for what, name in SWEEP_FILES.items()}})
    else:
        _print(sweep)
        say(f"page: {folder / SWEEP_FILES['page']}")
    if interrupted:
        say(f"interrupted: {len(sweep.rows)} of {len(wanted)} seeds were run", to=err)
        return 130
    return 0 if sweep.all_done else 1


def _repeat(
    file: Path,
    seed: int,
    controller: str | None,
    command: ControllerCommand | None,
    pace: float | None,
    changes: Mapping[str, Any],
) -> str:
    """Returns the command that runs one of the seeds again."""
    said = {"--controller": controller, "--pace": pace, **{f"--{key}": value for key, value in changes.items()}}
    said["--controller-command"] = shlex.join(command.words) if command else None
    options = [word for name, value in said.items() if value is not None for word in (name, str(value))]
    return shlex.join(["cellwright", "trial", str(file), "--seeds", str(seed), *options, "--keep", "all"])


def _print(sweep: TrialSweep) -> None:
    if not sweep.rows:
        return
    shown = sweep.rows if len(sweep.rows) <= SHOWN_ROWS else sweep.failed[:SHOWN_ROWS]
    if shown:
        rows = [
            (row.seed, _word(row), f"{100 * row.score:.0f}", f"{row.time_s:.1f}", _cut(row.reason, 60)) for row in shown
        ]
        title = "seeds" if len(shown) == len(sweep.rows) else f"{counted(len(sweep.failed), 'seed')} not done"
        if len(shown) < min(len(sweep.failed), len(sweep.rows)):
            title += f", the first {len(shown)}"
        table(title, ["seed", "outcome", "score [of 100]", "simulated [s]", "why not"], rows, markup=False)
        say()
    kinds = [
        (
            kind["outcome"].replace("_", " "),
            kind["count"],
            f"{100 * kind['share']:.1f}",
            f"{100 * kind['share_low']:.1f} to {100 * kind['share_high']:.1f}",
            f"{100 * kind['score_median']:.0f}",
            f"{kind['time_median_s']:.1f}",
        )
        for kind in sweep.outcomes()
    ]
    table(
        "outcomes",
        ["outcome", "seeds", "share [%]", "95 % [%]", "median score", "median time [s]"],
        kinds,
        markup=False,
    )
    for reason, seeds in sweep.reasons():
        say()
        say(Text(counted(len(seeds), "seed"), "red"), f" ({seeds_text(seeds)}): {_cut(reason, LONGEST_REASON)}")
    rate, low, high = sweep.rate
    done = len(sweep.rows) - len(sweep.failed)
    say()
    word = Text("done", "green") if sweep.all_done else Text("not all done", "red")
    say(word, f": {done} of {len(sweep.rows)} seeds, {100 * rate:.1f} % (95 %: {100 * low:.1f} to {100 * high:.1f} %)")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."


def _word(row: SeedRow) -> Text:
    return Text(row.status.replace("_", " "), "green" if row.done else "red")
