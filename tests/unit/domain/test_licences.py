"""Spellings of the three licences, and what is none of them."""

from __future__ import annotations

import pytest

from domain.licences import licence_id, needs_attribution


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CC0-1.0", "CC0-1.0"),
        ("CC0", "CC0-1.0"),
        ("cc0 1.0", "CC0-1.0"),
        ("CC0 1.0 Universal", "CC0-1.0"),
        ("CC Zero", "CC0-1.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("http://creativecommons.org/publicdomain/zero/1.0/deed.de", "CC0-1.0"),
        ("CC-BY-4.0", "CC-BY-4.0"),
        ("cc by 4.0", "CC-BY-4.0"),
        ("CC  BY 2.0", "CC-BY-2.0"),
        ("CC BY 4.0 International", "CC-BY-4.0"),
        ("Creative Commons Attribution 4.0 International", "CC-BY-4.0"),
        ("https://creativecommons.org/licenses/by/2.5", "CC-BY-2.5"),
        ("creativecommons.org/licenses/by/4.0/legalcode", "CC-BY-4.0"),
        ("CC-BY-SA-3.0", "CC-BY-SA-3.0"),
        ("CC BY-SA 4.0", "CC-BY-SA-4.0"),
        ("CC BY SA 4.0", "CC-BY-SA-4.0"),
        ("CC-BY-SA-3.0-DE", "CC-BY-SA-3.0-DE"),
        ("CC BY-SA 3.0 de", "CC-BY-SA-3.0-DE"),
        ("CC BY-SA 3.0 Unported", "CC-BY-SA-3.0"),
        ("Creative Commons Attribution-ShareAlike 4.0", "CC-BY-SA-4.0"),
        ("Creative Commons Attribution-Share Alike 3.0", "CC-BY-SA-3.0"),
        ("https://creativecommons.org/licenses/by-sa/4.0/deed.en", "CC-BY-SA-4.0"),
        ("https://creativecommons.org/licenses/by-sa/3.0/de/", "CC-BY-SA-3.0-DE"),
    ],
)
def test_a_licence_that_is_allowed(text: str, expected: str):
    assert licence_id(text) == expected
    assert licence_id(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "CC BY",
        "CC-BY-SA",
        "CC-BY-NC-4.0",
        "CC BY-ND 4.0",
        "CC BY-NC-SA 4.0",
        "CC-BY-5.0",
        "CC0-2.0",
        "public domain",
        "MIT",
        "GFDL",
        "all rights reserved",
        "CC-BY-4.0 or MIT",
        "https://creativecommons.org/licenses/by-nc/4.0/",
        "https://creativecommons.org.example.org/licenses/by/4.0/",
        "https://creativecommons.org/licenses/by/",
    ],
)
def test_what_is_none_of_them(text: str):
    assert licence_id(text) is None


def test_who_must_be_named():
    assert [needs_attribution(one) for one in ("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-3.0-DE")] == [
        False,
        True,
        True,
    ]
