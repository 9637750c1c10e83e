"""How much faster photos are prepared than by a loop of `FaceAnalysis.get`.

Run with `python -m tests.benchmarks.preparing [FOLDER]`; prints two Markdown tables. FOLDER holds the photos
(`person/photo.jpg`); without one, those that the tests use, or the faces of the installed packages.

- "loop": `cv2.imread` and `FaceAnalysis.get`, both with their default settings, all models of the pack;
- "prepare_dataset": all of it, from the files to the manifest in a store with fsync, contact sheets included;
- "again": the same into the same store.

Same photos, same weights; models are loaded, and have seen one photo, before the clock starts. Each figure is
the median of fresh processes that alternate. The faces are compared: of every photo that becomes one, the
loop's largest face must be ours.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from adapters.datasets.folder import FolderDataset
from adapters.datasets.packaged_faces import PackagedFaces
from adapters.datasets.source import SourcePhoto
from adapters.embedders.insightface import InsightFaceEmbedder, identity_of
from adapters.imaging.packs import PackSettings, assemble
from adapters.stores.local import LocalStore
from domain import keys
from domain.loading import load
from domain.suites import DatasetChoice, FacePack, PackFile
from tasks import ledger
from tasks.preparing import prepare
from tasks.preparing_pages import write_dataset
from tests.benchmarks import heavy_packs

ROUNDS = 5
LEAST_OVERLAP = 0.6
"""Intersection over union of the two boxes of one face, found at different detector sizes."""
PACKS = {"mobile": "the small pack (3 models)", "large": "of the sizes of `buffalo_l` (5 models)"}
Measured = dict[str, Any]


def build_packs(work: Path) -> None:
    """Both packs as folders, each with a definition beside it."""
    mobile = load(FacePack, "mobile")
    light = assemble(mobile, PackSettings(cache=work / "cache"))
    shutil.copytree(light, work / "mobile")
    (work / "mobile.json").write_text(mobile.model_dump_json())
    large, names = work / "large", {file.task: file.name for file in mobile.files}
    large.mkdir()
    heavy_packs.heavier_detector(light / names["detection"], large / "det.onnx")
    heavy_packs.heavier_recognizer(light / names["recognition"], large / "rec.onnx")
    heavy_packs.landmarks_3d(large / "1k3d68.onnx")
    heavy_packs.gender_age(large / "genderage.onnx")
    shutil.copy(light / names["landmark_2d_106"], large / "2d106det.onnx")
    used = {"det.onnx": "detection", "rec.onnx": "recognition", "2d106det.onnx": "landmark_2d_106"}
    files = [
        PackFile(name=name, task=task, sha256=keys.sha256((large / name).read_bytes()))  # type: ignore[arg-type]
        for name, task in used.items()
    ]
    pack = mobile.model_copy(
        update={"id": "large", "files": tuple(files), "python_package": None, "package_folder": None}
    )
    (work / "large.json").write_text(pack.model_dump_json())


def loop(pack: str, photos: Path, work: Path, store: Path) -> Measured:
    """As insightface's users read faces."""
    from insightface.app import FaceAnalysis

    with contextlib.redirect_stdout(sys.stderr):
        app = FaceAnalysis(name=str(work / pack), providers=["CPUExecutionProvider"])
        app.prepare(ctx_id=-1)
    files = sorted(path for path in photos.rglob("*") if path.is_file())
    app.get(next(image for image in map(cv2.imread, map(str, files)) if image is not None))

    def run() -> dict[str, list[float]]:
        boxes: dict[str, list[float]] = {}
        for path in files:
            image = cv2.imread(str(path))
            faces = [] if image is None else app.get(image)
            if faces:
                largest = max(faces, key=lambda face: float(np.prod(face.bbox[2:] - face.bbox[:2])))
                boxes[path.relative_to(photos).as_posix()] = largest.bbox.tolist()
        return boxes

    return timed(run)


def prepare_dataset(pack: str, photos: Path, work: Path, store: Path) -> Measured:
    """What the flow of that name does, in one process."""
    definition = FacePack.model_validate_json((work / f"{pack}.json").read_text())
    settings = PackSettings(cache=work / "cache", pack_root=work)
    embedder, identity = InsightFaceEmbedder.open(definition, settings), identity_of(definition)
    kept, choice = (
        LocalStore(store),
        DatasetChoice(id="bench", adapter="folder", path=str(photos), mirror_alone=False),
    )
    embedder.read(
        [next(path for path in sorted(photos.rglob("*.*")) if path.suffix in (".jpg", ".png")).read_bytes()]
    )

    def run() -> dict[str, list[float]]:
        found = prepare(choice, FolderDataset(photos), embedder, identity, kept)
        write_dataset(found, kept)
        # `no_reference` has exactly one face as well
        boxes = {photo.source: list(photo.box) for photo in found.photos}
        for item in found.left_out:
            if item.reason == "no_reference":
                sha = keys.sha256((photos / item.source).read_bytes())
                record = ledger.faces(kept, found.embedder_fingerprint, sha)
                assert record is not None
                boxes[item.source] = list(record.reading.faces[0].box)
        return boxes

    return timed(run)


def timed(run: Callable[[], dict[str, list[float]]]) -> Measured:
    """Wall and CPU seconds, peak memory and the boxes found."""
    wall, cpu = time.perf_counter(), time.process_time()
    boxes = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall_s": wall, "cpu_s": cpu, "peak_mb": peak_mb(), "boxes": boxes}


def peak_mb() -> float:
    """Of this process alone; `getrusage` also covers the one that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


VARIANTS = {"loop": loop, "prepare_dataset": prepare_dataset, "again": prepare_dataset}


def in_fresh_process(variant: str, pack: str, photos: Path, work: Path, store: Path) -> Measured:
    """Run one variant in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.preparing", "--variant", variant, "--pack", pack]
    command += ["--work", str(work), "--store", str(store), str(photos)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return json.loads(done.stdout.splitlines()[-1])


def overlap(a: list[float], b: list[float]) -> float:
    """Intersection over union of two boxes."""
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return width * height / (sum(areas) - width * height)


def check_faces(ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> float:
    """The least overlap of a photo's two boxes; raises when another face was chosen somewhere."""
    least = min(overlap(box, theirs[name]) if name in theirs else 0.0 for name, box in ours.items())
    assert least > LEAST_OVERLAP, f"another face was chosen: the boxes overlap by {least:.2f}"
    return least


def say(line: str) -> None:
    """One line of the output, at once."""
    print(line, flush=True)  # noqa: T201


def measure(pack: str, photos: Path, work: Path, rounds: int) -> None:
    """One table."""
    found: dict[str, list[Measured]] = {variant: [] for variant in VARIANTS}
    for number in range(rounds):
        store = work / f"store-{pack}-{number}"
        for variant in VARIANTS:
            found[variant].append(in_fresh_process(variant, pack, photos, work, store))
    ours, theirs = found["prepare_dataset"][0]["boxes"], found["loop"][0]["boxes"]
    least = check_faces(ours, theirs)
    say(
        f"\nPack {PACKS[pack]}; {len(ours)} photos with one face, the same in both (overlap ≥ {least:.2f}).\n"
    )
    say("| | wall s | CPU s | peak MB | wall: loop is | CPU: loop is |\n|---|---|---|---|---|---|")
    for variant, runs in found.items():
        wall, cpu, peak = (
            statistics.median(run[name] for run in runs) for name in ("wall_s", "cpu_s", "peak_mb")
        )
        ratios = [
            statistics.median(slow[name] / run[name] for slow, run in zip(found["loop"], runs, strict=True))
            for name in ("wall_s", "cpu_s")
        ]
        say(f"| {variant} | {wall:.2f} | {cpu:.2f} | {peak:.0f} | {ratios[0]:.2f} × | {ratios[1]:.2f} × |")


def photos_of(folder: Path | None, work: Path) -> Path:
    """The given photos, or the faces of the installed packages as a folder."""
    if folder is not None:
        return folder
    for photo in PackagedFaces().read():
        assert isinstance(photo, SourcePhoto)
        (work / "photos" / photo.subject).mkdir(parents=True)
        (work / "photos" / photo.subject / "1.png").write_bytes(photo.data)
    return work / "photos"


def main() -> None:
    """Measure, or be one of the measured processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--variant")
    parser.add_argument("--pack")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.variant:
        say(json.dumps(VARIANTS[asked.variant](asked.pack, asked.folder, asked.work, asked.store)))
        return
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        build_packs(work)
        photos = photos_of(asked.folder, work)
        for pack in PACKS:
            measure(pack, photos, work, asked.rounds)


if __name__ == "__main__":
    main()
