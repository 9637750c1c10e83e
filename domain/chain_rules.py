"""What makes prompts a good chain: the rules that drafting and linting share.

Source: the multi-step identity-drift leaderboard, section 3 (prompt chains). It gives the rules as sentences;
how each is decided from words alone is ours. Where that cannot be decided, a warning says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.prompt_items import Item, without_quotes, words_of
from domain.prompt_reading import NotUnderstood, Reading, read_prompt
from domain.prompt_words import (
    BASIC_COLOURS,
    COLOURS,
    FACE,
    HAIR,
    HAIR_COLOURS,
    LETTERING,
    ON_THE_FACE,
    OTHER_COLOURS,
    SURFACES,
    category_of,
    group_of,
    singular,
)  # fmt: skip
from domain.session_rules import Problem, form

MAX_WORDS = 14
STEPS = 5
"""Prompts of a chain in the source."""

_KEEP = re.compile(
    r"\b(keep|keeping|preserve|preserving|maintain|maintaining|retain|retaining|unchanged|unaltered|identity"
    r"|likeness|recogni[sz]able|nothing else|everything else|as (?:it|they) (?:is|are)"
    r"|same (?:person|people|man|woman|face)|(?:do not|don'?t|without) (?:chang|alter|touch|modify)\w*"
    r"|leave\b)",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(it|its|there|instead|again|same (?:place|spot|colour|color)|where the|previous)\b",
    re.IGNORECASE,
)
"""What can only be understood by another step, or may be."""
_SEVERAL = re.compile(r"\b(both|all|each|every|one of|another|second|third|fourth)\b", re.IGNORECASE)
_LOOKS_JOINED = re.compile(
    rf"\b({'|'.join(sorted(COLOURS))})(,? and |, )(?={'|'.join(sorted(COLOURS))})", re.I
)


@dataclass(frozen=True)
class _Step:
    number: int
    """From 1."""
    reading: Reading

    @property
    def made(self) -> frozenset[str]:
        """Kinds of things whose place this step makes or changes."""
        read = self.reading
        if read.verb in ("add", "move"):
            return frozenset({read.item.kind})
        return frozenset({read.new.kind}) if read.new else frozenset()


def chain_problems(
    prompts: Sequence[str], edit_target: str | None = None, steps: int = STEPS
) -> Iterator[tuple[int | None, Problem]]:
    """Everything that is wrong with the prompts of one chain.

    Args:
        prompts: In order.
        edit_target: What the chain says that it edits; None leaves that out.
        steps: How many prompts it shall have.

    Yields:
        The step (from 0; None: the chain as a whole) with its problem.
    """
    if len(prompts) != steps:
        text = f"this chain has {len(prompts)} prompts, and each must have {steps}"
        yield None, Problem("prompt_count", text, "prompts")
    read: list[_Step] = []
    for place, prompt in enumerate(prompts):
        reading = read_prompt(prompt)
        yield from ((place, problem) for problem in prompt_problems(prompt, reading))
        if isinstance(reading, Reading):
            yield from ((place, problem) for problem in _beside(reading, read))
            read.append(_Step(place + 1, reading))
    hair = [step for step in read if step.reading.item.kind in HAIR]
    for step in hair[1:]:
        text = f"the hair is changed in step {hair[0].number} already; once a chain is enough"
        yield step.number - 1, Problem("hair_twice", text)
    if edit_target is not None:
        yield from ((None, problem) for problem in _target(edit_target, read, len(prompts)))


def prompt_problems(prompt: str, reading: Reading | NotUnderstood) -> Iterator[Problem]:
    """What is wrong with one prompt, whatever the others say."""
    plain = _LOOKS_JOINED.sub("", without_quotes(prompt))
    yield from form(prompt, plain)
    count = len(prompt.split())
    if count > MAX_WORDS:
        yield Problem("too_long", f"the prompt has {count} words; say it in at most {MAX_WORDS}")
    yield from _forbidden(prompt)
    if isinstance(reading, NotUnderstood):
        text = f"the prompt cannot be read, so that its item and place were not looked at: {reading.why}"
        yield Problem("not_understood", text, is_error=False)
        return
    yield from _item(reading)
    if reading.verb in ("add", "move") and not reading.place:
        text = f"say where the {reading.item.kind} is to be: 'on the table', 'at the bottom left'"
        yield Problem("no_place", text)
    if reading.is_text:
        yield from _letters(reading)
    if reading.new is not None:
        yield from _same_kind(reading.item, reading.new)


def _forbidden(prompt: str) -> Iterator[Problem]:
    words = words_of(prompt)
    named = [word for word in words if FACE & {word, singular(word), *word.split("-")}]
    named += [word for n, word in enumerate(words) if word in ("head", "heads") and not _is_worn_on(words, n)]
    if named:
        text = f"no prompt concerns the face, and this one says {', '.join(map(repr, named))}"
        yield Problem("face_word", f"{text}; edit clothing, an object or text")
    kept = _KEEP.search(without_quotes(prompt))
    if kept:
        text = f"no prompt asks to keep anything, and this one says {kept[0]!r}; say only what changes"
        yield Problem("keep_phrase", text)
    worn = [
        word for n, word in enumerate(words)
        if word in ON_THE_FACE and words[n + 1 : n + 2] != ["of"] and words[n - 1] not in ("wine", "drinking")
    ]  # fmt: skip
    if worn:
        text = f"{worn[0]!r} hides or frames a part of the face; does the step change what is judged?"
        yield Problem("on_the_face", text, is_error=False)
    odd = [word for n, word in enumerate(words) if word in OTHER_COLOURS and _is_colour(words, n)]
    if odd:
        text = f"{odd[0]!r} is no basic colour; say it in one that everybody sees alike"
        yield Problem("odd_colour", text, is_error=False, allowed=tuple(sorted(BASIC_COLOURS)))
    unsure = _EARLIER.search(without_quotes(prompt))
    if unsure:
        text = f"{unsure[0]!r} may stand for something of an earlier step; name it, as it is in the photo"
        yield Problem("points_back", text, is_error=False)
    several = _SEVERAL.search(without_quotes(prompt))
    if several:
        text = f"{several[0]!r}: is the target the only one of its kind in the photo?"
        yield Problem("not_unique", text, is_error=False)


def _is_worn_on(words: Sequence[str], n: int) -> bool:
    """A hat has its place "on his head"; any other mention concerns the head itself."""
    return "on" in words[max(0, n - 3) : n]


def _is_colour(words: Sequence[str], n: int) -> bool:
    """Whether a word that may be a thing too, such as peach, is meant as a colour here."""
    before, after = words[n - 1] if n else "", words[n + 1] if n + 1 < len(words) else ""
    if before in ("a", "an", "the", "two", "some") and (
        not after or after in ("on", "in", "at", "to", "of", "with")
    ):
        return False  # "a peach on the plate"
    return before not in ("of", "for", "with") or bool(after)


def _item(reading: Reading) -> Iterator[Problem]:
    category = category_of(reading.item.kind)
    if category == "person":
        text = f"the prompt edits a person ({reading.item.kind!r}); edit clothing, an object or text"
        yield Problem("edits_person", text)
    if category == "hair" and reading.verb != "recolour":
        yield Problem("hair_not_colour", "of the hair, only its colour may be changed")
    blond = HAIR_COLOURS & set(reading.look)
    if blond and category != "hair":
        yield Problem("odd_colour", f"{min(blond)!r} is a colour of hair; say yellow", is_error=False)


def _letters(reading: Reading) -> Iterator[Problem]:
    if reading.verb != "recolour" and not reading.quoted:
        yield Problem("no_quotes", 'put the new words between quotation marks: "OPEN"')
    if reading.verb == "recolour" or (reading.verb in ("remove", "move") and not reading.quoted):
        return
    for what, colour in (("letters", reading.letter_colour), ("sign", reading.sign_colour)):
        if not colour:
            code = "no_letter_colour" if what == "letters" else "no_sign_colour"
            yield Problem(code, f'state the colour of the {what}: "OPEN" in white letters on the blue sign')


def _same_kind(old: Item, new: Item) -> Iterator[Problem]:
    if old.kind == new.kind:
        return
    one, other = group_of(old.kind), group_of(new.kind)
    if one and other and one != other:
        text = f"a replacement is of the same kind: {old.kind!r} is of the {one}, {new.kind!r} of the {other}"
        yield Problem("other_kind", text)
    elif not (one and other):
        unknown = old.kind if one is None else new.kind
        text = f"is {new.kind!r} of the same kind as {old.kind!r}? {unknown!r} is in no list; look yourself"
        yield Problem("kind_undecided", text, is_error=False)


def _beside(reading: Reading, earlier: Sequence[_Step]) -> Iterator[Problem]:
    """What is wrong with a step after the others."""
    for step in earlier:
        if _is_same(reading, step.reading):
            other = (
                step.reading.new if step.reading.new and step.reading.item.kind != reading.item.kind else None
            )
            kind = other.kind if other else step.reading.item.kind
            text = f"step {step.number} edits a {kind} too, and each target is the only one of its kind"
            sure = not _told_apart(reading.item, other or step.reading.item)
            more = "edit something else" if sure else "are they told apart in the photo?"
            yield Problem("duplicate_target", f"{text}; {more}", is_error=sure)
        moved = step.made & set(reading.anchors)
        if moved:
            text = f"the place is told by the {min(moved)}, which step {step.number} put there"
            yield Problem("relies_on_earlier", f"{text}; name something of the photo", is_error=False)


def _is_same(reading: Reading, before: Reading) -> bool:
    there = {before.item.kind, *([before.new.kind] if before.new else [])} - {"text"}
    if reading.item.kind in HAIR:
        return False  # said by its own rule
    return bool({reading.item.kind, *([reading.new.kind] if reading.new else [])} & there)


def _told_apart(one: Item, other: Item) -> bool:
    """Whether both are described, and differently."""
    a, b = (one.owner, *one.describing), (other.owner, *other.describing)
    return a != b and any(a) and any(b)


def category(reading: Reading) -> str:
    """Which edit target a step belongs to; hair belongs to none."""
    on_sign = reading.item.kind in SURFACES | LETTERING and bool(reading.quoted)
    return (
        "text" if reading.verb == "rewrite" or on_sign or reading.is_text else category_of(reading.item.kind)
    )


def target_of(readings: Sequence[Reading]) -> str | None:
    """The edit target of steps: their one category, or `mixed`; None when nothing tells."""
    found = {category(reading) for reading in readings} & {"clothing", "objects", "text"}
    return None if not found else found.pop() if len(found) == 1 else "mixed"


def _target(said: str, read: Sequence[_Step], steps: int) -> Iterator[Problem]:
    seen = target_of([step.reading for step in read])
    whole = len(read) == steps
    if seen is None or seen == said or (said == "mixed" and not whole):
        return
    kinds = ", ".join(f"step {step.number} {category(step.reading)}" for step in read)
    text = f"the edit target is {said!r}, and the prompts are of {seen!r}: {kinds}"
    yield Problem("edit_target", text, "edit_target", allowed=(seen,))
