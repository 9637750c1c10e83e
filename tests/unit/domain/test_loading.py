from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict

from domain.errors import DefinitionError
from domain.groups import GroupDefinitions
from domain.loading import load, load_suite, names, parse
from domain.model_cards import ModelCard
from domain.sessions import SessionSet
from domain.suites import DatasetChoice, Suite

CARD = """\
id: mine
name: Mine
lab: here
provider: control-unchanged
endpoint: mine/1
price_usd: 0
typical_latency_s: 0.5
seed_support: false
shape_policy: same
released: 2026-11-30
checked_on: 2026-11-30
source: nowhere
"""
SUITE = """\
id: mine
title: Mine
dataset:
  id: packaged-faces
  adapter: packaged_faces
taxonomy: face-edit-attributes
session_set: face-edit-sessions
models:
  - control-unchanged
embedder:
  pack: mobile
"""


def refused(text: str, kind: type = ModelCard) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        parse(text, kind, "mine.yaml")
    assert caught.value.file == "mine.yaml"
    return caught.value


def test_a_sound_file():
    assert parse(CARD, ModelCard, "mine.yaml").typical_latency_s == 0.5
    assert parse("\ufeff" + CARD, ModelCard, "mine.yaml").id == "mine"


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "message"),
    [
        ("lab: here", "labb: here", 3, "labb", "unknown field (and 1 more problem in this file)"),
        ("price_usd: 0", "price_usd: cheap", 6, "price_usd", "Input should be a valid number"),
        ("price_usd: 0", "price_usd: -1", 6, "price_usd", "greater than or equal to 0"),
        ("price_usd: 0", "price_usd: .inf", 6, "price_usd", "finite number"),
        ("price_usd: 0", "price_usd: .nan", 6, "price_usd", ""),
        ("id: mine", "id: My Model", 1, "id", "should match pattern"),
        ("seed_support: false", "seed_support: perhaps", 8, "seed_support", "valid boolean"),
        ("shape_policy: same", "shape_policy: square", 9, "shape_policy", "'square' is not a choice here"),
        ("released: 2026-11-30", "released: soon", 10, "released", "valid date"),
        ("released: 2026-11-30", "released:", 10, "released", "valid date"),
        ("source: nowhere", "source: nowhere\nsource: here", 13, None, "'source' is given twice"),
        ("source: nowhere", "source: [nowhere", 13, None, "not valid YAML"),
        ("source: nowhere", "source: a: b", 12, None, "not valid YAML"),
        ("lab: here", "\tlab: here", 3, None, "not valid YAML"),
        ("source: nowhere", "source: !!python/name:os.system x", 12, None, "not valid YAML"),
        ("source: nowhere", "source: nowhere\n---\nid: two", 13, None, "not valid YAML"),
        ("source: nowhere", "source: nowhere\n? [a, b]\n: 1", 13, None, "must be plain text"),
        ("source: nowhere", "source: nowhere\n7: 1", 13, "7", "Keys should be strings"),
        ("source: nowhere", "source: n\nsettings: {a: {b: 1, b: 2}}", 13, None, "'b' is given twice"),
        ("source: nowhere", "source: n\nsettings: {a: 2026-01-01}", 13, "settings.a", "valid JSON value"),
        ("source: nowhere", "source: n\nsettings: [1]", 13, "settings", "valid dictionary"),
    ],
)
def test_errors_name_line_and_field(old: str, new: str, line: int, field: str | None, message: str):
    error = refused(CARD.replace(old, new))
    assert (error.line, error.field) == (line, field)
    assert message in error.message
    assert str(error).startswith(f"mine.yaml:{line}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CARD.replace("2026-11-30", "2026-13-45", 1), "month must be in 1..12"),
        (CARD + "note: !!int much\n", "not valid YAML"),
        (CARD + "note: \x00\n", "not valid YAML"),
        (CARD + "settings: {a: " + "[" * 5000 + "]" * 5000 + "}\n", "nested too deeply"),
        (CARD + "settings: &loop {a: *loop}\n", "nested too deeply"),
        ("", "must hold one mapping"),
        ("# nothing but a comment\n", "must hold one mapping"),
        ("- id: mine\n", "must hold one mapping"),
        ("mine\n", "must hold one mapping"),
        ("{}\n", "Field required"),
    ],
    ids=lambda text: text[-20:],
)
def test_files_that_are_no_definition(text: str, message: str):
    assert message in refused(text).message


def test_a_missing_field_is_named():
    error = refused(CARD.replace("lab: here\n", ""))
    assert (error.field, error.message) == ("lab", "Field required")


def test_unknown_fields_come_with_the_known_ones():
    assert refused(CARD + "pirce: 1\n").allowed == tuple(ModelCard.model_fields)


def test_unknown_fields_inside_come_with_the_known_ones_of_their_place():
    error = refused(SUITE.replace("  adapter:", "  adaptor:"), Suite)
    assert (error.line, error.field) == (5, "dataset.adaptor")  # and not that `adapter` is missing
    assert error.allowed == tuple(DatasetChoice.model_fields)
    error = refused(SUITE.replace("pack: mobile", "pack: mobile\n  pak: 1"), Suite)
    assert (error.line, error.field, error.allowed) == (12, "embedder.pak", ("adapter", "pack"))
    sessions = (
        "id: s\nversion: 1\ntaxonomy: t\nsource: x\nsessions:\n"
        "  - id: a\n    test_set: hair\n    steps:\n"
        "      - prompt: p\n        attribute: a\n        kep: true\n"
    )
    error = refused(sessions, SessionSet)
    assert (error.line, error.field) == (11, "sessions.0.steps.0.kep")
    assert error.allowed == ("prompt", "attribute", "keep")


@pytest.mark.parametrize(
    ("more", "line", "allowed"),
    [
        (
            "demographics:\n  f:\n    colum: x\n    values: [a, b]\n",
            14,
            ("column", "values", "ranges"),
        ),
        ("axes:\n  - name: a\n    vales: {g: [x, y]}\n", 14, ("name", "values", "labels")),
        ("judges:\n  trackr: local\n", 13, ("consistency", "tracker", "max_asks")),
    ],
    ids=["mapping", "list", "plain"],
)
def test_a_misspelt_field_is_told_wherever_it_stands(more: str, line: int, allowed: tuple[str, ...]):
    error = refused(SUITE + more, Suite)
    assert (error.message.partition(" (and")[0], error.line, error.allowed) == (
        "unknown field",
        line,
        allowed,
    )


def test_a_misspelt_field_of_a_group_definition_is_told():
    text = "id: g\nnote: x\ndemographics:\n  f: {column: x, vales: {a: [1]}}\n"
    error = refused(text, GroupDefinitions)
    assert (error.line, error.allowed) == (4, ("column", "values", "ranges"))


class _Place(BaseModel):
    model_config = ConfigDict(extra="forbid")
    x: int = 0


class _Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")
    one: _Place | None = None
    named: dict[str, dict[str, _Place]] = {}
    listed: tuple[tuple[_Place, ...], ...] = ()
    noted: Annotated[list[_Place] | None, "why"] = None
    plain: dict[str, int] = {}


@pytest.mark.parametrize(
    "text",
    [
        "one: {y: 1}",
        "named: {a: {b: {y: 1}}}",
        "named: {'1': {b: {y: 1}}}",
        "listed: [[], [{}, {y: 1}]]",
        "noted: [{y: 1}]",
    ],
)
def test_what_is_allowed_is_found_through_every_shape(text: str):
    assert refused(text + "\n", _Whole).allowed == ("x",)


def test_an_axis_may_list_numbers_and_says_what_yaml_read_otherwise():
    axes = "axes:\n  - name: age\n    values: {age: [20, 24]}\n    labels: {20: T, 24: 4}\n"
    [axis] = parse(SUITE + axes, Suite, "mine.yaml").axes
    assert (axis.values, axis.labels) == ({"age": ("20", "24")}, {"20": "T", "24": "4"})
    for bad, word in (
        ("values: {g: [yes, 2]}", "yes, on or true"),
        ("values: {no: [a, b]}", "no, off or false"),
    ):
        error = refused(f"{SUITE}axes:\n  - name: age\n    {bad}\n", Suite)
        assert (error.line, word in error.message, "quotes" in error.message) == (14, True, True)


def test_no_axis_is_called_all():
    error = refused(SUITE + "axes:\n  - name: all\n    values: {g: [a, b]}\n", Suite)
    assert "no axis can be called `all`" in error.message


def test_a_value_that_will_not_do_is_echoed():
    assert refused(CARD.replace("price_usd: 0", "price_usd: cheap")).message.endswith(", not 'cheap'")


def test_closed_choices_come_one_by_one():
    assert refused(CARD.replace("policy: same", "policy: square")).allowed == ("same", "any")
    error = refused(SUITE + "rules:\n  no_face: middle\n", Suite)
    assert (error.line, error.field, error.allowed) == (13, "rules.no_face", ("zero", "skip", "exclude"))


def test_problems_between_fields_are_said_plainly():
    error = refused(SUITE.replace("- control-unchanged", "- a\n  - a"), Suite)
    assert error.message == "model named twice: a"
    error = refused(SUITE.replace("packaged_faces", "folder"), Suite)
    assert (error.field, error.line) == ("dataset", 3)


def test_an_unknown_id_offers_close_matches():
    with pytest.raises(DefinitionError, match="did you mean control-unchanged") as caught:
        load(ModelCard, "control-unchangd")
    assert caught.value.allowed == names(ModelCard)
    with pytest.raises(DefinitionError, match="no definition 'zzz' in models; allowed"):
        load(ModelCard, "zzz")


@pytest.mark.parametrize("name", ["", "../models/control-unchanged", "control-unchanged.yaml", "a\0b"])
def test_an_id_is_never_a_path(name: str):
    with pytest.raises(DefinitionError, match="no definition"):
        load(ModelCard, name)


def test_a_suite_by_path(tmp_path: Path):
    file = tmp_path / "other.yml"
    file.write_text(SUITE)
    assert load_suite(str(file)).id == "mine"


@pytest.mark.parametrize("name", ["absent.yaml", "folder.yaml", "binary.yaml", "null\0.yaml"])
def test_a_suite_file_that_cannot_be_read(tmp_path: Path, name: str):
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "binary.yaml").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    with pytest.raises(DefinitionError, match="cannot be read") as caught:
        load_suite(str(tmp_path / name))
    assert caught.value.file == str(tmp_path / name)


class TestFoldersOfOnesOwn:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "models").mkdir()
        (tmp_path / "models/mine.yaml").write_text(CARD)
        (tmp_path / "models/notes.txt").write_text("not a definition")
        return tmp_path

    def test_they_add_to_the_packaged_ones(self, folder: Path):
        assert load(ModelCard, "mine", (folder,)).name == "Mine"
        assert load(ModelCard, "control-unchanged", (folder,)).is_control
        assert set(names(ModelCard, (folder,))) == {"mine", *names(ModelCard)}

    def test_a_change_is_seen_at_once(self, folder: Path):
        load(ModelCard, "mine", (folder,))
        (folder / "models/mine.yaml").write_text(CARD.replace("name: Mine", "name: Changed"))
        assert load(ModelCard, "mine", (folder,)).name == "Changed"

    def test_a_packaged_id_is_taken(self, folder: Path):
        text = CARD.replace("id: mine", "id: control-unchanged")
        (folder / "models/control-unchanged.yaml").write_text(text)
        with pytest.raises(DefinitionError, match="defined twice"):
            load(ModelCard, "control-unchanged", (folder,))

    def test_an_id_that_is_not_the_file_name(self, folder: Path):
        (folder / "models/other.yaml").write_text(CARD)
        with pytest.raises(DefinitionError, match="id 'mine' differs from the file's name"):
            load(ModelCard, "other", (folder,))

    def test_an_absent_folder_adds_nothing(self, tmp_path: Path):
        assert names(ModelCard, (tmp_path / "absent",)) == names(ModelCard)
