"""The same chain over all models, picture by picture: which are shown, and what is known of each step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from adapters.pages.site.picture_views import ChainView, Comparison, Picture, StepView
from domain import keys
from domain.runs import RunPlan
from domain.sessions import Session
from tasks import ledger
from tasks.site_source import SiteSource
from tasks.threads import on_threads

MOST_COMPARISONS = 60
MOST_REASONING = 1_200
"""Characters of what a judge wrote."""


def shown_pairs(run: RunPlan, most: int = MOST_COMPARISONS) -> tuple[list[tuple[str, Session]], int]:
    """Photos and sessions that are compared, and how many pairs there are.

    Each session on a photo in turn, then each on the next: the same for the same run, and every session and
    photo is there before one is there twice.
    """
    bound = [(session.photo, session) for session in run.sessions if session.photo in run.photos]
    free = [session for session in run.sessions if session.photo is None]
    total = len(bound) + len(free) * len(run.photos)
    turns = (
        (run.photos[(number + turn) % len(run.photos)], session)
        for turn in range(len(run.photos))
        for number, session in enumerate(free)
    )
    pairs = [*((photo, session) for photo, session in bound if photo is not None), *turns]
    return pairs[:most], total


def comparisons_of(source: SiteSource, most: int = MOST_COMPARISONS) -> tuple[list[Comparison], str]:
    """The comparisons of a page and what is said of their number."""
    pairs, total = shown_pairs(source.run, most)
    rows = _Rows(source, pairs)
    made = on_threads(rows.comparison, pairs)
    return made, f"{len(made)} of {total} pairs of a photo and a session are shown."


@dataclass(frozen=True)
class _Step:
    """What the tables say of one step, its pictures where it was made, and why attempts at it failed."""

    row: dict[str, Any]
    edit: dict[str, Any] | None
    failed: tuple[str, ...] = ()


class _Rows:
    """The steps of the chains that are shown, found once."""

    def __init__(self, source: SiteSource, pairs: Sequence[tuple[str, Session]]) -> None:
        self._source = source
        self._judge = keys.fingerprint(source.run.judge) if source.run.judge else ""
        controls = (False, True)
        self._cards = [c for kind in controls for c in source.run.cards if c.is_control == kind]
        chosen = pl.DataFrame(
            [(photo, session.id) for photo, session in pairs],
            {"photo": pl.String, "session": pl.String},
            orient="row",
        ).unique()
        key = ["model", "photo", "session", "step"]
        wanted = source.pictures.join(chosen, on=["photo", "session"], how="semi")
        edits = {tuple(row[name] for name in key): row for row in wanted.iter_rows(named=True)}
        tried = source.table("steps").join(chosen, on=["photo", "session"], how="semi")
        told = tried.sort([*key, *(name for name in ("attempt",) if name in tried.columns)])
        self._steps: dict[tuple[str, str, str], list[_Step]] = {}
        for row in told.iter_rows(named=True):
            place = tuple(row[name] for name in key)
            steps = self._steps.setdefault(place[:3], [])
            again = steps.pop().failed if steps and steps[-1].row["step"] == row["step"] else ()
            is_made = row.get("verdict", "made") == "made"
            failed = again if is_made else (*again, why(row))
            steps.append(_Step(row, edits.get(place) if is_made else None, failed))

    def comparison(self, pair: tuple[str, Session]) -> Comparison:
        photo, session = self._source.photos.by_id[pair[0]], pair[1]
        original = Picture(photo.image_sha256, photo.extension)
        return Comparison(
            photo=photo.id,
            session=session.id,
            test_set=session.test_set,
            original=original,
            prompts=[step.prompt for step in session.steps],
            chains=[
                ChainView(
                    card.id, [StepView("original", original), *self._views(card.id, photo.id, session.id)]
                )
                for card in self._cards
            ],
            licence=photo.licence,
        )

    def _views(self, model: str, photo: str, session: str) -> Iterator[StepView]:
        for step in self._steps.get((model, photo, session), ()):
            yield self._view(step.row, step.edit, step.failed)
            if step.edit is None:
                return  # what comes after was never tried

    def _view(self, row: dict[str, Any], edit: dict[str, Any] | None, failed: Sequence[str]) -> StepView:
        label = f"step {row['step']}"
        if edit is None:
            told = f"not made in {len(failed)} attempts" if failed else why(row)
            return StepView(label, None, problem=told, prompt=row["prompt"], failed=failed)
        picture = Picture(edit["image_sha256"], edit["image_extension"])
        problem = "" if row.get("face") != "no_face" else "no face found"
        said = self._reasoning(row, edit)
        return StepView(label, picture, list(_scores(row)), problem, said, row["prompt"], failed)

    def _reasoning(self, row: dict[str, Any], edit: dict[str, Any]) -> str:
        if row.get("judgement") is None:
            return ""
        key = keys.judgement_key(edit["input_sha256"], edit["image_sha256"], row["prompt"])
        found = ledger.judgement(self._source.store, self._judge, key)
        return reasoning(found.raw_texts[-1]) if found and found.raw_texts else ""


def why(row: dict[str, Any]) -> str:
    """What came of a step, or of an attempt at it, that has no picture or was not made."""
    faults = row.get("faults") or ()
    if faults:
        return f"checks failed: {', '.join(faults).replace('_', ' ')}"
    ended = row.get("verdict") or row.get("outcome") or "not run"
    return str(ended).replace("_", " ") + (f": {row['reason']}" if row.get("reason") else "")


def _scores(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if row.get("attempt"):
        yield "made at attempt", f"{row['attempt']}"
    if row["fss"] is not None:
        yield "FSS", f"{row['fss']:.2f}"
    if row.get("judgement") == "scored":
        yield "success", f"{row['success']:g} / 10"
        yield "no overediting", f"{row['overediting']:g} / 10"


def reasoning(text: str) -> str:
    """What a judge wrote before its verdict; empty where it wrote none. It is a stranger's text."""
    start, end = text.find("{"), text.rfind("}")
    try:
        held = json.loads(text[start : end + 1])
    except ValueError:
        return text[:MOST_REASONING]
    said = held.get("reasoning") if isinstance(held, dict) else None  # pyright: ignore[reportUnknownMemberType]
    return said[:MOST_REASONING] if isinstance(said, str) else ""
