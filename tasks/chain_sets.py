"""Drafted sets of prompt chains as files: versioned, with what a person has still to give."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import yaml
from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.chain_drafting import DraftChain, DraftChainSet, DraftedSet, DraftsWritten, Undrafted
from domain.chains import DIMENSIONS, ChainSet
from domain.requests import DraftChainsRequest
from tasks import policies, wiring
from tasks.chain_drafting import Drafting, resolve
from tasks.chain_files import stored
from tasks.definitions import load, names
from tasks.threads import in_thread
from tasks.written_sets import export_file, keep_version

_OPEN = re.compile(rf"^(  ({'|'.join(DIMENSIONS)}):) null$", re.MULTILINE)


@task(task_run_name="keep set {request.set_id}", **policies.ONCE)
async def keep_chains(request: DraftChainsRequest, written: DraftsWritten) -> DraftedSet:
    """Store drafted chains as a set, as the next version where the name is taken by others."""
    return await in_thread(_keep_chains, request, written)


def _keep_chains(request: DraftChainsRequest, written: DraftsWritten) -> DraftedSet:
    source = source_of(resolve(request))
    kept = store_chains(request, written.chains, written.kept_out, source, wiring.store())
    return kept.model_copy(
        update={"asked": written.asked, "cost_usd": written.cost_usd, "notices": written.notices}
    )


def store_chains(
    request: DraftChainsRequest,
    chains: tuple[DraftChain, ...],
    kept_out: tuple[Undrafted, ...],
    source: str,
    store: ObjectStore,
) -> DraftedSet:
    """Store chains under the first version of a name that is free or holds the very same ones."""

    def holds_the_same(key: str, set_id: str) -> bool | None:
        there = stored(store, key)
        if there is not None:
            return there.chains == chains
        if set_id not in names(ChainSet):
            return None
        return [one.model_dump() for one in load(ChainSet, set_id).chains] == [
            one.model_dump() for one in chains
        ]

    def text(set_id: str, version: int) -> str:
        made = DraftChainSet(id=set_id, version=version, source=source, steps=request.steps, chains=chains)
        return text_of(made, kept_out)

    kept = keep_version(request.set_id, keys.chain_set, holds_the_same, text, store)
    return DraftedSet(
        id=kept.id,
        version=kept.version,
        key=kept.key,
        chains=len(chains),
        is_new=kept.is_new,
        kept_out=kept_out,
        to_give=dict(Counter(name for chain in chains for name in chain.not_measured)),
    )


def source_of(drafting: Drafting) -> str:
    """Who drafted a set, from what and when."""
    who = drafting.writer
    return (
        f"drafted for the photos of {drafting.request.dataset} by {drafting.card.id} ({who.adapter}: "
        f"{who.version}), prompt {who.prompt_version}; {datetime.now(UTC).date()}"
    )


def text_of(made: DraftChainSet, kept_out: tuple[Undrafted, ...] = ()) -> str:
    """A set as a definition file for a person to edit; what was not measured is left open."""
    body = yaml.safe_dump(made.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=10_000)
    body = _OPEN.sub(lambda found: f"{found[1]}  # give one of: {', '.join(DIMENSIONS[found[2]])}", body)
    lines = [
        "# Drafted by `facedrift chains draft`. Look at every prompt beside its photo, then run",
        "# `facedrift chains lint` on this file. A set that was used in a run is never changed in place.",
        *(f"# Kept out: {one.photo}: {' '.join(one.problem.split())}" for one in kept_out),
    ]
    return "\n".join([*lines, body])


def export(drafted: DraftedSet, out: Path) -> Path:
    """Copy a set out of the store, to a file or into a folder; raises as `export_file`."""
    return export_file(drafted.id, drafted.key, out, wiring.store())


def rows_of(written: DraftsWritten) -> list[dict[str, str]]:
    """Chains as a table: one row each, photos without one with their reason."""
    rows = [
        {
            "photo": chain.photo,
            "edit target": chain.edit_target,
            **{str(number): prompt for number, prompt in enumerate(chain.prompts, 1)},
        }
        for chain in written.chains
    ]
    rows += [{"photo": one.photo, "problem": one.problem} for one in (*written.kept_out, *written.failed)]
    return rows
