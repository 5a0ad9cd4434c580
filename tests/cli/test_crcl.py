"""`cellwright crcl check`."""

from __future__ import annotations

from cellwright.crcl import CRCLCommandInstance, Dwell, encode

GOOD = encode(CRCLCommandInstance(Dwell(1, 0.5)), indent="  ")
BAD = GOOD.replace(b"<DwellTime>0.5</DwellTime>", b"<DwellTime>soon</DwellTime>\n<Bogus/>")


def test_valid_documents(cellwright, tmp_path):
    (tmp_path / "a.xml").write_bytes(GOOD)
    (tmp_path / "b.xml").write_bytes(GOOD)
    assert cellwright("crcl", "check", "a.xml", "b.xml") == (0, "valid: a.xml, b.xml\n", "")


def test_each_problem_is_a_line_with_its_place(cellwright, tmp_path):
    (tmp_path / "good.xml").write_bytes(GOOD)
    (tmp_path / "bad.xml").write_bytes(BAD)
    ended = cellwright("crcl", "check", "good.xml", "bad.xml")
    assert ended.code == 2
    first, second = ended.out.splitlines()
    assert first.startswith("bad.xml:5: CRCLCommandInstance/CRCLCommand/DwellTime: 'soon' is not xs:double (allowed: ")
    assert second.startswith("bad.xml:6: CRCLCommandInstance/CRCLCommand/Bogus: does not belong into DwellType")


def test_json(cellwright, tmp_path):
    (tmp_path / "bad.xml").write_bytes(BAD)
    ended = cellwright("crcl", "check", "bad.xml", "--json")
    assert ended.code == 2
    assert ended.json["valid"] is False
    (file,) = ended.json["files"]
    assert file["file"] == "bad.xml"
    assert [problem["line"] for problem in file["problems"]] == [5, 6]
    assert set(file["problems"][0]) == {"line", "what", "where", "allowed"}


def test_what_is_no_xml_is_a_problem_of_the_file(cellwright, tmp_path):
    (tmp_path / "x.xml").write_bytes(b"<CRCLStatus>\n<")
    ended = cellwright("crcl", "check", "x.xml")
    assert ended.code == 2
    assert ended.out.startswith("x.xml:2: is not well-formed XML: ")


def test_missing_file(refused):
    assert "cannot read nowhere.xml: No such file" in refused("crcl", "check", "nowhere.xml")
