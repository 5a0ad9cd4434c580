"""Names of a package that are imported when they are first used, so that a small command does not load everything."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, modules: Mapping[str, str], whole: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a package (PEP 562).

    Args:
        package: The package's `__name__`.
        modules: Module, relative to the package -> the names that it defines, with spaces between.
        whole: Name -> the module, relative to the package, that it stands for.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name in whole:
            return import_module(whole[name], package)
        if name not in homes:
            known = ", ".join(sorted({*homes, *whole}))
            raise AttributeError(f"module '{package}' has no attribute '{name}' (it has: {known})")
        return getattr(import_module(homes[name], package), name)

    return get
