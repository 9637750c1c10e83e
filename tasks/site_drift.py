"""What a page shows of prompt chains beside the board: attempts, the chains themselves, where they ended."""

from __future__ import annotations

import polars as pl

from adapters.pages.site.chain_views import Attempts, AttemptsLine, parts_of
from adapters.pages.site.picture_views import Picture
from adapters.pages.site.views import SessionView, Table
from domain.chains import DIMENSIONS
from metrics.attempts import VERDICTS
from tasks.site_compare import shown_pairs
from tasks.site_source import SiteSource
from tasks.site_words import names_of, words

ORDINALS = ("first", "second", "third")
FAILED = ("failed", "not made at all")


def attempts_of(source: SiteSource) -> Attempts | None:
    """How many attempts steps took; None where no step was tried."""
    table = source.maybe("attempts")
    if table is None:
        return None
    most = max(len(row) for row in table["made_at"])
    legend = [*((f"made{min(n, 3)}", _ordinal(n)) for n in range(1, most + 1)), FAILED]
    verdicts = [name for name in VERDICTS[1:] if name in table.columns]
    lines: list[AttemptsLine] = []
    for card in sorted(source.run.cards, key=lambda card: card.is_control):
        own = table.filter(pl.col("model") == card.id)
        made = [sum(row[n] for row in own["made_at"].to_list()) for n in range(most)]
        counts = [*made, int(own["n_failed"].sum())]
        shown = [(label, kind, n) for (kind, label), n in zip(legend, counts, strict=True)]
        failed = [(words(name), int(own[name].sum())) for name in verdicts]
        lines.append(
            AttemptsLine(
                card.name or card.id, card.is_control, int(own["n_tried"].sum()), parts_of(shown), failed
            )
        )
    return Attempts(lines, legend, [words(name) for name in verdicts])


def _ordinal(n: int) -> str:
    return f"made at the {ORDINALS[n - 1]} attempt" if n <= len(ORDINALS) else f"made at attempt {n}"


def attempts_by_step(source: SiteSource) -> Table | None:
    """The same step by step, as a table."""
    table = source.maybe("attempts")
    if table is None:
        return None
    most = max(len(row) for row in table["made_at"])
    verdicts = [name for name in VERDICTS[1:] if name in table.columns]
    columns = ["model", "step", "tried", *(f"made at {n}" for n in range(1, most + 1)), "failed"]
    called = names_of(source.run)
    rows = [
        [
            called.get(row["model"], row["model"]),
            *(str(n) for n in (row["step"], row["n_tried"], *row["made_at"], row["n_failed"])),
            *(str(row[name]) for name in verdicts),
        ]
        for row in table.sort("model", "step").iter_rows(named=True)
    ]
    names = [*columns, *(f"attempts: {words(name)}" for name in verdicts)]
    text = "Steps that were tried, by the attempt that made them; then failed attempts by what they came to."
    return Table("", text, names, rows, frozenset(range(1, len(names))))


def chain_views(source: SiteSource) -> list[SessionView]:
    """Every prompt chain with its photo, its dimensions and how many models completed it."""
    chains = source.table("chains")
    pages = {(photo, session.id) for photo, session in shown_pairs(source.run)[0]}
    n_models = len(source.run.cards)
    made: list[SessionView] = []
    for row in chains.iter_rows(named=True):
        photo = source.photos.by_id.get(row["photo"])
        dimensions = [f"{words(name)}: {row[name]}" for name in DIMENSIONS if name in row]
        place = (row["photo"], row["session"])
        made.append(
            SessionView(
                row["photo"],
                str(row.get("edit_target") or ""),
                row["prompts"],
                " · ".join([*dimensions, f"{row['n_models_complete']} of {n_models} models complete"]),
                picture=Picture(photo.image_sha256, photo.extension) if photo else None,
                page=f"compare/{place[0]}--{place[1]}.html" if place in pages else "",
            )
        )
    return made


def chain_counts(source: SiteSource) -> Table | None:
    """How many chains there are of each value of each dimension, and how many models complete them."""
    chains = source.maybe("chains")
    if chains is None:
        return None
    n_models = len(source.run.cards)
    rows: list[list[str]] = []
    for name, values in DIMENSIONS.items():
        for value in values:
            own = chains.filter(pl.col(name) == value)
            done = int(own["n_models_complete"].sum())
            rows.append([words(name), value, str(own.height), f"{done} of {own.height * n_models}"])
    text = "Chains of each kind, and how many of their runs by a model were completed."
    names = ["dimension", "value", "chains", "completed"]
    return Table("Chains by dimension", text, names, rows, frozenset({2, 3}))


def completion_by(source: SiteSource) -> dict[tuple[str, str, str], tuple[float, int]]:
    """Share of its chains that a model completed, and their number, by dimension, value and model."""
    steps, chains = source.maybe("steps"), source.maybe("chains")
    if steps is None or chains is None or "verdict" not in steps.columns:
        return {}
    key = ["model", "photo", "session"]
    made = steps.filter(pl.col("verdict") == "made").group_by(key).agg(n=pl.len())
    wanted = chains.select("photo", "session", *DIMENSIONS, n_steps=pl.col("prompts").list.len())
    models = pl.DataFrame({"model": [card.id for card in source.run.cards]}, {"model": pl.String})
    held = models.join(wanted, how="cross").join(made, on=key, how="left")
    held = held.with_columns(done=pl.col("n").fill_null(0) >= pl.col("n_steps"))
    found: dict[tuple[str, str, str], tuple[float, int]] = {}
    for name in DIMENSIONS:
        shares = held.group_by(name, "model").agg(pl.col("done").mean(), n=pl.len())
        for value, model, share, n in shares.select(name, "model", "done", "n").iter_rows():
            found[name, value, model] = (share, n)
    return found


def failed_steps(source: SiteSource) -> Table | None:
    """The steps at which chains ended, with what was wrong with each attempt."""
    table = source.maybe("failed_steps")
    if table is None:
        return None
    called = names_of(source.run)
    rows = [
        [called.get(row["model"], row["model"]), row["photo"], str(row["step"]), _numbered(row["reasons"])]
        for row in table.iter_rows(named=True)
    ]
    text = "A chain ends at a step that failed at every attempt; so many chains did."
    return Table(f"Where chains ended ({len(rows)})", text, ["model", "photo", "step", "attempts"], rows)


def _numbered(reasons: list[str]) -> str:
    told = [text.replace("not_made: ", "checks failed: ").replace("_", " ") for text in reasons]
    if len(set(told)) == 1:
        return f"each of {len(told)}: {told[0]}"
    return "; ".join(f"{n}. {text}" for n, text in enumerate(told, 1))
