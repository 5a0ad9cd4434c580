"""HTML pages: a template of a package, with the style that all pages share."""

from __future__ import annotations

from importlib import resources
from string import Template

__all__ = ["fill_page"]


def fill_page(package: str, file: str, /, **values: object) -> str:
    """Returns a page as one self-contained file: the template with its values filled in, and its style.

    Args:
        package: The package that contains the template.
        file: The template's name.
        values: The values of its fields; text must be escaped already.
    """
    template = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    style = resources.files("cellwright.core").joinpath("page.css").read_text(encoding="utf-8")
    return Template(template).substitute(values, style=style.strip())
