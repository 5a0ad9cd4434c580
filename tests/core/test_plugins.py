"""Plugins: files that are imported once, and whose errors are one line with the place."""

import sys

import pytest

from cellwright.core.errors import BadInput
from cellwright.core.plugins import load_plugin


@pytest.fixture
def plugin(tmp_path):
    """Writes a plugin; forgets all of them afterwards."""

    def write(text, name="mine.py"):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    yield write
    for name in [name for name in sys.modules if name.startswith("cellwright_plugin_")]:
        del sys.modules[name]


def test_a_file_is_imported_once_however_it_is_named(plugin, tmp_path):
    file = plugin(f"open({str(tmp_path / 'ran')!r}, 'a').write('x')\n")
    load_plugin(file)
    load_plugin(tmp_path / "." / "mine.py")
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    load_plugin(tmp_path / "link" / "mine.py")
    assert (tmp_path / "ran").read_text() == "x"


def test_files_of_one_name_in_two_folders_are_two_plugins(plugin, tmp_path):
    (tmp_path / "other").mkdir()
    for name in ("mine.py", "other/mine.py"):
        load_plugin(plugin(f"open({str(tmp_path / 'ran')!r}, 'a').write('x')\n", name))
    assert (tmp_path / "ran").read_text() == "xx"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\ny = x +\n", "mine.py, line 2: SyntaxError: invalid syntax"),
        ("x = 1\n\ny = z\n", "mine.py, line 3: NameError: name 'z' is not defined"),
        ("def f():\n    raise ValueError('two\\nlines')\nf()\n", "mine.py, line 2: ValueError: two lines"),
        ("import json\njson.loads('{')\n", "mine.py, line 2: JSONDecodeError: "),
        ("import no_such_module\n", "mine.py, line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit\n", "mine.py, line 1: SystemExit"),
        ("x = '\0'\n", "mine.py"),
    ],
)
def test_what_is_wrong_with_one_is_a_line_with_its_place(plugin, text, problem):
    file = plugin(text)
    for _ in range(2):  # the second time it is not taken for imported
        with pytest.raises(BadInput) as caught:
            load_plugin(file)
        assert problem in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1


def test_a_plugin_that_was_corrected_is_imported(plugin):
    with pytest.raises(BadInput, match="NameError"):
        load_plugin(plugin("y = z\n"))
    load_plugin(plugin("y = 100\n"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no.py", r"no\.py does not exist"),
        ("folder.py", r"folder\.py is not a file"),
        ("cell.yaml", r"should be a Python file.*cell\.yaml"),
    ],
)
def test_what_is_no_python_file_is_refused(tmp_path, name, problem):
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(BadInput, match=problem):
        load_plugin(tmp_path / name)
