"""Votes in tables: our columns and Rapidata's, good rows and bad ones."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from known import FIRST, KNOWN, MATCHES, a_match, sha

from adapters.votes.file import FileVotes
from domain.errors import DefinitionError
from domain.known_matches import KnownMatches
from domain.votes import ANONYMOUS, FoundVote, RejectedVote, Vote

HEADING = "match,choice,annotator,at,left,ms,source_id"
GOOD = f"{FIRST},a,ann,2026-11-30T12:00:00Z,b,1500,v1"


def read(path: Path, known: KnownMatches = KNOWN) -> list[FoundVote | RejectedVote]:
    return list(FileVotes.build(str(path)).read(known))


def votes(path: Path, known: KnownMatches = KNOWN) -> list[Vote]:
    found = read(path, known)
    assert not [one for one in found if isinstance(one, RejectedVote)]
    return [one.vote for one in found if isinstance(one, FoundVote)]


def bad(path: Path) -> list[tuple[int | None, str]]:
    return [(one.line, one.reason) for one in read(path) if isinstance(one, RejectedVote)]


def csv(folder: Path, *rows: str, heading: str = HEADING, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text("\n".join((heading, *rows)) + "\n")
    return path


@pytest.mark.parametrize("name", ["votes.csv", "votes.tsv", "votes.jsonl", "votes.parquet"])
@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_empty_file_is_an_error(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text("" if name.endswith("parquet") else text)
    with pytest.raises(DefinitionError, match=r"no header and no votes|no rows, and so no votes") as caught:
        read(path)
    assert caught.value.file == str(path)


def test_a_table_of_a_header_alone_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pl.DataFrame(schema={"match": pl.String, "choice": pl.String}).write_parquet(path)
    (tmp_path / "votes.csv").write_text(HEADING + "\n")
    for file in (path, tmp_path / "votes.csv"):
        with pytest.raises(DefinitionError, match="no rows, and so no votes"):
            read(file)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (f'{FIRST},a,"ann', "a quote is opened and never closed; double each quote that is inside a value"),
        (
            f'{FIRST},a,"ann"x,,,,',
            "a quote is closed in the middle of a value; double each quote that is inside a value",
        ),
        (f"{FIRST},a,ann,,,-1,", "ms: '-1' is not a number that is allowed here: 0 or more"),
        (f"{FIRST},a,ann,,,soon,", "ms: 'soon' is not a number that is allowed here: 0 or more"),
        (f"{FIRST},a,ann,,,1e30,", "ms: '1e30' is too large"),
        (f"{FIRST},a,ann,,,1.5,", "ms: '1.5' is not a whole number"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_in_plain_words(tmp_path: Path, row: str, said: str) -> None:
    found = read(csv(tmp_path, row))
    assert [one.detail for one in found if isinstance(one, RejectedVote)] == [said]


def test_a_row_is_a_vote(tmp_path: Path) -> None:
    found = read(csv(tmp_path, GOOD))
    vote = Vote(
        match=FIRST,
        choice="a",
        annotator="ann",
        at="2026-11-30T12:00:00+00:00",
        source="file",
        source_id="v1",
        left="b",
        ms=1500,
    )
    assert found == [FoundVote(vote=vote, line=2)]


@pytest.mark.parametrize(
    ("choice", "left", "expected"),
    [
        ("A", "", "a"),
        (" b ", "a", "b"),
        ("tie", "", "tie"),
        ("left", "a", "a"),
        ("right", "a", "b"),
        ("left", "b", "b"),
        ("right", "b", "a"),
    ],
)
def test_choices(tmp_path: Path, choice: str, left: str, expected: str) -> None:
    assert votes(csv(tmp_path, f"{FIRST},{choice},ann,,{left},,"))[0].choice == expected


def test_what_is_not_told_is_not_known(tmp_path: Path) -> None:
    vote = votes(csv(tmp_path, f"{FIRST},tie,7", heading="match,choice,annotator"))[0]
    assert (vote.at, vote.left, vote.ms, vote.country, vote.user_score) == (None, None, None, None, None)
    assert vote.annotator == "7"


def test_the_same_moment_in_another_zone_is_the_same_vote(tmp_path: Path) -> None:
    one, other = (
        votes(csv(tmp_path, f"{FIRST},a,ann,{at},,,", name=f"{number}.csv"))[0]
        for number, at in enumerate(("2026-11-30T12:00:00Z", "2026-11-30T13:00:00+01:00"))
    )
    assert one.id == other.id


BAD_ROWS: list[tuple[str, str]] = [
    (f"{FIRST},c,ann,,,,", "bad_choice"),
    (f"{FIRST},,ann,,,,", "no_choice"),
    (f"{FIRST},left,ann,,,,", "no_left"),
    (f"{FIRST},m0,ann,,,,", "bad_choice"),
    (f"{'0' * 64},a,ann,,,,", "unknown_match"),
    ("rubbish,a,ann,,,,", "unknown_match"),
    (f"{FIRST.upper()},a,ann,,,,", "unknown_match"),
    (",a,ann,,,,", "no_match"),
    (f"{FIRST},a,,,,,", "no_annotator"),
    (f"{FIRST},a,   ,,,,", "no_annotator"),
    (f"{FIRST},a,NaN,,,,", "no_annotator"),
    (f"{FIRST},a,{'x' * 201},,,,", "bad_annotator"),
    (f"{FIRST},a,ann,yesterday,,,", "bad_time"),
    (f"{FIRST},a,ann,2026-11-30T12:00:00,,,", "bad_time"),
    (f"{FIRST},a,ann,2026-13-30T12:00:00Z,,,", "bad_time"),
    (f"{FIRST},a,ann,1764504000,,,", "bad_time"),
    (f"{FIRST},a,ann,0001-01-01T00:00:00+23:00,,,", "bad_time"),
    (f"{FIRST},a,ann,,c,,", "bad_left"),
    (f"{FIRST},a,ann,,,-1,", "bad_ms"),
    (f"{FIRST},a,ann,,,NaN,", "bad_ms"),
    (f"{FIRST},a,ann,,,inf,", "bad_ms"),
    (f"{FIRST},a,ann,,,1e400,", "bad_ms"),
    (f"{FIRST},a,ann,,,1.5,", "bad_ms"),
    (f"{FIRST},a,ann,,,fast,", "bad_ms"),
    (f"{FIRST},a,ann,,,{2**54},", "bad_ms"),
    (f"{FIRST},a,ann,,,,{'x' * 301}", "bad_source_id"),
    (f"{FIRST},a,ann", "short_row"),
    (f"{FIRST},a,ann,,,,,,", "long_row"),
    (f'{FIRST},a,"ann"x,,,,', "bad_quotes"),
    ("no row at all", "short_row"),
]


def test_every_bad_row_has_its_line_and_reason_and_the_good_ones_count(tmp_path: Path) -> None:
    rows, expected = [GOOD], []
    for number, (row, reason) in enumerate(BAD_ROWS):
        rows += [row, f"{FIRST},b,voter-{number},,,,"]
        expected.append((3 + 2 * number, reason))
    path = csv(tmp_path, *rows)
    assert bad(path) == expected
    assert sum(isinstance(one, FoundVote) for one in read(path)) == 1 + len(BAD_ROWS)
    assert all(isinstance(one, FoundVote) or one.where == str(path) for one in read(path))


def test_a_row_that_is_not_utf8_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    name = f"{FIRST},a,J\xfcrgen,,,,\n".encode("latin-1")
    good = f"{FIRST},b,Jürgen,,,,\n".encode()
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEADING}\n{GOOD}\n".encode() + name + good)
    assert bad(path) == [(3, "not_utf8")]
    assert [one.vote.annotator for one in read(path) if isinstance(one, FoundVote)] == ["ann", "Jürgen"]


def test_an_open_quote_says_which_lines_it_took(tmp_path: Path) -> None:
    found = read(csv(tmp_path, GOOD, f'{FIRST},a,"ann,,,,', GOOD, GOOD))
    assert [(one.line, one.reason) for one in found if isinstance(one, RejectedVote)] == [(3, "bad_quotes")]
    assert "lines 3 to 5 were read as one row" in str(found[1])


def test_bad_lines_of_jsonl(tmp_path: Path) -> None:
    good = {"match": FIRST, "choice": "a", "annotator": "ann"}
    lines = [
        json.dumps(good),
        "{",
        "[1]",
        "7",
        json.dumps(good)[:-1] + ', "ms": NaN}',
        json.dumps({**good, "annotator": ["ann"]}),
        json.dumps({**good, "annotator": None}),
        json.dumps({**good, "ms": True}),
        json.dumps({**good, "choice": {"a": 1}}),
        json.dumps({"choice": "a"}),
        json.dumps({"model1": "m0"}),
        "",
        "[" * 100_000,
        json.dumps({**good, "at": 5}),
        json.dumps({**good, "user_score": 1.5}),
    ]
    path = tmp_path / "votes.jsonl"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    assert bad(path) == [
        (2, "not_json"), (3, "not_json"), (4, "not_json"), (5, "not_json"), (6, "bad_annotator"),
        (7, "no_annotator"), (8, "bad_ms"), (9, "bad_choice"), (10, "no_match"), (11, "no_match"),
        (13, "not_json"), (14, "bad_time"), (15, "bad_user_score"), (16, "not_utf8"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_every_kind_of_table_gives_the_same_votes(tmp_path: Path, kind: str) -> None:
    rows = [
        {"match": FIRST, "choice": "a", "annotator": "ann", "ms": 20, "at": "2026-11-30T12:00:00+00:00"},
        {"match": MATCHES[1].id, "choice": "tie", "annotator": "7", "ms": None, "at": None},
    ]
    frame, path = pl.DataFrame(rows), tmp_path / f"votes.{kind}"
    match kind:
        case "csv":
            frame.write_csv(path)
        case "tsv":
            frame.write_csv(path, separator="\t")
        case "jsonl":
            frame.write_ndjson(path)
        case _:
            frame.with_columns(
                pl.col("at").str.to_datetime(time_zone="UTC"), pl.col("ms").cast(pl.Float64)
            ).write_parquet(path)
    expected = [
        Vote(
            match=FIRST,
            choice="a",
            annotator="ann",
            ms=20,
            at="2026-11-30T12:00:00+00:00",
            source="file",
            source_id="row-",
        ),
        Vote(match=MATCHES[1].id, choice="tie", annotator="7", source="file", source_id="row-"),
    ]
    found = votes(path)
    assert [vote.model_copy(update={"source_id": "row-"}) for vote in found] == expected
    same = csv(
        tmp_path,
        f"{MATCHES[1].id},tie,7,,",
        f"{FIRST},a,ann,20,2026-11-30T12:00:00Z",
        heading="match,choice,annotator,ms,at",
        name="again.csv",
    )
    assert {vote.id for vote in votes(same)} == {vote.id for vote in found}


def test_rows_are_known_by_what_they_say_in_any_order(tmp_path: Path) -> None:
    rows = [f"{match.id},{choice},voter-{n},,,," for match in MATCHES for n in range(3) for choice in "ab"]
    rows += rows[:4]  # the same said twice
    one = Counter(vote.id for vote in votes(csv(tmp_path, *rows)))
    random.Random(1).shuffle(rows)
    other = Counter(vote.id for vote in votes(csv(tmp_path, *rows, name="other.csv")))
    assert one == other
    assert max(one.values()) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("votes.txt", "", "is no table of votes"),
        ("votes.csv", "who,what\nann,a\n", "neither `match` and `choice`"),
        ("votes.csv", "match,match\na,a\n", "two columns have the same name"),
        ("votes.parquet", "no parquet", "the table cannot be read"),
    ],
)
def test_what_is_no_table_of_votes(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DefinitionError, match=said):
        read(tmp_path / name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="no such file of votes"):
        FileVotes.build(str(tmp_path / "nowhere.csv"))


# Rapidata's public tables


def details(*voted: str, **user: object) -> str:
    return json.dumps([{"votedFor": name, "userDetails": {**user}} for name in voted])


def test_counts_become_votes_of_nobody_in_particular(tmp_path: Path) -> None:
    heading = "prompt,model1,model2,votes_image1,votes_image2"
    found = votes(csv(tmp_path, "p1-1,m1,m0,2,1", "p0-1,m0,m2,0,1", heading=heading))
    assert [(vote.match, vote.choice) for vote in found] == [
        (MATCHES[2].id, "b"), (MATCHES[2].id, "b"), (MATCHES[2].id, "a"), (MATCHES[1].id, "b"),
    ]  # fmt: skip
    assert all(vote.annotator.startswith(ANONYMOUS) for vote in found)
    assert len({vote.annotator for vote in found}) == len({vote.id for vote in found}) == 4
    assert {(vote.at, vote.left) for vote in found} == {(None, None)}


def test_single_answers_become_votes_with_what_is_told_of_the_voter(tmp_path: Path) -> None:
    names = [f"{sha('crop', 0, model)}.png" for model in ("m1", "m0")]
    told = json.dumps(
        [
            {"votedFor": names[0], "userDetails": {"country": "DE", "userScores": {"global": 0.5}}},
            {"votedFor": names[1], "userDetails": {"userScore": 0.25}},
            {"votedFor": "Both"},
        ]
    )
    frame = pl.DataFrame(
        {"image1_path": [f"a/b/{names[0]}"], "image2_path": [names[1]], "model1": ["m1"], "model2": ["m0"]}
    ).with_columns(detailed_results=pl.lit(told), votes_image1=pl.lit(9), votes_image2=pl.lit(9))
    frame.write_parquet(tmp_path / "votes.parquet")
    found = votes(tmp_path / "votes.parquet")
    assert [(vote.choice, vote.country, vote.user_score) for vote in found] == [
        ("b", "DE", 0.5), ("a", None, 0.25), ("tie", None, None),
    ]  # fmt: skip
    assert {vote.match for vote in found} == {FIRST}


def test_the_newer_table_with_pictures_in_it(tmp_path: Path) -> None:
    """Pictures are structs of bytes and a path there, of which only the path is read."""
    pictures = [{"bytes": b"x" * 10, "path": f"{sha('crop', 2, model)}.png"} for model in ("m0", "m2")]
    frame = pl.DataFrame(
        {
            "prompt": ["a photo of a man"],
            "image1": pictures[:1],
            "image2": pictures[1:],
            "model1": ["m0"],
            "model2": ["m2"],
            "weighted_results_image1_preference": [0.4],
            "detailed_results_preference": [details("image1", "image2", "m2", country="FR")],
        }
    )
    frame.write_parquet(tmp_path / "votes.parquet")
    assert [(vote.match, vote.choice) for vote in votes(tmp_path / "votes.parquet")] == [
        (MATCHES[5].id, choice) for choice in ("a", "b", "b")
    ]


def test_models_whose_names_differ_after_a_dot(tmp_path: Path) -> None:
    known = KnownMatches.of([a_match(0, "flux-1.1", "flux-1.2")])
    path = tmp_path / "votes.jsonl"
    row = {"photo": "p0-1", "model1": "flux-1.1", "model2": "flux-1.2"}
    path.write_text(json.dumps({**row, "detailed_results": details("flux-1.1", "flux-1.2", "flux-1.2")}))
    assert [vote.choice for vote in votes(path, known)] == ["a", "b", "b"]


def test_bad_rows_of_the_crowd(tmp_path: Path) -> None:
    base = {"prompt": "p0-1", "model1": "m0", "model2": "m1"}
    rows: list[dict[str, object]] = [
        {**base, "votes_image1": 1, "votes_image2": 0},
        {**base, "prompt": "p9-1", "votes_image1": 1, "votes_image2": 0},
        {**base, "model2": "m9", "votes_image1": 1, "votes_image2": 0},
        {**base, "votes_image1": -1, "votes_image2": 0},
        {**base, "votes_image1": 1.5, "votes_image2": 0},
        {**base, "votes_image1": 10**9, "votes_image2": 0},
        {**base, "votes_image1": 3},
        {**base, "weighted_results_image1": 0.4, "weighted_results_image2": 0.6},
        {**base, "detailed_results": "{"},
        {**base, "detailed_results": "{}"},
        {**base, "detailed_results": details("m0", "somebody")},
        {**base, "detailed_results": [{"votedFor": "m0", "userDetails": {"userScores": {"global": 2}}}, 7]},
        {**base, "prompt": ["p0-1"], "votes_image1": 1, "votes_image2": 0},
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    assert bad(path) == [
        (2, "unknown_match"), (3, "unknown_match"), (4, "bad_count"), (5, "bad_count"), (6, "bad_count"),
        (7, "no_votes"), (8, "no_votes"), (9, "not_json"), (10, "not_json"), (11, "bad_choice"),
        (12, "bad_user_score"), (12, "bad_choice"), (13, "bad_prompt"),
    ]  # fmt: skip
    assert sum(isinstance(one, FoundVote) for one in read(path)) == 2


def test_a_photo_with_two_sessions_is_ambiguous_without_pictures(tmp_path: Path) -> None:
    known = KnownMatches.of([a_match(0), a_match(0, session="s1", crop_a_sha256=sha("other"))])
    path = csv(tmp_path, "p0-1,m0,m1,1,0", heading="photo,model1,model2,votes_image1,votes_image2")
    assert [one.reason for one in read(path, known) if isinstance(one, RejectedVote)] == ["ambiguous_match"]


def test_models_that_made_the_very_same_picture_are_told_apart_by_name(tmp_path: Path) -> None:
    same = {"crop_a_sha256": sha("same"), "crop_b_sha256": sha("third")}
    known = KnownMatches.of([a_match(0, "m0", "m2", **same), a_match(0, "m1", "m2", **same)])
    path = tmp_path / "votes.jsonl"
    row = {"image1": f"{sha('third')}.png", "image2": f"{sha('same')}.png", "model1": "m2", "model2": "m1"}
    path.write_text(json.dumps({**row, "votes_image1": 1, "votes_image2": 0}))
    found = votes(path, known)
    assert [(known.by_id[vote.match].model_a, vote.choice) for vote in found] == [("m1", "b")]
