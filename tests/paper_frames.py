"""A small synthetic run with groups, scored into every table of a report."""

from __future__ import annotations

from functools import cache

import polars as pl
from synthetic import Plan, synthetic_run

from domain.loading import load
from domain.suites import AxisDefinition, Rules
from domain.taxonomy import Taxonomy
from metrics import scoring
from metrics.agreement import tracker_confusion
from metrics.overedit_patterns import frequent_patterns
from tasks.group_tables import group_tables, scoring_rules
from tasks.paper_text import Wording

AXES = (
    AxisDefinition(name="gender", values={"gender": ("male", "female")}, labels={"male": "M", "female": "F"}),
    AxisDefinition(name="skin", values={"skin": ("light", "dark")}),
    AxisDefinition(name="age", values={"age": ("young", "old")}, labels={"young": "Y", "old": "O"}),
    AxisDefinition(
        name="gender_skin",
        values={"gender": ("male", "female"), "skin": ("light", "dark")},
        labels={"male-light": "ML", "male-dark": "MD", "female-light": "FL", "female-dark": "FD"},
    ),
)
RULES = Rules(permutations=99, resamples=100)
PAIRS = (
    ("celeba", "flux-1-dev"),
    ("celeba", "bagel-edit"),
    ("celebset", "bagel-edit"),
    ("celebset", "a_b&c%<|"),
)
WORDING = Wording(
    rules=RULES, names={"bagel-edit": "Bagel-Edit", "flux-1-dev": "Flux_1 <dev> & 100%|$x$"}, axes=AXES
)
"""Names that would break a table if they were not escaped."""


@cache
def tables_of_a_run() -> dict[str, pl.DataFrame]:
    """Every tidy table that the paper's tables and figures need."""
    taxonomy = load(Taxonomy, "face-edit-attributes")
    plan = Plan(pairs=PAIRS, test_sets={"hair": 3, "accessories": 3, "pose": 2, "multi_axis": 3}, every=6)
    run = synthetic_run(taxonomy, 7, plan)
    scored = scoring.score(run.steps, run.photos, taxonomy, scoring_rules(RULES))
    cells = [
        ("hair color", ("black hair",), ("brown hair",)),
        ("hair color", ("black hair",), ("black hair",)),
    ]
    return {
        "leaderboard": scored.leaderboard,
        "progression": scored.progression,
        "coverage": scored.coverage,
        "coverage_by_group": scored.coverage_by_group,
        "overediting": scored.overediting,
        "patterns": frequent_patterns(scored.overediting, share=0.02),
        "photos": run.photos,
        "tracker_confusion": tracker_confusion(cells),
        **group_tables(run.steps, run.photos, scored.sessions, taxonomy, AXES, RULES),
    }
