"""Prefect's result storage as a view of the ledger.

A step's persisted result is the outcome record itself: reading a content key gives the stored outcome
in Prefect's own envelope, writing one does nothing, because the task body has stored it already. So
deleting an outcome makes the step run again, and no second copy can disagree with the first.
Any other result is kept under `results/`.
"""

from __future__ import annotations

import re

from prefect._internal.result_records import ResultRecord, ResultRecordMetadata
from prefect.filesystems import WritableFileSystem
from prefect.results import get_result_store
from prefect.serializers import JSONSerializer

from domain import keys
from domain.summaries import StepResult
from tasks import ledger, wiring
from tasks.threads import in_thread

_CONTENT_KEY = re.compile(r"[0-9a-f]{64}")


class LedgerStorage(WritableFileSystem):
    """The store, as Prefect wants to see it."""

    _block_type_name = "facedrift ledger"
    _block_type_slug = "facedrift-ledger"

    def _resolve_path(self, path: str) -> str:
        return path

    async def read_path(self, path: str) -> bytes:
        """A persisted result; raises FileNotFoundError when there is none."""
        return await in_thread(_read, path)

    async def write_path(self, path: str, content: bytes) -> None:
        """Persist a result."""
        if not _CONTENT_KEY.fullmatch(path):
            await in_thread(wiring.store().put, keys.task_result(path), content)


def keep_results_in_ledger() -> None:
    """Make the running flow's tasks persist their results in the store. To be called inside a flow."""
    get_result_store().result_storage = LedgerStorage()


def _read(path: str) -> bytes:
    if _CONTENT_KEY.fullmatch(path):
        outcome = ledger.outcome(wiring.store(), path)
        if outcome is None:
            raise FileNotFoundError(path)
        return ResultRecord(
            result=StepResult(outcome=outcome, found=True),
            metadata=ResultRecordMetadata(serializer=JSONSerializer(), storage_key=path),
        ).serialize()
    content = wiring.store().get(keys.task_result(path))
    if content is None:
        raise FileNotFoundError(path)
    return content
