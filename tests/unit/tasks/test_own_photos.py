"""A folder of one's own in place of a suite's photos, read as the suite's are."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.dataset_choice import DatasetChoice
from domain.errors import DefinitionError
from domain.loading import load_suite
from tasks.own_photos import everyday_suite, with_own_photos


def test_each_kind_of_suite_reads_a_folder_in_its_own_way(tmp_path: Path):
    suite = load_suite("quickstart")
    assert with_own_photos(suite, None) is suite
    assert with_own_photos(suite, str(tmp_path)).dataset.adapter == "folder"
    packaged = suite.model_copy(update={"dataset": DatasetChoice(id="demo", adapter="packaged_everyday")})
    own = with_own_photos(packaged, str(tmp_path)).dataset
    assert (own.adapter, own.path, own.options) == ("everyday_photos", str(tmp_path), {})
    options = {"licences": ["GFDL"], "screening": {"max_faces": 2}}
    mine = DatasetChoice(id="mine", adapter="everyday_photos", path="here", options=options)
    own = with_own_photos(suite.model_copy(update={"dataset": mine}), str(tmp_path)).dataset
    assert (own.path, own.options) == (str(tmp_path), options)


def test_a_suite_of_other_photos_is_refused():
    with pytest.raises(DefinitionError, match="has no everyday photos") as caught:
        everyday_suite("quickstart")
    assert caught.value.allowed == ("everyday_photos", "packaged_everyday")
