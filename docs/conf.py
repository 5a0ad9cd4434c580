"""Settings of the documentation; built by `make docs`."""

from importlib.metadata import version as installed_version

project = "Cellwright"
author = "The Cellwright authors"
copyright = "The Cellwright authors"
release = installed_version("cellwright")

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"Cellwright {release}"
