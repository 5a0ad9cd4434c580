"""Models: MuJoCo specifications built from the catalogue."""

from cellwright.models.build import build
from cellwright.models.contact_settings import ContactSurface, GeomGroup

__all__ = ["ContactSurface", "GeomGroup", "build"]
