"""Importing: robots, tools, fixtures and parts from description files of other sources."""

from cellwright.catalogue.model_settings import JointSettings, ModelSettings
from cellwright.models.importing.arm import ImportedArmFigures
from cellwright.models.importing.figures import Imported, digest_of, import_figures, located_in_settings, read_settings
from cellwright.models.importing.figures_file import model_name, write_figures
from cellwright.models.importing.fixture import ImportedFixtureFigures
from cellwright.models.importing.gripper import ImportedGripperFigures
from cellwright.models.importing.kind import UnclearKindError, guess_kind
from cellwright.models.importing.notes import DescriptionError, Note, Notes
from cellwright.models.importing.part import ImportedPartFigures
from cellwright.models.importing.source import read_description

__all__ = [
    "DescriptionError",
    "Imported",
    "ImportedArmFigures",
    "ImportedFixtureFigures",
    "ImportedGripperFigures",
    "ImportedPartFigures",
    "JointSettings",
    "ModelSettings",
    "Note",
    "Notes",
    "UnclearKindError",
    "digest_of",
    "guess_kind",
    "import_figures",
    "located_in_settings",
    "model_name",
    "read_description",
    "read_settings",
    "write_figures",
]
