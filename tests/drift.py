"""Runs of prompt chains on made-up photos: attempts, refusals, other shapes and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chains import a_dataset, a_plan, an_end

from adapters.base import ObjectStore
from domain import keys
from domain.chains import ChainSet, PromptChain
from domain.judge_cards import JudgeCard
from domain.judging import Checklist
from domain.loading import load
from domain.photos import Dataset
from domain.plan import StepPlan, Walk, chains
from domain.records import CheckRecord, JudgeIdentity, OutcomeRecord
from domain.running import StepRules
from domain.runs import RunPlan
from domain.sessions import Session, sessions_of_chains
from domain.suites import JudgeChoice
from tasks import ledger

CHECKER = JudgeIdentity(adapter="scripted", version="1", prompt_version="step-check.v1", taxonomy="none@1")
RULES = StepRules(attempts=3, checker="local", max_aspect_change=0.01)
MADE = Checklist(
    prompt_applies=True,
    right_item_changed=True,
    item_visibly_changed=True,
    right_place=None,
    old_place_empty=None,
    wrong_details=0,
    details_right=None,
    framing_kept=True,
    major_unrequested_changes=(),
)
NOT_MADE = Checklist(**(vars(MADE) | {"right_place": False, "major_unrequested_changes": ("another sky",)}))
PROMPTS = (
    "Make the coat red.",
    "Remove the bag.",
    "Add a cup on the table.",
    "Move the chair.",
    "Open the door.",
)

Draw = Callable[[StepPlan], str | None]
"""How an attempt ends: a verdict, or `unchecked`; None: it did not."""


def a_chain_set(photos: list[str], prompts: tuple[str, ...] = PROMPTS) -> ChainSet:
    targets = ("clothing", "objects", "text", "mixed")
    return ChainSet(
        id="made-up",
        version=1,
        source="tests",
        chains=tuple(
            PromptChain(
                photo=photo,
                edit_target=targets[number % 4],
                people="1",
                face_size="large",
                photo_shape="landscape",
                view="close",
                prompts=tuple(f"{prompt} {number}" for prompt in prompts),
            )
            for number, photo in enumerate(photos)
        ),
    )


def a_drift_plan(
    photos: Dataset,
    sessions: tuple[Session, ...] | None = None,
    rules: StepRules = RULES,
    seeded: tuple[bool, ...] = (True, False),
    **fields: Any,
) -> RunPlan:
    """A run of models m0, m1, … over one chain a photo, or over other sessions."""
    made = a_plan(photos, (), seeded)
    chain_set = a_chain_set([photo.id for photo in photos.base])
    suite = made.suite.model_copy(update={"steps": rules, "shard_chains": 4})
    nobody: dict[str, Any] = dict.fromkeys(("judge", "judge_card", "tracker", "tracker_card"))
    checker: dict[str, Any] = {}
    if rules.checker:
        checker = {"checker": CHECKER, "checker_card": load(JudgeCard, "local")}
    if sessions is None:
        of_chains = {"taxonomy": None, "session_set": None, "chain_set": "made-up"}
        no_judges = JudgeChoice(consistency=None, tracker=None)
        suite = suite.model_copy(update={**of_chains, "judges": no_judges})
        base: dict[str, Any] = {"sessions": sessions_of_chains(chain_set), "chain_set": chain_set, **nobody}
    else:
        base = {"sessions": sessions}
    return made.model_copy(update={"suite": suite, **base, **checker, **fields})


def a_check(step: StepPlan, outcome: OutcomeRecord, checklist: Checklist, **fields: Any) -> CheckRecord:
    assert outcome.image is not None
    shown = (step.identity.input_sha256, outcome.image.sha256, step.identity.prompt)
    base: dict[str, Any] = {
        "key": keys.judgement_key(*shown),
        "checker": CHECKER,
        "before_sha256": shown[0],
        "after_sha256": shown[1],
        "prompt": shown[2],
        "status": "checked",
        "made": checklist.made,
        "checklist": checklist,
        "asks": 1,
        "raw_texts": ("{}",),
    }
    return CheckRecord(**base | fields)


@dataclass
class DriftHistory:
    """Outcomes and checks of a run by key, made chain by chain."""

    run: RunPlan
    photos: Dataset
    records: dict[str, OutcomeRecord] = field(default_factory=dict[str, OutcomeRecord])
    checks: dict[str, CheckRecord] = field(default_factory=dict[str, CheckRecord])

    def walks(self) -> list[Walk]:
        """Every chain, followed one by one."""
        run, base = self.run, [self.photos.by_id[name] for name in self.run.photos]
        every = chains([card.id for card in run.cards], base, run.sessions)
        return [
            run.walk(chain, self.photos.by_id[chain.photo], self.records.get, self.checks.get)
            for chain in every
        ]

    def do(self, draw: Draw) -> None:
        """Take every chain as far as `draw` says how its attempts end."""
        for walk in self.walks():
            step = walk.next_step
            while step and (kind := draw(step)):
                step = self.end(step, kind)

    def end(self, step: StepPlan, kind: str) -> StepPlan | None:
        """End one attempt; what was drawn for it before stays."""
        course = self.run.course(step.chain)
        outcome = self.records.setdefault(step.key, an_attempt(step, kind))
        key = course.to_check(step, outcome)
        if key and kind in ("made", "not_made"):
            self.checks.setdefault(key, a_check(step, outcome, MADE if kind == "made" else NOT_MADE))
        verdict = course.verdict(step, outcome, self.checks.get(key) if key else None)
        return course.after(step, outcome, verdict) if verdict else None

    def store(self, store: ObjectStore) -> None:
        """Write outcomes and checks as a run does."""
        for record in self.records.values():
            ledger.write_new(store, keys.outcome(record.key), record)
        for check in self.checks.values():
            ledger.write_new(store, keys.check(keys.fingerprint(check.checker), check.key), check)


def an_attempt(step: StepPlan, kind: str) -> OutcomeRecord:
    """How an attempt ended; an edit keeps the size of its input, or is a fiftieth wider."""
    if kind in ("refused", "no_image"):
        return an_end(step, kind)
    made = an_end(step)
    assert made.image is not None
    assert step.input_size is not None
    width, height = step.input_size
    wider = 1.02 if kind == "off_shape" else 1.0
    size = {"width": round(width * wider), "height": height}
    return made.model_copy(update={"image": made.image.model_copy(update=size)})


def large(photos: int) -> Dataset:
    """Photos of people whose sides are long enough for a shape to change by 2 %."""
    made = a_dataset(photos)
    wide = tuple(photo.model_copy(update={"width": 1248, "height": 832}) for photo in made.photos)
    return made.model_copy(update={"photos": wide})
