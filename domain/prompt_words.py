"""The words that prompts of chains are read and checked by: colours, kinds of items, and what is off limits.

The lists are of everyday English and are not complete. What is in none of them is said to be so by who reads
them (`domain.prompt_reading`, `domain.chain_rules`); it is never taken for something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Category = Literal["clothing", "objects", "text", "hair", "person"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BASIC_COLOURS = _words("black white grey gray red orange yellow green blue purple pink brown")
"""The eleven of Berlin and Kay, in both spellings."""
HAIR_COLOURS = _words("blonde blond")
"""Basic for hair alone."""
OTHER_COLOURS = _words(
    "amber aqua aquamarine auburn azure beige bronze burgundy charcoal chartreuse copper coral cream "
    "crimson cyan ebony ecru emerald fuchsia gold golden indigo ivory khaki lavender lilac lime "
    "magenta mahogany maroon mauve mint mustard navy ochre olive peach pearl periwinkle plum puce "
    "ruby rust salmon sapphire scarlet sepia sienna silver tan taupe teal terracotta turquoise "
    "ultramarine umber vermilion violet"
)
"""Colours that are told in basic words instead; some are things too, where they end a name."""
COLOURS = BASIC_COLOURS | HAIR_COLOURS | OTHER_COLOURS
SHADES = _words("light dark bright pale deep plain solid")
LOOKS = _words(
    "striped checked checkered plaid tartan spotted dotted patterned floral wooden metal plastic leather "
    "denim wool woollen cotton silk velvet straw glass stone paper knitted shiny transparent"
)
"""Patterns and materials: what an item can be changed to besides a colour."""

PEOPLE = _words(
    "man woman boy girl child baby kid person people lady gentleman guy player worker couple bride groom "
    "he she him her his them their they"
)
HAIR = _words("hair ponytail braid bun fringe bangs hairstyle haircut wig")

WORN: Mapping[str, frozenset[str]] = {
    "tops": _words(
        "shirt t-shirt tshirt tee blouse sweater jumper pullover hoodie sweatshirt cardigan jacket coat "
        "blazer vest waistcoat top polo tunic jersey tank raincoat parka"
    ),
    "bottoms": _words("trousers pants jeans shorts skirt leggings"),
    "one-piece clothes": _words("dress gown suit overalls robe apron uniform jumpsuit kimono"),
    "footwear": _words("shoe boot sandal sneaker trainer slipper heel"),
    "headwear": _words("hat cap beanie beret helmet bonnet turban headscarf headband crown fedora"),
    "neckwear": _words("tie bowtie scarf shawl bandana necklace pendant collar lanyard"),
    "eyewear": _words("glasses sunglasses eyeglasses goggles spectacles"),
    "jewellery": _words("earring bracelet ring watch brooch badge pin wristband"),
    "hand and leg wear": _words("glove mitten sock stocking belt suspenders tights"),
    "parts of clothes": _words("sleeve button pocket cuff zip zipper hood lapel hem strap logo"),
}
"""What people wear, by what may replace what."""
THINGS: Mapping[str, frozenset[str]] = {
    "vessels": _words("cup mug glass bottle can jug pitcher teapot tumbler thermos jar carton"),
    "dishes": _words("plate bowl dish tray platter saucer"),
    "food": _words(
        "apple pear peach plum banana lemon lime orange strawberry cake bread bun cookie sandwich pizza "
        "croissant pineapple melon watermelon tomato carrot fruit cupcake donut muffin grapes"
    ),
    "plants": _words("flower plant bouquet rose tulip sunflower tree bush cactus fern wreath"),
    "seats": _words("chair stool bench sofa couch armchair cushion pillow"),
    "furniture": _words("table desk shelf bookshelf cupboard cabinet dresser bookcase"),
    "lights": _words("lamp lantern candle light chandelier torch"),
    "reading matter": _words("book magazine newspaper notebook folder map brochure"),
    "pictures": _words("painting poster picture photo photograph frame mirror"),
    "animals": _words("dog cat bird horse duck rabbit parrot pigeon seagull puppy kitten"),
    "vehicles": _words("car van bus truck bicycle bike motorcycle scooter tram boat taxi"),
    "bags": _words("bag handbag backpack suitcase basket purse rucksack briefcase"),
    "instruments": _words("guitar violin trumpet drum piano flute saxophone ukulele cello"),
    "balls and toys": _words("ball football basketball balloon kite doll frisbee racket racquet"),
    "devices": _words("phone laptop tablet computer camera radio television keyboard clock speaker"),
    "coverings": _words("blanket tablecloth curtain rug carpet towel umbrella parasol flag banner"),
    "containers": _words("vase pot box crate barrel bucket bin urn planter"),
}
"""Objects, by what may replace what."""
GROUPS: Mapping[str, frozenset[str]] = {**WORN, **THINGS}
SURFACES = _words(
    "sign signboard board billboard banner poster label plate screen placard blackboard whiteboard "
    "chalkboard noticeboard nameplate plaque sticker marquee flag awning"
)
"""What letters stand on."""
LETTERING = _words("text word letter lettering writing inscription slogan message font name number")

FACE = _words(
    "face facial eye eyed eyebrow eyelash eyelid eyeliner mascara nose nostril mouth lip lipstick tooth "
    "tongue chin jaw jawline cheek cheekbone forehead temple ear skin complexion wrinkle freckle dimple "
    "scar blush smile smiling smirk grin grinning frown frowning expression laugh laughing wink gaze "
    "beard bearded moustache mustache stubble goatee sideburn whisker makeup make-up bald age older "
    "younger"
)
"""A face, its parts, its age, what is on it and what it does; for what is worn there see `ON_THE_FACE`."""
ON_THE_FACE = _words("glasses sunglasses eyeglasses goggles spectacles mask veil")
"""Objects, which hide or frame a part of the face: allowed, and worth a second look."""

_ODD_PLURALS = {
    "leaves": "leaf", "knives": "knife", "shelves": "shelf", "bookshelves": "bookshelf", "loaves": "loaf",
    "scarves": "scarf", "teeth": "tooth", "men": "man", "women": "woman", "children": "child", "buses": "bus",
    "dresses": "dress", "tomatoes": "tomato", "potatoes": "potato",
    "bookcases": "bookcase", "eyelashes": "eyelash",
}  # fmt: skip
_NO_PLURAL = _words(
    "glasses sunglasses eyeglasses goggles spectacles trousers pants jeans shorts leggings tights "
    "overalls suspenders headphones scissors bangs bus cactus canvas grapes clothes stairs"
)


def singular(word: str) -> str:
    """The word for one of a thing; what exists in pairs only, such as trousers, stays."""
    if word in _NO_PLURAL or word.endswith(("ss", "us")) or len(word) < 4:
        return word
    if word in _ODD_PLURALS:
        return _ODD_PLURALS[word]
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search(r"(ss|sh|ch|x|zz)es$", word):
        return word[:-2]
    return word.removesuffix("s")


def group_of(kind: str) -> str | None:
    """The group of items among which one may replace another; None for a word that is in no list."""
    return next((name for name, kinds in GROUPS.items() if kind in kinds), None)


def category_of(kind: str) -> Category:
    """What an edit of an item edits; a word that is in no list is taken for an object."""
    if kind in PEOPLE:
        return "person"
    if kind in HAIR:
        return "hair"
    if any(kind in kinds for kinds in WORN.values()):
        return "clothing"
    return "text" if kind in LETTERING else "objects"
