"""A synthetic run in a store, as a page shows it: the real tables of a run that was never edited.

Some names and texts are what a stranger might send.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageDraw
from synthetic import PAIRS, Plan, synthetic_run

from adapters.base import ObjectStore
from domain import keys
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.photos import Dataset, LeftOut, Photo
from domain.records import EmbedderIdentity, JudgeIdentity, JudgementRecord
from domain.requests import RunRequest
from domain.runs import RunPlan, Snapshot
from domain.sessions import Instruction, Session
from domain.suites import AxisDefinition, DatasetChoice, EmbedderChoice, Rules, Suite
from domain.taxonomy import Taxonomy
from metrics.frames import state_column, steps_schema
from metrics.masks import LAST_BIT, mask_column
from tasks import ledger, publishing
from tasks.collecting import Collected, Served
from tasks.definitions import load
from tasks.scoring import publish_tables, read_table, score
from tasks.site_source import PICTURES

EVIL = """<script>window.evil = 1</script> "double" 'single' & </script><img src=x onerror=alert(1)>"""
TEST_SETS = {"hair": 10, "accessories": 10, "pose": 5, "multi_axis": 10}
SUITE = "synthetic"
N_IMAGES = 24
AXES = (
    AxisDefinition(name="gender", values={"gender": ("male", "female")}),
    AxisDefinition(name="skin", values={"skin": ("light", "dark")}),
    AxisDefinition(name="gender_skin", values={"gender": ("male", "female"), "skin": ("light", "dark")}),
    AxisDefinition(name="age", values={"age": ("young", "old")}),
)


@dataclass(frozen=True)
class Site:
    """What is in the store."""

    snapshot: Snapshot
    run: RunPlan
    pictures: pl.DataFrame

    def find_pictures(self, run: RunPlan, photos: Dataset, store: ObjectStore) -> pl.DataFrame:
        """In place of the compacted table of a real run."""
        return self.pictures


def make_site(
    store: ObjectStore, number: int = 1, every: int = 60, pairs: Sequence[tuple[str, str]] = PAIRS
) -> Site:
    """Score a synthetic run, as if it were the so manyth of its suite, and store it unpublished.

    Args:
        store: Where `FACEDRIFT_STORE` is.
        number: Also the seed.
        every: Only every so manyth photo; 1 is the size of the paper's run.
        pairs: Datasets and models.
    """
    taxonomy = load(Taxonomy, "face-edit-attributes")
    drawn = synthetic_run(taxonomy, number, Plan(pairs=pairs, test_sets=TEST_SETS, every=every))
    images = write_images(store)
    steps = readable(drawn.steps, taxonomy)
    photos = dataset_of(drawn.photos, images)
    key = keys.dataset(photos.id, keys.fingerprint(photos))
    ledger.write_new(store, key, photos)
    sessions = sessions_of(steps)
    prompts = {(s.id, n): step.prompt for s in sessions for n, step in enumerate(s.steps, 1)}
    asked = pl.DataFrame(
        [(*place, text) for place, text in prompts.items()],
        {"session": pl.String, "step": pl.Int64, "prompt": pl.String},
        orient="row",
    )
    names = steps_schema(taxonomy).names()
    steps = steps.join(asked, on=["session", "step"], maintain_order="left").select(names)
    run = run_of(number, photos, key, sessions, sorted({model for _, model in pairs}))
    ledger.write_new(store, keys.run(run.id), run)
    served = Counter({Served("model", card.id, f"{card.endpoint}-{EVIL}"): 5 for card in run.cards})
    collected = Collected(steps, drawn.photos, [], served, None, Counter())
    snapshot = publish_tables(run, score(run, collected), store)
    site = Site(snapshot, run, pictures_of(steps, photos, images))
    write_judgement(site, store)
    return site


def publish_site(site: Site, store: ObjectStore) -> None:
    """Publish it as a run's report is published, but for the paper's figures: drawing them takes a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "publish_paper", lambda *_: None)
        publishing.publish(site.snapshot, store, site.find_pictures)


def readable(steps: pl.DataFrame, taxonomy: Taxonomy) -> pl.DataFrame:
    """The readable form of compact steps, without prompts."""
    texts = [name for name, kind in steps.schema.items() if not kind.is_numeric() and kind != pl.Boolean]
    frame = steps.with_columns(pl.col(texts).cast(pl.String)).with_columns(
        pl.col("session").str.replace_all("-", "_"),
        pl.col("step").cast(pl.Int64),
        pl.col("asked_category")
        .replace_strict(taxonomy.sub_axis_of, return_dtype=pl.String)
        .alias("asked_sub_axis"),
        pl.when(pl.col("face") == "found").then(pl.lit(1, pl.Int64)).alias("n_faces"),
    )
    for sub_axis, names in taxonomy.categories.items():
        masks = pl.DataFrame({"mask": frame[mask_column(sub_axis)].unique()})
        lists = [
            None if mask == LAST_BIT else [name for at, name in enumerate(names) if mask >> at & 1]
            for mask in masks["mask"]
        ]
        held = masks.with_columns(pl.Series(state_column(sub_axis), lists, pl.List(pl.String)))
        frame = frame.join(held, left_on=mask_column(sub_axis), right_on="mask", maintain_order="left")
    return frame


def sessions_of(steps: pl.DataFrame) -> tuple[Session, ...]:
    """The sessions that the steps are of; one instruction of each test set is a stranger's."""
    asked = steps.select("session", "test_set", "step", "asked_category").unique().sort("session", "step")
    made: list[Session] = []
    for (name, test_set), rows in asked.group_by(["session", "test_set"], maintain_order=True):
        prompts = [f"Please give them {category}." for category in rows["asked_category"]]
        if str(name).endswith("_00"):
            prompts[0] = f"{prompts[0]} {EVIL}"
        instructions = tuple(Instruction(prompt=text, attribute="square glasses") for text in prompts)
        made.append(Session(id=str(name), test_set=test_set, steps=instructions))
    return tuple(made)


def run_of(
    number: int, photos: Dataset, key: str, sessions: tuple[Session, ...], models: Sequence[str]
) -> RunPlan:
    """The plan of a run of all."""
    cards = tuple(a_card(name, at) for at, name in enumerate(models))
    judge = JudgeIdentity(adapter="none", version="1", prompt_version="1", taxonomy="face-edit-attributes@1")
    judge_card = JudgeCard(
        id="judge", name="Judge", lab="nobody", provider="none", endpoint="none/1", price_usd=0,
        typical_latency_s=0, released=date(2026, 1, 1), checked_on=date(2026, 1, 1), source="made up",
    )  # fmt: skip
    suite = Suite(
        id=SUITE,
        title=f"A synthetic suite {EVIL}",
        dataset=DatasetChoice(id=photos.id, adapter="folder", path="nowhere"),
        taxonomy="face-edit-attributes",
        session_set="face-edit-sessions",
        models=tuple(card.id for card in cards),
        embedder=EmbedderChoice(),
        rules=Rules(resamples=200, permutations=199),
        axes=AXES,
    )
    return RunPlan(
        id=f"2026110{number}T000000-00000{number}",
        created_at=f"2026-11-0{number}T00:00:00+00:00",
        request=RunRequest(suite=SUITE),
        suite=suite,
        sessions=sessions,
        cards=cards,
        settings_fingerprints={card.id: keys.fingerprint(card.settings) for card in cards},
        dataset=key,
        photos=tuple(photo.id for photo in photos.photos),
        embedder=EmbedderIdentity(adapter="none", version="1", pack="none", files={}, ladder=()),
        judge=judge,
        judge_card=judge_card,
        tracker=judge,
        tracker_card=judge_card,
        definitions_digest="d" * 64,
        code_version="0.1.0",
        packages={"polars": "1"},
    )


def a_card(name: str, at: int) -> ModelCard:
    """A model under test; the first has a stranger's name."""
    return ModelCard(
        id=name,
        name=f"{name} {EVIL}" if at == 0 else name.title(),
        lab=f"Lab {at}",
        provider="none",
        endpoint=f"none/{name}",
        settings={"guidance": 3.5, "note": EVIL},
        price_usd=0.01 * (at + 1),
        typical_latency_s=1,
        seed_support=True,
        shape_policy="any",
        released=date(2026, 1, 1),
        checked_on=date(2026, 11, 1),
        source="made up",
    )


def write_images(store: ObjectStore) -> list[tuple[str, str]]:
    """Faces of circles and lines; their sha256 and extension."""
    made: list[tuple[str, str]] = []
    for number in range(N_IMAGES):
        image = Image.new("RGB", (240, 300), (40 + 8 * number, 120, 220 - 8 * number))
        draw = ImageDraw.Draw(image)
        draw.ellipse((50, 60, 190, 240), fill=(230, 190 - 3 * number, 160))
        for x in (95, 145):
            draw.ellipse((x - 8, 130, x + 8, 146), fill=(20, 20, 20))
        draw.arc((90, 160, 150, 210), 20, 160, fill=(150, 30, 30), width=4)
        out = io.BytesIO()
        image.save(out, "PNG")
        sha = keys.sha256(out.getvalue())
        store.put_new(keys.image(sha, "png"), out.getvalue())
        made.append((sha, "png"))
    return made


def dataset_of(photos: pl.DataFrame, images: Sequence[tuple[str, str]]) -> Dataset:
    """The photos of the table, with pictures."""
    held = tuple(
        Photo(
            id=row["photo"],
            subject=row["subject"],
            role="base",
            image_sha256=images[at % len(images)][0],
            extension="png",
            width=240,
            height=300,
            box=(50.0, 60.0, 190.0, 240.0),
            licence="CC0-1.0",
            source=f"{row['photo']}.png",
            groups=dict(item.split("=") for item in row["groups"]),
            fss0=row["fss0"],
        )
        for at, row in enumerate(photos.iter_rows(named=True))
    )
    left_out = (LeftOut(source=f"{EVIL}.png", reason="no_face", detail=EVIL),)
    return Dataset(id=SUITE, embedder_fingerprint="none", photos=held, left_out=left_out)


def pictures_of(steps: pl.DataFrame, photos: Dataset, images: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Which image each edited step took and gave."""
    shas = np.array([sha for sha, _ in images])
    base = pl.DataFrame(
        [(photo.id, at % len(images)) for at, photo in enumerate(photos.photos)],
        {"photo": pl.String, "at": pl.Int64},
        orient="row",
    )
    edited = steps.filter(pl.col("outcome") == "edited").join(base, on="photo", maintain_order="left")
    place, step = edited["at"].to_numpy(), edited["step"].to_numpy()
    return edited.with_columns(
        pl.Series("input_sha256", shas[(place + step - 1) % len(images)]),
        pl.Series("image_sha256", shas[(place + step) % len(images)]),
        input_extension=pl.lit("png"),
        image_extension=pl.lit("png"),
    ).select(PICTURES.names())


def write_judgement(site: Site, store: ObjectStore) -> None:
    """What the judge said of the steps that have a stranger's prompt, in a stranger's words."""
    some = site.pictures.filter(pl.col("photo").is_in(site.run.photos[:40]), pl.col("step") == 1)
    told = some.filter(pl.col("session").str.ends_with("_00"))
    prompts = {session.id: session.steps[0].prompt for session in site.run.sessions}
    for row in told.unique(["session", "input_sha256"]).iter_rows(named=True):
        prompt = prompts[row["session"]]
        scores = {"editing_success": 5, "overediting": 5}
        key = keys.judgement_key(row["input_sha256"], row["image_sha256"], prompt)
        record = JudgementRecord(
            key=key,
            judge=site.run.judge,
            before_sha256=row["input_sha256"],
            after_sha256=row["image_sha256"],
            prompt=prompt,
            status="scored",
            success=5,
            overediting=5,
            asks=1,
            raw_texts=(json.dumps({"reasoning": f"It looks {EVIL}"} | scores),),
        )
        ledger.write_new(store, keys.judgement(keys.fingerprint(site.run.judge), key), record)


def make_ranked(store: ObjectStore, site: Site, tables: dict[str, pl.DataFrame]) -> Site:
    """A snapshot of the same run whose tables are those of a ranking."""
    names = ("photos", "sources", "left_out", "served", "refusals", "shapes")
    own = {name: read_table(store, site.snapshot, name) for name in names}
    snapshot = publish_tables(site.run, own | tables, store)
    return Site(snapshot, site.run, site.pictures.head(0))
