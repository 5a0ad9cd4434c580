"""Names of a package that are imported when they are first used, so that a small command does not load everything."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a package (PEP 562).

    Args:
        package: The package's `__name__`.
        modules: Module, relative to the package -> the names that it defines, with spaces between.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}' (it has: {', '.join(sorted(homes))})")
        return getattr(import_module(homes[name], package), name)

    return get
