from cellwright.bench.install_size import _parse, _wanted, install_size_mb, needed_distributions


def test_only_what_the_default_installation_needs_is_counted():
    names = set(needed_distributions())
    assert {"numpy", "mujoco-core", "pydantic", "pydantic-core", "zstandard"} <= names  # the last two by others
    assert not names & {"pytest", "ruff", "mypy", "pybullet"}


def test_the_size_is_more_than_its_largest_part():
    numpy = needed_distributions()["numpy"]
    numpy_mb = sum(file.locate().stat().st_size for file in numpy.files if file.locate().is_file()) / 1e6
    assert numpy_mb < install_size_mb() < 5000


def test_requirements_are_read_as_pip_writes_them():
    assert _parse("ruamel.yaml[jinja2, x] (>=1) ; python_version < '4'") == ("ruamel-yaml", frozenset({"jinja2", "x"}))
    assert _wanted("numpy>=2", frozenset())
    assert _wanted("tzdata; sys_platform == 'win32'", frozenset())
    assert not _wanted("pytest; extra == 'dev'", frozenset())
    assert _wanted('pytest; extra == "dev"', frozenset({"dev"}))
