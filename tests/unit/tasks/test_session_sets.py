"""Sets keep their name and content; others under the same name are the next version."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from domain.errors import DefinitionError
from domain.loading import load, parse
from domain.requests import WriteSessionsRequest
from domain.session_lint import lint
from domain.sessions import Instruction, Session, SessionSet
from domain.taxonomy import Taxonomy
from tasks import session_sets, wiring
from tasks.session_files import lint_file
from tasks.session_sets import export, listed, source_of, store_set
from tasks.session_writing import as_session, ask_once, follow, resolve

TAXONOMY = load(Taxonomy, "face-edit-attributes")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(tmp_path))
    return tmp_path


def sessions(seed: int = 0) -> tuple[tuple[Session, ...], str]:
    request = WriteSessionsRequest(
        set_id="city", writer="local", test_sets={"hair": 2, "pose": 2}, seed=seed, keep_share=0.3
    )
    writing, writer = resolve(request), wiring.session_writer(resolve(request).card, TAXONOMY)
    made: list[Session] = []
    for drawn in writing.drawn:
        while (found := follow(writing, drawn, wiring.store())).next:
            ask_once(found.next, writer, TAXONOMY, wiring.store())
        made.append(as_session(drawn, found))
    return tuple(made), source_of(writing)


def kept(seed: int = 0):
    made, source = sessions(seed)
    return store_set("city", made, TAXONOMY, source, wiring.store())


def test_equal_sessions_are_one_set_whenever_they_are_written(home: Path) -> None:
    first = kept()
    assert (first.id, first.version, first.is_new) == ("city", 1, True)
    again = store_set("city", sessions()[0], TAXONOMY, "another day", wiring.store())
    assert again == first.model_copy(update={"is_new": False})
    data = wiring.store().get(first.key)
    assert data is not None
    assert b"another day" not in data


def test_other_sessions_are_the_next_version_and_the_first_stays(home: Path) -> None:
    first = kept()
    before = wiring.store().get(first.key)
    second = kept(1)
    assert (second.id, second.version, second.is_new) == ("city-v2", 2, True)
    assert wiring.store().get(first.key) == before
    assert kept(0) == first.model_copy(update={"is_new": False})
    assert kept(1).id == "city-v2"
    assert kept(2).id == "city-v3"


def test_a_written_set_reads_back_and_lints_clean(home: Path) -> None:
    written = kept()
    text = (wiring.store().get(written.key) or b"").decode()
    found = parse(text, SessionSet, "city.yaml")
    assert found.sessions == sessions()[0]
    assert "seed 0" in found.source
    assert "local" in found.source
    problems = lint(text, lambda _: TAXONOMY, [TAXONOMY.id])
    assert {one.code for one in problems} == {"never_asked"}


def test_a_name_that_a_definition_has_is_taken(home: Path) -> None:
    made, source = sessions()
    found = store_set("face-edit-sessions", made, TAXONOMY, source, wiring.store())
    assert (found.id, found.version) == ("face-edit-sessions-v2", 2)


def test_a_set_is_exported_once_and_never_over_another(home: Path) -> None:
    first = kept()
    file = export(first, home / "sessions")
    assert file == home / "sessions" / "city.yaml"
    assert export(first, file) == file
    assert load(SessionSet, "city", [home]).version == 1
    second = kept(1)
    assert export(second, file).name == "city-v2.yaml"
    file.write_text("id: mine\n")
    with pytest.raises(DefinitionError, match="never changed in place"):
        export(first, file)
    assert file.read_text() == "id: mine\n"


def test_the_list_tells_where_a_set_is_and_whether_it_was_changed(home: Path) -> None:
    export(kept(), home / "sessions")
    kept(1)
    file = home / "sessions" / "city.yaml"
    assert {row.id: row.where for row in listed()[0]} == {
        "face-edit-sessions": "packaged",
        "city": "your definitions",
        "city-v2": "store only",
    }
    file.write_text(file.read_text().replace("Change the", "Turn the", 1))
    assert "store; the definition was changed" in {row.where for row in listed()[0]}


def test_a_file_that_is_wrong_hides_no_other_set(home: Path) -> None:
    export(kept(), home / "sessions")
    (home / "sessions" / "bad.yaml").write_text("id: other\n")
    (home / "sessions" / "worse.yaml").write_bytes(b"\xff")
    rows, wrong = listed()
    assert {row.id for row in rows} == {"face-edit-sessions", "city"}
    assert [Path(str(error.file)).name for error in wrong] == ["bad.yaml", "worse.yaml"]


def test_what_the_loader_refuses_is_an_error_of_the_check(home: Path) -> None:
    file = export(kept(), home / "sessions")
    assert [one for one in lint_file(file) if one.is_error] == []
    other = file.with_name("town.yaml")
    other.write_text(file.read_text())
    [error] = [one for one in lint_file(other) if one.is_error]
    assert (error.line, error.code, error.allowed) == (2, "wrong_name", ("town",))
    other.write_text(file.read_text().replace("id: city", "id: My Set!"))
    assert [one.code for one in lint_file(other) if one.is_error] == ["bad_value", "wrong_name"]
    other.unlink()
    yml = file.rename(file.with_suffix(".yml"))
    assert (1, "file_name", False) in [(one.line, one.code, one.is_error) for one in lint_file(yml)]


def test_the_id_of_a_packaged_set_is_taken(home: Path) -> None:
    packaged = resources.files("domain") / "definitions" / "sessions" / "face-edit-sessions.yaml"
    own = home / "face-edit-sessions.yaml"
    own.write_text(packaged.read_text(encoding="utf-8"))
    assert [one for one in lint_file(own) if one.is_error] == []
    own.write_text(own.read_text().replace("source:", "source: mine,", 1))
    assert [one.code for one in lint_file(own) if one.is_error] == ["taken"]


def test_a_file_that_cannot_be_read_is_said_to_be_so(home: Path) -> None:
    with pytest.raises(DefinitionError, match="cannot be read"):
        lint_file(home / "none.yaml")
    (home / "latin.yaml").write_bytes(b"id: caf\xe9\n")
    with pytest.raises(DefinitionError, match="cannot be read"):
        lint_file(home / "latin.yaml")
    (home / "empty.yaml").write_text("")
    with pytest.raises(DefinitionError, match="did you mean face-edit-attributes"):
        lint_file(home / "empty.yaml", "face-edit-attribute")


def test_a_table_names_the_sessions_that_are_not_there() -> None:
    from domain.session_writing import SessionsWritten, Unwritten

    step = Instruction(prompt="Add a goatee.", attribute="goatee")
    written = SessionsWritten(
        sessions=(Session(id="hair_001", test_set="hair", steps=(step,)),),
        unwritten=(Unwritten(session="hair_002", step=3, problem="no"),),
    )
    assert session_sets.rows_of(written) == [
        {"session": "hair_001", "test set": "hair", "1": "Add a goatee."},
        {"session": "hair_002", "problem": "step 3: no"},
    ]
