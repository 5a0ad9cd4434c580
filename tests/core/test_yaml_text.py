"""YAML from strangers: one line for every mistake, and nothing that explodes."""

import itertools
import re
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import ConfigError
from cellwright.core.yaml_text import MAX_CHARACTERS, parse_yaml


def refusal(text):
    start_s = time.process_time()
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "cell.yaml")
    assert time.process_time() - start_s < 5  # a bomb takes minutes or all memory
    line = str(caught.value)
    assert line.startswith("cell.yaml: ")
    assert len(line.splitlines()) == 1
    assert len(line) < 400
    return line


def laughs(first, level):
    names = "abcdefghij"
    lines = [f"a: &a {first}"]
    lines += [f"{b}: &{b} {level.format(','.join([f'*{a}'] * 10))}" for a, b in itertools.pairwise(names)]
    return "\n".join(lines)


def test_plain_data_comes_through():
    text = "\ufeffa: 1\r\nb: [1.5, x, true, ]\r\nc: {d: null}\r\n"
    assert parse_yaml(text, "cell.yaml") == {"a": 1, "b": [1.5, "x", True], "c": {"d": None}}


def test_keys_are_words_also_those_that_yaml_takes_for_truth_values():
    text = "stereo: {on: true, off: no}\nyes: on\n"
    assert parse_yaml(text, "cell.yaml") == {"stereo": {"on": True, "off": False}, "yes": True}
    with pytest.raises(ConfigError, match="key 'on' occurs twice"):
        parse_yaml("on: 1\non: 2", "cell.yaml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3", "cell.yaml: line 3, column 1: not valid YAML: key 'a' occurs twice"),
        ("x:\n  - {k: 1, k: 1}", "cell.yaml: line 2, column 12: not valid YAML: key 'k' occurs twice"),
        ("1: a\n1.0: b", "key '1.0' occurs twice"),
        ("a: [1, 2", "line 1, column 9: not valid YAML: while parsing a flow sequence, expected ',' or ']'"),
        ("a: b: c", "line 1, column 5: not valid YAML: mapping values are not allowed here"),
        ("a:\n\tb: 1", "line 2, column 1: not valid YAML: .*'\\\\t' that cannot start any token"),
        ("a: *b", "line 1, column 4: not valid YAML: found undefined alias 'b'"),
        ("--- 1\n--- 2", "line 2, column 1: not valid YAML: expected a single document in the stream"),
        ("? [1, 2]\n: 3", "line 1, column 3: not valid YAML: a key must be text or a number"),
        ("a: !!python/name:os.system", "line 1, column 4: .*could not determine a constructor"),
        ("a: \x00", "special characters are not allowed"),
        ("a: 2020-13-45", "month must be in 1..12"),
        ("a: 0x" + "f" * 9000, "line 1, column 4: not valid YAML: a whole number beyond 64 bits"),
        ("a: " + "9" * 9000, "digits"),
        ("a: !!int x", "not valid YAML: invalid literal for int"),
    ],
)
def test_mistakes_are_shown_with_their_place(text, expected):
    assert re.search(expected, refusal(text))


def test_numbers_of_64_bits_are_fine():
    assert parse_yaml(f"[{2**64 - 1}, {-(2**63)}]", "x") == [2**64 - 1, -(2**63)]


@pytest.mark.parametrize("text", ["[" * 30_000, "{" * 15_000, "- " * 10_000, "[" * 3_000 + "]" * 3_000])
def test_a_nesting_bomb_is_refused(text):
    assert refusal(text).endswith("nested too deep")


def test_an_alias_bomb_is_refused():
    assert "more than 20000 values" in refusal(laughs("[x,x,x,x,x,x,x,x,x,x]", "[{}]"))
    assert "more than 20000 values" in refusal(laughs("{x: 1}", "{{<<: [{}]}}"))


@pytest.mark.parametrize("text", ["a: &a [*a]", "&a {b: *a}", "a: &a {b: {c: [1, *a]}}"])
def test_an_alias_to_itself_is_refused(text):
    assert "an alias stands inside what it names" in refusal(text)


def test_a_file_without_end_is_refused():
    assert "larger than the 1000000 characters" in refusal("#" * (MAX_CHARACTERS + 1))
    assert "more than 20000 values" in refusal("[" + "1," * 30_000 + "]")


def test_ordinary_aliases_and_merges_work():
    text = "base: &base {x: 1, y: 2}\nsame: *base\nmore: {<<: *base, y: 3}\ntwo: {<<: [*base, {z: 4}]}"
    data = parse_yaml(text, "cell.yaml")
    assert data["same"] == {"x": 1, "y": 2}
    assert data["more"] == {"x": 1, "y": 3}
    assert data["two"] == {"x": 1, "y": 2, "z": 4}


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(plain)
def test_whatever_was_dumped_comes_back(data):
    assert parse_yaml(yaml.safe_dump(data), "x") == data


@given(st.text(alphabet="ab:-[]{},&*!<>|?#'\"\\%@ \n\t0x.~=\u2028\x85", max_size=25))
def test_any_text_is_data_or_one_line(text):
    problem = ""
    try:
        parse_yaml(text, "cell.yaml")
    except ConfigError as error:
        problem = str(error)
    assert len(problem.splitlines()) <= 1
