"""What judges are asked, for every provider alike: the text, and the JSON schema that constrains the answer.

The schema only helps a model to answer well; what counts as an answer is decided by `domain.judging`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from adapters.base import JudgeContext
from domain.chain_drafting import DraftWanted
from domain.chains import DIMENSIONS
from domain.errors import DefinitionError
from domain.judge_cards import JudgeRole
from domain.judging import CHAIN_FIELDS, CHECKLIST_FIELDS, INSTRUCTION_FIELD, MAY_NOT_APPLY, SCORE_FIELDS
from domain.session_writing import Wanted
from domain.taxonomy import Taxonomy

PLACEHOLDERS: Mapping[JudgeRole, tuple[str, ...]] = {
    "consistency": ("instruction",),
    "state": ("categories",),
    "step_check": ("instruction",),
    "sessions": ("earlier", "wanted"),
    "chains": ("wanted",),
}
"""What the prompt of each role must leave room for."""
_PLACEHOLDER = re.compile(r"\{(instruction|categories|earlier|wanted)\}")
_MARKER = re.compile(r"<(?=\s*/?\s*instruction)", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """One question, to be sent with its pictures in order."""

    role: JudgeRole
    text: str
    schema: dict[str, JsonValue]
    """JSON schema of the answer; its properties are in the order in which they should be written."""


class Questions:
    """The questions of one judge, from the prompts that its card names."""

    def __init__(self, context: JudgeContext) -> None:
        self._prompts = context.prompts
        self._taxonomy = context.taxonomy
        for role, prompt in context.prompts.items():
            _check_placeholders(prompt, PLACEHOLDERS[cast(JudgeRole, role)], f"the prompt for {role}")

    def consistency(self, instruction: str) -> Question:
        """Two 0-10 numbers for an edit; pictures: before, after."""
        return self._question("consistency", scores_schema(), instruction=quoted(instruction))

    def state(self) -> Question:
        """The categories seen in one picture."""
        return self._question(
            "state", state_schema(self._taxonomy), categories=listed(self._taxonomy.categories)
        )

    def step_check(self, instruction: str) -> Question:
        """The checklist for one attempt; pictures: before, after."""
        return self._question("step_check", checklist_schema(), instruction=quoted(instruction))

    def instruction(self, wanted: Wanted) -> Question:
        """The words of one step of a new session; no pictures."""
        earlier = "\n".join(marked(step.model_dump(mode="json")) for step in wanted.earlier)
        return self._question(
            "sessions", instruction_schema(), earlier=earlier or "(none)", wanted=marked(wanted.step)
        )

    def chain(self, wanted: DraftWanted) -> Question:
        """The prompt chain of one photo; picture: the photo."""
        return self._question(
            "chains", chain_schema(wanted.steps), wanted=marked(wanted.model_dump(mode="json"))
        )

    def _question(self, role: JudgeRole, schema: dict[str, JsonValue], **values: str) -> Question:
        if role not in self._prompts:
            raise DefinitionError(f"the card of this judge names no prompt for {role!r}", field="prompts")
        return Question(role, rendered(self._prompts[role], values), schema)


def rendered(template: str, values: Mapping[str, str]) -> str:
    """The template with its placeholders filled in one pass; any other brace stays as it is.

    Raises:
        DefinitionError: the template leaves no room for a value, or names one that its role does not have.
    """
    _check_placeholders(template, tuple(values), "the prompt")
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)


def _check_placeholders(template: str, wanted: Collection[str], which: str) -> None:
    named = set(_PLACEHOLDER.findall(template))
    if named != set(wanted):
        raise DefinitionError(
            f"{which} has placeholders {sorted(named)}, not {sorted(wanted)}", field="prompts"
        )


def quoted(instruction: str) -> str:
    """An instruction that cannot end the markers it is put between."""
    return _MARKER.sub("&lt;", instruction)


def marked(value: JsonValue) -> str:
    """A value as JSON that cannot end the markers it is put between."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def listed(categories: Mapping[str, tuple[str, ...]]) -> str:
    """Each sub-axis with the categories that may be named for it, one a line."""
    return "\n".join(f"- {name}: {', '.join(allowed)}" for name, allowed in categories.items())


def scores_schema() -> dict[str, JsonValue]:
    """Of the answer that `domain.judging.parse_scores` reads."""
    number: JsonValue = {"type": "number", "minimum": 0, "maximum": 10}
    return _object(dict.fromkeys(SCORE_FIELDS, number))


def state_schema(taxonomy: Taxonomy) -> dict[str, JsonValue]:
    """Of the answer that `domain.judging.parse_state` reads."""
    return _object(
        {
            name: _or_null({"type": "array", "items": {"type": "string", "enum": list(allowed)}})
            for name, allowed in taxonomy.categories.items()
        }
    )


def checklist_schema() -> dict[str, JsonValue]:
    """Of the answer that `domain.judging.parse_checklist` reads."""
    check: JsonValue = {"type": "boolean"}
    special: dict[str, JsonValue] = {
        "wrong_details": {"type": "integer", "minimum": 0},
        "major_unrequested_changes": {"type": "array", "items": {"type": "string"}},
        **dict.fromkeys(MAY_NOT_APPLY, _or_null(check)),
    }
    return _object({name: special.get(name, check) for name in CHECKLIST_FIELDS})


def instruction_schema() -> dict[str, JsonValue]:
    """Of the answer that `domain.judging.parse_instruction` reads."""
    return _object({INSTRUCTION_FIELD: {"type": "string"}})


def chain_schema(steps: int) -> dict[str, JsonValue]:
    """Of the answer that `domain.judging.parse_chain` reads."""
    targets: list[JsonValue] = list(DIMENSIONS["edit_target"])
    prompts: JsonValue = {"type": "array", "items": {"type": "string"}, "minItems": steps, "maxItems": steps}
    return _object(dict(zip(CHAIN_FIELDS, ({"type": "string", "enum": targets}, prompts), strict=True)))


def _or_null(schema: JsonValue) -> JsonValue:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(verdict: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    properties: dict[str, JsonValue] = {"reasoning": {"type": "string"}, **verdict}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
