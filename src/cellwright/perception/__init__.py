"""Perception: detections become tracks of objects over time."""

from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.tracker import Tracker

__all__ = ["ExpectedObject", "Tracker", "TrackerCfg"]
