"""Strict validation of what a judge answers, the same for every judge.

An answer that is not valid is asked for again within a bound by the caller; it is never repaired,
never scored 0, never given a middle value.

Every answer may begin with `"reasoning"`, a string: a judge that reasons before it decides decides better.
It is read by nobody; behind the verdict it would be an excuse, so there it is invalid.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import cast

from domain.chains import DIMENSIONS
from domain.taxonomy import Taxonomy

SCORE_FIELDS = ("editing_success", "overediting")
CHECKLIST_FIELDS = (
    "prompt_applies",
    "right_item_changed",
    "item_visibly_changed",
    "right_place",
    "old_place_empty",
    "wrong_details",
    "details_right",
    "framing_kept",
    "major_unrequested_changes",
)
INSTRUCTION_FIELD = "instruction"
CHAIN_FIELDS = ("edit_target", "prompts")
MAY_NOT_APPLY = ("right_place", "old_place_empty", "details_right")
"""Checks that some prompts give no occasion for; null then, and nothing fails by it."""

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)

State = dict[str, tuple[str, ...] | None]
"""For each sub-axis the sorted categories seen; `()` = seen to be absent, None = unknown."""


class InvalidAnswerError(ValueError):
    """The text is not the answer that was asked for; the message says why."""


@dataclass(frozen=True)
class Scores:
    """The two 0-10 numbers of semantic consistency; high is good."""

    success: float
    """How well the edit follows the instruction."""
    overediting: float
    """Degree of over-editing, 10 = nothing else was changed."""


@dataclass(frozen=True)
class Checklist:
    """The step check: whether one attempt made the edit that its prompt asked for.

    Source: the multi-step identity-drift leaderboard, section 4 (step check). Faces and image quality are
    none of its business.
    """

    prompt_applies: bool
    """What the prompt wants changed is in the input."""
    right_item_changed: bool
    item_visibly_changed: bool
    """The change of the right item can be seen at a glance; False whenever `right_item_changed` is."""
    right_place: bool | None
    old_place_empty: bool | None
    """After a move or replacement, nothing of the old item is left where it was."""
    wrong_details: int
    """How many of the asked colours, words, materials and types are wrong."""
    details_right: bool | None
    """None of them is; None when the prompt asks for none."""
    framing_kept: bool
    major_unrequested_changes: tuple[str, ...]

    @property
    def made(self) -> bool:
        """Every check passes, or the right item visibly changed with one detail wrong.

        What is forgiven is one detail: a wrong place, a leftover, another framing or a major unrequested
        change is not one. The source leaves that open.
        """
        checks = (
            self.prompt_applies,
            self.right_item_changed,
            self.item_visibly_changed,
            self.right_place is not False,
            self.old_place_empty is not False,
            self.framing_kept,
            not self.major_unrequested_changes,
        )
        return all(checks) and self.wrong_details <= 1

    @property
    def faults(self) -> tuple[str, ...]:
        """The checks that did not pass, each by its name, with what was found where there is more to say."""
        passed = {
            "prompt_applies": self.prompt_applies,
            "right_item_changed": self.right_item_changed,
            "item_visibly_changed": self.item_visibly_changed,
            "right_place": self.right_place is not False,
            "old_place_empty": self.old_place_empty is not False,
            "framing_kept": self.framing_kept,
        }
        found = [name for name, has_passed in passed.items() if not has_passed]
        found += [f"wrong_details: {self.wrong_details}"] if self.wrong_details else []
        return (*found, *(f"unrequested: {change}" for change in self.major_unrequested_changes))


def parse_scores(raw_text: str) -> Scores:
    """Read `{"editing_success": x, "overediting": y}`; raise InvalidAnswerError for anything else."""
    answer = _verdict(raw_text)
    if set(answer) != set(SCORE_FIELDS):
        raise InvalidAnswerError(f"keys are {sorted(answer)}, not {' and '.join(SCORE_FIELDS)}")
    return Scores(
        success=_number(answer["editing_success"], "editing_success"),
        overediting=_number(answer["overediting"], "overediting"),
    )


def parse_state(raw_text: str, taxonomy: Taxonomy) -> State:
    """Read `{sub-axis: [categories]}` with all sub-axes; `[]` = none, `null` = cannot tell."""
    answer = _verdict(raw_text)
    if set(answer) != set(taxonomy.sub_axes):
        missing = sorted(set(taxonomy.sub_axes) - set(answer))
        extra = sorted(set(answer) - set(taxonomy.sub_axes))
        raise InvalidAnswerError(f"sub-axes missing: {missing}, unknown: {extra}")
    return {name: _categories(answer[name], name, taxonomy) for name in taxonomy.sub_axes}


def parse_checklist(raw_text: str) -> Checklist:
    """Read the checklist, all its fields and no other; raise InvalidAnswerError for anything else.

    An answer that contradicts itself is invalid too: which half of it should be believed?
    """
    answer = _verdict(raw_text)
    if set(answer) != set(CHECKLIST_FIELDS):
        missing = sorted(set(CHECKLIST_FIELDS) - set(answer))
        extra = sorted(set(answer) - set(CHECKLIST_FIELDS))
        raise InvalidAnswerError(f"checks missing: {missing}, unknown: {extra}")
    checklist = Checklist(
        prompt_applies=_yes_or_no(answer, "prompt_applies"),
        right_item_changed=_yes_or_no(answer, "right_item_changed"),
        item_visibly_changed=_yes_or_no(answer, "item_visibly_changed"),
        right_place=_if_it_applies(answer, "right_place"),
        old_place_empty=_if_it_applies(answer, "old_place_empty"),
        wrong_details=_count(answer["wrong_details"], "wrong_details"),
        details_right=_if_it_applies(answer, "details_right"),
        framing_kept=_yes_or_no(answer, "framing_kept"),
        major_unrequested_changes=_texts(answer["major_unrequested_changes"], "major_unrequested_changes"),
    )
    if (checklist.details_right is False) != (checklist.wrong_details > 0):
        raise InvalidAnswerError(
            f"details_right is {checklist.details_right} with {checklist.wrong_details} wrong details"
        )
    if checklist.item_visibly_changed and not checklist.right_item_changed:
        raise InvalidAnswerError("the right item visibly changed and did not change")
    return checklist


def parse_instruction(raw_text: str) -> str:
    """Read `{"instruction": "…"}`; what the instruction may say is for `domain.session_rules`."""
    answer = _verdict(raw_text)
    if set(answer) != {INSTRUCTION_FIELD}:
        raise InvalidAnswerError(f"keys are {sorted(answer)}, not {INSTRUCTION_FIELD}")
    instruction = answer[INSTRUCTION_FIELD]
    if not isinstance(instruction, str) or not instruction:
        raise InvalidAnswerError(f"{INSTRUCTION_FIELD} is {instruction!r}, not a text")
    return instruction


def parse_chain(raw_text: str) -> tuple[str, tuple[str, ...]]:
    """Read `{"edit_target": "…", "prompts": ["…"]}`; what prompts may say is for `domain.chain_rules`."""
    answer = _verdict(raw_text)
    if set(answer) != set(CHAIN_FIELDS):
        raise InvalidAnswerError(f"keys are {sorted(answer)}, not {' and '.join(CHAIN_FIELDS)}")
    target, allowed = answer["edit_target"], DIMENSIONS["edit_target"]
    if not isinstance(target, str) or target not in allowed:
        raise InvalidAnswerError(f"edit_target is {target!r}, none of {', '.join(allowed)}")
    _texts(answer["prompts"], "prompts")
    return target, tuple(cast(list[str], answer["prompts"]))  # word for word, with any space at their ends


def _verdict(raw_text: str) -> dict[str, object]:
    """The one object of an answer, without the reasoning that may lead it."""
    answer = _single_object(raw_text)
    if next(iter(answer), None) == "reasoning":
        reasoning = answer.pop("reasoning")
        if not isinstance(reasoning, str):
            raise InvalidAnswerError(f"reasoning is {reasoning!r}, not a text")
    return answer


def _single_object(raw_text: str) -> dict[str, object]:
    fenced = _FENCE.match(raw_text)
    text = fenced.group(1) if fenced else raw_text
    try:
        answer: object = json.loads(text, object_pairs_hook=_no_repeats)
    except InvalidAnswerError:
        raise
    except (ValueError, RecursionError) as error:  # ValueError: also an integer of thousands of digits
        raise InvalidAnswerError(f"not one JSON value: {error}") from error
    if not isinstance(answer, dict):
        raise InvalidAnswerError(f"a JSON {type(answer).__name__}, not an object")
    return answer  # pyright: ignore[reportUnknownVariableType]


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise InvalidAnswerError("a key appears twice")
    return dict(pairs)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidAnswerError(f"{name} is {value!r}, not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidAnswerError(f"{name} is not finite")
    if not 0 <= value <= 10:
        raise InvalidAnswerError(f"{name} is {value}, outside 0 to 10")
    return float(value)


def _yes_or_no(answer: dict[str, object], name: str) -> bool:
    value = answer[name]
    if not isinstance(value, bool):
        raise InvalidAnswerError(f"{name} is {value!r}, not true or false")
    return value


def _if_it_applies(answer: dict[str, object], name: str) -> bool | None:
    return None if answer[name] is None else _yes_or_no(answer, name)


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidAnswerError(f"{name} is {value!r}, not a whole number")
    if value < 0:
        raise InvalidAnswerError(f"{name} is {value}, below 0")
    return value


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidAnswerError(f"{name} is {value!r}, not a list")
    texts: list[object] = value  # pyright: ignore[reportUnknownVariableType]
    found = tuple(text.strip() for text in texts if isinstance(text, str) and text.strip())
    if len(found) != len(texts):
        raise InvalidAnswerError(f"{name} holds something that is not a text")
    return found


def _categories(value: object, sub_axis: str, taxonomy: Taxonomy) -> tuple[str, ...] | None:
    if value is None:
        return None
    allowed = taxonomy.categories[sub_axis]
    if not isinstance(value, list):
        raise InvalidAnswerError(f"{sub_axis} is {value!r}, not a list")
    names: list[object] = value  # pyright: ignore[reportUnknownVariableType]
    for name in names:
        if name not in allowed:
            raise InvalidAnswerError(f"{sub_axis} holds {name!r}; allowed: {', '.join(allowed)}")
    found = {str(name) for name in names}
    if len(found) != len(names):
        raise InvalidAnswerError(f"{sub_axis} names a category twice")
    return tuple(name for name in allowed if name in found)
