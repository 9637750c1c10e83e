"""Prompt chains in fixed phrases: what a multimodal language model would write from the photo, without a key.

It does not look at the photo, whose bytes only choose among the words: its prompts change a shirt and add a
sign and things, as fits almost any photo. For a benchmark let a model write them, or a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, cycle, islice

from adapters.base import JudgeContext, NoSettings
from domain import keys
from domain.chain_drafting import DraftWanted
from domain.edits import JudgeReply
from domain.judge_cards import JudgeCard

VERSION = "local-chains-1"
"""Changes whenever the same photo may get other prompts."""
_COLOURS = ("red", "blue", "green", "yellow", "orange", "purple", "pink")
_THINGS = ("mug", "book", "ball", "bottle", "vase", "lamp", "box", "kite")
_MORE_THINGS = ("clock", "plant", "basket", "candle", "cushion", "bag", "umbrella", "chair", "radio", "bird")
"""For chains that are longer than the usual ones."""
_PLACES = ("bottom left", "top right", "bottom right", "top left")
_WORDS = ("OPEN", "SALE", "HELLO", "CAFE", "STOP", "MARKET")


class LocalChainWriter:
    """Drafts one chain after another; never in doubt, never random."""

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> LocalChainWriter:
        """The writer of a card, which has no settings."""
        NoSettings.model_validate(card.settings)
        return cls()

    def draft_chain(self, image: bytes, wanted: DraftWanted) -> JudgeReply:
        """A chain as JSON text, valid for `domain.judging.parse_chain`."""
        target, prompts = chain_for(keys.sha256(image), wanted.steps)
        answer = {"edit_target": target, "prompts": prompts}
        return JudgeReply(json.dumps(answer), VERSION, "stop", 0.0)


def chain_for(sha: str, steps: int) -> tuple[str, list[str]]:
    """The edit target and prompts for a photo, by its sha256: a shirt, a sign, and things that are added."""
    drawn = bytes.fromhex(sha)
    colours, places = _from(_COLOURS, drawn[0]), _from(_PLACES, drawn[1])
    things = chain(islice(_from(_THINGS, drawn[2]), len(_THINGS)), _MORE_THINGS)
    word = _WORDS[drawn[3] % len(_WORDS)]
    shirt = f"Change the colour of the shirt to {next(colours)}."
    sign = f'Add {_a(next(colours))} sign with black letters saying "{word}" at the {next(places)}.'
    added = (f"Add {_a(next(colours))} {thing} at the {next(places)}." for thing in things)
    return ("clothing" if steps == 1 else "mixed"), list(islice(chain([shirt, sign], added), steps))


def _from(values: tuple[str, ...], start: int) -> Iterator[str]:
    """The values over and over, from one of them on."""
    return islice(cycle(values), start % len(values), None)


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
