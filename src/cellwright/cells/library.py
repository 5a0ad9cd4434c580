"""Finding cells: those that ship with the package, those of other packages, and files on disk."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from cellwright.cells.errors import errors_of_file
from cellwright.cells.layout import nominal_layout
from cellwright.cells.models import with_models
from cellwright.cells.plugins import load_plugins
from cellwright.cells.schema import Cell
from cellwright.core.config import read_yaml
from cellwright.core.errors import BadInput, ConfigError
from cellwright.core.registry import Registry

__all__ = ["CELLS", "load_cell"]

CELLS: Registry[Path] = Registry("cell", "cellwright.cells")
"""Name -> YAML file. An entry point of the group `cellwright.cells` is a `Path` object in some module."""

for _file in resources.files("cellwright.cells").iterdir():
    if _file.name.endswith(".yaml"):
        CELLS.add(_file.name.removesuffix(".yaml"), Path(str(_file)))


def load_cell(name_or_file: str | Path) -> Cell:
    """Returns the cell of a name, or of a YAML file of the user's own; `rovi@launch` is a variant of `rovi`.

    Variants may follow each other, `aprs@lab_tools@calibrated`: each changes what those before have left.

    >>> cell = cw.load_cell("aprs")
    >>> list(cell.robots)
    ['fanuc', 'motoman']

    Raises:
        BadInput: There is no such cell; or all that is wrong with the file, a line for each mistake.
    """
    text = str(name_or_file)
    variants: tuple[str, ...] = ()
    while "@" in Path(text).name and not Path(text).exists():
        text, _, variant = text.rpartition("@")
        variants = (variant.replace("-", "_"), *variants)
    twice = next((variant for variant in variants if variants.count(variant) > 1), None)
    if twice is not None:
        raise BadInput(f"cell {name_or_file}: the variant '{twice}' is named twice; once is enough")
    is_file = isinstance(name_or_file, Path) or text.endswith((".yaml", ".yml")) or "/" in text
    if is_file and not Path(text).exists():
        raise BadInput(f"cell file {text} does not exist (cells by name: {', '.join(CELLS)})")
    path = Path(text) if is_file else CELLS.get(text)
    try:
        cell = read_yaml(path, Cell).read_from(path)
        for variant in variants:
            cell = cell.variant(variant)
        cell = with_models(cell)
    except ConfigError as error:
        raise errors_of_file(error, path, variants, lambda rest: nominal_layout(rest, 0)) from None
    load_plugins(cell)  # after its models: a plugin may name their SKUs
    return cell
