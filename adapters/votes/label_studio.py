"""Votes that were made in Label Studio: its JSON and its JSON_MIN export, of tasks that we gave out.

The task data say which model was left (see `adapters.votes.label_studio_tasks`). A voter picks one of the two
faces (`Pairwise`) or says that they are alike (`Choices`).

API: https://labelstud.io/guide/export and https://labelstud.io/tags/pairwise (1.23, read 2026-11)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self, cast

from adapters.votes import values
from adapters.votes.label_studio_tasks import CHOICE, PAIR, TIE
from adapters.votes.rows import strict_json
from adapters.votes.source import Bad
from domain.errors import DefinitionError
from domain.known_matches import KnownMatches
from domain.matches import Choice, Side
from domain.votes import FoundVote, RejectedVote, Vote, VoteSourceName

Held = Mapping[str, Any]


class LabelStudioVotes:
    """The annotations of one exported file."""

    name: VoteSourceName = "label_studio"

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def build(cls, where: str) -> Self:
        """Over a file by its path; raises DefinitionError where there is none."""
        path = Path(where).expanduser()
        if not path.is_file():
            raise DefinitionError("there is no such export of Label Studio", file=where, field="path")
        return cls(path)

    @property
    def where(self) -> str:
        """The file's path."""
        return str(self._path)

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        """Every annotation, task by task."""
        for number, task in enumerate(self._tasks(), 1):
            for vote in _of_task(task, known):
                if isinstance(vote, Bad):
                    named = Bad(vote.reason, f"task {number}: {vote.detail}")
                    yield named.rejected(self.where, None)
                else:
                    yield FoundVote(vote=vote)

    def _tasks(self) -> list[object]:
        try:
            text = self._path.read_text(encoding="utf-8-sig")
            if not text.strip():
                raise DefinitionError("the export is empty: it has no tasks and no votes", file=self.where)
            found = strict_json(text)
        except (OSError, ValueError, RecursionError) as error:
            raise DefinitionError(
                f"the export cannot be read: {error}; export as JSON or JSON_MIN", file=self.where
            ) from error
        if not isinstance(found, list):
            raise DefinitionError(
                "an export of Label Studio is a list of tasks; export as JSON or JSON_MIN", file=self.where
            )
        if not found:
            raise DefinitionError("the export has no tasks, and so no votes", file=self.where)
        return cast(list[object], found)


def _of_task(task: object, known: KnownMatches) -> Iterator[Vote | Bad]:
    if not isinstance(task, dict):
        yield Bad("not_json", "a task is an object")
        return
    held = cast(dict[str, Any], task)
    if "data" not in held:  # JSON_MIN: an annotation a row, its task's data among its fields
        yield _vote(held, held, _picked_min(held), "annotation_id", "annotator", known)
        return
    data: object = held.get("data")
    made: object = held.get("annotations") or held.get("completions") or []
    if not isinstance(data, dict) or not isinstance(made, list):
        yield Bad("not_json", "a task has `data` and a list of `annotations`")
        return
    for one in cast(list[object], made):
        if not isinstance(one, dict):
            yield Bad("not_json", "an annotation is an object")
            continue
        annotation = cast(dict[str, Any], one)
        if annotation.get("was_cancelled"):
            yield Bad("skipped", "the voter skipped it")
            continue
        picked = _picked(annotation.get("result"))
        yield _vote(cast(dict[str, Any], data), annotation, picked, "id", "completed_by", known)


def _vote(
    data: Held, annotation: Held, picked: str | Bad, id_: str, voter: str, known: KnownMatches
) -> Vote | Bad:
    match, left = values.text(data, "match"), values.side(data, "left_is")
    if isinstance(match, Bad) or match not in known.by_id:
        return Bad("unknown_match", f"{match[:80]!r} is none of the matches that are voted on")
    if left is None or isinstance(left, Bad):
        return Bad("no_left", "the task does not say who was left; give out the tasks as they were exported")
    if isinstance(picked, Bad):
        return picked
    who = annotation.get(voter)
    if isinstance(who, dict):
        person = cast(dict[str, Any], who)
        who = person.get("email") or person.get("id")
    named, at = values.name({"annotator": who}), values.moment(annotation, "created_at")
    seconds = values.number(annotation.get("lead_time"), "lead_time", values.LARGEST_MS / 1000)
    source_id = values.text(annotation, id_)
    for cell in (named, at, seconds, source_id):
        if isinstance(cell, Bad):
            return cell
    if not source_id:
        return Bad("no_id", f"the annotation has no `{id_}`")
    return Vote(
        match=match,
        choice=_choice(picked, left),
        annotator=cast(str, named),
        at=cast(str | None, at),
        source="label_studio",
        source_id=f"annotation-{source_id}",
        left=left,
        ms=None if seconds is None else round(cast(float, seconds) * 1000),
    )


def _choice(picked: str, left: Side) -> Choice:
    if picked == TIE:
        return "tie"
    return left if picked == "left" else values.other(left)


def _picked(result: object) -> str | Bad:
    """`left`, `right` or `tie`, of the regions of an annotation."""
    sides, choices = list[object](), list[object]()
    for one in cast(list[object], result) if isinstance(result, list) else []:
        region = cast(dict[str, Any], one) if isinstance(one, dict) else {}
        value = region.get("value")
        inside = cast(dict[str, Any], value) if isinstance(value, dict) else {}
        if region.get("from_name") == PAIR:
            sides.append(inside.get("selected"))
        elif region.get("from_name") == CHOICE:
            held = inside.get("choices")
            choices += cast(list[object], held) if isinstance(held, list) else [held]
    return _one_of(sides, choices)


def _picked_min(row: Held) -> str | Bad:
    """The same, of a row of JSON_MIN, which gives a region's value, or what is in it."""
    pair, said = row.get(PAIR), row.get(CHOICE)
    if isinstance(pair, dict):
        pair = cast(dict[str, Any], pair).get("selected")
    if isinstance(said, dict):
        said = cast(dict[str, Any], said).get("choices")
    several: list[object] = cast(list[object], said) if isinstance(said, list) else [said]
    return _one_of([pair], several)


def _one_of(sides: list[object], choices: list[object]) -> str | Bad:
    said = [str(one).strip() for one in (*sides, *choices) if one not in (None, "", "none")]
    if not said:
        return Bad("no_choice", "nothing was chosen")
    if len(set(said)) > 1:
        return Bad("two_choices", f"both {said[0]!r} and {said[1]!r} were chosen")
    if said[0] not in ("left", "right", TIE):
        return Bad("bad_choice", f"{said[0][:100]!r} is no choice; allowed: left, right, {TIE}")
    return said[0]
