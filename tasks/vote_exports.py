"""Matches out of the store into a folder: their pictures, and a table or tasks for a voting tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

import numpy as np

from adapters.base import ObjectStore
from adapters.votes import exports, label_studio_tasks
from domain.errors import DefinitionError
from domain.matches import Match, Side
from tasks import ledger, match_tables, wiring
from tasks.match_making import rules_of
from tasks.runs_of_suites import find_run
from tasks.threads import on_threads

ExportKind = Literal["csv", "jsonl", "parquet", "label-studio"]
IMAGES = "images"


@dataclass(frozen=True)
class Exported:
    """What was written."""

    file: Path
    matches: int
    images: int
    config: Path | None = None
    """The labelling configuration, for Label Studio."""


def export(
    suite: str,
    folder: Path,
    kind: str,
    *,
    run: str | None = None,
    mirrored: bool = False,
    base_url: str | None = None,
) -> Exported:
    """Write the matches of a run, gold ones among them, with every picture that they show.

    Args:
        suite: Id or file of a suite.
        folder: Where to; what is there of an earlier export is written over.
        kind: One of `ExportKind`.
        run: Id of a run; None for the newest.
        mirrored: For Label Studio: each match a second time, with its sides changed.
        base_url: In front of the pictures' names, as the tool fetches them; None: `images/` beside the file.

    Raises:
        DefinitionError: the kind is unknown, or the folder cannot be written.
        StoreError: no matches were made, or a picture is gone.
    """
    if kind not in get_args(ExportKind):
        raise DefinitionError(
            f"matches are not given out as {kind!r}", field="as", allowed=get_args(ExportKind)
        )
    if mirrored and kind != "label-studio":
        raise DefinitionError("only tasks of Label Studio can be mirrored", field="mirrored")
    store, plan = wiring.store(), wiring.run_plan(find_run(suite, run))
    rules = rules_of(plan)
    table = match_tables.read_matches(match_tables.expect_match_set(plan.suite.id, plan.id, store), store)
    matches = _out_of_sight(list(match_tables.named_matches(table)), rules.seed)
    base = (base_url or IMAGES).rstrip("/")
    left = _sides([name for name, _ in matches], rules.seed)
    try:
        images = _copy_images([match for _, match in matches], folder / IMAGES, store)
        if kind == "label-studio":
            config = folder / "labelling-config.xml"
            config.write_text(label_studio_tasks.labelling_config(rules.question), encoding="utf-8")
            file = folder / "tasks.json"
            text = label_studio_tasks.tasks(matches, lambda sha: f"{base}/{sha}.png", left, mirrored=mirrored)
            file.write_text(text, encoding="utf-8")
            return Exported(file, len(matches), images, config)
        file = folder / f"matches.{kind}"
        rows = exports.rows(matches, rules.question, lambda sha: f"{base}/{sha}.png", left)
        exports.write_table(file, cast(exports.TableKind, kind), rows)
    except OSError as error:
        raise DefinitionError(f"{folder} cannot be written: {error.strerror}", field="to") from error
    return Exported(file, len(matches), images)


def _out_of_sight(matches: list[tuple[str, Match]], seed: int) -> list[tuple[str, Match]]:
    """Matches in the order of the queue, but gold ones, which begin it, anywhere among the others."""
    rng = np.random.default_rng([seed, 3])
    is_gold = rng.permutation([match.gold is not None for _, match in matches]).tolist()
    gold = iter([one for one in matches if one[1].gold is not None])
    others = iter([one for one in matches if one[1].gold is None])
    return [next(gold if here else others) for here in is_gold]


def _sides(names: list[str], seed: int) -> Callable[[str], Side]:
    """Who is left in each match, drawn by the seed."""
    drawn = np.random.default_rng([seed, 2]).random(len(names)) < 0.5
    sides: dict[str, Side] = {name: "a" if is_a else "b" for name, is_a in zip(names, drawn, strict=True)}
    return lambda name: sides[name]


def _copy_images(matches: list[Match], folder: Path, store: ObjectStore) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    shown = dict.fromkeys(
        sha for match in matches for sha in (match.original_sha256, match.crop_a_sha256, match.crop_b_sha256)
    )

    def copy(sha: str) -> None:
        path = folder / f"{sha}.png"
        if not path.exists():
            path.write_bytes(ledger.read_image(store, sha, "png"))

    on_threads(copy, shown)
    return len(shown)
