"""Pages for people: a template of a package, with the style that all of them share."""

from __future__ import annotations

from importlib import resources
from string import Template

__all__ = ["fill_page"]


def fill_page(package: str, file: str, /, **values: object) -> str:
    """Returns a page as one file, with nothing from elsewhere: the template, its places filled, and its style.

    Args:
        package: Where the template is.
        file: The template's name.
        values: What stands in its places; text must be escaped already.
    """
    template = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    style = resources.files("cellwright.core").joinpath("page.css").read_text(encoding="utf-8")
    return Template(template).substitute(values, style=style.strip())
