"""Who may open the live page, and what it may ask for: without a browser."""

import json
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import BadInput
from cellwright.core.listener import is_loopback
from cellwright.viewing.live_command import ViewCommand
from cellwright.viewing.live_gate import TOKEN_VARIABLE, Gate

HERE = ["127.0.0.1:8080"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST", "::1"])
def test_loopback_addresses(host):
    assert is_loopback(host)
    assert Gate.of(host).token is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "cell.lan", "", "127.0.0.1.evil.example"])
def test_all_others_need_a_token(host):
    assert not is_loopback(host)
    assert len(Gate.of(host).token) >= 32
    assert Gate.of(host).token != Gate.of(host).token


@pytest.mark.parametrize("hosts", [HERE, ["localhost:9000"], ["[::1]:8080"], ["127.0.0.1"]])
def test_this_machine_comes_in_under_its_own_names(hosts):
    gate = Gate("127.0.0.1", None)
    assert gate.refusal("/", hosts, []) is None
    assert gate.refusal("/live", hosts, [f"http://{hosts[0]}"]) is None


@pytest.mark.parametrize(
    "host", ["evil.example:8080", "evil.example", "192.168.1.4:8080", "", "[", "127.0.0.1@evil.example"]
)
def test_a_name_that_was_made_to_point_here_does_not(host):
    assert "this machine only" in Gate("127.0.0.1", None).refusal("/live", [host], [f"http://{host}"])


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:8081", "null", "", "http://127.0.0.1:8080.evil"]
)
def test_another_site_does_not(origin):
    assert "another site" in Gate("127.0.0.1", None).refusal("/live", HERE, [origin])
    gate = Gate("0.0.0.0", "right-token")
    assert "another site" in gate.refusal("/live?token=right-token", ["cell.lan:8080"], [origin])


@pytest.mark.parametrize(("hosts", "origins"), [([], []), (HERE * 2, []), (HERE, ["http://127.0.0.1:8080"] * 2)])
def test_doubled_headers_do_not(hosts, origins):
    assert Gate("127.0.0.1", None).refusal("/", hosts, origins)


@pytest.mark.parametrize(("target", "origins"), [("/live", ["http://["]), ("//[", []), ("http://[/live", [])])
def test_what_is_no_address_does_not(target, origins):
    assert "is none" in Gate("127.0.0.1", None).refusal(target, HERE, origins)


@pytest.mark.parametrize(
    "query",
    [
        "", "?token=", "?token=wrong", "?token=right-tokem", "?token=right-token-", "?token=right",
        "?token[]=right-token", "?Token=right-token", "?token=r\u00e4t",
    ],
)  # fmt: skip
def test_without_the_token_nobody_comes_in(query):
    gate = Gate("0.0.0.0", "right-token")
    for path in ("/", "/live"):
        why = gate.refusal(path + query, ["cell.lan:8080"], [])
        assert "token" in why
        assert "\n" not in why
    assert gate.refusal("/live?token=right-token", ["cell.lan:8080"], ["http://cell.lan:8080"]) is None


def test_the_environment_gives_the_token(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "shared-among-us")
    assert Gate.of("127.0.0.1").token == Gate.of("0.0.0.0").token == "shared-among-us"
    monkeypatch.setenv(TOKEN_VARIABLE, "short")
    with pytest.raises(BadInput, match="5 characters"):
        Gate.of("127.0.0.1")


@pytest.mark.parametrize("do", ["pause", "resume", "step"])
def test_commands(do):
    assert ViewCommand.of(json.dumps({"do": do})) == ViewCommand(do)
    assert ViewCommand.of(ViewCommand(do).as_line().decode()) == ViewCommand(do)


@pytest.mark.parametrize("value", [None, 0.25, 1, 1000])
def test_speeds(value):
    command = ViewCommand.of(json.dumps({"do": "speed", "value": value}))
    assert command.speed == value
    assert ViewCommand.of(command.as_line().decode()) == command


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", "1", "{}", '{"do": 1}', '{"do": ["pause"]}', '{"do": "quit"}', '{"do": "pause", "x": 1}',
        '{"do": "speed"}', '{"do": "speed", "value": "1"}', '{"do": "speed", "value": true}',
        '{"do": "speed", "value": 0}',
        '{"do": "speed", "value": NaN}', '{"do": "speed", "value": 1e400}', '{"do": "speed", "value": -1}', "[" * 900,
        b'{"do": "pause"}', '{"do": "speed", "value": [1]}', '{"do": "pause", "value": 1}',
    ],
)  # fmt: skip
def test_what_is_no_command_is_refused(text):
    with pytest.raises(BadInput):
        ViewCommand.of(text)


@given(st.one_of(st.text(max_size=60), st.binary(max_size=60).map(lambda data: b64encode(data).decode())))
def test_junk_is_never_a_command(text):
    with pytest.raises(BadInput):
        ViewCommand.of(text)
