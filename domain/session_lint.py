"""Everything that is wrong with a file of sessions, each with its line; nothing stops at the first problem.

Errors make a step or a number meaningless. Warnings are odd and may be meant: the sessions of the paper have
some. Only broken YAML keeps the rest from being looked at.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

import yaml

from domain.file_findings import Finding, Loc, identity, in_order, read, schema
from domain.loading import line_of
from domain.session_rules import History, Problem, order, unknown_attribute, wording, wording_alone
from domain.sessions import Instruction, SessionSet, TestSet
from domain.taxonomy import Taxonomy

MULTI_AXIS: TestSet = "multi_axis"
ONE_AXIS = frozenset(get_args(TestSet)) - {MULTI_AXIS}


@dataclass(frozen=True)
class _Step:
    """A step that can be looked at, with where it stands."""

    loc: Loc
    says: Instruction


@dataclass(frozen=True)
class _Session:
    loc: Loc
    id: str
    test_set: str
    steps: tuple[_Step, ...]
    length: int
    """Of its steps, those included that cannot be looked at."""


def lint(
    text: str,
    find: Callable[[str], Taxonomy | None],
    known: Sequence[str],
    taxonomy: str = "",
    *,
    name: str = "",
    taken: Sequence[str] = (),
) -> list[Finding]:
    """Every problem of a file of sessions, by line.

    Args:
        text: The file.
        find: The taxonomy of an id, or None when there is none.
        known: Ids of taxonomies.
        taxonomy: Id to check against in place of the one that the file names.
        name: Of the file, without `.yaml`, which the id must be; empty where any will do.
        taken: Ids that it cannot have.
    """
    file = read(text)
    if file.node is None:
        return sorted(file.found)
    fields, node = file.fields, file.node
    found = [*file.found, *schema(file, SessionSet), *identity(file, name, taken)]
    sessions = list(_sessions(fields))
    wanted = taxonomy or fields.get("taxonomy")
    checked = find(wanted) if isinstance(wanted, str) else None
    if checked is None and isinstance(wanted, str):
        near = tuple(difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)) or tuple(known)
        said = f"no taxonomy {wanted!r}, so that no attribute was looked at"
        found.append(Finding(line_of(node, ("taxonomy",)) or 1, "unknown_taxonomy", said, allowed=near))
    located = _whole_set(sessions, node) if checked is None else _all(sessions, checked, node)
    return in_order([*found, *located])


def _all(sessions: Sequence[_Session], taxonomy: Taxonomy, node: yaml.Node) -> Iterator[Finding]:
    for session in sessions:
        for loc, problem in _steps(session, taxonomy):
            line = line_of(node, (*loc, problem.field)) or 1
            yield Finding(line, problem.code, problem.message, problem.is_error, problem.allowed)
    yield from _whole_set(sessions, node)
    yield from _coverage(sessions, taxonomy, node)


def _steps(session: _Session, taxonomy: Taxonomy) -> Iterator[tuple[Loc, Problem]]:
    history, axes = History(), set[str]()
    for step in session.steps:
        attribute = taxonomy.attributes.get(step.says.attribute.casefold())
        if attribute is None:
            yield step.loc, unknown_attribute(step.says.attribute, taxonomy)
            yield from ((step.loc, problem) for problem in wording_alone(step.says, taxonomy))
            continue
        axes.add(attribute.axis)
        problems = [*wording(step.says, attribute, history, taxonomy), *order(step.says, attribute, history)]
        if session.test_set in ONE_AXIS and session.test_set != attribute.axis:
            text = f"{attribute.name!r} is of the axis {attribute.axis!r}, and test set {session.test_set!r}"
            fitting = (attribute.axis, MULTI_AXIS)
            problems.append(
                Problem("wrong_test_set", f"{text} asks for its own axis only", "attribute", allowed=fitting)
            )
        yield from ((step.loc, problem) for problem in problems)
        history = history.after(attribute)
    if session.test_set == MULTI_AXIS and len(axes) == 1 and session.length == len(session.steps):
        text = f"every step of this multi_axis session is of the axis {next(iter(axes))!r}"
        yield session.loc, Problem("one_axis", text, "test_set", is_error=False)


def _whole_set(sessions: Sequence[_Session], node: yaml.Node) -> Iterator[Finding]:
    """What is seen only by comparing steps and sessions."""

    def at(*loc: int | str) -> int:
        return line_of(node, loc) or 1

    lengths = Counter(session.length for session in sessions)
    usual = max(lengths, key=lambda length: (lengths[length], length)) if lengths else 0
    ids, asked, worded = dict[str, int](), dict[object, str](), dict[object, str]()
    for session in sessions:
        first = ids.setdefault(session.id, at(*session.loc, "id"))
        if first != at(*session.loc, "id"):
            yield Finding(
                at(*session.loc, "id"),
                "duplicate_id",
                f"session {session.id!r} is named twice, first in line {first}",
            )
        if session.length != usual:
            text = f"this session has {session.length} steps, most have {usual}"
            yield Finding(at(*session.loc, "steps"), "step_count", text)
        yield from _repeated_prompts(session, at)
        words = tuple(step.says.prompt.casefold().rstrip(".") for step in session.steps)
        wants = tuple((step.says.attribute.casefold(), step.says.keep) for step in session.steps)
        if not words:
            continue
        twin, kin = worded.setdefault(words, session.id), asked.setdefault(wants, session.id)
        if twin != session.id:
            yield Finding(at(*session.loc), "duplicate_session", f"the prompts are those of session {twin!r}")
        elif kin != session.id:
            text = f"the attributes are those of session {kin!r}, in the same order"
            yield Finding(at(*session.loc), "same_attributes", text, is_error=False)


def _repeated_prompts(session: _Session, at: Callable[..., int]) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for number, step in enumerate(session.steps, 1):
        words = step.says.prompt.casefold().rstrip(".")
        before = seen.get(words)
        if before is not None:
            follows = before == number - 1
            text = f"the same prompt as step {before}"
            yield Finding(at(*step.loc, "prompt"), "duplicate_prompt", text, is_error=follows)
        seen[words] = number


def _coverage(sessions: Sequence[_Session], taxonomy: Taxonomy, node: yaml.Node) -> Iterator[Finding]:
    """What a set as a whole lacks."""
    line = line_of(node, ("sessions",)) or 1
    counts = Counter(session.test_set for session in sessions)
    if len(set(counts.values())) > 1:
        text = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
        yield Finding(
            line, "unbalanced", f"the test sets differ in their number of sessions: {text}", is_error=False
        )
    steps = [step.says for session in sessions for step in session.steps]
    asked = {
        found.category for step in steps if (found := taxonomy.attributes.get(step.attribute.casefold()))
    }
    axes = {axis.name for axis in taxonomy.axes if counts.get(MULTI_AXIS) or counts.get(cast(Any, axis.name))}
    never = [
        category.name
        for axis in taxonomy.axes
        if axis.name in axes
        for sub_axis in axis.sub_axes
        for category in sub_axis.categories
        if category.name not in asked
    ]
    if never and steps:
        text = f"{len(never)} categories are never asked for: {', '.join(never)}"
        yield Finding(line, "never_asked", text, is_error=False)
    bare = [step for session in sessions for step in session.steps if not step.says.prompt.endswith(".")]
    if 0 < len(bare) < len(steps):
        lines = [line_of(node, (*step.loc, "prompt")) or 1 for step in bare]
        more = ", …" if len(lines) > 10 else ""
        text = f"{len(bare)} of {len(steps)} prompts end without a full stop, in the lines "
        text += f"{', '.join(map(str, lines[:10]))}{more}; they are sent as they are"
        yield Finding(lines[0], "full_stops", text, is_error=False)


def _sessions(fields: dict[str, Any]) -> Iterator[_Session]:
    """What can be looked at, however broken the rest is."""
    for place, raw in enumerate(_list(fields.get("sessions"))):
        if not isinstance(raw, dict):
            continue
        session = cast(dict[str, Any], raw)
        loc: Loc = ("sessions", place)
        steps = _list(session.get("steps"))
        seen = tuple(
            _Step((*loc, "steps", number), says) for number, step in enumerate(steps) if (says := _step(step))
        )
        yield _Session(loc, str(session.get("id")), str(session.get("test_set")), seen, len(steps))


def _step(raw: object) -> Instruction | None:
    if not isinstance(raw, dict):
        return None
    step = cast(dict[str, Any], raw)
    prompt, attribute = step.get("prompt"), step.get("attribute")
    if not isinstance(prompt, str) or not prompt or not isinstance(attribute, str):
        return None
    return Instruction(prompt=prompt, attribute=attribute, keep=step.get("keep") is True)


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []
