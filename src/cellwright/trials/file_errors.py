"""All mistakes of a trial file in one report: its format, its cell, its orders, its faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellwright.cells import Cell
from cellwright.core.config import parse_yaml
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, ConfigError, ConfigErrors
from cellwright.core.messages import Detections
from cellwright.judge.faults.validation import check_fault
from cellwright.lab.cell_file import read_cell
from cellwright.lab.lab import Lab
from cellwright.trials.cfg import TrialCfg, make_trial, read_trial
from cellwright.trials.orders import OrderBook

__all__ = ["check_faults", "read_whole_trial", "trial_cell"]

LISTS = ("orders", "faults")


def read_whole_trial(path: Path) -> TrialCfg:
    """Returns a trial from its file; where it does not fit the format, the rest of it is looked at as well.

    Raises:
        BadInput: All that is wrong.
    """
    try:
        return read_trial(path)
    except ConfigErrors as several:
        errors: Sequence[BadInput] = several.errors
    except ConfigError as one:
        errors = [one]
    collector = ErrorCollector()
    collector.found += errors
    try:
        rest, numbers, names = _rest(path, errors)
    except BadInput:  # too little is left to look at
        raise ConfigErrors(errors) from None
    others = ErrorCollector(names)
    with others.collecting():
        cell = trial_cell(rest)
        if numbers["orders"]:
            with others.collecting():
                OrderBook.of(rest.orders, cell, rest.seed, rest.where, numbers["orders"])
        if rest.faults:
            with Lab.from_cell(cell, rest.seed) as lab:
                check_faults(rest, lab, others, numbers["faults"])
    collector.found += others.found
    raise ConfigErrors(collector.sorted_errors())


def _rest(path: Path, errors: Sequence[BadInput]) -> tuple[TrialCfg, dict[str, list[int]], set[str]]:
    """Returns a trial without its wrong entries, the numbers of the rest, and the names of removed orders."""
    said: Any = parse_yaml(path.read_text(encoding="utf-8"), path)
    data: dict[str, Any] = said if isinstance(said, dict) else {}
    wrong = {tuple(getattr(error, "path", "").split(".")[:2]) for error in errors}
    kept = {key: value for key, value in data.items() if key in TrialCfg.model_fields and (key,) not in wrong}
    kept = {key: value for key, value in kept.items() if key in LISTS or not any(at[0] == key for at in wrong)}
    numbers, names = {}, set()
    for key in LISTS:
        found = kept.get(key)
        entries = found if isinstance(found, list) else []
        numbers[key] = [n for n in range(len(entries)) if (key, str(n)) not in wrong]
        gone = [entries[n] for n in range(len(entries)) if n not in numbers[key]]
        names |= {str(entry.get("name", entry.get("order"))) for entry in gone if isinstance(entry, dict)}
        kept[key] = [entries[n] for n in numbers[key]]
    kept["orders"] = kept["orders"] or [{"order": "left_out"}]  # a trial has at least one
    return make_trial({"trial": "unnamed"} | kept, path), numbers, names


def trial_cell(cfg: TrialCfg) -> Cell:
    """Returns the cell of a trial.

    Raises:
        BadInput: It does not exist, or all that is wrong with it.
    """
    try:
        return read_cell(cfg.cell, cfg.seed)
    except ConfigError:  # a mistake in the cell's own file, which is named
        raise
    except BadInput as error:
        raise ConfigError(cfg.where, "cell", str(error)) from None


def check_faults(cfg: TrialCfg, lab: Lab, collector: ErrorCollector, numbers: Sequence[int] | None = None) -> None:
    """Tells faults about what is not in the cell.

    Args:
        cfg: The trial.
        lab: Its laboratory.
        collector: Told what is wrong.
        numbers: Which of the file's faults the trial has; all of them when not given.
    """
    detectors = [sensor for sensor in lab.sensors if sensor.message_type is Detections]
    for number, fault in zip(range(len(cfg.faults)) if numbers is None else numbers, cfg.faults, strict=True):
        try:
            check_fault(fault, lab.world, detectors)
        except BadInput as error:
            for one in getattr(error, "errors", (error,)):
                collector.add(ConfigError(cfg.where, f"faults.{number}", str(one)))
