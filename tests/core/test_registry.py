"""The registry, with entry points of packages that are really installed (their metadata lies on sys.path)."""

import sys

import pytest

from cellwright.core import Registry
from cellwright.core.errors import BadInput, UnknownName

GROUP = "cellwright.test_sensors"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package as an installer would: a module and a dist-info folder with its entry points."""

    def install(package, source, points):
        site = tmp_path / package
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{package}.py").write_text(source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, package, raising=False)

    yield install
    for name in [name for name in sys.modules if name.startswith("cw_plugin_")]:
        del sys.modules[name]


def test_names_come_back_sorted_and_things_as_they_were():
    registry = Registry("sensor", GROUP)

    @registry.register("wrench")
    class Wrench:
        pass

    thing = object()
    registry.add("beam", thing)
    assert registry.get("wrench") is Wrench
    assert registry.get("beam") is thing
    assert registry.names() == list(registry) == ["beam", "wrench"]
    assert "beam" in registry
    assert "bean" not in registry


def test_an_unknown_name_gets_a_suggestion_the_list_and_the_place():
    registry = Registry("sensor", GROUP)
    registry.add("wrench", 1)
    registry.add("beam", 2)
    with pytest.raises(UnknownName) as caught:
        registry.get("wrensh", "aprs.yaml: sensors.0")
    assert str(caught.value) == (
        "aprs.yaml: sensors.0: unknown sensor 'wrensh'; did you mean 'wrench'? (available: beam, wrench)"
    )


def test_where_plugins_add_entries_an_unknown_name_may_be_that_of_one_that_no_cell_names():
    registry = Registry("kind of fault", GROUP, of_plugins=True)
    registry.add("swap", 1)
    told = "(available: swap); a kind of fault of your own comes by the cell's `plugins`"
    with pytest.raises(UnknownName) as caught:
        registry.get("spin")
    assert str(caught.value) == f"unknown kind of fault 'spin'; did you mean 'swap'? {told}"
    assert str(registry.unknown("spin", besides=("none",))).endswith(told.replace("swap", "none, swap"))


def test_a_name_is_taken_once():
    registry = Registry("sensor", GROUP)
    thing = object()
    registry.add("beam", thing)
    registry.add("beam", thing)  # the same thing: a module that was imported twice
    with pytest.raises(BadInput, match="sensor 'beam' is registered twice"):
        registry.add("beam", object())
    assert registry.get("beam") is thing


def test_a_class_that_is_defined_anew_replaces_its_former_self():
    """As in a notebook, whose cell is run once more; a class of another name is another one."""
    registry = Registry("sensor", GROUP)

    def define():
        @registry.register("sonar")
        class Sonar:
            pass

        return Sonar

    first, second = define(), define()
    assert first is not second
    assert registry.get("sonar") is second
    with pytest.raises(BadInput, match="sensor 'sonar' is registered twice"):
        registry.add("sonar", Registry)


def test_another_package_adds_things_by_entry_points(install):
    install("cw_plugin_sonar", "class Sonar:\n    rate_hz = 20\n", {"sonar": "cw_plugin_sonar:Sonar"})
    registry = Registry("sensor", GROUP)
    registry.add("beam", 1)
    assert registry.names() == ["beam", "sonar"]
    assert "sonar" in registry
    assert "cw_plugin_sonar" not in sys.modules  # imported when it is used, not before
    assert registry.get("sonar").rate_hz == 20
    assert registry.get("sonar") is registry.get("sonar")
    assert registry.names() == ["beam", "sonar"]
    with pytest.raises(UnknownName, match="did you mean 'sonar'"):
        registry.get("sonnar")


def test_a_package_may_both_decorate_and_declare(install, monkeypatch):
    registry = Registry("sensor", GROUP)
    monkeypatch.setattr(sys, "cw_registry", registry, raising=False)
    source = "import sys\n@sys.cw_registry.register('sonar')\nclass Sonar: pass\n"
    install("cw_plugin_both", source, {"sonar": "cw_plugin_both:Sonar"})
    assert registry.get("sonar").__name__ == "Sonar"


def test_a_broken_package_harms_only_who_asks_for_it(install):
    install("cw_plugin_broken", "import no_such_module_at_all\n", {"lidar": "cw_plugin_broken:Lidar"})
    install("cw_plugin_empty", "", {"radar": "cw_plugin_empty:Radar"})
    registry = Registry("sensor", GROUP)
    registry.add("beam", 1)
    assert registry.get("beam") == 1
    assert registry.names() == ["beam", "lidar", "radar"]
    for _ in range(2):
        with pytest.raises(BadInput, match=r"sensor 'lidar' of package 'cw_plugin_broken' cannot .*no_such_module_at"):
            registry.get("lidar")
    with pytest.raises(BadInput, match="sensor 'radar' of package 'cw_plugin_empty' cannot be loaded"):
        registry.get("radar")


def test_a_package_cannot_take_a_name_silently(install):
    install("cw_plugin_one", "class Beam: pass\n", {"beam": "cw_plugin_one:Beam", "sonar": "cw_plugin_one:Beam"})
    install("cw_plugin_two", "class Sonar: pass\n", {"sonar": "cw_plugin_two:Sonar"})
    registry = Registry("sensor", GROUP)
    registry.add("beam", object())
    registry.add("wrench", 3)
    for _ in range(2):
        with pytest.raises(
            BadInput, match="sensor 'beam' is registered twice, the second time by package 'cw_plugin_one'"
        ):
            registry.get("beam")
        with pytest.raises(
            BadInput, match="sensor 'sonar' is registered twice, the second time by package 'cw_plugin_"
        ):
            registry.get("sonar")
    assert registry.get("wrench") == 3
