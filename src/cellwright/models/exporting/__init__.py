"""Models and cells for other programs: MJCF, URDF, SDF."""

from cellwright.models.exporting.describe import DescribedSpec, describe
from cellwright.models.exporting.files import ExportedFiles, ModelFormat, export_spec, write_description
from cellwright.models.exporting.mjcf import write_mjcf
from cellwright.models.exporting.sdf import sdf_text
from cellwright.models.exporting.translate import export_file
from cellwright.models.exporting.urdf import urdf_text

__all__ = [
    "DescribedSpec",
    "ExportedFiles",
    "ModelFormat",
    "describe",
    "export_file",
    "export_spec",
    "sdf_text",
    "urdf_text",
    "write_description",
    "write_mjcf",
]
