"""The local writer has a valid phrase for whatever can be drawn."""

from __future__ import annotations

import pytest

from adapters.judges.local_writer import LocalWriter, phrase
from domain.loading import load
from domain.session_writing import Wanted, read_instruction
from domain.sessions import Instruction
from domain.taxonomy import Taxonomy

TAXONOMY = load(Taxonomy, "face-edit-attributes")


def test_every_attribute_after_every_other_of_its_sub_axis_is_phrased_validly():
    writer, by_sub_axis = LocalWriter(), dict[str, list[str]]()
    for attribute in TAXONOMY.attributes.values():
        by_sub_axis.setdefault(attribute.sub_axis, []).append(attribute.name)
    count = 0
    for attribute in TAXONOMY.attributes.values():
        for before in [None, *by_sub_axis[attribute.sub_axis]]:
            earlier = () if before is None else (Instruction(prompt="-", attribute=before),)
            wanted = Wanted(
                attribute=attribute, keep=before == attribute.name, replaces=before, earlier=earlier
            )
            raw = writer.write_instruction(wanted).raw_text
            assert read_instruction(raw, wanted, TAXONOMY) == phrase(wanted)
            count += 1
    assert count > 169 * 10


@pytest.mark.parametrize(
    ("name", "replaces", "keep", "text"),
    [
        ("bucket hat", None, False, "Add a bucket hat."),
        ("oval glasses", None, False, "Add oval glasses."),
        ("dad hat", "bucket hat", False, "Replace the bucket hat with a dad hat."),
        ("lavender hair", None, False, "Change the hair color to lavender hair."),
        ("looking left", None, True, "Keep them looking left."),
        ("goatee", None, True, "Keep the goatee."),
        ("light stubble", None, False, "Add light stubble."),
    ],
)
def test_phrases_read_like_the_papers(name: str, replaces: str | None, keep: bool, text: str):
    assert phrase(Wanted(attribute=TAXONOMY.attributes[name], replaces=replaces, keep=keep)) == text
