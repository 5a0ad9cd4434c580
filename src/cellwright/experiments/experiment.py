"""The interface of experiments: a function with a name that gives figures, data, plots and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cellwright import __version__
from cellwright.core.extras import need_extra
from cellwright.core.registry import Registry
from cellwright.core.results import Measurement, MeasurementConditions, Result
from cellwright.experiments.plots import Plot
from cellwright.lab.versions import versions
from cellwright.rendering import choose_renderer

__all__ = ["EXPERIMENTS", "DataTable", "Experiment", "ExperimentFindings", "ExperimentOutcome", "run_experiment"]


@dataclass(frozen=True)
class DataTable:
    """Data of an experiment as rows, saved as CSV."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class ExperimentFindings(Measurement):
    """The findings of an experiment.

    Attributes:
        paper: The publication's values of some of the metrics.
        tables: Name -> data, one CSV file each.
        plots: Pictures of the page, in their order.
        notes: Paragraphs of the page: what was done, and why figures differ from the paper's.
    """

    paper: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, DataTable] = field(default_factory=dict)
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Experiment:
    """An experiment that can be run by name.

    Attributes:
        title: One line.
        run: Does it, and says what is going on.
        needs: Modules without which it cannot be made.
        extra: The extra of this package that brings them.
    """

    title: str
    run: Callable[[MeasurementConditions], ExperimentFindings]
    needs: tuple[str, ...] = ()
    extra: str = "motion"


@dataclass(frozen=True)
class ExperimentOutcome:
    """The result of an experiment, which is compared and saved, and everything that its page shows beside it."""

    title: str
    result: Result
    findings: ExperimentFindings


EXPERIMENTS: Registry[Experiment] = Registry("experiment", "cellwright.experiments")


def run_experiment(name: str, conditions: MeasurementConditions) -> ExperimentOutcome:
    """Runs an experiment by its registered name.

    Raises:
        MissingExtra: Before anything is done.
        MeasurementFailed: when it could not be made; poor figures are no failure.
    """
    experiment = EXPERIMENTS.get(name)
    need_extra(f"the experiment '{name}'", experiment.extra, *experiment.needs)
    findings = experiment.run(conditions)
    used = {"cellwright": __version__, **versions(), "renderer": choose_renderer(repeatable=True).name}
    return ExperimentOutcome(experiment.title, Result.of(name, findings, conditions, used, findings.paper), findings)
