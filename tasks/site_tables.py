"""Coverage, model settings, sessions, downloads and what is said about a run, out of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import polars as pl

from adapters.pages.site.views import Download, ModelView, Series, SessionView, Table
from domain.model_cards import ModelCard
from domain.runs import RunPlan
from metrics.leaderboard import POOLED
from tasks.paper_index import read_index
from tasks.paper_text import rules_text
from tasks.report_views import TRACKER_TEXT, TRUTH_TEXT, truth_summary
from tasks.scoring import rules_of
from tasks.site_source import SiteSource
from tasks.site_votes import is_simulated
from tasks.site_words import heading, names_of, shown

BY_METRICS = (
    "Method and data come from “A Large-scale Evaluation of Text-guided Models for Facial Editing” "
    "(arXiv 2608.28802); where it is silent, the rules below were chosen."
)
BY_VOTES = (
    "People see the last faces of two models beside the original and say which looks more like it; ratings "
    "are strengths of a Bradley–Terry model of their votes, with the rules that the tab Analysis names."
)
BY_SIMULATED_VOTES = (
    "A simulated crowd stands for the people who would see the last faces of two models beside the original; "
    "ratings are strengths of a Bradley–Terry model of its votes and say nothing of what people see."
)
LEFT_OUT_TEXT = "Files that became no photo, and photos and prompt chains without a counterpart, by reason."
MOST_ROWS = 60
"""Of a list that a table holds in full."""


def drift_series(source: SiteSource) -> list[tuple[str, list[Series]]]:
    """Mean similarity at each step, dataset by dataset; the model that keeps most is first."""
    table = source.maybe("progression")
    if table is None:
        return []
    n = "fss_n" if "fss_n" in table.columns else "n"
    called = names_of(source.run)
    drawn: list[tuple[str, list[Series]]] = []
    for (dataset,), rows in table.sort("dataset", "model", "step").group_by(["dataset"], maintain_order=True):
        lines = [
            Series(
                str(model),
                *(part[name].to_list() for name in ("fss", "fss_low", "fss_high")),
                n=part[n].to_list(),
                name=called.get(str(model), str(model)),
            )
            for (model,), part in rows.drop_nulls("fss").group_by(["model"], maintain_order=True)
        ]
        drawn.append((str(dataset), sorted(lines, key=lambda line: (-line.mean[-1], line.model))))
    return [("", drawn[0][1])] if len(drawn) == 1 else drawn


def coverage_tables(source: SiteSource) -> list[Table]:
    """What was left out, and why."""
    made: list[Table] = []
    called = names_of(source.run)
    coverage = source.maybe("coverage")
    if coverage is not None and "what" in coverage.columns:
        by = ["dataset", "model", "what", "reason"]
        counted = coverage.filter(pl.col("test_set") != POOLED).group_by(by).agg(pl.col("n").sum()).sort(by)
        text = "Whatever is missing from a mean, over all test sets; coverage.csv has them one by one."
        made.append(plain("Left out of means", text, counted, called))
    for name, title, text in (
        ("completion", "Completion", "Chains that a model finished; one below the threshold is not ranked."),
        ("refusals", "Refusals", "Steps that got an answer, and those declined or without an image."),
        ("shapes", "Sizes", "Edits of another size than their input, and of another aspect (over 1 %)."),
    ):
        table = source.maybe(name)
        if table is not None:
            made.append(plain(title, text, table, called))
    left_out = source.maybe("left_out")
    if left_out is not None:
        counted = left_out.group_by("reason").len("n").sort("n", "reason", descending=[True, False])
        made.append(plain("Left out before the run", LEFT_OUT_TEXT, counted))
        made.append(plain("Which they are", "", left_out.select("source", "reason", "detail")))
    return made


def plain(title: str, text: str, table: pl.DataFrame, called: Mapping[str, str] | None = None) -> Table:
    """A table with its models as they are called; of a long one the beginning."""
    held = table.select(name for name in table.columns if name != "suite")
    if "dataset" in held.columns and held["dataset"].n_unique() <= 1:
        held = held.drop("dataset")
    if held.height > MOST_ROWS:
        text = f"{text} The first {MOST_ROWS} of {held.height} rows; the files hold all.".strip()
    kinds = held.schema.items()
    return Table(
        title,
        text,
        [heading(name) for name, _ in kinds],
        [
            [shown(value, name, called) for name, value in zip(held.columns, row, strict=True)]
            for row in held.head(MOST_ROWS).iter_rows()
        ],
        frozenset(at for at, (_, kind) in enumerate(kinds) if kind.is_numeric()),
    )


def session_views(source: SiteSource) -> list[SessionView]:
    """What was asked, session by session."""
    return [
        SessionView(session.id, session.test_set.replace("_", " "), [step.prompt for step in session.steps])
        for session in source.run.sessions
    ]


def model_views(source: SiteSource) -> list[ModelView]:
    """Everything that was sent to each model, and who answered."""
    served = source.maybe("served")
    rows = [] if served is None else served.filter(pl.col("role") == "model").to_dicts()
    return [
        ModelView(
            card.id,
            card.name,
            _card_facts(card, source.run.settings_fingerprints[card.id]),
            [(name, json.dumps(value, sort_keys=True)) for name, value in sorted(card.settings.items())],
            [
                (
                    row["served"],
                    f"{row['n']} edits" + ("" if row["is_the_model"] else ", not the model asked"),
                )
                for row in rows
                if row["card"] == card.id
            ],
            card.is_control,
        )
        for card in source.run.cards
    ]


def _card_facts(card: ModelCard, fingerprint: str) -> list[tuple[str, str]]:
    return [
        ("lab", card.lab),
        ("provider", card.provider),
        ("endpoint", card.endpoint),
        ("price", f"${card.price_usd:g} an edit"),
        ("seeds", "sent" if card.seed_support else "not accepted"),
        ("output size", "that of the input" if card.shape_policy == "same" else "the model chooses"),
        ("released", card.released.isoformat()),
        ("retired", card.retired_on.isoformat() if card.retired_on else "no"),
        ("card checked", card.checked_on.isoformat()),
        ("settings fingerprint", fingerprint[:16]),
        ("source", card.source),
        *((("note", card.note),) if card.note else ()),
    ]


def about_tables(source: SiteSource) -> list[Table]:
    """Licences, who answered, and how far the measuring is from a known truth."""
    made: list[Table] = []
    called = names_of(source.run)
    sources = source.maybe("sources")
    if sources is not None and "licence" in sources.columns:
        counted = (
            sources.group_by("licence").len("photos").sort("photos", "licence", descending=[True, False])
        )
        made.append(plain("Licences of the photos", "sources.csv names every photo.", counted))
        names = [
            n for n in ("photo", "id", "author", "attribution", "source", "licence") if n in sources.columns
        ]
        made.append(plain("Attribution", "", sources.select(names)))
    truth = source.maybe("truth")
    if truth is not None:
        made.append(plain("Measured against the truth", TRUTH_TEXT, truth_summary(truth), called))
        accuracy = source.maybe("tracker_accuracy")
        if accuracy is not None:
            made.append(plain("What the tracker recognised", TRACKER_TEXT, accuracy))
    served = source.maybe("served")
    if served is not None:
        made.append(
            plain("Who answered", "Each served version beside the one that was asked.", served, called)
        )
    return made


def facts_of(source: SiteSource) -> list[tuple[str, str]]:
    """Which numbers these are, in one line."""
    run = source.run
    return [
        ("run", run.id),
        ("snapshot", source.snapshot.digest[:16]),
        ("code", run.code_version),
        ("data", run.dataset.rpartition("/")[2].removesuffix(".json")),
        ("definitions", run.definitions_digest[:12]),
    ]


def _rules(run: RunPlan) -> str:
    if run.chain_set is None:
        return rules_text(run.suite.rules)
    return ", ".join(f"{name.replace('_', ' ')} = {value}" for name, value in rules_of(run).items())


def about(source: SiteSource, asked_of_people: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """Method, choices and versions; with it what people were asked."""
    run = source.run
    packages = ", ".join(f"{name} {version}" for name, version in sorted(run.packages.items()))
    asked = (("Judge", run.judge), ("Tracker", run.tracker), ("Step checker", run.checker))
    versions = [
        f"Embedder: {run.embedder.adapter} {run.embedder.version}, pack {run.embedder.pack}.",
        *(f"{who}: {by.adapter} {by.version}, prompt {by.prompt_version}." for who, by in asked if by),
    ]
    return [
        (
            "Method",
            [
                "Each model edits its own last output, step by step; every number is computed from stored "
                "images. Incomplete sessions are in no mean and are counted by the reason they stopped.",
                _how_rated(source),
                *asked_of_people,
            ],
        ),
        ("Rules", [_rules(run) + "."]),
        ("Versions", [*versions, f"Packages: {packages}."]),
        ("Photos", _photo_facts(source)),
    ]


def _how_rated(source: SiteSource) -> str:
    if source.run.chain_set is None:
        return BY_METRICS
    return BY_SIMULATED_VOTES if is_simulated(source) else BY_VOTES


def _photo_facts(source: SiteSource) -> list[str]:
    photos = source.maybe("photos")
    said = [f"{len(source.run.photos)} photos of the dataset {source.photos.id} ({source.run.dataset})."]
    if photos is not None and "near_duplicate" in photos.columns:
        flagged = int(photos["near_duplicate"].sum())
        said.append(
            f"{flagged} of {photos.height} photos have a reference that may be a copy: their FSS₀ compares a "
            "picture with a copy."
        )
    return said


def downloads(source: SiteSource, extra: Sequence[str] = ()) -> list[Download]:
    """Every table and figure with its files; `extra` are files that are written with the page."""
    names = set(source.names) | set(extra)
    tidy = [name.removesuffix(".parquet") for name in sorted(names) if name.endswith(".parquet")]
    made = [
        Download(
            name.replace("_", " "),
            "table",
            source.table(name).height,
            [f"{name}.{form}" for form in ("csv", "json", "parquet") if f"{name}.{form}" in names],
        )
        for name in tidy
    ]
    for entry in read_index(source.snapshot, source.store):
        if entry["kind"] != "tidy table" and entry["files"]:
            number = f"{entry['number']}: " if entry["number"] else ""
            kind = "paper layout" if entry["kind"] == "table" else entry["kind"]
            made.append(Download(f"{number}{entry['title']}", kind, entry["n"], entry["files"]))
    return made
