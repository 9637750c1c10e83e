"""Matches as tasks of Label Studio: a JSON file to import, and the labelling configuration of the project.

Label Studio fixes sides for all voters of a task, so each match can be given out twice, mirrored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from xml.sax.saxutils import quoteattr

from domain.matches import Match, Side

PAIR, CHOICE, TIE = "pw", "choice", "tie"
"""Names in the configuration, by which answers are read."""


def labelling_config(question: str) -> str:
    """The labelling configuration: the original above, two faces to pick from, and a way to say neither."""
    return f"""<View>
  <Header value={quoteattr(question)}/>
  <Image name="original" value="$original" zoom="true"/>
  <Pairwise name="{PAIR}" toName="left,right"/>
  <View style="display: flex; gap: 1em;">
    <Image name="left" value="$left"/>
    <Image name="right" value="$right"/>
  </View>
  <Choices name="{CHOICE}" toName="original" choice="single" showInline="true">
    <Choice value="{TIE}" hint="Neither looks more like the original"/>
  </Choices>
</View>
"""


def tasks(
    matches: Iterable[tuple[str, Match]],
    url: Callable[[str], str],
    left_of: Callable[[str], Side],
    *,
    mirrored: bool = False,
) -> str:
    """The JSON of the tasks.

    Args:
        matches: Each with its id, in order.
        url: Of a crop by its sha256, as Label Studio fetches it.
        left_of: Which model is left in a match, by its id; the other one in its mirrored task.
        mirrored: Whether each match is given out a second time, with its sides changed.
    """
    made: list[dict[str, dict[str, str]]] = []
    for name, match in matches:
        left = left_of(name)
        for side in (left, "b" if left == "a" else "a") if mirrored else (left,):
            first, second = match.crop_a_sha256, match.crop_b_sha256
            if side == "b":
                first, second = second, first
            data = {"match": name, "left_is": side, "original": url(match.original_sha256)}
            made.append({"data": data | {"left": url(first), "right": url(second)}})
    return json.dumps(made, indent=1)
