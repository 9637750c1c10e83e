"""A judge's answer in the shape of whatever schema it was asked to fill."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.standin.wire import Json, Object, a_list, a_text, a_whole, an_object, either
from adapters.standin.work import Call, StandinWork
from domain.chain_drafting import DraftWanted
from domain.edits import JudgeReply
from domain.judging import CHAIN_FIELDS, CHECKLIST_FIELDS, INSTRUCTION_FIELD, SCORE_FIELDS
from domain.session_writing import Wanted
from domain.taxonomy import Attribute

PASSING_SCORE = 5
_INSTRUCTION = re.compile(r"<instruction>(.*?)</instruction>", re.DOTALL)
_WANTED = re.compile(r"<wanted>(.*?)</wanted>", re.DOTALL)
_FILLER = "Nothing more to say."
_YES = ("yes", "pass", "passed", "true", "ok")
_NO = ("no", "fail", "failed", "false")


@dataclass(frozen=True)
class Known:
    """What an answer is made of."""

    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """By the plain spelling of a property (see `plain`)."""
    number: float = 0
    """For numbers that nothing is known of."""
    verdict: bool = True
    """For booleans that nothing is known of."""


class CannotAnswer(ValueError):
    """The call does not hold what its question needs; the message says what."""


def answer(work: StandinWork, schema: Object, call: Call) -> tuple[str, str]:
    """The JSON text for a question, and the version of whoever answered.

    What is asked is told by the names of the schema's properties.

    Raises:
        CannotAnswer: too few images, or a question without what it is about.
        PhotoError: an image does not decode.
    """
    names = {plain(name) for name in property_names(schema)}
    if names >= {plain(name) for name in SCORE_FIELDS}:
        reply = work.judge.score(*_edit_of(call))
        known = _of_scores(reply.raw_text)
    elif names >= {plain(name) for name in CHECKLIST_FIELDS}:
        reply = _checked(work, call)
        known = _as_it_is(reply)
    elif INSTRUCTION_FIELD in names:
        reply = _written(work, call.prompt)
        known = Known(an_object(json.loads(reply.raw_text)))
    elif not call.pictures:
        raise CannotAnswer("an image is needed")
    elif names >= {plain(name) for name in CHAIN_FIELDS}:
        reply = _drafted(work, call)
        known = _as_it_is(reply)
    else:
        reply = work.tracker.track(call.pictures[0])
        known = _as_it_is(reply)
    text = json.dumps(fill(schema, known, schema), ensure_ascii=False)
    return text, reply.served_version or ""


def _edit_of(call: Call) -> tuple[bytes, bytes, str]:
    """What an edit is judged by: the pictures before and after, and what was asked."""
    if len(call.pictures) < 2:
        raise CannotAnswer("two images are needed, before and after")
    found = _INSTRUCTION.search(call.prompt)
    return call.pictures[0], call.pictures[-1], found.group(1).strip() if found else call.prompt


def _as_it_is(reply: JudgeReply) -> Known:
    fields = an_object(json.loads(reply.raw_text))
    return Known({plain(name): value for name, value in fields.items()})


def _checked(work: StandinWork, call: Call) -> JudgeReply:
    if work.checker is None:
        raise CannotAnswer("a step is to be checked, and nobody here can")
    return work.checker.check_step(*_edit_of(call))


def _written(work: StandinWork, prompt: str) -> JudgeReply:
    found = _WANTED.search(prompt)
    if found is None or work.writer is None:
        raise CannotAnswer("an instruction is asked for without saying what it shall be about")
    try:
        wanted: Object = json.loads(found.group(1))
        attribute = {name: wanted.pop(name, None) for name in Attribute.model_fields}
        return work.writer.write_instruction(Wanted.model_validate({**wanted, "attribute": attribute}))
    except ValueError as error:  # pydantic's too
        raise CannotAnswer(f"what the instruction shall be about cannot be read: {error}") from error


def _drafted(work: StandinWork, call: Call) -> JudgeReply:
    found = _WANTED.search(call.prompt)
    if found is None or work.drafter is None:
        raise CannotAnswer("a chain is asked for without saying how long it shall be")
    try:
        wanted = DraftWanted.model_validate_json(found.group(1))
    except ValueError as error:  # pydantic's too
        raise CannotAnswer(f"what the chain shall be like cannot be read: {error}") from error
    return work.drafter.draft_chain(call.pictures[0], wanted)


def _of_scores(raw_text: str) -> Known:
    scores = an_object(json.loads(raw_text))
    success = scores.get(SCORE_FIELDS[0])
    number = float(success) if isinstance(success, int | float) else 0.0
    fields = {plain(name): scores.get(name) for name in SCORE_FIELDS}
    return Known(fields, number, number >= PASSING_SCORE)


def broken(text: str) -> str:
    """An answer that stops in the middle."""
    return text[: max(1, len(text) // 2)]


def plain(name: str) -> str:
    """A property's name without the differences of spelling: `hair_color` and `Hair color` are one."""
    return " ".join(re.sub(r"[_\-]+|(?<=[a-z])(?=[A-Z])", " ", name).casefold().split())


def property_names(schema: Object) -> set[str]:
    """Names of all properties of a schema, at any depth."""
    names: set[str] = set()
    waiting: list[Json] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            names |= set(an_object(value.get("properties")))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return names


def fill(schema: Object, known: Known, root: Object) -> Json:
    """A value that satisfies a schema, from what is known; short fillers for the rest."""
    schema = _resolved(schema, root)
    kind, nullable = _kind(schema)
    if kind == "object":
        properties = an_object(schema.get("properties"))
        return {name: _property(name, an_object(inner), known, root) for name, inner in properties.items()}
    if nullable:
        return None
    if kind == "array":
        least = a_whole(either(schema, "minItems", "min_items")) or 0
        return [fill(an_object(schema.get("items")), known, root) for _ in range(least)]
    return _plain_value(kind, schema, known)


def _plain_value(kind: str, schema: Object, known: Known) -> Json:
    if "enum" in schema or "const" in schema:
        return _choice(a_list(schema.get("enum")) or [schema.get("const")], known)
    if kind == "boolean":
        return known.verdict
    if kind in ("number", "integer"):
        return _fitting(known.number, kind, schema)
    return _FILLER


def _property(name: str, schema: Object, known: Known, root: Object) -> Json:
    if plain(name) not in known.fields:
        return fill(schema, known, root)
    value = known.fields[plain(name)]
    schema = _resolved(schema, root)
    kind, nullable = _kind(schema)
    if value is None:
        return None if nullable else fill(schema, known, root)
    if kind in ("number", "integer") and isinstance(value, int | float):
        return _fitting(value, kind, schema)
    if (
        kind == "object"
    ):  # such as {"reasoning": …, "categories": […]}: the value goes where one of its type fits
        inner = an_object(schema.get("properties"))
        return {
            part: value
            if _kind(_resolved(an_object(sub), root))[0] == ("array" if isinstance(value, list) else "number")
            else fill(an_object(sub), known, root)
            for part, sub in inner.items()
        }
    return value


def _resolved(schema: Object, root: Object) -> Object:
    """The schema itself, past references and past a choice between it and null."""
    reference = a_text(schema.get("$ref"))
    if reference:
        found: Object = root
        for part in reference.removeprefix("#/").split("/"):
            found = an_object(found.get(part))
        return _resolved(found, root)
    options = [an_object(option) for option in a_list(either(schema, "anyOf", "any_of", "oneOf", "allOf"))]
    real = [option for option in options if a_text(option.get("type")).lower() != "null"]
    if not real:
        return schema
    chosen = dict(_resolved(real[0], root))
    if len(real) < len(options):
        chosen["nullable"] = True
    return chosen


def _kind(schema: Object) -> tuple[str, bool]:
    named = schema.get("type")
    types = [a_text(item).lower() for item in (a_list(named) or [named])]
    nullable = "null" in types or schema.get("nullable") is True
    kind = next((name for name in types if name not in ("null", "")), "")
    if not kind:
        kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
    return kind, nullable


def _choice(options: list[Json], known: Known) -> Json:
    wanted = _YES if known.verdict else _NO
    fitting = (option for option in options if a_text(option).casefold() in wanted)
    return next(fitting, options[0] if options else None)


def _fitting(number: float, kind: str, schema: Object) -> Json:
    for name, bound in (("minimum", max), ("maximum", min)):
        limit = schema.get(name)
        if isinstance(limit, int | float):
            number = bound(number, limit)
    return round(number) if kind == "integer" else number
