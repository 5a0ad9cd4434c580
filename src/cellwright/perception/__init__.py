"""What sensors saw, made into things that are followed over time."""

from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.tracker import Tracker

__all__ = ["ExpectedObject", "Tracker", "TrackerCfg"]
