"""Names of a package that are imported when they are first used, so that a small command does not load everything."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a package (PEP 562).

    Args:
        package: The package's `__name__`.
        modules: Each name and the module that defines it, relative to the package where it begins with a dot.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}' (it has: {', '.join(modules)})")
        return getattr(import_module(modules[name], package), name)

    return get
