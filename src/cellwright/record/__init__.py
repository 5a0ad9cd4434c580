"""Recorded runs: write them, read them, compare, replay and plot them; external robots beside their twins."""

from cellwright.record.compare import Difference, LogComparison, Mismatch, Sameness, compare
from cellwright.record.log import Log, LogEntry, Topic, read_log
from cellwright.record.plot import Curve, default_fields, plot
from cellwright.record.recorder import LostMessages, Recorder
from cellwright.record.replay import ReplaySummary, paced, replay
from cellwright.record.twins import TwinComparison, compare_twins
from cellwright.record.values import fields_of, plain, unit_of

__all__ = [
    "Curve",
    "Difference",
    "Log",
    "LogComparison",
    "LogEntry",
    "LostMessages",
    "Mismatch",
    "Recorder",
    "ReplaySummary",
    "Sameness",
    "Topic",
    "TwinComparison",
    "compare",
    "compare_twins",
    "default_fields",
    "fields_of",
    "paced",
    "plain",
    "plot",
    "read_log",
    "replay",
    "unit_of",
]
