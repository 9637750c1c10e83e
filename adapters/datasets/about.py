"""What is said about each dataset adapter: what it reads, whose the data are, where people get them."""

from __future__ import annotations

from dataclasses import dataclass

from domain.dataset_options import DatasetAdapter


@dataclass(frozen=True)
class About:
    """One adapter, for people."""

    title: str
    layout: str
    licence: str
    get: str
    """A sentence on where to get the data."""


_CELEBA = "non-commercial research only; the photos are never passed on"
_IMDB_WIKI = "academic research only; the photos belong to whoever took them and are never passed on"

ABOUT: dict[DatasetAdapter, About] = {
    "packaged_faces": About(
        title="faces out of installed packages",
        layout="none; seven people with one photo each",
        licence="stated with each photo",
        get="Nothing has to be got.",
    ),
    "folder": About(
        title="folder of photos",
        layout="person/photo.jpg, or photo.jpg",
        licence="the user's own",
        get="Any folder of your own will do.",
    ),
    "manifest": About(
        title="table of photos",
        layout="a CSV, TSV, Parquet or JSONL file with `image` and `person`; paths below the file's folder",
        licence="as its rows say",
        get="Write such a file with the columns `image` and `person`, beside the photos.",
    ),
    "celeba": About(
        title="CelebA",
        layout="the authors' files, flat or in Anno/, Eval/ and Img/, or Kaggle's CSV copy",
        licence=_CELEBA,
        get=(
            "Get it from the page of its authors, 'Large-scale CelebFaces Attributes (CelebA) Dataset' of "
            "the Multimedia Laboratory, The Chinese University of Hong Kong "
            "(mmlab.ie.cuhk.edu.hk/projects/CelebA.html): "
            f"img_align_celeba, list_attr_celeba.txt, identity_CelebA.txt. Its licence: {_CELEBA}."
        ),
    ),
    "imdb_wiki": About(
        title="IMDB-WIKI",
        layout="imdb_crop/ with imdb.mat, or imdb/; the same with wiki",
        licence=_IMDB_WIKI,
        get=(
            "Get it from the page of its authors, 'IMDB-WIKI: 500k+ face images with age and gender labels' "
            "of the Computer Vision Lab, ETH Zurich (data.vision.ee.ethz.ch/cvl/rrothe/imdb-wiki): "
            f"imdb_crop.tar, which holds imdb.mat. Its licence: {_IMDB_WIKI}."
        ),
    ),
    "celebset": About(
        title="CelebSET",
        layout="a list of photos (celebset.csv) over the files of IMDB-WIKI",
        licence=_IMDB_WIKI,
        get=(
            "No public download is known: ask the authors of 'Saving Face' (arXiv 2001.00964) for their "
            "list, or write your own, celebset.csv with image, identity, gender, skin and age, beside the "
            f"photos of IMDB-WIKI (Computer Vision Lab, ETH Zurich). The licence of those: {_IMDB_WIKI}."
        ),
    ),
    "london": About(
        title="Face Research Lab London Set",
        layout="neutral_front/001_03.jpg, smiling_front/001_08.jpg, …, london_faces_info.csv",
        licence="CC BY 4.0, DeBruine & Jones (2017), doi 10.6084/m9.figshare.5047666",
        get=(
            "Get it from figshare (doi 10.6084/m9.figshare.5047666): neutral_front, smiling_front and "
            "london_faces_info.csv, unpacked side by side. Its licence: CC BY 4.0, DeBruine & Jones (2017)."
        ),
    ),
    "everyday_photos": About(
        title="folder of everyday photos with a table of their authors",
        layout="original files, and photos.csv with `file`, `author`, `source`, `licence`",
        licence="as its rows say: CC0, CC BY or CC BY-SA, and what the suite's `licences` admit",
        get="Collect original files under such licences and write photos.csv beside them.",
    ),
    "packaged_everyday": About(
        title="photos of one to four people out of installed packages",
        layout="none; six crops of two photos",
        licence="stated with each photo",
        get="Nothing has to be got.",
    ),
}
