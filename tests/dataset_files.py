"""Small datasets whose files follow the real formats to the byte."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.io import savemat

from adapters.datasets.celeba_tables import ATTRIBUTES, LANDMARKS

PEOPLE = {"000001.jpg": 2880, "000002.jpg": 12, "000003.jpg": 2880, "000004.jpg": 12, "000005.jpg": 7}
MALE = ("000001.jpg", "000003.jpg", "000004.jpg")
YOUNG = ("000001.jpg", "000002.jpg")


def put(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def attribute_row(name: str, male: bool, young: bool) -> str:
    """Two spaces before a positive value, as in list_attr_celeba.txt."""
    values = {"Male": male, "Young": young, "Smiling": True}
    return f"{name} " + " ".join(f"{1 if values.get(a) else -1:>2}" for a in ATTRIBUTES)


def celeba(root: Path, *, split: bool = False, end: str = "\n", folder: str = "img_align_celeba") -> Path:
    """The authors' files, flat or split into Anno/, Eval/ and Img/."""
    anno, parts, img = (root / n if split else root for n in ("Anno", "Eval", "Img"))
    rows = [attribute_row(name, name in MALE, name in YOUNG) for name in PEOPLE]
    attributes = [str(len(rows)), " ".join(ATTRIBUTES) + " ", *rows]
    put(anno / "list_attr_celeba.txt", end.join(attributes) + end)
    put(anno / "identity_CelebA.txt", "".join(f"{name} {number}{end}" for name, number in PEOPLE.items()))
    put(parts / "list_eval_partition.txt", "".join(f"{n} {i % 3}{end}" for i, n in enumerate(PEOPLE)))
    boxes = [f"{name}    95  71 226 313" for name in PEOPLE]
    put(
        anno / "list_bbox_celeba.txt",
        end.join([str(len(boxes)), "image_id x_1 y_1 width height", *boxes, ""]),
    )
    points = [f"{name} 69  109  106  113   77  142   73  152  108  154" for name in PEOPLE]
    put(
        anno / "list_landmarks_align_celeba.txt",
        end.join([str(len(points)), " ".join(LANDMARKS) + " ", *points, ""]),
    )
    for name in PEOPLE:
        put(img / folder / name, b"photo " + name.encode())
    return root


def kaggle_celeba(root: Path) -> Path:
    """Kaggle's copy: CSV, a nested folder, no identities."""
    head = ",".join(("image_id", *ATTRIBUTES))
    rows = [",".join(attribute_row(n, n in MALE, n in YOUNG).split()) for n in PEOPLE]
    put(root / "list_attr_celeba.csv", "\n".join([head, *rows, ""]))
    put(root / "list_eval_partition.csv", "image_id,partition\n" + "".join(f"{n},0\n" for n in PEOPLE))
    put(
        root / "list_bbox_celeba.csv",
        "image_id,x_1,y_1,width,height\n" + "".join(f"{n},95,71,226,313\n" for n in PEOPLE),
    )
    head = ",".join(("image_id", *LANDMARKS))
    put(
        root / "list_landmarks_align_celeba.csv",
        head + "\n" + "".join(f"{n},1,2,3,4,5,6,7,8,9,10\n" for n in PEOPLE),
    )
    for name in PEOPLE:
        put(root / "img_align_celeba" / "img_align_celeba" / name, b"photo " + name.encode())
    return root


def day(year: int, month: int = 1, date: int = 1) -> int:
    """A Matlab serial date number."""
    return (
        int((np.datetime64(f"{year:04d}-{month:02d}-{date:02d}") - np.datetime64("1970-01-01")).astype(int))
        + 719529
    )


def cells(texts: Sequence[str]) -> np.ndarray:
    """A row of cells, each with its text, as Matlab writes it."""
    row = np.empty((1, len(texts)), object)
    row[0, :] = [np.array([text]) if text else np.empty((0, 0)) for text in texts]
    return row


IMDB_FACE: dict[str, Any] = {
    "dob": day(1980, 1, 1),
    "photo_taken": 2010,
    "gender": 1.0,
    "name": "Fred Astaire",
    "face_score": 3.5,
    "second_face_score": np.nan,
    "celeb_id": 1,
}


def mat(path: Path, part: str, faces: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> Path:
    """A real .mat file in the nested form of imdb.mat; a face is `IMDB_FACE` but for what is given."""
    rows = [IMDB_FACE | dict(face) for face in faces]
    struct: dict[str, Any] = {
        "dob": np.array([[row["dob"] for row in rows]], np.int32),
        "photo_taken": np.array([[row["photo_taken"] for row in rows]], np.uint16),
        "full_path": cells([row["full_path"] for row in rows]),
        "gender": np.array([[row["gender"] for row in rows]], np.float64),
        "name": cells([row["name"] for row in rows]),
        "face_location": np.array([[np.array([[1.0, 1.0, 9.0, 9.0]]) for _ in rows]], object),
        "face_score": np.array([[row["face_score"] for row in rows]], np.float64),
        "second_face_score": np.array([[row["second_face_score"] for row in rows]], np.float64),
    }
    if names:
        struct["celeb_names"] = cells(names)
        struct["celeb_id"] = np.array([[row["celeb_id"] for row in rows]], np.float64)
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {part: struct}, do_compression=True)
    return path


def imdb(
    root: Path, faces: Sequence[Mapping[str, Any]], names: Sequence[str] = ("Fred Astaire", "Lauren Bacall")
) -> Path:
    """imdb_crop.tar, unpacked."""
    mat(root / "imdb_crop" / "imdb.mat", "imdb", faces, names)
    for face in faces:
        if face["full_path"] and not face.get("no_file"):
            put(root / "imdb_crop" / face["full_path"], f"photo {face['full_path']}")
    return root


LONDON_HEAD = "face_id,face_age,face_gender,face_eth\n"
LONDON_TABLE = LONDON_HEAD + "001,24,female,white\n002,NA,male,east_asian/white\n003,38,female,black\n"


def london(root: Path, table: str = LONDON_TABLE) -> Path:
    """Two views of three people, with template files beside the photos, and one view more."""
    put(root / "london_faces_info.csv", table)
    for person in ("001", "002", "003"):
        put(root / "neutral_front" / f"{person}_03.jpg", f"neutral {person}")
        put(root / "neutral_front" / f"{person}_03.tem", "189")
        put(root / "smiling_front" / f"{person}_08.jpg", f"smiling {person}")
        put(root / "neutral_leftprofile" / f"{person}_01.jpg", f"profile {person}")
    return root


MANIFEST = tuple(
    dict(zip(("image", "person", "role", "age", "fitzpatrick", "licence"), row, strict=True))
    for row in (
        ("b/1.jpg", "Bea", "base", 27, "III", "CC0-1.0"),
        ("b/2.jpg", "Bea", "reference", 27, "III", ""),
        ("a/1.jpg", "Ann", "base", 55, "V", "CC0-1.0"),
        ("a/2.jpg", "Ann", "", None, "", "CC0-1.0"),
    )
)


def manifest(
    root: Path, kind: str = "csv", rows: Sequence[Mapping[str, Any]] = MANIFEST, photos: bool = True
) -> Path:
    """A table of photos in one of its forms, and the photos."""
    path = root / f"photos.{kind}"
    for row in rows if photos else ():
        put(root / row["image"], f"photo {row['image']}")
    root.mkdir(parents=True, exist_ok=True)
    if kind == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif kind == "jsonl":
        put(path, "".join(json.dumps(row) + "\n" for row in rows))
    else:
        pl.DataFrame(rows).write_csv(path)
    return path
