"""Perception: detections become tracks of objects over time."""

from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.look import look, nearest_track
from cellwright.perception.tracker import Tracker

__all__ = ["ExpectedObject", "Tracker", "TrackerCfg", "look", "nearest_track"]
