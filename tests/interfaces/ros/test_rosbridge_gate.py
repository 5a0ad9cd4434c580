"""Who may connect to the rosbridge server: this machine, and with a token everybody."""

import pytest

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros.rosbridge_gate import TOKEN_VARIABLE, RosbridgeGate, token_for

HERE = "127.0.0.1:9090"


@pytest.mark.parametrize("origin", [None, "http://localhost:3000", "http://127.0.0.1", "file://"])
def test_this_machine_comes_in_without_a_token(origin):
    gate = RosbridgeGate("127.0.0.1", None)
    assert gate.refusal("/", HERE, origin) is None
    assert gate.admits("/")


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (HERE, "https://evil.example"),
        (HERE, "null"),  # a frame of a page from anywhere
        (HERE, "http://127.0.0.1.evil.example"),
        (HERE, "http://["),
        ("evil.example:9090", None),  # whose name points here
        ("", None),
    ],
)
def test_a_page_of_another_site_does_not(host, origin):
    assert RosbridgeGate("127.0.0.1", None).refusal("/", host, origin)


def test_with_a_token_everybody_who_says_it_comes_in():
    gate = RosbridgeGate("0.0.0.0", "open sesame")
    assert gate.refusal("/?token=open%20sesame", "cell.lan:9090", "https://elsewhere.example") is None
    assert gate.admits("/?token=open%20sesame")
    assert gate.refusal("/?token=open", "cell.lan:9090", None) == "the token is another one"
    assert gate.refusal("/", "cell.lan:9090", None) is None
    assert not gate.admits("/")
    gate.check({"token": "open sesame"})
    for wrong in ({}, {"token": 7}, {"token": "open"}, {"mac": "x", "t": float("nan"), "end": 1e18}, {"mac": []}):
        with pytest.raises(BadInput):
            gate.check(wrong)


def test_names_of_fields_are_those_of_one_generation():
    gate = RosbridgeGate("127.0.0.1", None)
    assert gate.refusal("/?ros=2", HERE, None) is None
    assert "ros is 1 or 2" in gate.refusal("/?ros=3", HERE, None)


def test_a_server_for_the_network_always_has_a_token(monkeypatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert token_for("127.0.0.1", None) is None
    assert len(token_for("0.0.0.0", None)) >= 32
    assert token_for("127.0.0.1", "auto") != token_for("127.0.0.1", "auto")
    assert token_for("0.0.0.0", "of my own") == "of my own"
    with pytest.raises(BadInput, match="at least 8"):
        token_for("127.0.0.1", "short")
    monkeypatch.setenv(TOKEN_VARIABLE, "from outside")
    assert token_for("127.0.0.1", None) == "from outside"
