"""What a run says of the files that it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain import keys
from domain.photos import Dataset, LeftOut
from flows.terminal import _print_left_out

pytestmark = pytest.mark.integration


def dataset(count: int) -> Dataset:
    left_out = tuple(
        LeftOut(source=f"{n:02d}.txt", reason="not_an_image" if n % 3 else "empty", detail="x" * 9000)
        for n in range(count)
    )
    return Dataset(id="mine", embedder_fingerprint="f" * 64, photos=(), left_out=left_out)


@pytest.mark.parametrize(("count", "more"), [(0, None), (10, None), (47, "  … and 37 more")])
def test_a_long_list_is_cut_and_says_where_the_whole_one_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    count: int,
    more: str | None,
) -> None:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path))
    photos = dataset(count)
    _print_left_out(photos)
    lines = capsys.readouterr().err.splitlines()
    if not count:
        assert lines == []
        return
    empty = len(range(0, count, 3))
    assert lines[0] == f"{count} files left out: {empty} × empty, {count - empty} × not_an_image"
    assert sum(".txt: " in line for line in lines) == 10
    assert max(map(len, lines[:-1])) < 400
    assert [line for line in lines if "more" in line] == ([more] if more else [])
    folder = tmp_path / keys.dataset("mine", keys.fingerprint(photos)).removesuffix(".json")
    assert lines[-1] == f"  all of them: {folder}/left_out.parquet; to read: {folder}/summary.md"
