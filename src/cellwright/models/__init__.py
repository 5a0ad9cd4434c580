"""Models: MuJoCo specifications built from the catalogue."""

from cellwright.models.build import build
from cellwright.models.surfaces import GeomGroup, Surface

__all__ = ["GeomGroup", "Surface", "build"]
