"""Mutated cell files, trial files, orders and lines at the control door: words for each mistake, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import json
import random
from pathlib import Path

import pytest
import yaml

from cellwright.cells import CELLS, actual_layout, cell_hints, load_cell
from cellwright.core.errors import BadInput
from cellwright.lab import Lab
from cellwright.orders import find_order
from cellwright.trials import Trial
from cellwright.trials.cfg import TrialCfg, read_trial
from cellwright.trials.orders import OrderBook
from cellwright.trials.trial_interfaces import TrialInterfaces

ROOT = Path(__file__).parents[2]
TRIAL = (ROOT / "examples/trials/two_orders.yaml").read_text(encoding="utf-8")
ORDER = """
order: mine
priority: 3
designs:
  pair: {tray: sku_kit_m2l1_vessel, parts: {sku_part_medium_gear: 2}}
kits: {pair: 2, kit_m2l1: 1}
"""
LINES = (
    '{"ask": "orders"}',
    '{"ask": "addresses"}',
    '{"ask": "time"}',
    '{"ask": "drawings"}',
    '{"submit": "kit_m2l1"}',
)
NASTY = (
    None, True, False, 0, -1, 1, 2**63, -(2**63), 1e308, float("nan"), float("inf"), 1e-320, "", " ", "nan", "~", "a/b",
    "../../etc/passwd", "x" * 5000, "\x00", "\u202e", "\ud7ff", "é", "world", "-", "*", "{", [], {}, [[]], {"": ""},
    {"a": {"b": {"c": []}}}, [1, 2, 3], [None], {1: 2}, {"distribution": "normal", "sd": 1e300}, {"low": 2, "high": 1},
)  # fmt: skip
CHARACTERS = "{}[]:,-#&*!|>'\"%@`\t\n ?0aé\x00\u2028"


def places(data, path=()):
    """All paths into plain data; values that were exchanged may be nested deeper than Python can follow."""
    yield path
    if len(path) > 50:
        return
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def changed_data(rng, text):
    """The same text with some values exchanged, left out, named otherwise or put elsewhere."""
    data = yaml.safe_load(text)
    for _ in range(rng.randint(1, 4)):
        path = rng.choice([path for path in places(data) if path] or [()])
        if not path:
            return str(data)
        *way, last = path
        holder = data
        for step in way:
            holder = holder[step]
        what = rng.randrange(5)
        if what == 0 or isinstance(last, int):
            holder[last] = rng.choice(NASTY)
        elif what == 1:
            del holder[last]
        elif what == 2:
            holder[rng.choice([str(last)[:-1], f"{last}_", "x", 7, None, ""])] = holder.pop(last)
        elif what == 3:
            holder[f"{last}_2"] = holder[last]
        elif isinstance(holder[last], int | float) and not isinstance(holder[last], bool):
            holder[last] = holder[last] * rng.choice([-1, 1000, 1e-3, 57.3])
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False)


def changed_text(rng, text):
    """The same text with characters and lines exchanged, repeated or lost."""
    for _ in range(rng.randint(1, 4)):
        lines, at = text.split("\n"), rng.randrange(max(1, len(text)))
        line = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                text = text[:at] + rng.choice(CHARACTERS) + text[at + rng.randint(0, 3) :]
            case 1:
                text = "\n".join([*lines[:line], *lines[line + 1 :]])
            case 2:
                text = "\n".join([*lines[:line], lines[rng.randrange(len(lines))], *lines[line:]])
            case 3:
                lines[line] = " " * rng.randint(1, 5) + lines[line]
                text = "\n".join(lines)
            case 4:
                text = text[:at]
            case _:
                words = lines[line].split(" ")
                words[rng.randrange(len(words))] = str(rng.choice(NASTY))[:200]
                lines[line] = " ".join(words)
                text = "\n".join(lines)
    return text


def mutated(rng, text):
    return (changed_data if rng.random() < 0.5 else changed_text)(rng, text)


def try_one(file, text, use):
    """Whether a file with that text is taken; refused it says why, in lines that name it."""
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        use(file)
    except BadInput as error:
        lines = getattr(error, "lines", (str(error),))
        assert all(line and "\n" not in line for line in lines)
        assert len(lines) <= 60
        return False
    return True


def use_cell(file):
    cell = load_cell(file)
    cell_hints(cell)
    actual_layout(cell, 0)


def use_trial(file):
    cfg = read_trial(file)
    OrderBook.of(cfg.orders, load_cell("aprs"), cfg.where)


def use_order(file):
    find_order(str(file), 1)


def attack_files(folder, counts, seed=0):
    """Tries so many of each kind; how many of them were taken."""
    cells = [CELLS.get(name).read_text(encoding="utf-8") for name in ("aprs", "rovi", "epucks", "kitting")]
    kinds = {"cell": (cells, use_cell), "trial": ([TRIAL], use_trial), "order": ([ORDER], use_order)}
    rng, file = random.Random(seed), folder / "mine.yaml"
    return {
        kind: sum(try_one(file, mutated(rng, rng.choice(texts)), use) for _ in range(counts[kind]))
        for kind, (texts, use) in kinds.items()
    }


def attack_door(count, seed=0):
    """Says so many lines to the control door of a trial; every one is answered, and so is the last, sensible one."""
    rng = random.Random(seed)
    with Lab.from_cell("aprs", fidelity="kinematic", pace=1.0) as lab:
        cfg = TrialCfg(trial="attacked", orders=[{"order": "kit_m2l1"}])
        trial = Trial(lab, cfg, OrderBook.of(cfg.orders, lab.cell))
        interfaces = TrialInterfaces(trial)

        async def main():
            trial.look()
            await interfaces.control.start()
            host, port = interfaces.control.address.split(":")
            left, answers = count, 0
            while left:
                reader, writer = await asyncio.open_connection(host, int(port), limit=2**20)
                assert "announce" in json.loads(await reader.readline())
                for _ in range(min(left, 500)):
                    left -= 1
                    said = mutated_line(rng)
                    writer.write(said + b"\n")
                    if not said.strip():
                        continue
                    answer = json.loads(await asyncio.wait_for(reader.readline(), 30))
                    answers += 1
                    assert isinstance(answer, dict)
                    if len(said) > 16 * 1024:
                        break
                writer.close()
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b'{"ask": "time"}\n')
            lines = [json.loads(await asyncio.wait_for(reader.readline(), 30)) for _ in range(2)]
            writer.close()
            await interfaces.close()
            return answers, lines[-1]

        return lab.perform(main())


def mutated_line(rng):
    text = rng.choice(LINES)
    if rng.random() < 0.5:
        data = json.loads(text)
        data[rng.choice([*data, "ask", "submit", "", "x"])] = rng.choice(NASTY)
        return json.dumps(data).encode("utf-8", "replace")
    if rng.random() < 0.02:
        return b"x" * 20_000
    return changed_text(rng, text).replace("\n", " ").encode("utf-8", "surrogatepass")


def memory_mb():
    """What this process holds."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def test_bad_files_and_lines_are_answered_in_words(tmp_path):
    taken = attack_files(tmp_path, {"cell": 12, "trial": 20, "order": 60})
    assert sum(taken.values()) < 92, "some are refused"
    answers, last = attack_door(150)
    assert answers > 100
    assert "time_s" in last


def test_a_fault_whose_kind_is_a_mapping_is_unknown(tmp_path):
    """Found by the mutations below."""
    text = "trial: t\norders: [{order: kit_m2l1}]\nfaults: [{kind: {a: 1}}]\n"
    assert not try_one(tmp_path / "mine.yaml", text, use_trial)


@pytest.mark.long
def test_ten_thousand_bad_files_and_lines_are_answered_and_leave_nothing_in_memory(tmp_path):
    attack_files(tmp_path, {"cell": 100, "trial": 100, "order": 100})  # whatever is loaded once
    before_mb = memory_mb()
    taken = attack_files(tmp_path, {"cell": 4000, "trial": 2000, "order": 2000}, seed=1)
    assert memory_mb() - before_mb < 30
    assert all(0 < taken[kind] < 4000 for kind in taken)
    answers, last = attack_door(2000, seed=1)
    assert answers > 1500
    assert "time_s" in last
