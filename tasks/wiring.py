"""The composition root: the only place that builds adapters, from names, cards and settings.

Each is built once per process and shared by its threads.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from adapters.base import (
    Editor,
    EditorContext,
    Embedder,
    JudgeContext,
    ObjectStore,
    SessionWriter,
    StepChecker,
)
from adapters.datasets.about import ABOUT
from adapters.datasets.settings import DataSettings
from adapters.datasets.source import DatasetSource
from adapters.registry import (
    IN_PROCESS,
    JUDGES,
    USES_POOL,
    AnyJudge,
    can_check_steps,
    dataset_class,
    editor_class,
    judge_class,
    writer_class,
)
from adapters.stores.local import LocalStore
from adapters.stores.settings import Place, place
from domain import keys
from domain.dataset_options import dataset_options
from domain.errors import DefinitionError, StoreError
from domain.judge_cards import JudgeCard, JudgeRole
from domain.loading import settings_error
from domain.model_cards import ModelCard
from domain.photos import Dataset
from domain.records import EmbedderIdentity, JudgeIdentity
from domain.runs import RunPlan
from domain.suites import DatasetChoice, FacePack, Suite
from domain.taxonomy import Taxonomy
from tasks import ledger
from tasks.definitions import load, prompt, taxonomy_of

if TYPE_CHECKING:
    from adapters.imaging.face_models import FaceModels


def store() -> ObjectStore:
    """The store that `FACEDRIFT_STORE` names; raises DefinitionError or StoreError where it names none."""
    return store_at(place())


@cache
def store_at(where: Place) -> ObjectStore:
    """The store at a place."""
    if isinstance(where, Path):
        return LocalStore(where)
    from adapters.stores.s3 import S3Store

    return S3Store(where)


def run_plan(run_id: str) -> RunPlan:
    """The resolved plan of a run."""
    return _stored_run(place(), run_id)


@cache
def _stored_run(_where: Place, run_id: str) -> RunPlan:
    found = ledger.read(store(), keys.run(run_id), RunPlan)
    if found is None:
        raise StoreError(f"no run {run_id!r} in the store", key=keys.run(run_id))
    return found


def dataset(key: str) -> Dataset:
    """A dataset manifest."""
    return _stored_dataset(place(), key)


@cache
def _stored_dataset(_where: Place, key: str) -> Dataset:
    found = ledger.read(store(), key, Dataset)
    if found is None:
        raise StoreError(f"no dataset {key!r} in the store", key=key)
    return found


def dataset_source(choice: DatasetChoice) -> DatasetSource:
    """The adapter that reads a suite's photos."""
    root = Path()
    if choice.path is not None:
        root = DataSettings().existing(choice.path, ABOUT[choice.adapter])
    options = dataset_options(choice.adapter, choice.options)
    return dataset_class(choice.adapter).build(root, options)


def embedder_identity(pack: str) -> EmbedderIdentity:
    """What an embedder's readings will carry; no weights are loaded."""
    from adapters.embedders.insightface import identity_of

    return identity_of(load(FacePack, pack))


@cache
def embedder(pack: str) -> Embedder:
    """The embedder of a pack; raises WeightsError."""
    from adapters.embedders.insightface import InsightFaceEmbedder
    from adapters.imaging.packs import PackSettings

    return InsightFaceEmbedder.open(load(FacePack, pack), PackSettings())


@cache
def _landmarks(pack: str) -> FaceModels:
    from adapters.imaging.packs import PackSettings, open_pack

    return open_pack(load(FacePack, pack), PackSettings(), ("detection", "landmark_2d_106"))


def settings_fingerprint(card: ModelCard, dataset_key: str, *, rehearse: bool = False) -> str:
    """The sha256 of everything that decides a model's answer besides image, prompt and seed."""
    sent: dict[str, JsonValue] = {
        "provider": card.provider,
        "endpoint": card.endpoint,
        "settings": card.settings,
    }
    if card.provider in USES_POOL:
        sent["pool"] = dataset_key
    if rehearse and not is_in_process(card.provider):
        sent["rehearsal"] = True  # so that nothing a stand-in made can ever pass for the model's
    return keys.fingerprint(sent)


def is_in_process(provider: str) -> bool:
    """Whether an editor or judge calls nobody, so that asking it again costs nothing."""
    return provider in IN_PROCESS


def editor(run: RunPlan, model: str) -> Editor:
    """The editor that reaches a model of a run."""
    return _editor(place(), run.id, model)


@cache
def _editor(_where: Place, run_id: str, model: str) -> Editor:
    run = run_plan(run_id)
    return build_editor(run.card[model], dataset(run.dataset), run.suite, rehearse=run.request.rehearse)


def build_editor(card: ModelCard, photos: Dataset, suite: Suite, *, rehearse: bool = False) -> Editor:
    """An editor for a card.

    Raises:
        DefinitionError: the card's settings are not the editor's, or a key or package is missing.
    """
    context = _editor_context(photos, suite, standin_url() if rehearse else None)
    try:
        return editor_class(card.provider).build(card, context)
    except ValidationError as error:
        raise settings_error(error, type(card), card.id) from error


def _editor_context(photos: Dataset, suite: Suite, standin: str | None) -> EditorContext:
    return EditorContext(
        taxonomy=taxonomy_of(suite),
        pool=photos.base,
        load_photo=lambda photo: ledger.read_image(store(), photo.image_sha256, photo.extension),
        face_models=lambda: _landmarks(suite.embedder.pack),
        standin_url=standin,
    )


def check_settings(card: ModelCard | JudgeCard, suite: Suite) -> None:
    """Raise DefinitionError for settings that a card's adapter does not know; no key is needed for that."""
    if isinstance(card, JudgeCard):
        judging, context = judge_class(card.provider), _judge_context(card, suite, NOWHERE)
        build = partial(judging.build, card, context)
    else:
        nobody = Dataset(id="none", embedder_fingerprint="none", photos=())
        build = partial(editor_class(card.provider).build, card, _editor_context(nobody, suite, NOWHERE))
    try:
        build()
    except ValidationError as error:
        raise settings_error(error, type(card), card.id) from error
    except DefinitionError:
        return  # a package is missing, or the stand-in does not speak it: that matters once it is called


NOWHERE = "http://127.0.0.1:9"


def standin_url() -> str:
    """Where the stand-in of a rehearsal answers."""
    url = RehearsalSettings().standin_url
    if url is None:
        raise DefinitionError(
            "a rehearsal needs the stand-in: start it with `facedrift standin` and set FACEDRIFT_STANDIN_URL"
        )
    return url


class RehearsalSettings(BaseSettings):
    """`FACEDRIFT_STANDIN_URL`: where the stand-in answers; `facedrift run --rehearse` sets it."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    standin_url: str | None = None


def judge_identity(card: JudgeCard, role: JudgeRole, suite: Suite, taxonomy: Taxonomy) -> JudgeIdentity:
    """What a judge's answers will carry in one of its roles; raises DefinitionError when it has it not."""
    from adapters.judges import local, local_steps

    if role == "step_check" and not can_check_steps(card.provider):
        able = tuple(name for name in JUDGES if can_check_steps(name))
        message = f"the judge {card.id!r}, reached over {card.provider!r}, cannot check steps"
        raise DefinitionError(f"{message}; providers that can", field="steps.checker", allowed=able)
    own = local_steps.CHECK_VERSION if role == "step_check" else local.VERSION
    version, prompt_version = f"{own} on {suite.embedder.pack}", "none"
    if not is_in_process(card.provider):
        if role not in card.prompts:
            raise DefinitionError(f"judge {card.id!r} has no prompt for {role}", field=f"prompts.{role}")
        version = f"{card.endpoint} {keys.fingerprint(card.settings)[:12]}"
        prompt_version = f"{card.prompts[role]} {keys.sha256(prompt(card.prompts[role]).encode())[:12]}"
    return JudgeIdentity(
        adapter=card.provider,
        version=version,
        prompt_version=prompt_version,
        taxonomy=f"{taxonomy.id}@{taxonomy.version}",
    )


def judge(run: RunPlan) -> AnyJudge:
    """Who scores the edits of a run."""
    return _judge(place(), run.id, run.role("judge").card.id)


def tracker(run: RunPlan) -> AnyJudge:
    """Who tracks the states of a run; the same object when it is the same card."""
    return _judge(place(), run.id, run.role("tracker").card.id)


def checker(run: RunPlan) -> StepChecker:
    """Who checks the steps of a run; a plan with a judge that cannot is refused (`judge_identity`)."""
    return cast(StepChecker, _judge(place(), run.id, run.role("checker").card.id))


@cache
def _judge(_where: Place, run_id: str, card_id: str) -> AnyJudge:
    run = run_plan(run_id)
    card = next(card for card in run.judge_cards if card.id == card_id)
    return build_judge(card, run.suite, rehearse=run.request.rehearse)


def build_judge(card: JudgeCard, suite: Suite, *, rehearse: bool = False) -> AnyJudge:
    """A judge for a card; raises DefinitionError as `build_editor` does."""
    context = _judge_context(card, suite, standin_url() if rehearse else None)
    try:
        return judge_class(card.provider).build(card, context)
    except ValidationError as error:
        raise settings_error(error, type(card), card.id) from error


def session_writer(card: JudgeCard, taxonomy: Taxonomy, *, rehearse: bool = False) -> SessionWriter:
    """Who phrases sessions, for a card; raises DefinitionError as `build_editor` does."""
    prompts = {role: prompt(name) for role, name in card.prompts.items()}
    no_faces = partial(_landmarks, "")  # a writer is shown none
    context = JudgeContext(taxonomy, prompts, no_faces, standin_url() if rehearse else None)
    try:
        return writer_class(card.provider).build(card, context)
    except ValidationError as error:
        raise settings_error(error, type(card), card.id) from error


def _judge_context(card: JudgeCard, suite: Suite, standin: str | None) -> JudgeContext:
    return JudgeContext(
        taxonomy=taxonomy_of(suite),
        prompts={role: prompt(name) for role, name in card.prompts.items()},
        face_models=lambda: _landmarks(suite.embedder.pack),
        standin_url=standin,
    )
