"""Actions on the cell from what is sensed; no truth here."""

from cellwright.execution.scene import Scene, Sighting
from cellwright.execution.transfer import Arm, Step, Transfer

__all__ = ["Arm", "Scene", "Sighting", "Step", "Transfer"]
