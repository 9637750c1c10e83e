"""Tables of a suite that people's votes rank, made up: three models, one of them not ranked."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from synthetic_site import EVIL

MODELS = ("bagel-edit", "flux-dev", "qwen-edit")
SHAPES = ("landscape", "portrait")


def people_tables(crops: Sequence[str], photos: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The tables of a ranking.

    Args:
        crops: sha256 of some images of the store, PNG.
        photos: Ids of base photos.
    """
    a, b, c = MODELS
    steps = {name: pl.String for name in ("model", "photo", "session", "verdict", "reason")}
    return {
        "completion": _table(
            "model n_chains n_complete n_unfinished completion ranked reason threshold",
            [
                (a, 10, 10, 0, 1.0, True, None, 0.8),
                (b, 10, 9, 1, 0.9, True, None, 0.8),
                (c, 10, 4, 6, 0.4, False, "below_80_percent", 0.8),
            ],
        ),
        "progression": _table(
            "model step fss fss_low fss_high n",
            [
                (model, step, value, value - 0.02, value + 0.02, 10)
                for model, last in zip(MODELS, (0.8, 0.6, 0.3), strict=True)
                for step, value in enumerate((1.0, (1 + last) / 2, last))
            ],
        ),
        "chains": _table(
            "photo session edit_target people face_size photo_shape view prompts n_models_complete",
            [
                (photo, photo.replace("-", "_"), "clothing", "1", "small", SHAPES[at % 2], "half", PROMPTS, 2)
                for at, photo in enumerate(photos)
            ],
        ),
        "coverage": _table("model test_set what reason n", [(c, "clothing", "chain", "failed_step", 6)]),
        "steps": pl.DataFrame(schema=steps | {"step": pl.Int64, "fss": pl.Float64}),
        "ranking": _table(RANKING, [row for view in VIEWS for row in _view(*view)]),
        "matchups": _table(
            "dimension value model other wins losses ties n_matches n_votes win_rate low high",
            [
                ("all", "all", a, b, 6, 3, 1, 10, 40, 0.65, 0.45, 0.85),
                ("all", "all", b, a, 3, 6, 1, 10, 40, 0.35, 0.15, 0.55),
            ],
        ),
        "match_results": _table(
            "match photo session model_a model_b votes_a votes_b votes_tie result fss_a fss_b "
            "original_sha256 crop_a_sha256 crop_b_sha256",
            [("ab" * 32, photos[0], "s", a, b, 3, 1, 0, "a", 0.7, None, *crops[:3])],
        ),
        "annotators": _table(
            "annotator n_votes n_gold gold_right majority_agreement left_share median_ms flags",
            [("a1", 40, 4, 4, 0.9, 0.5, 2100, ["fast"])],
        ),
        "vote_agreement": _table("name value low high n", [("krippendorff_alpha", 0.61, 0.5, 0.7, 40)]),
        "metric_agreement": _table(
            "metric dimension value n_matches agree ties unknown share low high",
            [("fss", "all", "all", 10, 8, 1, 1, 0.889, 0.6, 1.0)],
        ),
        "vote_facts": _table("name value", [("question", f"Which face? {EVIL}")]),
    }


PROMPTS = [f"Make the coat red {EVIL}", "Add a clock"]
VIEWS = (("all", "all"), *(("photo_shape", shape) for shape in SHAPES))
RANKING = (
    "dimension value model rating rating_low rating_high rank rank_low rank_high n_matches n_votes wins "
    "losses ties component note"
)


def _view(dimension: str, value: str) -> list[tuple[object, ...]]:
    """The second model is not determined among portraits."""
    known = value != "portrait"
    second = (960.0, 930.0, 990.0, 2, 1, 2) if known else (None,) * 6
    return [
        (dimension, value, MODELS[0], 1040.0, 1010.0, 1070.0, 1, 1, 2, 10, 40, 6, 3, 1, 0, None),
        (dimension, value, MODELS[1], *second, 10, 40, 3, 6, 1, 0, None if known else "winless"),
    ]


def _table(columns: str, rows: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    names = columns.split()
    held = pl.DataFrame([list(row) for row in rows], names, orient="row", infer_schema_length=None)
    own = [pl.lit("synthetic").alias(name) for name in ("suite", "dataset")]
    return held.select(*own, *names)
