"""The figures: dimensions, masses, limits and colours of everything a cell is made of, each with its source."""

from cellwright.catalogue.arms import ArmFigures, JointFigures, LinkFigures
from cellwright.catalogue.cameras import CameraFigures, ProjectorFigures
from cellwright.catalogue.figures import Figures
from cellwright.catalogue.furniture import FurnitureFigures
from cellwright.catalogue.gears import GearFigures
from cellwright.catalogue.grippers import GripperFigures
from cellwright.catalogue.library import FURNITURE, KINDS, PARTS, ROBOTS, TOOLS, TRAYS, find_model, part_of_sku
from cellwright.catalogue.objects import ObjectFigures
from cellwright.catalogue.parts import PartFigures
from cellwright.catalogue.seating import seated_height_m
from cellwright.catalogue.trays import SlotFigures, TrayFigures, TrayKind

__all__ = [
    "FURNITURE",
    "KINDS",
    "PARTS",
    "ROBOTS",
    "TOOLS",
    "TRAYS",
    "ArmFigures",
    "CameraFigures",
    "Figures",
    "FurnitureFigures",
    "GearFigures",
    "GripperFigures",
    "JointFigures",
    "LinkFigures",
    "ObjectFigures",
    "PartFigures",
    "ProjectorFigures",
    "SlotFigures",
    "TrayFigures",
    "TrayKind",
    "find_model",
    "part_of_sku",
    "seated_height_m",
]
