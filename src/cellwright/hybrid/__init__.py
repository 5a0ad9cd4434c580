"""Real and virtual in one cell: robots and detectors at addresses beside simulated ones, switched while it runs."""

from cellwright.hybrid.detector_target import DetectorTarget
from cellwright.hybrid.mirror import Mirror
from cellwright.hybrid.times import TimeMap

__all__ = ["DetectorTarget", "Mirror", "TimeMap"]
