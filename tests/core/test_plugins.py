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


def test_a_plugin_imports_files_and_packages_beside_it_and_leaves_no_trace(plugin, tmp_path, monkeypatch):
    (tmp_path / "tools" / "deep").mkdir(parents=True)
    plugin("from math import tau\nfrom .deep.turn import half\n", "tools/__init__.py")
    plugin("from tools import tau\nfrom helper import WIDE\nhalf = tau / 2 * WIDE\n", "tools/deep/turn.py")
    plugin("WIDE = 3\n", "helper.py")
    plugin(f"from tools import half\nopen({str(tmp_path / 'ran')!r}, 'a').write(f'{{half:.2f}}')\n")
    before = set(sys.modules), list(sys.path), list(sys.meta_path)
    load_plugin(tmp_path / "mine.py")
    assert (tmp_path / "ran").read_text() == "9.42"
    left = {name for name in set(sys.modules) - before[0] if not name.startswith("cellwright_plugin_")}
    assert (left, sys.path, sys.meta_path) == (set(), *before[1:])


def test_helpers_of_one_name_are_each_folders_own_and_shared_within_it(plugin, tmp_path, monkeypatch):
    """Nor does one of the program itself, in yet another folder, come between."""
    ran = f"open({str(tmp_path / 'ran')!r}, 'a').write"
    for folder in ("a", "b", "program"):
        (tmp_path / folder).mkdir()
        plugin(f"NAME = {folder!r}\n{ran}('once ')\n", f"{folder}/helper.py")
    monkeypatch.syspath_prepend(tmp_path / "program")
    import helper

    for name in ("a/one.py", "b/one.py", "a/two.py"):
        load_plugin(plugin(f"import helper\n{ran}(helper.NAME + ' ')\n", name))
    assert (tmp_path / "ran").read_text() == "once once a once b a "
    assert sys.modules.pop("helper") is helper
    assert helper.NAME == "program"


@pytest.mark.parametrize("order", [("mine.py", "other.py"), ("other.py", "mine.py")])
def test_a_plugin_that_another_one_imports_runs_once(plugin, tmp_path, order):
    plugin(f"SIZE = 2\nopen({str(tmp_path / 'ran')!r}, 'a').write('x')\n")
    plugin("from mine import SIZE\n", "other.py")
    for name in order:
        load_plugin(tmp_path / name)
    assert (tmp_path / "ran").read_text() == "x"


def test_a_file_of_the_name_of_a_standard_module_is_not_taken_for_it(plugin):
    plugin("1 / 0\n", "colorsys.py")
    load_plugin(plugin("from colorsys import rgb_to_hsv\n"))


@pytest.mark.parametrize(
    ("helper", "problem"),
    [
        ("\n1 / 0\n", "mine.py, line 2: helper.py, line 2: ZeroDivisionError: division by zero"),
        ("x = (\n", "mine.py, line 2: helper.py, line 1: SyntaxError: '(' was never closed"),
        ("import no_such_module\n", "mine.py, line 2: helper.py, line 1: ModuleNotFoundError"),
        ("", "mine.py, line 2: ImportError: cannot import name 'SIZE' from 'helper'"),
    ],
)
def test_what_is_wrong_beside_a_plugin_is_told_with_its_place_and_can_be_corrected(plugin, helper, problem):
    file = plugin("\nfrom helper import SIZE\n")
    plugin(helper, "helper.py")
    for _ in range(2):
        with pytest.raises(BadInput) as caught:
            load_plugin(file)
        assert problem in str(caught.value)
    assert "helper" not in sys.modules
    plugin("SIZE = 2  # as it should have been from the beginning\n", "helper.py")
    load_plugin(file)


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
