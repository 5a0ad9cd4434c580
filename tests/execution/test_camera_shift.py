"""A camera that moved shifts everything alike; trays that were put down carelessly do not."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from cellwright.execution.camera_shift import detector_shift, nominal_places


@pytest.mark.parametrize(("shift_m", "noticed"), [(0.0, False), (0.002, False), (0.010, True)])
def test_only_a_shift_that_trays_cannot_explain_is_noticed(still, shift_m, noticed):
    cell, rng = still(), np.random.default_rng(1)
    view = cell.belief.state
    drawn = nominal_places(view)
    assert len(drawn) == 10
    for name in cell.drawn:
        careless = rng.normal(0.0, 0.003, 2) if name in drawn else np.zeros(2)
        cell.shift(name, careless[0] + shift_m, careless[1])
    asyncio.run(cell.sleep(0.5))
    told = detector_shift(view, drawn)
    assert bool(told) is noticed
    if noticed:
        assert told.startswith("eye sees 10 trays shifted alike by (")


def test_single_trays_that_were_pushed_far_are_no_shift_of_the_camera(still):
    cell = still()
    drawn = nominal_places(cell.belief.state)
    for name in sorted(drawn)[:3]:
        cell.shift(name, 0.12, 0.0)
    asyncio.run(cell.sleep(0.5))
    assert detector_shift(cell.belief.state, drawn) == ""
