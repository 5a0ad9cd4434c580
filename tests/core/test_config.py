"""Configuration: every mistake is one line with the file, the path inside it and what is allowed."""

import json
import pickle
import re
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import Field, ValidationError

from cellwright.core import Cfg, Normal, Number, Uniform, draw, read_yaml
from cellwright.core.config import parse_yaml, validate
from cellwright.core.errors import BadInput, ConfigError, ConfigErrors
from cellwright.core.yaml_lines import with_line


class BoxCfg(Cfg):
    kind: Literal["box"]
    size_m: tuple[float, float, float]


class BallCfg(Cfg):
    kind: Literal["ball"]
    radius_m: Annotated[float, Field(gt=0, le=2)]


class RobotCfg(Cfg):
    name: str
    speed_mps: Number = 0.25
    payload_kg: Annotated[float, Field(ge=0, le=20)] = 5.0
    axes: int = 6
    enabled: bool = True
    mode: Literal["fast", "slow"] = "fast"
    label: str | int | None = None


class CellCfg(Cfg):
    robots: list[RobotCfg]
    things: dict[str, Annotated[BoxCfg | BallCfg, Field(discriminator="kind")]] = Field(default_factory=dict)
    loose: list[BoxCfg | BallCfg] = Field(default_factory=list)
    delays_s: dict[str, Number] = Field(default_factory=dict)


NUMBER = (
    r"should be a number, \{distribution: uniform, low: .., high: ..\} or \{distribution: normal, mean: .., sd: ..\}"
)


@pytest.fixture
def refuse(tmp_path):
    """What reading a file with that content complains about, without the file's name."""

    def refuse(content):
        path = tmp_path / "cell.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(BadInput) as caught:
            read_yaml(path, CellCfg)
        line = str(caught.value)
        assert str(path) in line
        assert len(line.splitlines()) == 1
        assert caught.value.exit_code == 2
        return re.sub(rf"{re.escape(str(path))}(, line \d+)?", "cell.yaml", line)

    return refuse


def robot(extra):
    return f"robots:\n  - {{name: fanuc, {extra}}}\n"


def test_a_good_file_is_read(tmp_path):
    path = tmp_path / "cell.yaml"
    path.write_text(
        robot("speed_mps: {low: 0.1, high: 0.2}, payload_kg: 1e-3, label: 7")
        + "things: {a: {kind: ball, radius_m: 1}}\nloose: [{kind: box, size_m: [1, 2, 3]}]\n"
    )
    cell = read_yaml(path, CellCfg)
    assert cell.robots[0].speed_mps == Uniform(low=0.1, high=0.2)
    assert cell.robots[0].payload_kg == 0.001  # which YAML 1.1 takes for text
    assert cell.things["a"].radius_m == 1
    assert cell.loose[0].size_m == (1, 2, 3)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "cell.yaml: should be a mapping, got nothing"),
        ("- 1", "cell.yaml: should be a mapping, got a list"),
        ("hello", "cell.yaml: should be a mapping, got 'hello'"),
        ("things: {}", "cell.yaml: robots: required, but missing"),
        ("robots: 3", "cell.yaml: robots: should be a list, got '3'"),
        ("robots: [3]", "cell.yaml: robots.0: should be a mapping, got '3'"),
        (robot("axes: 1.5"), "cell.yaml: robots.0.axes: should be a whole number, got '1.5'"),
        (robot("axes: six"), "cell.yaml: robots.0.axes: should be a whole number, got 'six'"),
        (robot("axes: {a: 1}"), "cell.yaml: robots.0.axes: should be a whole number, got a mapping"),
        (robot("enabled: maybe"), "cell.yaml: robots.0.enabled: should be true or false, got 'maybe'"),
        (robot("mode: quick"), "cell.yaml: robots.0.mode: should be 'fast' or 'slow', got 'quick'"),
        (robot("payload_kg: 21"), "cell.yaml: robots.0.payload_kg: should be less than or equal to 20, got '21'"),
        (robot("payload_kg: .nan"), "cell.yaml: robots.0.payload_kg: should be a finite number, got 'nan'"),
        (robot("label: [1]"), "cell.yaml: robots.0.label: should be text or a whole number, got a list"),
        ("robots: [{name: [1]}]", "cell.yaml: robots.0.name: should be text, got a list"),
    ],
)
def test_wrong_types_and_values(refuse, content, expected):
    assert refuse(content) == expected


def test_unknown_keys_get_a_suggestion_and_the_list(refuse):
    assert refuse("robot: []") == (
        "cell.yaml: unknown key 'robot'; did you mean 'robots'? (available: delays_s, loose, robots, things); "
        "cell.yaml: robots: required, but missing"
    )
    assert refuse(robot("speed_mp: 1")).startswith(
        "cell.yaml: robots.0: unknown key 'speed_mp'; did you mean 'speed_mps'? (available: axes, enabled, label,"
    )
    assert refuse("robots: []\n7: x").startswith("cell.yaml: unknown key '7' (available:")
    assert refuse('robots: []\n"a\\nb": x').startswith("cell.yaml: unknown key 'a b' (available:")


def test_all_problems_are_told_each_with_its_line(tmp_path):
    """In the order of the file; also what stands beside a key that nobody knows."""
    path = tmp_path / "cell.yaml"
    path.write_text(
        "# a comment\n"
        "robots:\n"
        "  - name: a\n"
        "    payload_kg: -1\n"
        "    axes: x\n"
        "    speed_mp: 1\n"
        "  - {name: b, enabled: 8}\n"
        "things: 3\n"
        "thing: 4\n"
    )
    with pytest.raises(ConfigErrors) as caught:
        read_yaml(path, CellCfg)
    lines = [line.removeprefix(f"{path}, line ") for line in caught.value.lines]
    assert [line.split(": ")[:2] for line in lines] == [
        ["4", "robots.0.payload_kg"],
        ["5", "robots.0.axes"],
        ["6", "robots.0"],
        ["7", "robots.1.enabled"],
        ["8", "things"],
        ["9", "unknown key 'thing'; did you mean 'things'? (available"],
    ]
    assert "unknown key 'speed_mp'; did you mean 'speed_mps'?" in lines[2]
    assert str(caught.value) == "; ".join(caught.value.lines)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.lines == caught.value.lines


def test_a_line_is_found_in_variants_and_below_a_key_of_the_place(tmp_path):
    path = tmp_path / "cell.yaml"
    path.write_text("a:\n  b: 1\nvariants:\n  x:\n    a:\n      b: 2\n")
    assert with_line(str(path), "a.b") == f"{path}, line 2"
    assert with_line(f"{path}: a", "b") == f"{path}, line 2: a"
    assert with_line(f"{path}@x", "a.b") == f"{path}@x, line 6"
    assert with_line(f"{path}@x", "a.c") == f"{path}@x, line 5"
    assert with_line("trial mine", "a.b") == "trial mine"
    assert with_line(str(tmp_path / "none.yaml"), "a") == str(tmp_path / "none.yaml")


@pytest.mark.parametrize("value", ["quick", "[1, 2]", "yes", "", "{distribution: gauss, sd: 1}", "{}"])
def test_a_number_says_all_its_forms(refuse, value):
    line = refuse(robot(f"speed_mps: {value}"))
    assert re.fullmatch(rf"cell\.yaml: robots\.0\.speed_mps: {NUMBER}, got .*", line)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (".inf", "robots.0.speed_mps: should be a finite number, got 'inf'"),
        ("{low: 1}", "robots.0.speed_mps.high: required, but missing"),
        ("{low: 2, high: 1}", "robots.0.speed_mps: low (2) must not be above high (1)"),
        ("{sd: -1}", "robots.0.speed_mps.sd: should be greater than or equal to 0, got '-1'"),
        ("{mean: 1, sd: a}", "robots.0.speed_mps.sd: should be a number, got 'a'"),
        (
            "{distribution: uniform, min: 0, high: 1}",
            "robots.0.speed_mps: unknown key 'min' (available: distribution, high, low); "
            "cell.yaml: robots.0.speed_mps.low: required, but missing",
        ),
        (
            "{distribution: normal, mena: 0, sd: 1}",
            "robots.0.speed_mps: unknown key 'mena'; did you mean 'mean'? (available: distribution, mean, sd)",
        ),
    ],
)
def test_a_distribution_speaks_of_the_form_that_was_meant(refuse, value, expected):
    assert refuse(robot(f"speed_mps: {value}")) == f"cell.yaml: {expected}"


def test_numbers_deep_in_a_mapping(refuse):
    assert (
        refuse("robots: []\ndelays_s: {vision: {sd: a}}")
        == "cell.yaml: delays_s.vision.sd: should be a number, got 'a'"
    )


def test_unions_of_models(refuse):
    things = "robots: []\nthings: {{a: {}}}".format
    assert refuse(things("{kind: cube}")) == "cell.yaml: things.a: 'kind' should be one of 'box', 'ball', got 'cube'"
    assert refuse(things("{radius_m: 1}")) == "cell.yaml: things.a: 'kind' is required, but missing"
    assert refuse(things("{kind: ball, radius_m: 9}")) == (
        "cell.yaml: things.a.radius_m: should be less than or equal to 2, got '9'"
    )
    assert refuse("robots: []\nloose: [{kind: ball, radius_m: 9}]") == (
        "cell.yaml: loose.0.radius_m: should be less than or equal to 2, got '9'"
    )
    assert refuse("robots: []\nloose: [{kind: box, size_m: [1, 2]}]").startswith(
        "cell.yaml: loose.0.size_m.2: required"
    )


def test_files_that_are_no_configuration(refuse, tmp_path):
    assert refuse(b"\xff\xfe\x00name") == "cannot read cell.yaml: not a UTF-8 text file"
    assert refuse("a: [").startswith("cell.yaml: line 1, column 5: not valid YAML")
    for path, reason in ((tmp_path / "none.yaml", "No such file"), (tmp_path, "directory"), (Path("a\0b"), "")):
        with pytest.raises(BadInput, match=f"cannot read .*{reason}"):
            read_yaml(path, CellCfg)


def test_an_endless_file_is_not_read_to_its_end():
    if not Path("/dev/zero").exists():
        pytest.skip("no /dev/zero here")
    with pytest.raises(ConfigError, match="larger than"):
        read_yaml(Path("/dev/zero"), CellCfg)


def test_data_from_elsewhere_is_checked_the_same_way():
    with pytest.raises(ConfigError, match=r"^--fault: name: should be text, got '3'$"):
        validate(parse_yaml("name: 3", "--fault"), RobotCfg, "--fault")


def test_configurations_cannot_be_changed_or_misspelt_in_python():
    config = RobotCfg(name="fanuc")
    with pytest.raises(ValidationError, match="frozen"):
        config.name = "other"
    with pytest.raises(ValidationError, match="did you mean 'axes'"):
        RobotCfg(name="fanuc", axis=7)
    assert RobotCfg(name="a", speed_mps=Normal(mean=1, sd=2)).speed_mps == Normal(mean=1, sd=2)


def test_a_class_may_allow_other_keys():
    class Open(Cfg, extra="allow"):
        a: int = 1

    assert Open(b=2).b == 2


def test_draw():
    rng = np.random.default_rng(1)
    assert draw(0.5, rng) == 0.5
    assert isinstance(draw(3, rng), float)
    uniform = [draw(Uniform(low=-1, high=3), rng) for _ in range(2000)]
    assert min(uniform) >= -1
    assert max(uniform) <= 3
    assert np.mean(uniform) == pytest.approx(1, abs=0.1)
    normal = [draw(Normal(mean=2, sd=0.5), rng) for _ in range(2000)]
    assert (np.mean(normal), np.std(normal)) == (pytest.approx(2, abs=0.05), pytest.approx(0.5, abs=0.05))
    assert draw(Uniform(low=2, high=2), rng) == 2
    assert draw(Normal(mean=2, sd=0), rng) == 2


def test_the_schema_for_editors_offers_all_forms_of_a_number():
    schema = CellCfg.model_json_schema()
    json.dumps(schema)
    forms = schema["$defs"]["RobotCfg"]["properties"]["speed_mps"]["oneOf"]
    assert forms == [{"type": "number"}, {"$ref": "#/$defs/Uniform"}, {"$ref": "#/$defs/Normal"}]
    assert schema["$defs"]["RobotCfg"]["additionalProperties"] is False
