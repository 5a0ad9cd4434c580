"""The figures: dimensions, masses, limits and colours of everything a cell is made of, each with its source."""

from cellwright.catalogue.arena import ArenaFigures, arena
from cellwright.catalogue.arms import ArmFigures, JointFigures, LinkFigures
from cellwright.catalogue.cameras import CameraFigures, ProjectorFigures
from cellwright.catalogue.changer import ChangerFigures, ToolHolderFigures
from cellwright.catalogue.figures import Figures
from cellwright.catalogue.furniture import FurnitureFigures
from cellwright.catalogue.furniture_kinds import BoxFigures
from cellwright.catalogue.gears import GearFigures
from cellwright.catalogue.grippers import GripperFigures
from cellwright.catalogue.library import (
    CHANGERS,
    FURNITURE,
    KINDS,
    MOBILES,
    PARTS,
    ROBOTS,
    TOOLS,
    TRAYS,
    find_model,
    gripper_model,
    part_of_sku,
    prefer_part,
    prefer_tray,
    tray_of_sku,
)
from cellwright.catalogue.mobile_profiles import GROUND_TABLE, MOBILE_PROFILES, PROXIMITY_TABLE, MobileProfile
from cellwright.catalogue.mobiles import LedFigures, MobileFigures, ProximityFigures, SkidFigures
from cellwright.catalogue.objects import ObjectFigures
from cellwright.catalogue.part_grasps import TIP_CLEARANCE_M, TIP_FLOOR_M, least_height_m, part_grasp, tool_grasp_xyz_m
from cellwright.catalogue.parts import PartFigures, PartGrasp
from cellwright.catalogue.robotiq_2f_85 import LinkageGripperFigures
from cellwright.catalogue.seating import seated_height_m, seated_pose
from cellwright.catalogue.tools import ToolFigures
from cellwright.catalogue.tray_grasps import TrayGrasp, tray_grasp
from cellwright.catalogue.trays import SlotFigures, TrayFigures, TrayKind
from cellwright.catalogue.vacuum import VacuumFigures

__all__ = [
    "CHANGERS",
    "FURNITURE",
    "GROUND_TABLE",
    "KINDS",
    "MOBILES",
    "MOBILE_PROFILES",
    "PARTS",
    "PROXIMITY_TABLE",
    "ROBOTS",
    "TIP_CLEARANCE_M",
    "TIP_FLOOR_M",
    "TOOLS",
    "TRAYS",
    "ArenaFigures",
    "ArmFigures",
    "BoxFigures",
    "CameraFigures",
    "ChangerFigures",
    "Figures",
    "FurnitureFigures",
    "GearFigures",
    "GripperFigures",
    "JointFigures",
    "LedFigures",
    "LinkFigures",
    "LinkageGripperFigures",
    "MobileFigures",
    "MobileProfile",
    "ObjectFigures",
    "PartFigures",
    "PartGrasp",
    "ProjectorFigures",
    "ProximityFigures",
    "SkidFigures",
    "SlotFigures",
    "ToolFigures",
    "ToolHolderFigures",
    "TrayFigures",
    "TrayGrasp",
    "TrayKind",
    "VacuumFigures",
    "arena",
    "find_model",
    "gripper_model",
    "least_height_m",
    "part_grasp",
    "part_of_sku",
    "prefer_part",
    "prefer_tray",
    "seated_height_m",
    "seated_pose",
    "tool_grasp_xyz_m",
    "tray_grasp",
    "tray_of_sku",
]
