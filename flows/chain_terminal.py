"""What `facedrift chains draft` does and shows in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from domain.chain_drafting import DraftedSet, DraftsMissing
from domain.requests import DraftChainsRequest
from flows.consoles import err, out
from flows.draft_chains import draft_chains
from flows.writer_terminal import carry_out, read_request, say_where
from tasks import chain_sets
from tasks.chain_drafting import missing_of
from tasks.chain_photos import carrying, dataset_key


def request(given: Mapping[str, object]) -> DraftChainsRequest:
    """A request from command-line options; raises DefinitionError."""
    return read_request(DraftChainsRequest, given)


def draft(wanted: DraftChainsRequest, to: Path | None, *, ask: bool) -> bool:
    """Draft a set and say where it is; False when no set could be made."""
    asked = wanted.model_copy(update={"approve_above_usd": None, "dataset": dataset_key(wanted.dataset)})
    carry = carrying(asked.dataset, wanted.photos)

    def look() -> float:
        if wanted.rehearse:
            carry()
        missing = missing_of(asked)
        _print_missing(missing)
        return missing.cost_usd

    return carry_out(wanted, look, lambda: _draft(asked), lambda made: _print_drafted(made, to), ask=ask)


async def _draft(wanted: DraftChainsRequest) -> DraftedSet:
    return cast(DraftedSet, await draft_chains(wanted))  # never a dry run


def _print_missing(missing: DraftsMissing) -> None:
    out.print(
        f"{missing.set_id}: {missing.missing} of {missing.photos} photos to ask about at "
        f"${missing.price_usd:g}: about ${missing.cost_usd:.2f} and {missing.seconds:.0f} s of calls; "
        "more if some are asked about again",
        highlight=False,
        soft_wrap=True,
    )
    for one in missing.kept_out:
        err.print(f"  {one.photo}: {one.problem}", style="yellow", markup=False, soft_wrap=True)


def _print_drafted(made: DraftedSet, to: Path | None) -> None:
    known = "" if made.is_new else ", which was there already"
    text = f"set {made.id}, version {made.version}: {made.chains} chains{known}, "
    text += f"{len(made.kept_out)} photos kept out; "
    out.print(f"{text}{made.asked} answers asked for, ${made.cost_usd:.2f}", highlight=False)
    for one in made.kept_out:
        err.print(f"kept out: {one.photo}: {one.problem}", style="yellow", markup=False, soft_wrap=True)
    for name, count in made.to_give.items():
        text = f"to give: {name} of {count} chains, whose photos it was not measured of"
        err.print(text, style="yellow", markup=False, soft_wrap=True)
    for notice in made.notices:
        err.print(f"notice: {notice}", style="yellow", markup=False, soft_wrap=True)
    say_where(made.key, to, "chains", lambda place: chain_sets.export(made, place))
