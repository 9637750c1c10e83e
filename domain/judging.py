"""Strict validation of what a judge answers, the same for every judge.

An answer that is not valid is asked for again within a bound by the caller; it is never repaired,
never scored 0, never given a middle value.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from domain.taxonomy import Taxonomy

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


def parse_scores(raw_text: str) -> Scores:
    """Read `{"editing_success": x, "overediting": y}`; raise InvalidAnswerError for anything else."""
    answer = _single_object(raw_text)
    if set(answer) != {"editing_success", "overediting"}:
        raise InvalidAnswerError(f"keys are {sorted(answer)}, not editing_success and overediting")
    return Scores(
        success=_number(answer["editing_success"], "editing_success"),
        overediting=_number(answer["overediting"], "overediting"),
    )


def parse_state(raw_text: str, taxonomy: Taxonomy) -> State:
    """Read `{sub-axis: [categories]}` with all sub-axes; `[]` = none, `null` = cannot tell."""
    answer = _single_object(raw_text)
    if set(answer) != set(taxonomy.sub_axes):
        missing = sorted(set(taxonomy.sub_axes) - set(answer))
        extra = sorted(set(answer) - set(taxonomy.sub_axes))
        raise InvalidAnswerError(f"sub-axes missing: {missing}, unknown: {extra}")
    return {name: _categories(answer[name], name, taxonomy) for name in taxonomy.sub_axes}


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
