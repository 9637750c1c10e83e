"""Tables of a suite that people's votes rank, made up: three models, one of them not ranked."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from synthetic_site import EVIL

MODELS = ("bagel-edit", "flux-dev", "qwen-edit")
SHAPES = ("landscape", "portrait")


def people_tables(crops: Sequence[str], photos: Sequence[str], session: str = "s") -> dict[str, pl.DataFrame]:
    """The tables of a ranking; what the second model was asked on the first photo failed three times.

    Args:
        crops: sha256 of some images of the store, PNG.
        photos: Ids of base photos.
        session: A session of the run.
    """
    a, b, c = MODELS
    return {
        "completion": _table(
            "model n_chains n_complete n_stopped n_unfinished completion threshold ranked reason "
            "n_attempts n_off_shape",
            [
                (a, 10, 10, 0, 0, 1.0, 0.8, True, None, 20, 0),
                (b, 10, 9, 0, 1, 0.9, 0.8, True, None, 26, 1),
                (c, 10, 4, 6, 0, 0.4, 0.8, False, "below_threshold", 41, 3),
            ],
        ),
        "attempts": _table(
            "model step n_tried made_at n_failed not_made refused no_image off_shape",
            [
                (a, 1, 10, [8, 2, 0], 0, 2, 0, 0, 0),
                (a, 2, 10, [10, 0, 0], 0, 0, 0, 0, 0),
                (b, 1, 10, [4, 3, 2], 1, 5, 4, 0, 1),
            ],
        ),
        "failed_steps": _table(
            "model photo session step reasons", [(b, photos[0], session, 1, [text for *_, text in FAILED])]
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
        "steps": _table(
            "model photo session step attempt prompt verdict outcome reason faults fss face",
            [
                (b, photos[0], session, 1, n, PROMPTS[0], verdict, outcome, reason, faults, None, None)
                for n, (verdict, outcome, reason, faults, _) in enumerate(FAILED, 1)
            ],
        ),
        "ranking": _table(RANKING, [row for view in VIEWS for row in _view(*view)]),
        "matchups": _table(
            "dimension value model other wins losses ties n_matches n_votes n_photos win_rate low high",
            [
                ("all", "all", a, b, 6, 3, 1, 10, 40, 4, 0.65, 0.45, 0.85),
                ("all", "all", b, a, 3, 6, 1, 10, 40, 4, 0.35, 0.15, 0.55),
            ],
        ),
        "match_results": _table(
            "match photo session model_a model_b votes_a votes_b votes_tie result fss_a fss_b "
            "original_sha256 crop_a_sha256 crop_b_sha256",
            [("ab" * 32, photos[0], "s", a, b, 3, 1, 0, "a", 0.7, None, *crops[:3])],
        ),
        "annotators": _table(
            "annotator n_votes n_gold gold_right n_compared majority_agreement n_sided left_share median_ms "
            "flags",
            [(EVIL, 40, 4, 4, 30, 0.9, 40, 0.5, 2100.0, ["too_fast"])],
        ),
        "vote_agreement": _table(
            "name value low high n",
            [("krippendorff_alpha", 0.61, 0.5, 0.7, 40), ("gold_accuracy", None, None, None, 0)],
        ),
        "metric_agreement": _table(
            "metric dimension value n_matches agree ties unknown n_photos share low high",
            [
                ("fss", "all", "all", 10, 8, 1, 0, 4, 0.889, 0.6, 1.0),
                ("fss", "photo_shape", "portrait", 1, 0, 1, 0, 1, None, None, None),
            ],
        ),
        "vote_facts": _table(
            "name value",
            [
                ("question", f"Which face? {EVIL}"),
                ("votes", "40"),
                ("simulated_votes", "40"),
                ("simulated_crowds", f"one strength each {EVIL}"),
                ("annotators", "1"),
                ("matches_with_result", "10"),
            ],
        ),
    }


FAILED = (
    ("refused", "refused", EVIL, [], f"refused: {EVIL}"),
    ("not_made", "edited", None, ["right_place", "framing"], "not_made: right_place, framing"),
    ("off_shape", "edited", None, [], "off_shape"),
)
"""Verdict, outcome, reason and faults of three attempts, and how `failed_steps` tells them."""
PROMPTS = [f"Make the coat red {EVIL}", "Add a clock"]
VIEWS = (("all", "all"), *(("photo_shape", shape) for shape in SHAPES))
RANKING = (
    "dimension value model rating rating_low rating_high rank rank_low rank_high n_matches n_votes wins "
    "losses ties component note n_photos resamples resamples_undetermined"
)


def _view(dimension: str, value: str) -> list[tuple[object, ...]]:
    """The second model is not determined among portraits."""
    known = value != "portrait"
    second = (960.0, None, 990.0, 2, 1, 2) if known else (None,) * 6
    return [
        (dimension, value, MODELS[0], 1040.0, 1010.0, 1070.0, 1, 1, 2, 10, 40, 6, 3, 1, 1, None, 2, 200, 9),
        (dimension, value, MODELS[1], *second, 10, 40, 3, 6, 1, 1, None if known else "winless", 2, 200, 9),
    ]


def _table(columns: str, rows: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    names = columns.split()
    held = pl.DataFrame([list(row) for row in rows], names, orient="row", infer_schema_length=None)
    own = [pl.lit("synthetic").alias(name) for name in ("suite", "dataset")]
    return held.select(*own, *names)
