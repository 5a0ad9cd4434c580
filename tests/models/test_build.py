"""Specifications are made once as long as they are in use, and not kept for ever."""

from dataclasses import replace

import pytest

from cellwright.catalogue import PARTS
from cellwright.models import build
from cellwright.models.build import MOST_KEPT, _built

GEAR = PARTS.get("medium_gear")


def test_shapes_are_made_once_and_copied():
    first, second = build(GEAR), build(GEAR)
    assert first is not second
    assert _built[id(GEAR)][0] is GEAR


@pytest.mark.slow
def test_a_process_that_builds_thousands_keeps_the_last_ones_only():
    for number in range(MOST_KEPT + 20):
        build(replace(GEAR, name=f"gear_{number}"))
    assert len(_built) == MOST_KEPT
    assert id(GEAR) not in _built
