"""The heat maps of a page, with steps behind their cells."""

from __future__ import annotations

import polars as pl

from adapters.pages.site.picture_views import Comparison, Example, Matrix, Overediting, Picture
from domain.taxonomy import Taxonomy
from metrics.overedit_examples import CELL, overedit_examples
from metrics.overediting import none_column
from tasks.definitions import taxonomy_of
from tasks.group_tables import scoring_rules
from tasks.site_source import SiteSource

PER_CELL = 3
MOST_EXAMPLES = 3_000
"""Steps of which a page keeps pictures; cells with the highest counts come first."""


def overediting_of(source: SiteSource, compared: list[Comparison]) -> Overediting | None:
    """The heat maps; None where the suite has none."""
    table, taxonomy_id = source.maybe("overediting"), source.run.suite.taxonomy
    if table is None or taxonomy_id is None:
        return None
    taxonomy = taxonomy_of(source.run.suite)
    examples, note = _examples(source, table, taxonomy, compared)
    controls = {card.id for card in source.run.cards if card.is_control}
    matrices = [
        Matrix(
            dataset=str(dataset),
            model=str(model),
            prompts=dict(rows.select("intended", "prompts").unique().iter_rows()),
            cells={
                (asked, found): (count, eligible)
                for asked, found, count, eligible in rows.select(
                    "intended", "found", "count", "eligible"
                ).iter_rows()
            },
            examples=examples.get((str(dataset), str(model)), {}),
        )
        for (dataset, model), rows in table.group_by(["dataset", "model"], maintain_order=True)
    ]
    columns = [
        name for sub_axis, names in taxonomy.categories.items() for name in (*names, none_column(sub_axis))
    ]
    order = {card.id: at for at, card in enumerate(source.run.cards)}
    matrices.sort(key=lambda item: (item.model in controls, item.dataset, order.get(item.model, 0)))
    return Overediting(list(taxonomy.sub_axis_of), columns, matrices, note)


_Found = dict[tuple[str, str], dict[tuple[str, str], list[Example]]]


def _examples(
    source: SiteSource, table: pl.DataFrame, taxonomy: Taxonomy, compared: list[Comparison]
) -> tuple[_Found, str]:
    first = pl.DataFrame(
        [(item.photo, item.session) for item in compared],
        {"photo": pl.String, "session": pl.String},
        orient="row",
    )
    chosen = overedit_examples(
        source.table("steps"),
        source.table("photos"),
        taxonomy,
        scoring_rules(source.run.suite.rules),
        per_cell=PER_CELL,
        first=first,
    )
    counted = table.select(*CELL, "count", "prompts").with_columns(rate=pl.col("count") / pl.col("prompts"))
    place = ["place", "rate", *CELL]
    kept = (
        chosen.join(counted, on=list(CELL))
        .sort(place, descending=[name == "rate" for name in place])
        .head(MOST_EXAMPLES)
        .join(source.pictures, on=["model", "photo", "session", "step"])
        .sort(*CELL, "place")
    )
    prompts = {session.id: session.steps for session in source.run.sessions}
    held: _Found = {}
    for row in kept.iter_rows(named=True):
        cells = held.setdefault((row["dataset"], row["model"]), {})
        cells.setdefault((row["intended"], row["found"]), []).append(
            Example(
                row["photo"],
                row["session"],
                row["step"],
                prompts[row["session"]][row["step"] - 1].prompt,
                Picture(row["input_sha256"], row["input_extension"]),
                Picture(row["image_sha256"], row["image_extension"]),
            )
        )
    cells = table.filter(pl.col("count") > 0).height
    shown = kept.select(CELL).unique().height
    return (
        held,
        f"Examples are kept for {shown} of {cells} cells that are not empty, up to {PER_CELL} of each.",
    )
