"""Prompts as people write them, each with what a reader takes from it."""

from __future__ import annotations

import pytest

from domain.prompt_items import Item, quoted_words
from domain.prompt_reading import NotUnderstood, Reading, read_prompt
from domain.prompt_words import category_of, group_of, singular


def item(text: str) -> Item:
    """`owner's blue mug` as an item."""
    owner, _, rest = text.rpartition("'s ")
    *describing, kind = rest.split()
    return Item(kind, tuple(describing), owner)


RECOLOURED = [
    ("Change the colour of the shirt to red.", "shirt", "red", ""),
    ("Change the shirt to red", "shirt", "red", ""),
    ("Change the man's jacket from blue to dark green.", "man's jacket", "dark green", ""),
    ("Change the shirt of the man on the left to red", "man's shirt", "red", "on the left"),
    ("Change the cup to the left of the vase to yellow", "cup", "yellow", "to the left of the vase"),
    ("Change the red shirt to a blue one", "red shirt", "blue", ""),
    ("Turn the mug red", "mug", "red", ""),
    ("Make the woman's scarf yellow.", "woman's scarf", "yellow", ""),
    ("Make the umbrella on the left yellow", "umbrella", "yellow", "on the left"),
    ("Make the left sleeve red", "left sleeve", "red", ""),
    ("Make the shirt red and white striped.", "shirt", "red white striped", ""),
    ("Paint the door blue", "door", "blue", ""),
    ("Paint the wooden door in bright blue", "wooden door", "bright blue", ""),
    ("Dye her hair red", "her's hair", "red", ""),
    ("Change the hair colour of the woman to black", "woman's hair", "black", ""),
    ("Change the hat's colour to pink", "hat", "pink", ""),
    ("CHANGE THE BACKGROUND WALL TO GREEN", "background wall", "green", ""),
    ("Change the color of the letters on the sign to red", "letter", "red", "on the sign"),
    ("Replace the red curtain with a yellow one.", "red curtain", "yellow", ""),
    ("Make the tablecloth plain white", "tablecloth", "plain white", ""),
]
PLACED = [
    ("Add a blue mug at the bottom left.", "add", "blue mug", "at the bottom left", ()),
    ("Add a red hat", "add", "red hat", "", ()),
    ("Add a white vase with yellow flowers on the windowsill", "add", "white vase", "on the windowsill",
     ("windowsill",)),
    ("Add a cup of coffee on the table in front of the woman", "add", "cup",
     "on the table in front of the woman", ("table", "woman")),
    ("Add two lemons next to the bowl", "add", "lemon", "next to the bowl", ("bowl",)),
    ("Add an orange on the table", "add", "orange", "on the table", ("table",)),
    ("Add a red and white scarf on the woman", "add", "red white scarf", "on the woman", ("woman",)),
    ("Put a red hat on the man", "add", "red hat", "on the man", ("man",)),
    ("Put the hat on the table", "move", "hat", "on the table", ("table",)),
    ("Place her bag on the bench", "move", "her's bag", "on the bench", ("bench",)),
    ("Hang a round clock on the wall behind them", "add", "round clock", "on the wall behind them",
     ("wall", "them")),
    ("Paint a red heart on the wall", "add", "red heart", "on the wall", ("wall",)),
    ("Give the man a red tie", "add", "red tie", "the man", ("man",)),
    ("Give the man in the blue shirt a red hat", "add", "red hat", "the man in the blue shirt",
     ("man", "shirt")),
    ("Add a pair of sunglasses on the table", "add", "sunglasses", "on the table", ("table",)),
    ("Add a small brown dog to the left of the bench", "add", "small brown dog", "to the left of the bench",
     ("bench",)),
    ("Move the mug to the right edge of the table.", "move", "mug", "to the right edge of the table",
     ("edge", "table")),
    ("Move the chair left", "move", "chair", "left", ()),
    ("Move the lamp closer to the window", "move", "lamp", "closer to the window", ("window",)),
    ("Move the hat from the table to the chair", "move", "hat", "to the chair", ("chair",)),
    ("Move the bag", "move", "bag", "", ()),
    ("Remove the cup from the table", "remove", "cup", "from the table", ("table",)),
    ("Remove the man's tie", "remove", "man's tie", "", ()),
    ("Remove the girls' hats", "remove", "girls's hat", "", ()),
    ("Take the cup off the table", "remove", "cup", "off the table", ("table",)),
    ("Take off the hat", "remove", "hat", "", ()),
    ("Add a red umbrella leaning against the wall", "add", "red umbrella", "against the wall", ("wall",)),
    ("Add a black cat sleeping on the sofa", "add", "black cat", "on the sofa", ("sofa",)),
    ("Remove the car parked on the right", "remove", "car", "on the right", ()),
    ("Add two slices of cake on the plate", "add", "cake", "on the plate", ("plate",)),
    ('Add a "SALE" sign in white letters on red on the window', "add", "sign", "on the window", ("window",)),
    ("Delete the second lamp from the left", "remove", "second lamp", "from the left", ()),
]  # fmt: skip
REPLACED = [
    ("Change the jacket to a hoodie.", "jacket", "hoodie"),
    ("Turn the mug into a glass of water", "mug", "glass"),
    ("Replace the blue cup with a red cup.", "blue cup", "red cup"),
    ("Replace the coffee cup on the table with a green bottle", "coffee cup", "green bottle"),
    ("Swap the apple for an orange", "apple", "orange"),
    ("Replace the white T-shirt with a black sweater", "white t-shirt", "black sweater"),
    ("Change the boy's blue shorts into red jeans", "boy's blue shorts", "red jeans"),
    ("Change the boy's shorts into a pair of red jeans", "boy's shorts", "red jeans"),
    ("Change the sky to a sunset", "sky", "sunset"),
]
WRITTEN = [
    ('Make the sign say "OPEN" in white letters on a green background', "sign", ("OPEN",), "green", "white"),
    ('Replace "CLOSED" with "OPEN" in red letters on the white sign', "sign", ("CLOSED", "OPEN"), "white",
     "red"),
    ('Change the text on the sign to "Salt and vinegar!" in white letters on a blue sign', "sign",
     ("Salt and vinegar!",), "blue", "white"),
    ("Change the words on the blue sign to “Café d’Or” in white letters", "sign", ("Café d’Or",), "blue",
     "white"),
    ("Change the blue sign to read 'HELLO' in yellow text", "sign", ("HELLO",), "blue", "yellow"),
    ('Rewrite the sign as "STOP"', "sign", ("STOP",), "", ""),
    ("Change the text on the sign to OPEN", "sign", (), "", ""),
    ('Change the number on the jersey to "7" in white on red', "jersey", ("7",), "red", "white"),
    ('Change the red letters on the white mug to "Joe"', "mug", ("Joe",), "white", "red"),
]  # fmt: skip
NEITHER = [
    "Turn on the lamp", "Move the guitar so it leans on it", "Make them smile",
    "Add a mug and a plate on the table", "Put on a hat",
    "Give her flowers", "Take the hat", "Swap the hats", "Open the window", "Crop the photo",
    "Dress the man in a red coat", "", "...", "The shirt should be red", "Change the weather",
    "Red shirt", "Replace the cup", "Make it nicer", "Add",
]  # fmt: skip


@pytest.mark.parametrize(("prompt", "edited", "look", "place"), RECOLOURED)
def test_a_new_look(prompt: str, edited: str, look: str, place: str):
    read = read_prompt(prompt)
    assert isinstance(read, Reading)
    assert (read.verb, read.item, read.new) == ("recolour", item(edited), None)
    assert (" ".join(read.look), read.place) == (look, place)


@pytest.mark.parametrize(("prompt", "verb", "edited", "place", "anchors"), PLACED)
def test_what_comes_goes_or_moves(prompt: str, verb: str, edited: str, place: str, anchors: tuple[str, ...]):
    read = read_prompt(prompt)
    assert isinstance(read, Reading)
    assert (read.verb, read.item, read.place, read.anchors) == (verb, item(edited), place, anchors)


@pytest.mark.parametrize(("prompt", "old", "new"), REPLACED)
def test_one_thing_for_another(prompt: str, old: str, new: str):
    read = read_prompt(prompt)
    assert isinstance(read, Reading)
    assert (read.verb, read.item, read.new) == ("replace", item(old), item(new))


@pytest.mark.parametrize(("prompt", "surface", "quoted", "sign", "letters"), WRITTEN)
def test_other_words(prompt: str, surface: str, quoted: tuple[str, ...], sign: str, letters: str):
    read = read_prompt(prompt)
    assert isinstance(read, Reading)
    assert (read.verb, read.item.kind, read.quoted) == ("rewrite", surface, quoted)
    assert (read.sign_colour, read.letter_colour) == (sign, letters)
    assert read.is_text


def test_an_added_sign_has_words_and_a_place():
    read = read_prompt('Add a yellow sign that says "SALE on hats" in black letters on the wall')
    assert isinstance(read, Reading)
    assert (read.verb, read.item, read.place) == ("add", item("yellow sign"), "on the wall")
    assert (read.quoted, read.sign_colour, read.letter_colour) == (("SALE on hats",), "yellow", "black")


def test_words_that_are_written_on_a_thing():
    read = read_prompt('Write "Joe" on the white mug in black letters')
    assert isinstance(read, Reading)
    assert (read.verb, read.item, read.place) == ("add", Item("text"), "on the white mug")
    assert (read.sign_colour, read.letter_colour) == ("white", "black")


@pytest.mark.parametrize("prompt", NEITHER)
def test_what_cannot_be_read_is_said_to_be_so(prompt: str):
    read = read_prompt(prompt)
    assert isinstance(read, NotUnderstood)
    assert read.why


def test_there_are_prompts_enough():
    held = [case[0] for cases in (RECOLOURED, PLACED, REPLACED, WRITTEN) for case in cases] + NEITHER
    assert len(set(held)) >= 80


@pytest.mark.parametrize(
    ("prompt", "quoted"),
    [
        ('say "A" and “B c”', ("A", "B c")),
        ("the man's 'A d'Or' sign", ("A d'Or",)),
        ("the boy's and the girl's hats", ()),
        ('say ""', ()),
    ],
)
def test_an_apostrophe_is_no_quotation_mark(prompt: str, quoted: tuple[str, ...]):
    assert quoted_words(prompt) == quoted


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ("mugs", "mug"), ("boxes", "box"), ("dishes", "dish"), ("watches", "watch"), ("scarves", "scarf"),
        ("berries", "berry"), ("dress", "dress"), ("glasses", "glasses"), ("vases", "vase"), ("bus", "bus"),
        ("women", "woman"), ("horses", "horse"), ("trousers", "trousers"), ("shoes", "shoe"), ("gas", "gas"),
    ],
)  # fmt: skip
def test_one_of_several(several: str, one: str):
    assert singular(several) == one


def test_kinds_have_groups_and_categories():
    assert (group_of("hoodie"), group_of("mug"), group_of("xylophone")) == ("tops", "vessels", None)
    held = ("hoodie", "mug", "xylophone", "hair", "man", "lettering", "her")
    assert [category_of(kind) for kind in held] == [
        "clothing", "objects", "objects", "hair", "person", "text", "person",
    ]  # fmt: skip
