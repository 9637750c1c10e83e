"""From files to a dataset in the store: exactly one face each, rejections with their reasons."""

from __future__ import annotations

from prefect import flow

from domain.suites import Suite
from tasks.preparing import prepare_photos


@flow(name="prepare-dataset", flow_run_name="prepare {suite.dataset.id}")
async def prepare_dataset(suite: Suite) -> str:
    """Prepare a suite's photos; returns the key of the dataset manifest.

    Args:
        suite: The suite, with the dataset that is to be read.
    """
    return await prepare_photos(suite)
