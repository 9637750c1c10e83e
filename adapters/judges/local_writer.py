"""Sessions in fixed phrases: what a multimodal language model would word more freely, without a key.

The phrases are those of the paper's sessions. What they ask for is drawn, so a set written here is as good a
benchmark; it only lacks variety of words.
"""

from __future__ import annotations

import json

from adapters.base import JudgeContext, NoSettings
from domain.edits import JudgeReply
from domain.judge_cards import JudgeCard
from domain.session_writing import Wanted

VERSION = "local-phrases-1"
"""Changes whenever the same step may be worded differently."""
_CHANGED = ("hair color", "hair type", "hair style", "head position")
"""Sub-axes of which everybody has something."""
_NO_ARTICLE = ("hair", "stubble")


class LocalWriter:
    """Phrases one instruction after another; never in doubt, never random."""

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> LocalWriter:
        """The writer of a card, which has no settings."""
        NoSettings.model_validate(card.settings)
        return cls()

    def write_instruction(self, wanted: Wanted) -> JudgeReply:
        """One instruction as JSON text, valid for `domain.judging.parse_instruction`."""
        return JudgeReply(json.dumps({"instruction": phrase(wanted)}), VERSION, "stop", 0.0)


def phrase(wanted: Wanted) -> str:
    """The words for one step."""
    name, sub_axis = wanted.attribute.name, wanted.attribute.sub_axis
    if wanted.keep:
        return f"Keep them {name}." if sub_axis == "head position" else f"Keep the {name}."
    if sub_axis in _CHANGED or wanted.attribute.category == "clean shaven":
        return f"Change the {sub_axis} to {name}."
    if wanted.replaces is not None:
        return f"Replace the {wanted.replaces} with {_with_article(name)}."
    return f"Add {_with_article(name)}."


def _with_article(name: str) -> str:
    if name.endswith("s") or name.rsplit(maxsplit=1)[-1] in _NO_ARTICLE:
        return name
    return f"an {name}" if name[0].casefold() in "aeiou" else f"a {name}"
