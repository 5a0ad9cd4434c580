"""Settings of the documentation; built by `make docs`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).parent))

from api_pages import write_pages

project = "Cellwright"
author = "The Cellwright authors"
copyright = "The Cellwright authors"
release = installed_version("cellwright")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "code"  # docstrings write names as `name`
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_attr_annotations = False
suppress_warnings = ["ref.python"]  # CRCL and the messages have their own Pose and Order; annotations name them shortly

html_theme = "furo"
html_title = f"Cellwright {release}"
html_static_path = ["_static"]
html_css_files = ["wrap.css"]


def without_fields(app, what, name, obj, options, signature, return_annotation):
    """Leaves out the signature of a configuration: its keys and their meanings stand below it."""
    if what == "class" and issubclass(obj, BaseModel):
        return "", None
    return None


def keep_whole(app, what, name, obj, options, lines):
    """Keeps `True: when ...` of a property as a sentence, by an empty comment before it: napoleon sees a type there."""
    if what in ("attribute", "property") and lines:
        lines[:0] = ["..", ""]


def setup(app):
    """Writes the pages of the packages."""
    write_pages(Path(app.srcdir) / "api")
    app.connect("autodoc-process-signature", without_fields)
    app.connect("autodoc-process-docstring", keep_whole, priority=400)  # before napoleon
