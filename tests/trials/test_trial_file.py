"""All mistakes of a trial file are told in one round, each with its line."""

import re

import pytest

from cellwright.core.errors import BadInput
from cellwright.trials import run_trial
from cellwright.trials.trial_file import read_whole_trial

BAD = """\
trial: mine
cell: aprs
seed: x                                                                 # seed
time_limit_s: -120                                                      # time_limit_s
orders:
  - {order: kit_m2l2, tray: fanuc_kit_m2l9}                             # orders.0.order orders.0.tray
  - order: kit_s2l2
    quantity: none                                                      # orders.1.quantity
    name: second
  - {order: kit_s2l2, tray: fanuc_kit_m2l1}                             # orders.2.tray
  - {order: kit_m2l1, name: third, announce: {after_order: second}}
  - {order: kit_m2l1, name: third, announce: {after_order: nobody}}     # orders.4.announce.after_order orders.4.name
  - {order: orders.yaml, name: from_file}                               # orders.5.order orders.5.order
faults:
  - drip:part=*,during=transfer:2                                       # faults.0
  - {kind: blackout, detector: detector_fanuk, at: 5, for_s: 2}         # faults.1
  - drop:part=nothing*,robot=nobody,during=transfer:1                   # faults.2 faults.2
points: {tim: 3}                                                        # points
"""
ORDER = """\
order: mine
designs: {odd: {tray: sku_nothing, parts: {sku_none: 1}}}
kits: {odd: 1, kit_m2l1: 1}
"""
RIGHT = {
    "seed": "seed: 0", "time_limit_s": "time_limit_s: 120", "orders.1.quantity": "    quantity: 1", "points": "",
    "faults.0": "  - drop:part=*,during=transfer:2",
}  # fmt: skip


def expected(text):
    lines = ((number, line.partition("# ")[2].split()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, key) for number, keys in lines for key in keys]


def told(tmp_path, text):
    (tmp_path / "trial.yaml").write_text(text)
    (tmp_path / "orders.yaml").write_text(ORDER)
    with pytest.raises(BadInput) as caught:
        run_trial(read_whole_trial(tmp_path / "trial.yaml"))
    assert caught.value.exit_code == 2
    found = [re.search(r"trial\.yaml, line (\d+): (\S+):", line) for line in caught.value.lines]
    return [(int(line[1]), line[2]) for line in found]


def without(*keys):
    lines = ((line, line.partition("# ")[2]) for line in BAD.splitlines())
    return "\n".join(RIGHT.get(key, "") if key in keys else line for line, key in lines)


@pytest.mark.parametrize(
    "gone",
    [(), tuple(RIGHT), ("orders.1.quantity", "faults.0"), ("seed", "time_limit_s", "points"), ("faults.0", "points")],
    ids=["all", "it fits the format", "lists fit", "only lists do not fit", "faults fit"],
)
def test_all_mistakes_are_told_in_one_round(tmp_path, gone):
    text = without(*gone)
    assert told(tmp_path, text) == expected(text)


def test_a_cell_that_does_not_exist_is_told_beside_others(tmp_path):
    text = "trial: mine\ncell: apes  # cell\nseed: x  # seed\norders: [{order: kit_m2l1}]\n"
    assert told(tmp_path, text) == expected(text)


def test_a_file_of_nothing_is_one_line(tmp_path):
    (tmp_path / "trial.yaml").write_text("- nothing\n")
    with pytest.raises(BadInput) as caught:
        read_whole_trial(tmp_path / "trial.yaml")
    assert len(str(caught.value).splitlines()) == 1
