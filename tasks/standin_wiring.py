"""Builds what plays every provider in a rehearsal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, ValidationError

from adapters.base import StepChecker
from adapters.registry import USES_POOL
from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard
from domain.loading import settings_error
from domain.model_cards import ModelCard
from domain.photos import Dataset
from domain.suites import Suite
from tasks import wiring
from tasks.definitions import load
from tasks.writer_wiring import chain_writer

if TYPE_CHECKING:
    from starlette.applications import Starlette


def standin(
    suite: Suite, state: Path, faults: Mapping[str, JsonValue] | None = None, only_key: str | None = None
) -> Starlette:
    """What answers in a rehearsal of a suite, with a local editor and judge behind it.

    Raises:
        DefinitionError: the editor that the suite names calls somebody itself, or its faults are wrong.
    """
    from adapters.judges.local_writer import LocalWriter
    from adapters.standin.any_prompt import AnyPromptChecker, AnyPromptEditor
    from adapters.standin.app import build_app
    from adapters.standin.faults import Faults
    from adapters.standin.work import StandinWork

    nobody = Dataset(id="none", embedder_fingerprint="none", photos=())
    behind = load(ModelCard, suite.standin_editor)
    if not wiring.is_in_process(behind.provider) or behind.provider in USES_POOL:
        raise DefinitionError(f"{behind.id!r} cannot stand in for others", field="rehearsal.editor")
    local = load(JudgeCard, "local")
    judge, drafter = wiring.build_judge(local, suite), chain_writer(local)
    try:
        drawn = Faults.model_validate(suite.rehearsal.faults if faults is None else faults)
    except ValidationError as error:
        raise settings_error(error, Suite, suite.id, "rehearsal.faults") from error
    editor = wiring.build_editor(behind, nobody, suite)
    checker = cast(StepChecker, judge)  # the local judge can
    if suite.chain_set is not None:
        other = wiring.build_editor(load(ModelCard, "control-recompress"), nobody, suite)
        editor, checker = AnyPromptEditor(editor, other), AnyPromptChecker(checker)
    work = StandinWork(editor, judge, judge, LocalWriter(), drafter, checker)
    return build_app(work, drawn, state, only_key)
