"""What sensors saw, made into things that are followed over time."""

from cellwright.perception.cfg import Expected, TrackerCfg
from cellwright.perception.tracker import Tracker

__all__ = ["Expected", "Tracker", "TrackerCfg"]
