"""The catalogue as tables: every name leads to figures, every figure to its source."""

from itertools import combinations

import pytest

from cellwright.catalogue import KINDS, PARTS, TRAYS, find_model, part_of_sku
from cellwright.core.errors import UnknownName

ENTRIES = [(kind, name) for kind, registry in KINDS.items() for name in registry]


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_entry_is_found_and_has_a_source_for_every_field(kind, name):
    found, figures = find_model(name)
    assert found == kind
    assert figures.name == name
    assert figures.title
    assert figures.unsourced() == []
    assert all(text.strip() for text in figures.sources.values())


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_no_source_is_left_over(kind, name):
    """A source for a field that does not exist is a slip of the pen."""
    figures = KINDS[kind].get(name)
    fields = set(vars(figures))
    assert {key.partition(".")[0] for key in figures.sources} <= fields


def test_names_are_unique_over_all_kinds():
    for a, b in combinations(KINDS.values(), 2):
        assert not set(a) & set(b)


def test_skus_are_unique():
    skus = [registry.get(name).sku for registry in (PARTS, TRAYS) for name in registry]
    assert len(set(skus)) == len(skus)


def test_every_slot_is_for_a_part_that_exists():
    for name in TRAYS:
        for slot in TRAYS.get(name).slots:
            assert part_of_sku(slot.accepts).sku == slot.accepts


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("lr_mate", "lr_mate_200id"), ("sia20", "sia20f"), ("medium_gaer", "medium_gear"), ("kit_m2l1", "kit_m2l1_tray")],
)
def test_an_unknown_model_suggests_the_nearest_of_all_kinds(typed, meant):
    with pytest.raises(
        UnknownName, match=rf"^unknown model '{typed}'; did you mean '{meant}'\? \(available: .*fence"
    ) as e:
        find_model(typed)
    assert "\n" not in str(e.value)
    assert set(e.value.available) == {name for _, name in ENTRIES}


def test_nonsense_suggests_nothing_but_lists_all():
    with pytest.raises(UnknownName, match=r"^unknown model 'xyzzy' \(available: "):
        find_model("xyzzy")


def test_an_unknown_sku_suggests_the_nearest():
    with pytest.raises(UnknownName, match=r"unknown part SKU 'sku_part_medium'; did you mean 'sku_part_medium_gear'\?"):
        part_of_sku("sku_part_medium")
