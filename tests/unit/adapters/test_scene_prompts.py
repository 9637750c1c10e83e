"""The grammar of everyday edits: what each sentence means, and what is none."""

from __future__ import annotations

import pytest

from adapters.imaging.scene_prompts import COLOURS, Thing, Wish, read_wish
from domain.chains import ChainSet
from domain.loading import load

SIGN = Thing("sign", "white", "OPEN", "black")
READ = {
    "Change the colour of the shirt to red": Wish("recolour", Thing("clothing"), Thing("clothing", "red")),
    "change the shirt color to red.": Wish("recolour", Thing("clothing"), Thing("clothing", "red")),
    "Make the man's grey jacket gray": Wish("recolour", Thing("clothing"), Thing("clothing", "grey")),
    "Dye the hair brown": Wish("recolour", Thing("hair"), Thing("hair", "brown")),
    "Change the hair colour to pink": Wish("recolour", Thing("hair"), Thing("hair", "pink")),
    "Make the blue mug green": Wish("recolour", Thing("mug", "blue"), Thing("mug", "green")),
    "Turn the ball black": Wish("recolour", Thing("ball"), Thing("ball", "black")),
    "Add a blue  mug at the bottom left": Wish("add", Thing("mug", "blue"), place="bottom left"),
    "Put an orange vase on the right side": Wish("add", Thing("vase", "orange"), place="right"),
    "Move the blue mug to the top right corner": Wish("move", Thing("mug", "blue"), place="top right"),
    "Take away the mug": Wish("remove", Thing("mug")),
    "Remove the white sign": Wish("remove", Thing("sign", "white")),
    "Replace the mug with a green book": Wish("replace", Thing("mug"), Thing("book", "green")),
    "Swap the red kite for a blue kite": Wish("replace", Thing("kite", "red"), Thing("kite", "blue")),
    'Put a white sign with black letters saying "OPEN" at the top': Wish("add", SIGN, place="top"),
    "Add a white sign with black letters “OPEN” at the top": Wish("add", SIGN, place="top"),
    'Change the words on the sign to "OPEN" in black letters on a white sign': Wish(
        "rewrite", Thing("sign"), SIGN
    ),
    'Change the sign to "OPEN" in black letters on white': Wish("rewrite", Thing("sign"), SIGN),
    'Change the board to "No 7" in red letters on grey': Wish(
        "rewrite", Thing("board"), Thing("board", "grey", "No 7", "red")
    ),
}


@pytest.mark.parametrize(("prompt", "wish"), READ.items())
def test_a_sentence_of_the_grammar_is_read(prompt: str, wish: Wish):
    assert read_wish(prompt) == wish


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "Make it nicer",
        "Add a mug at the top",  # without a colour
        "Add a blue mug",  # without a place
        "Add a blue mug at the middle",
        "Add a mauve mug at the top",
        "Move the mug to the table",
        "Put a white sign at the top",  # without words
        "Put a white sign with black letters saying OPEN at the top",
        'Put a white sign with black letters saying "MUCH TOO LONG" at the top',
        'Put a white sign with black letters saying "ÖFFNEN" at the top',
        'Change the sign to "OPEN" in black letters on a white board',
        "Change the hair colour to blond",
        "Add a blue mug at the top and remove the ball",
    ],
)
def test_anything_else_is_not(prompt: str):
    assert read_wish(prompt) is None


def test_every_prompt_of_the_demo_is_read_and_short():
    for chain in load(ChainSet, "everyday-demo").chains:
        assert len(chain.prompts) == 5
        wishes = [read_wish(prompt) for prompt in chain.prompts]
        assert None not in wishes
        kinds = [wish.target.kind for wish in wishes if wish]
        assert len(set(kinds)) == 5, "each target is the only one of its kind"
        assert all(len(prompt.split()) <= 14 for prompt in chain.prompts)


def test_named_colours_are_far_apart():
    values = list(COLOURS.values())
    apart = [
        max(abs(a - b) for a, b in zip(one, other, strict=True))
        for n, one in enumerate(values)
        for other in values[:n]
    ]
    assert min(apart) > 2 * 22
