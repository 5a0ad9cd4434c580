"""All mistakes of an order file are told in one round, each with its line."""

import re

import pytest

from cellwright.core.errors import BadInput
from cellwright.orders import find_order

BAD = """\
order: mine
designs:
  odd: {tray: sku_nothing, parts: {sku_none: 1, sku_neither: 2}}
  full: {tray: sku_kit_m2l1, parts: {sku_part_small_gear: 99}}
  kit_m2l1: {tray: sku_kit_s2l2, parts: {sku_part_small_gear: 1}}
kits:
  odd: 1
  kit_m2l2: 1
  kit_m2l3: 1
"""


def test_all_mistakes_are_told_in_one_round(tmp_path):
    (tmp_path / "order.yaml").write_text(BAD)
    with pytest.raises(BadInput) as caught:
        find_order(tmp_path / "order.yaml")
    lines = [re.search(r"order\.yaml, line (\d+): (\S+):", line).groups() for line in caught.value.lines]
    designs = [("3", "designs.odd")] * 3 + [("4", "designs.full"), ("5", "designs.kit_m2l1")]
    assert lines == [*designs, ("8", "kits.kit_m2l2"), ("9", "kits.kit_m2l3")]
