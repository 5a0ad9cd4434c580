"""One trial over many seeds: which of them are done, which are not, and why."""

from __future__ import annotations

import contextlib
import re
import shutil
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

from cellwright.core.errors import BadInput, CellwrightError
from cellwright.core.statistics import wilson_high, wilson_low
from cellwright.experiments.pool import each_result
from cellwright.experiments.seeds import seeds_text
from cellwright.trials import Report
from cellwright.trials.controller_command import ControllerCommand
from cellwright.trials.page import UnsavedReport
from cellwright.trials.report import Ending
from cellwright.trials.trial_file import read_whole_trial, run_trial
from cellwright.viewing.from_log import make_from_log

__all__ = ["SeedJob", "SeedRow", "TrialSweep", "sweep_seeds"]

KEEP = ("all", "failed", "none")
Keep = Literal["all", "failed", "none"]
USUAL_ENDINGS = {Ending.SUBMITTED, Ending.COMPLETE, Ending.RETURNED}
FIGURES = re.compile(r"\d+\.\d+|\d+(?= (?:mm|cm|m|s|deg|N|%)\b)")


@dataclass(frozen=True)
class SeedJob:
    """One trial to run, for a process of its own.

    Attributes:
        file: The trial's file, which that process reads itself: the cell's plugins may register what it names.
        seed: Instead of the trial's own.
        changes: Keys of the trial -> values instead of its own.
        controller: Instead of the trial's own.
        command: Starts the controller outside.
        pace: Simulated seconds per second.
        folder: For its files.
        keep: Whether they stay.
        trace: Whether a trace is made of what stays.
        repeat: How this seed is repeated, for its page.
    """

    file: Path
    seed: int
    changes: Mapping[str, Any]
    controller: str | None
    command: ControllerCommand | None
    pace: float | None
    folder: Path
    keep: Keep
    trace: bool = False
    repeat: str = ""


@dataclass(frozen=True)
class SeedRow:
    """One seed's outcome.

    Attributes:
        seed: The seed.
        status: The trial's status; `refused` when it makes no sense with this seed, `died` when its process was killed.
        done: Whether all orders are done.
        score: 0 to 1.
        time_s: Simulated time.
        wall_s: Real time.
        reason: Why it is not done; empty when it is.
        folder: Its files, if they were kept.
    """

    seed: int
    status: str
    done: bool = False
    score: float = 0.0
    time_s: float = 0.0
    wall_s: float = 0.0
    reason: str = ""
    folder: str | None = None


@dataclass
class TrialSweep:
    """The outcome of all seeds that were run.

    Attributes:
        trial: The trial's name.
        cell: Its cell.
        controller: Its controller, or the command of one.
        seeds: All that were asked for.
        rows: Those that are over, by seed.
        keep: Whose files were kept.
    """

    trial: str
    cell: str
    controller: str
    seeds: tuple[int, ...]
    rows: list[SeedRow] = field(default_factory=list)
    keep: Keep = "failed"

    @property
    def failed(self) -> list[SeedRow]:
        """The seeds that were not done."""
        return [row for row in self.rows if not row.done]

    @property
    def all_done(self) -> bool:
        """True if every seed was run and is done."""
        return len(self.rows) == len(self.seeds) and not self.failed

    @property
    def rate(self) -> tuple[float, float, float]:
        """The share of seeds that are done, and its 95 % interval."""
        done, count = len(self.rows) - len(self.failed), len(self.rows)
        return (done / count if count else 0.0), wilson_low(done, count), wilson_high(done, count)

    def outcomes(self) -> list[dict[str, Any]]:
        """Returns a row for every kind of outcome, the most frequent first: how many, share, score, time, seeds."""
        kinds: dict[str, list[SeedRow]] = {}
        for row in self.rows:
            kinds.setdefault(row.status, []).append(row)
        return [
            {
                "outcome": status,
                "count": len(rows),
                "share": len(rows) / len(self.rows),
                "share_low": wilson_low(len(rows), len(self.rows)),
                "share_high": wilson_high(len(rows), len(self.rows)),
                "score_median": median(row.score for row in rows),
                "time_median_s": median(row.time_s for row in rows),
                "seeds": seeds_text(row.seed for row in rows),
            }
            for status, rows in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
        ]

    def reasons(self) -> list[tuple[str, list[int]]]:
        """Returns why seeds are not done, the most frequent first; reasons that differ in measures are one."""
        kinds: dict[str, list[SeedRow]] = {}
        for row in self.failed:
            kinds.setdefault(FIGURES.sub("#", row.reason), []).append(row)
        ordered = sorted(kinds.values(), key=lambda rows: (-len(rows), rows[0].seed))
        return [(rows[0].reason, [row.seed for row in rows]) for rows in ordered]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON; the same seeds give the same but for `wall_s` of rows."""
        rate, low, high = self.rate
        return {
            "trial": self.trial,
            "cell": self.cell,
            "controller": self.controller,
            "seeds": seeds_text(self.seeds),
            "run": len(self.rows),
            "done": len(self.rows) - len(self.failed),
            "rate": rate,
            "rate_low": low,
            "rate_high": high,
            "outcomes": self.outcomes(),
            "reasons": [
                {"reason": reason, "count": len(seeds), "seeds": seeds_text(seeds)} for reason, seeds in self.reasons()
            ],
            "rows": [asdict(row) for row in self.rows],
        }


def sweep_seeds(
    sweep: TrialSweep,
    jobs: Sequence[SeedJob],
    workers: int | None = None,
    told: Callable[[SeedRow], None] = lambda _row: None,
) -> None:
    """Runs a trial with every seed, and adds the rows by seed; whatever ends it, those that are over stay.

    Raises:
        BadInput: The trial makes no sense with the first seed.
    """
    try:
        with contextlib.closing(each_result(run_seed, jobs, workers)) as results:
            for number, made in results:
                row = made or _died(jobs[number])
                if number == 0 and row.status == "refused":
                    raise BadInput(f"seed {row.seed}: {row.reason}")
                sweep.rows.append(row)
                sweep.rows.sort(key=lambda one: one.seed)
                told(row)
    finally:
        over = {row.seed for row in sweep.rows}
        for job in jobs:
            if job.seed not in over:
                shutil.rmtree(job.folder, ignore_errors=True)  # half a trial tells nothing


def run_seed(job: SeedJob) -> SeedRow:
    """Runs the trial with one seed, and keeps its files if they are wanted."""
    shutil.rmtree(job.folder, ignore_errors=True)  # an earlier trace would be taken for this one's
    try:
        cfg = read_whole_trial(job.file).model_copy(update={**job.changes, "seed": job.seed})
        report = run_trial(
            cfg, job.controller, out=job.folder, pace=job.pace, any_port=True, command=job.repeat, program=job.command
        )
    except UnsavedReport as error:
        report = error.report
    except BadInput as error:
        shutil.rmtree(job.folder, ignore_errors=True)
        return SeedRow(job.seed, "refused", reason=str(error))
    except Exception as error:  # of a plugin: one seed's must not take the others along
        traceback.print_exc()
        reason = str(error) if isinstance(error, CellwrightError) else f"{type(error).__name__}: {error}"
        return SeedRow(job.seed, "broken", reason=" ".join(reason.split()), folder=str(job.folder))
    is_kept = job.keep == "all" or (job.keep == "failed" and not report.done)
    if not is_kept:
        shutil.rmtree(job.folder, ignore_errors=True)
    elif job.trace:
        make_from_log("trace", job.folder / "log.mcap", job.folder / "trace.html")
    return SeedRow(
        seed=job.seed,
        status=report.status.value if not report.done else "done",
        done=report.done,
        score=report.score,
        time_s=report.time_s - report.start_s,
        wall_s=report.wall_s,
        reason="" if report.done else _reason(report),
        folder=str(job.folder) if is_kept else None,
    )


def _reason(report: Report) -> str:
    """Returns why it is not done: what ended it, if that is not as usual, the controller's failure, the kits."""
    ending = [] if report.ending in USUAL_ENDINGS else [report.ending_text]
    failed = [note for note in report.notes if note.startswith("the controller failed")]
    return "; ".join([*ending, *failed, report.reason])


def _died(job: SeedJob) -> SeedRow:
    return SeedRow(job.seed, "died", reason="its process was killed; is memory short?", folder=str(job.folder))
