"""Arbitrary messages of any class, made from its type hints alone and not from the mapping under test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cellwright.core.messages import Message

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
INT64 = st.integers(-(2**63), 2**63 - 1)


def _strategy(field: str, hint: Any) -> st.SearchStrategy[Any]:
    if field == "time_ns":
        return st.integers(0, 2**31 * 10**9 - 1)
    if field == "sequence":
        return st.integers(0, 2**32 - 1)
    if field in ("force", "torque", "linear", "angular"):
        return hnp.arrays(np.float64, 3)
    plain = {str: TEXT, bool: st.booleans(), int: INT64, float: st.floats()}
    if hint in plain:
        return plain[hint]
    arguments = get_args(hint)
    if arguments[0] in plain and arguments[1] is Ellipsis:
        return st.lists(plain[arguments[0]], max_size=5).map(tuple)
    dtype = get_args(arguments[1])[0]
    return hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))


@pytest.fixture(scope="session")
def arbitrary() -> Callable[[type[Message]], st.SearchStrategy[Message]]:
    def messages(message_type: type[Message]) -> st.SearchStrategy[Message]:
        hints = get_type_hints(message_type)
        return st.builds(message_type, **{f.name: _strategy(f.name, hints[f.name]) for f in fields(message_type)})

    return messages
