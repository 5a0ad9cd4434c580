"""Plain data from untrusted YAML: no key is lost silently, and aliases cannot expand without bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from cellwright.core.errors import ConfigError
from cellwright.core.files import MAX_CHARACTERS

__all__ = ["parse_yaml"]

BOOLEAN, TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"
MAX_NODES = 20_000  # values in a file, with everything that an alias (*name) repeats counted again


def parse_yaml(text: str, where: str | Path) -> Any:
    """Parses YAML text to plain data; a syntax error becomes one line with its position."""
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(where, "", f"larger than the {MAX_CHARACTERS} characters that a configuration may have")
    try:
        return yaml.load(text, Loader=_CarefulLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise ConfigError(where, at, f"not valid YAML: {problem}") from None
    except RecursionError:
        raise ConfigError(where, "", "not valid YAML: nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(where, "", f"not valid YAML: {' '.join(str(error).split())[:200]}") from None


class _CarefulLoader(yaml.SafeLoader):
    """A safe YAML loader in which a key that occurs twice is an error, and aliases cannot expand without bound.

    Keys are words: `on: true` is the key `on`, which YAML 1.1 takes for a truth value.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._sizes: dict[yaml.Node, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        assert node is not None
        if is_alias and node not in self._sizes:
            raise yaml.composer.ComposerError(None, None, "an alias stands inside what it names", mark)
        if not is_alias:
            if isinstance(node, yaml.MappingNode):
                for key, _ in node.value:
                    if key.tag == BOOLEAN and key.style is None:
                        key.tag = TEXT
            children = node.value if isinstance(node, yaml.CollectionNode) else []
            pairs = [child if isinstance(child, tuple) else (child,) for child in children]
            self._sizes[node] = 1 + sum(self._sizes[child] for pair in pairs for child in pair)
        if self._sizes[node] > MAX_NODES or len(self._sizes) > MAX_NODES:
            raise yaml.composer.ComposerError(None, None, f"more than {MAX_NODES} values", mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":  # <<: *name, whose keys yield to those written out
                continue
            key = self.construct_object(key_node, deep=True)
            try:
                repeated = key in seen
            except TypeError:
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be text or a number", key_node.start_mark
                ) from None
            if repeated:
                raise yaml.constructor.ConstructorError(None, None, f"key '{key}' occurs twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        value = int(super().construct_yaml_int(node))
        if not -(2**63) <= value < 2**64:
            raise yaml.constructor.ConstructorError(None, None, "a whole number beyond 64 bits", node.start_mark)
        return value


_CarefulLoader.add_constructor("tag:yaml.org,2002:int", _CarefulLoader.construct_yaml_int)
