"""What makes an instruction a good step of a session: the rules that drawing, writing and linting share."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from domain.sessions import Instruction
from domain.taxonomy import Attribute, Taxonomy

MAX_CHARACTERS = 120
"""Of one instruction; the longest printed one has 59."""
HIDDEN_BY: Mapping[str, frozenset[str]] = {"hats": frozenset({"hair color", "hair type", "hair style"})}
"""Sub-axes that cannot be judged while something of another one is worn."""
CLEARS: Mapping[str, frozenset[str]] = {"clean shaven": frozenset({"mustache"})}
"""Categories that take away what another sub-axis shows."""

_KEEP = re.compile(r"keep\b", re.IGNORECASE)
_STOPS = re.compile(r"[.!?;:…](?=\s|$)")
_JOINED = re.compile(r"\b(and|then|but|while|also)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a step."""

    code: str
    message: str
    field: str = "prompt"
    """Of the step: where it is wrong."""
    is_error: bool = True
    allowed: tuple[str, ...] = ()
    """The values that would do, or the nearest ones."""


@dataclass(frozen=True)
class History:
    """What the earlier steps of a session have asked for."""

    in_force: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    """By sub-axis, what was asked for last and has not been taken away."""
    asked: frozenset[str] = frozenset()
    """Every attribute, in lower case."""

    @classmethod
    def of(cls, attributes: Iterable[Attribute]) -> History:
        """After these attributes, in order."""
        history = cls()
        for attribute in attributes:
            history = history.after(attribute)
        return history

    def after(self, attribute: Attribute) -> History:
        """With one more step."""
        gone = CLEARS.get(attribute.category, frozenset())
        kept = {name: found for name, found in self.in_force.items() if name not in gone}
        return replace(
            self,
            in_force={**kept, attribute.sub_axis: attribute},
            asked=self.asked | {attribute.name.casefold()},
        )

    def hides(self, sub_axis: str) -> Attribute | None:
        """What is worn over that sub-axis, or None."""
        covers = (self.in_force.get(name) for name, under in HIDDEN_BY.items() if sub_axis in under)
        return next((cover for cover in covers if cover is not None), None)


def wording(step: Instruction, attribute: Attribute, history: History, taxonomy: Taxonomy) -> list[Problem]:
    """What is wrong with the words of a step; warnings are what a written session must not have either."""
    return [
        *form(step.prompt, _without(attribute.name, step.prompt)),
        *_names(step, attribute, history, taxonomy),
        *_keep_flag(step),
    ]


def wording_alone(step: Instruction, taxonomy: Taxonomy) -> list[Problem]:
    """What is wrong with the words of a step, whatever its attribute is: that is not in the taxonomy."""
    found = [*form(step.prompt, _without(step.attribute, step.prompt)), *_keep_flag(step)]
    if not taxonomy.mentions(step.prompt):
        found.append(Problem("not_named", f"the prompt names no attribute: {step.prompt!r}"))
    return found


def order(step: Instruction, attribute: Attribute, history: History) -> list[Problem]:
    """What is wrong with asking for an attribute at this place of a session."""
    found: list[Problem] = []
    before = history.in_force.get(attribute.sub_axis)
    same = before is not None and before.category == attribute.category
    if step.keep and not same:
        text = f"{attribute.name!r} is to be kept, and no earlier step left it there"
        found.append(Problem("keep_unasked", text, "attribute", allowed=_names_of(history)))
    elif step.keep and before is not None and before.name != attribute.name:
        text = f"{attribute.name!r} is to be kept, and what was asked for is called {before.name!r}"
        found.append(Problem("keep_reworded", text, "attribute", is_error=False))
    elif same and before is not None and not step.keep:
        text = f"{before.name!r}, which was asked for, is of the same category {attribute.category!r}"
        found.append(Problem("asked_again", text, "attribute", is_error=False))
    cover = history.hides(attribute.sub_axis)
    if cover is not None:
        text = f"{attribute.sub_axis} cannot be seen under the {cover.name} that was asked for"
        found.append(Problem("hidden", text, "attribute", is_error=False))
    return found


def unknown_attribute(name: str, taxonomy: Taxonomy) -> Problem:
    """That an attribute is not in the taxonomy, with the nearest that are, or those of what it names."""
    for place, within in _places(taxonomy).items():
        if place[1] == name.strip().casefold():
            text = f"{name!r} is a {place[0]}; name one of its attributes"
            return Problem("unknown_attribute", text, "attribute", allowed=within)
    close = difflib.get_close_matches(name.casefold(), taxonomy.attributes, n=3, cutoff=0.5)
    return Problem(
        "unknown_attribute",
        f"{name!r} is none of the {len(taxonomy.attributes)} attributes of {taxonomy.id!r}"
        + ("" if close else ", and none is near"),
        "attribute",
        allowed=tuple(taxonomy.attributes[match].name for match in close),
    )


def _places(taxonomy: Taxonomy) -> dict[tuple[str, str], tuple[str, ...]]:
    """Every category, sub-axis and axis, in lower case, to the names of its attributes."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for one in taxonomy.attributes.values():
        for kind, name in (("category", one.category), ("sub-axis", one.sub_axis), ("axis", one.axis)):
            place = kind, name.casefold()
            found[place] = (*found.get(place, ()), one.name)
    return dict(sorted(found.items(), key=lambda item: ("category", "sub-axis", "axis").index(item[0][0])))


def _without(attribute: str, prompt: str) -> str:
    return re.sub(re.escape(attribute), "it", prompt, flags=re.IGNORECASE)


def form(prompt: str, within: str) -> list[Problem]:
    """What is wrong with a prompt as one plain sentence.

    Args:
        prompt: As it is sent.
        within: Where to look for further sentences and joined edits: the prompt without its names.
    """
    found: list[Problem] = []
    strange = sorted({char for char in prompt if not char.isprintable()})
    if strange:
        named = ", ".join(f"U+{ord(char):04X}" for char in strange)
        found.append(Problem("unprintable", f"the prompt holds characters that cannot be seen: {named}"))
    if prompt != prompt.strip():
        found.append(Problem("edge_spaces", "the prompt begins or ends with a space"))
    if len(prompt) > MAX_CHARACTERS:
        text = f"the prompt has {len(prompt)} characters; {MAX_CHARACTERS} are enough for one instruction"
        found.append(Problem("long", text, is_error=False))
    rest = within.strip()
    if _STOPS.search(rest.removesuffix(".")):
        found.append(Problem("sentences", "the prompt is more than one sentence", is_error=False))
    joined = _JOINED.search(rest)
    if joined:
        text = f"the prompt may ask for more than one edit: it says {joined[0]!r}"
        found.append(Problem("several_edits", text, is_error=False))
    return found


def _names(step: Instruction, attribute: Attribute, history: History, taxonomy: Taxonomy) -> list[Problem]:
    wanted = attribute.name.casefold()
    named = [found.name for found in taxonomy.mentions(step.prompt)]
    lower = [name.casefold() for name in named]
    if not named:
        near = difflib.get_close_matches(step.prompt.casefold(), [wanted], n=1, cutoff=0.5)
        hint = ", only something like it" if near else ""
        return [
            Problem(
                "not_named",
                f"the prompt names no attribute{hint}: {step.prompt!r}",
                allowed=(attribute.name,),
            )
        ]
    if wanted not in lower or lower[-1] != wanted:
        text = f"the prompt asks for {named[-1]!r}, not for its attribute {attribute.name!r}"
        return [Problem("names_other", text, allowed=(attribute.name,))]
    others = [name for name in named if name.casefold() != wanted]
    strange = [name for name in others if step.keep or name.casefold() not in history.asked]
    why = "beside what is to be kept" if step.keep else "which no earlier step asked for"
    return [Problem("names_unasked", f"the prompt also names {name!r}, {why}") for name in strange]


def _keep_flag(step: Instruction) -> list[Problem]:
    says_keep = bool(_KEEP.match(step.prompt.lstrip()))
    if says_keep == step.keep:
        return []
    if step.keep:
        return [Problem("keep_flag", "`keep` is true, and the prompt does not begin with 'Keep'", "keep")]
    return [Problem("keep_flag", "the prompt begins with 'Keep', and `keep` is not true")]


def _names_of(history: History) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in history.in_force.values())
