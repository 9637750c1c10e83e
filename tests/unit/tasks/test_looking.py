"""Looking at a dataset: what is found, left out and why, through suites and through options."""

from __future__ import annotations

from pathlib import Path

import dataset_files as files
import polars as pl
import pytest

from domain.errors import DefinitionError
from domain.findings import GroupCount
from tasks import wiring
from tasks.definitions import load_suite
from tasks.group_choice import check_source
from tasks.looking import adapters, look, wanted
from tasks.preparing_stages import _look_at_photos


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACEDRIFT_DATA", str(tmp_path))
    return tmp_path


def test_a_packaged_suite_finds_its_dataset_below_the_data_folder(data: Path):
    files.celeba(data / "celeba")
    (data / "celeba" / "img_align_celeba" / "000004.jpg").unlink()
    found = look(wanted("face-edit-celeba", None, None, []))
    assert (found.dataset, found.n_photos, found.n_people, found.roles) == ("celeba", 4, 3, {"not stated": 4})
    assert [(g.name, g.group, g.n_photos, g.n_people) for g in found.groups] == [
        ("gender", "male", 2, 1), ("gender", "female", 2, 2), ("age", "young", 2, 2), ("age", "old", 2, 2),
    ]  # fmt: skip
    [left] = found.left_out
    assert (left.reason, left.n, left.examples) == (
        "missing_file", 1, ("img_align_celeba/000004.jpg: not in img_align_celeba/",),
    )  # fmt: skip
    only = look(wanted("face-edit-celeba", None, None, ["partition=test"]))
    assert only.n_photos == 1
    elsewhere = look(wanted("face-edit-celeba", None, str(data / "celeba"), []))
    assert elsewhere == found


def test_numbers_become_groups_and_intersections_are_counted(data: Path):
    text = "image,identity,gender,skin,age\n1.jpg,A,F,D,20\n2.jpg,A,F,D,31\n3.jpg,B,M,,60\n"
    files.put(data / "celebset" / "celebset.csv", text)
    for number in (1, 2, 3):
        files.put(data / "celebset" / f"{number}.jpg", "x")
    found = look(wanted("face-edit-celebset", None, None, []))
    held = {(g.name, g.group): (g.n_photos, g.n_people) for g in found.groups}
    assert held["age", "young"] == held["age", "old"] == held["age", None] == (1, 1)
    assert held["gender_skin", "female-dark"] == (2, 1)
    assert held["gender_skin", "male-light"] == (0, 0)
    assert held["gender_skin", None] == (1, 1)
    assert found.notes == ("skin: no photo is in light; 'skin' holds 'dark' (2)",)


def test_a_dataset_without_a_suite_and_its_rows(data: Path):
    path = files.manifest(data)
    (data / "b" / "2.jpg").unlink()
    rows = data / "rows.csv"
    found = look(
        wanted(None, "manifest", str(path), ["licence=CC BY 4.0", "groups=[fitzpatrick, age]"]), rows
    )
    assert found.groups == (
        GroupCount(name="fitzpatrick", group="III", n_photos=1, n_people=1),
        GroupCount(name="fitzpatrick", group="V", n_photos=1, n_people=1),
    )
    assert [(label.name, label.n_photos, label.holds) for label in found.labels] == [
        ("age", 2, "'27' (1), '55' (1)"), ("fitzpatrick", 2, "'III' (1), 'V' (1)"),
    ]  # fmt: skip
    written = pl.read_csv(rows, infer_schema=False).fill_null("")
    assert written["status"].to_list() == ["found", "found", "found", "left_out"]
    assert written.row(3, named=True)["reason"] == "missing_file"
    assert written.row(0, named=True)["labels"] == "age=55|fitzpatrick=V"
    with pytest.raises(DefinitionError, match="cannot be written"):
        look(wanted(None, "manifest", str(path), []), data)


def test_what_cannot_be_read_is_left_out_as_preparation_would(data: Path):
    files.put(data / "mine" / "a" / "1.jpg", "x")
    (data / "mine" / "a" / "2.jpg").symlink_to(data / "nowhere")
    found = look(wanted(None, "folder", "mine", []))
    assert (found.n_photos, [item.reason for item in found.left_out]) == (1, ["unreadable"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, None, None, []), "name a suite, or --adapter"),
        (("quickstart", "folder", None, []), "name a suite, or --adapter"),
        ((None, "folder", None, []), "needs a `path`"),
        ((None, "fodler", "x", []), "dataset.adapter"),
        (("face-edit-celeba", None, None, ["partition"]), "takes name=value"),
        (("face-edit-celeba", None, None, ["partition=[1"]), "no YAML"),
        (
            ("face-edit-celeba", None, None, ["partitions=test"]),
            r"it has: partition, .*dataset.options.partitions",
        ),
        (("face-edit-celeba", None, None, []), r"no CelebA at '.*/celeba'.*mmlab.*FACEDRIFT_DATA"),
        (("face-edit-celebset", None, None, []), r"no CelebSET at.*Saving Face.*FACEDRIFT_DATA"),
        (("london", None, None, []), "figshare"),
        ((None, "london", "/no/such/place", []), "mend `path`"),
    ],
)
def test_what_is_wrong_is_one_sentence(data: Path, arguments: tuple[object, ...], message: str):
    with pytest.raises(DefinitionError, match=message):
        look(wanted(*arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("adapter", "option", "said"),
    [
        (
            "london",
            "base=smile",
            "'smile' is not a choice here (field 'dataset.options.base'); allowed: neutral_front",
        ),
        (
            "celeba",
            "partition=tset",
            "'tset' is not a choice here (field 'dataset.options.partition'); allowed: all",
        ),
        ("imdb_wiki", "min_face_score=low", ", not 'low' (field 'dataset.options.min_face_score')"),
        ("imdb_wiki", "min_face_score=.nan", "finite number, not 'nan' (field"),
        ("imdb_wiki", "min_face_score=.inf", "finite number, not 'inf' (field"),
        (
            "manifest",
            "columns={no: sex}",
            "no, off or false was read as a truth value; put the word in quotes",
        ),
        ("manifest", "groups=[on]", "yes, on or true was read as a truth value"),
        (
            "celeba",
            "groups={g: {attribute: Male, present: x, absent: X}}",
            "`present` and `absent` are both 'x'",
        ),
    ],
)
def test_options_of_the_command_line_are_told_by_their_value_and_no_file(
    data: Path, adapter: str, option: str, said: str
):
    with pytest.raises(DefinitionError) as caught:
        wanted(None, adapter, "x", [option])
    assert said in str(caught.value)
    assert (caught.value.file, ".yaml" in str(caught.value)) == (None, False)


def test_long_names_and_values_are_shown_by_their_beginning(data: Path):
    path = files.put(data / "t.csv", f"image,person,skin\n1.jpg,A,{'s' * 9000}\n{'d/' * 2000}2.jpg,A,x\n")
    files.put(data / "1.jpg", "x")
    found = look(wanted(None, "manifest", str(path), []))
    assert max(map(len, (found.labels[0].holds, *found.left_out[0].examples))) < 500


def test_tsv_is_named_among_the_tables():
    assert {one.adapter: "TSV" in one.layout for one in adapters()}["manifest"]


def test_a_suite_file_names_what_is_no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(tmp_path))
    text = (Path(__file__).parents[3] / "domain/definitions/suites/face-edit-celebset.yaml").read_text()
    file = files.put(
        tmp_path / "mine.yaml",
        text.replace('age: [young, old]}\n    labels: {young: "Y", old: O}', "age: [yuong, old]}"),
    )
    said = r"mine\.yaml:\d+: the axis 'age' compares yuong.*field 'axes\.2\.values\.age'.*allowed: young, old"
    with pytest.raises(DefinitionError, match=said):
        load_suite(str(file))
    own = "demographics:\n  age: {column: age, ranges: {yuong: [1, 2], old: [3, 4]}}\n"
    files.put(file, file.read_text().replace("axes:\n", f"{own}axes:\n"))
    suite = load_suite(str(file))
    assert suite.demographics["age"].groups == ("yuong", "old"), "its own overrules the file's"
    assert suite.demographics["skin"].groups == ("light", "dark")
    files.put(file, text.replace("demographics_file: celebset", "demographics_file: celebsets"))
    with pytest.raises(DefinitionError, match="did you mean celebset"):
        load_suite(str(file))


SUITE = """\
id: mine
title: Mine
dataset: {{id: mine, adapter: manifest, path: photos.csv, per_group: {{columns: [{column}], n: 2}}}}
taxonomy: face-edit-attributes
session_set: face-edit-sessions
models: [control-unchanged]
embedder: {{pack: mobile}}
"""


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("fitzpatrik", "no photo is in a group of 'fitzpatrik' (field 'dataset.per_group.columns'); "
                       "allowed: fitzpatrick"),
        ("age", "no photo is in a group of 'age'; numbers are groups by the ranges of a demographic, or "
                "where an axis lists them (field 'dataset.per_group.columns'); allowed: fitzpatrick"),
        ("fitzpatrick", ""),
    ],
)  # fmt: skip
def test_columns_of_per_group_that_are_not_there_are_told_before_anything_is_decoded(
    data: Path, column: str, said: str, monkeypatch: pytest.MonkeyPatch
):
    files.manifest(data)
    file = files.put(data / "mine.yaml", SUITE.format(column=column))
    notes = look(wanted(str(file), None, None, [])).notes
    assert [note for note in notes if "refused" in note] == ([f"a run is refused: {said}"] if said else [])
    suite = load_suite(str(file))
    source = wiring.dataset_source(suite.dataset)
    if said:
        with pytest.raises(DefinitionError) as caught:
            check_source(suite.dataset, source, suite.groups_of)
        assert str(caught.value) == said
        monkeypatch.setenv("FACEDRIFT_STORE", str(data / "store"))
        with pytest.raises(DefinitionError, match="per_group"):
            _look_at_photos(suite)
        assert not (data / "store" / "photos").exists(), "nothing was decoded"
    else:
        check_source(suite.dataset, source, suite.groups_of)
