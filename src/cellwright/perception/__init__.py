"""Perception: detections become tracks of objects over time."""

from cellwright.perception.cfg import ExpectedObject, TrackerCfg
from cellwright.perception.detector_watch import DetectorState, DetectorStatus
from cellwright.perception.furniture_view import FurnitureBoxes
from cellwright.perception.look import look, nearest_track
from cellwright.perception.sight_lines import capsules_of_sku
from cellwright.perception.support import Surface
from cellwright.perception.tracker import Tracker
from cellwright.perception.view import DetectorView, ViewModel, Visibility

__all__ = [
    "DetectorState",
    "DetectorStatus",
    "DetectorView",
    "ExpectedObject",
    "FurnitureBoxes",
    "Surface",
    "Tracker",
    "TrackerCfg",
    "ViewModel",
    "Visibility",
    "capsules_of_sku",
    "look",
    "nearest_track",
]
