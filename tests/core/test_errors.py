"""Errors: one line each, with the right exit code, and alive after a trip to another process."""

import inspect
import pickle

import pytest

from cellwright.core import errors

LINES = "first\nsecond\r\nthird"
SAMPLES = {
    "BadInput": (LINES,),
    "CellwrightError": (LINES,),
    "ConfigError": ("cell.yaml", LINES, LINES),
    "ConfigErrors": ([errors.ConfigError("cell.yaml", LINES, LINES), errors.BadInput(LINES)],),
    "FrameMismatch": (LINES, "base"),
    "JobFailed": (LINES,),
    "LogError": (LINES,),
    "MissingExtra": ("plots\n", "plots"),
    "OutOfRange": ("speed\nof", 3.0, 0.0, 1.0, "m/s"),
    "OutOfReach": (LINES,),
    "OutputError": (f"/tmp/{LINES}", LINES),
    "SimulationError": (LINES,),
    "TruthLeak": (LINES, "/truth/poses", "WorldTruth"),
    "UnknownName": ("cell", LINES, ["aprs", "rovi"], LINES),
}


def make(name):
    return getattr(errors, name)(*SAMPLES[name])


def test_every_error_is_public_and_sampled_here():
    classes = {name for name, thing in vars(errors).items() if inspect.isclass(thing) and issubclass(thing, Exception)}
    assert classes == set(errors.__all__) == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_is_one_line_whatever_is_quoted(name):
    text = str(make(name))
    assert text.strip()
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize("name", SAMPLES)
def test_exit_code_is_2_for_bad_input_and_1_for_the_rest(name):
    error = make(name)
    assert isinstance(error, errors.CellwrightError)
    assert error.exit_code == (2 if isinstance(error, errors.BadInput) else 1)


def test_who_is_to_blame():
    blamed_on_the_user = {name for name in SAMPLES if issubclass(getattr(errors, name), errors.BadInput)}
    assert blamed_on_the_user == {
        "BadInput", "ConfigError", "ConfigErrors", "LogError", "MissingExtra", "OutOfRange", "OutputError",
        "UnknownName",
    }  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_survives_pickling(name):
    error = make(name)
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert (str(back), _plain(back)) == (str(error), _plain(error))


def _plain(error):
    """What an error carries; errors that it carries, which equal only themselves, as text."""
    return vars(error) | {"errors": [str(one) for one in getattr(error, "errors", ())]}


def test_unknown_name_lists_sorted_choices_and_suggests_the_nearest():
    error = errors.UnknownName("cell", "arps", ["rovi", "epucks", "aprs"], "trial.yaml")
    assert str(error) == "trial.yaml: unknown cell 'arps'; did you mean 'aprs'? (available: aprs, epucks, rovi)"
    assert error.available == ["aprs", "epucks", "rovi"]
    assert str(errors.UnknownName("cell", "zzz", ["aprs"])) == "unknown cell 'zzz' (available: aprs)"
    assert str(errors.UnknownName("cell", "zzz", [])) == "unknown cell 'zzz' (available: none)"


def test_out_of_range_shows_enough_digits_to_see_the_difference():
    assert str(errors.OutOfRange("rate", 100.000001, 0, 100.0, "Hz")) == "rate is 100.000001 Hz, allowed 0 to 100 Hz"
    assert str(errors.OutOfRange("seed", 2**63, 0, 2**63 - 1)).startswith("seed is 9223372036854775808, allowed 0")


def test_config_error_names_file_path_and_problem():
    assert str(errors.ConfigError("c.yaml", "a.b", "should be a number")) == "c.yaml: a.b: should be a number"
    assert str(errors.ConfigError("c.yaml", "", "should be a mapping")) == "c.yaml: should be a mapping"


def test_other_messages():
    assert (
        str(errors.MissingExtra("plots", "plots")) == "plots needs an optional package: pip install 'cellwright[plots]'"
    )
    assert str(errors.OutputError("/x", "no space left")) == "cannot write /x: no space left"
    assert "judge and recorder" in str(errors.TruthLeak("planner", "/truth/poses", "WorldTruth"))
