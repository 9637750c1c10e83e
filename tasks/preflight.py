"""What must be right before a run begins, so that it fails at once and with a sentence."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.settings import get_current_settings

from adapters.imaging.packs import PackSettings
from adapters.registry import editor_class
from adapters.stores.settings import VARIABLE, Place, is_relative, place
from domain.errors import DefinitionError, FacedriftError, StoreError
from domain.retirement import retiring
from domain.runs import RunRequest
from tasks import wiring
from tasks.definitions import load_suite
from tasks.environment_checks import check_environment
from tasks.planning import calls_somebody, preview, resolve
from tasks.provider_checks import problems_of
from tasks.threads import in_thread
from tasks.versions import package_versions

MIN_FREE_BYTES = 200_000_000
EDIT_BYTES = 2_000_000
"""Of one edited image, about: a PNG of one megapixel."""


def check_before_run(request: RunRequest) -> None:
    """Raise the error of the first thing that would stop a run: definitions, photos, store, weights."""
    check_environment()
    resolved = resolve(request)
    for card in resolved.cards:
        editor_class(card.provider)
    wiring.dataset_source(resolved.suite.dataset)
    check_store()
    wiring.embedder(resolved.suite.embedder.pack)


def check_store(edits: int = 0) -> None:
    """Raise StoreError unless the store can be written, read and has room for so many edits."""
    where = place()
    if isinstance(where, Path):
        _check_promises(where)
        _check_room(where, edits)
    else:
        _check_bucket(where)


def _check_promises(where: Place) -> None:
    problems = wiring.store().probe()
    if problems:
        raise StoreError(f"the store {where} cannot be used: {'; '.join(problems)}")


_check_bucket = cache(_check_promises)
"""Once in a process: some servers take seconds to say who won a race. An error is not remembered."""


def _check_room(root: Path, edits: int) -> None:
    free, needed = shutil.disk_usage(_existing(root)).free, max(MIN_FREE_BYTES, edits * EDIT_BYTES)
    if free < needed:
        raise StoreError(
            f"{root} has {free // 1_000_000} MB free, and about {needed // 1_000_000} MB are needed; "
            "make room or choose another store"
        )


async def ready_store() -> None:
    """Raise StoreError unless the store can do what a run needs of it, and is the same for every worker."""
    context = FlowRunContext.get()
    if context and context.flow_run and context.flow_run.deployment_id and is_relative():
        raise StoreError(
            f"{VARIABLE} is a relative folder, which each worker would look for where it was started: set it "
            "to an absolute one or to s3://bucket/prefix on every worker"
        )
    await in_thread(check_store)


def checks(suite: str) -> Iterator[tuple[str, str | None]]:
    """Every check of `facedrift doctor`: its name, and what is wrong with what to do, or None."""
    yield "onnxruntime is installed once and works", _problem(_check_onnxruntime)
    yield "the variables of limits and retries can be read", _problem(check_environment)
    yield "the store can be written and has room", _problem(check_store)
    yield f"suite {suite!r} and its definitions are valid", _problem(lambda: resolve(RunRequest(suite=suite)))
    yield f"the photos of {suite!r} are there", _problem(lambda: _check_photos(suite))
    yield f"face pack of {suite!r} is complete", _problem(lambda: _check_pack(suite))
    yield "the Prefect server answers, where one is configured", _problem(check_prefect)
    try:
        resolved = resolve(RunRequest(suite=suite))
    except FacedriftError:
        return
    cards = (*resolved.cards, *resolved.judges)
    if resolved.suite.rehearsal.always:
        return  # a run starts the stand-in that its providers are played by
    problems = problems_of(cards, resolved.suite, rehearse=False, unreached=True)
    for card in cards:
        if not wiring.is_in_process(card.provider):
            yield f"{card.id} can be called over {card.provider}", problems.get(card.id)


def notices(suite: str, today: date | None = None) -> list[str]:
    """What `facedrift doctor` says besides: who will be switched off within 30 days of today."""
    resolved = resolve(RunRequest(suite=suite))
    if resolved.suite.rehearsal.always:
        return []
    day = today or datetime.now(UTC).date()
    return [notice for card in (*resolved.cards, *resolved.judges) if (notice := retiring(card, day))]


def cost_line(suite: str) -> str | None:
    """What the missing calls of a suite may cost, or None when no call costs anything."""
    request = RunRequest(suite=suite)
    if not calls_somebody(request):
        return None
    _, missing = preview(request)
    return (
        f"{sum(missing.steps_missing.values())} edits and {sum(missing.answers_missing.values())} answers of "
        f"judges are missing: at most ${missing.cost_usd:.2f}"
    )


def _problem(check: Callable[[], object]) -> str | None:
    try:
        check()
    except FacedriftError as error:
        return str(error)
    return None


def _check_onnxruntime() -> None:
    installed = [name for name in ("onnxruntime", "onnxruntime-gpu") if name in package_versions()]
    remedy = "uninstall both, then install one: uv sync --extra cpu, or --extra gpu"
    if len(installed) != 1:
        raise DefinitionError(
            f"{len(installed)} ONNX runtimes are installed, exactly one is needed; {remedy}"
        )
    runtime = importlib.import_module("onnxruntime")
    if not hasattr(runtime, "get_available_providers"):
        raise DefinitionError(f"the installed {installed[0]} is broken; {remedy}")
    wanted = set(PackSettings().onnx_providers)
    missing = wanted - set(runtime.get_available_providers())
    if missing:
        raise DefinitionError(
            f"FACEDRIFT_ONNX_PROVIDERS names {', '.join(missing)}, which {installed[0]} has not"
        )


def _check_photos(suite: str) -> None:
    wiring.dataset_source(load_suite(suite).dataset)


def _check_pack(suite: str) -> None:
    wiring.embedder(load_suite(suite).embedder.pack)


def check_prefect() -> None:
    """Raise StoreError when Prefect cannot work: a silent server, or no place for one of its own."""
    settings = get_current_settings()
    url = settings.api.url
    if url is None:
        home = settings.home
        try:
            home.mkdir(parents=True, exist_ok=True)
            (home / ".writable").touch()
        except OSError as error:
            raise StoreError(
                f"Prefect cannot keep its records in {home} ({error.strerror}); set PREFECT_HOME to a folder "
                "that can be written"
            ) from error
        return
    with get_client(sync_client=True) as client:
        error = client.api_healthcheck()
    if error is not None:
        raise StoreError(
            f"PREFECT_API_URL is {url}, and no server answers there ({error}); start it or unset it"
        )


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)
