"""The store's layout: the only file that spells an object key; `domain.identities` has the hashes in them."""

from __future__ import annotations

import re
from typing import Literal

from domain.identities import canonical_json as canonical_json  # noqa: PLC0414
from domain.identities import fingerprint as fingerprint  # noqa: PLC0414
from domain.identities import judgement_key as judgement_key  # noqa: PLC0414
from domain.identities import sha256 as sha256  # noqa: PLC0414
from domain.identities import step_key as step_key  # noqa: PLC0414
from domain.identities import step_seed as step_seed  # noqa: PLC0414

_SEGMENT = re.compile(r"[A-Za-z0-9_=+-][A-Za-z0-9._=+-]{0,254}")  # 255 bytes: what file systems allow
MAX_KEY_BYTES = 512
PROBE = "probe"
"""Below it a store is tried; nothing there is kept."""
JournalEntry = Literal["intent", "ticket", "lost", "end"]


def check_key(key: str) -> str:
    """Return the key; raise ValueError unless every segment is from the allow-list of characters."""
    if len(key.encode()) > MAX_KEY_BYTES or not all(_SEGMENT.fullmatch(part) for part in key.split("/")):
        raise ValueError(f"{key!r} is not a valid object key")
    return key


def is_of_probe(key: str) -> bool:
    """Whether a key is one by which a store is only tried, which tells nobody anything."""
    return key.startswith(f"{PROBE}/")


def image(sha: str, extension: str) -> str:
    """Bytes exactly as returned."""
    return check_key(f"images/sha256/{sha[:2]}/{sha}.{extension}")


def outcome(key: str) -> str:
    """How an attempt at a step ended."""
    return check_key(f"outcomes/{key[:2]}/{key}.json")


def journal(key: str, send: int, what: JournalEntry) -> str:
    """What happened to one sending of a paid call."""
    return check_key(f"journal/{key[:2]}/{key}/{send:03d}-{what}.json")


def faces(embedder: str, sha: str) -> str:
    """What an embedder (by fingerprint) found in an image."""
    return check_key(f"faces/{embedder[:16]}/{sha[:2]}/{sha}.json")


def judgement(judge: str, key: str) -> str:
    """What a judge (by fingerprint) answered."""
    return check_key(f"judgements/{judge[:16]}/{key[:2]}/{key}.json")


def state(tracker: str, sha: str) -> str:
    """What a tracker (by fingerprint) saw in an image."""
    return check_key(f"states/{tracker[:16]}/{sha[:2]}/{sha}.json")


def instruction(writer: str, key: str) -> str:
    """What a writer of sessions (by fingerprint) answered to one question."""
    return check_key(f"sessions/answers/{writer[:16]}/{key[:2]}/{key}.json")


def session_set(set_id: str, version: int) -> str:
    """One version of a written set of sessions."""
    return check_key(f"sessions/sets/{set_id}/{version:04d}.yaml")


def session_sets() -> str:
    """Below it are all written sets of sessions."""
    return check_key("sessions/sets") + "/"


def draft(writer: str, key: str) -> str:
    """What a writer of prompt chains (by fingerprint) answered to one question."""
    return check_key(f"chains/answers/{writer[:16]}/{key[:2]}/{key}.json")


def chain_set(set_id: str, version: int) -> str:
    """One version of a drafted set of prompt chains."""
    return check_key(f"chains/sets/{set_id}/{version:04d}.yaml")


def photo(decoder: str, sha: str) -> str:
    """What decoding (by version) said of a file's bytes."""
    return check_key(f"photos/{decoder}/{sha[:2]}/{sha}.json")


def thumbnail(decoder: str, sha: str) -> str:
    """A small picture of a photo."""
    return check_key(f"photos/{decoder}/{sha[:2]}/{sha}.jpg")


def mirror(decoder: str, sha: str) -> str:
    """Which image is the mirror image of a photo."""
    return check_key(f"photos/{decoder}/{sha[:2]}/{sha}-mirrored.json")


def prepared(version: str, sha: str, crop: str) -> str:
    """Which image was made of a crop (by fingerprint) of an original photo."""
    return check_key(f"photos/prepared-{version}/{sha[:2]}/{sha}-{crop[:16]}.json")


def listing(dataset_id: str, digest: str) -> str:
    """What a dataset's source held."""
    return check_key(f"datasets/{dataset_id}/listings/{digest[:16]}.json")


def dataset_page(manifest: str, name: str) -> str:
    """A table or picture of a dataset manifest, beside it."""
    return check_key(f"{manifest.removesuffix('.json')}/{name}")


def dataset(dataset_id: str, digest: str) -> str:
    """One version of a dataset manifest."""
    return check_key(f"datasets/{dataset_id}/{digest[:16]}.json")


def datasets(dataset_id: str) -> str:
    """Below it are the manifests of a dataset, with what belongs to them."""
    return check_key(f"datasets/{dataset_id}") + "/"


def face_work(digest: str) -> str:
    """A list of images whose faces are to be read."""
    return check_key(f"work/faces/{digest}.json")


def face_work_done(digest: str) -> str:
    """How the latest reading of such a list ended."""
    return check_key(f"work/faces/{digest}-done.json")


def run_of_suite(suite: str, run_id: str) -> str:
    """Its name says that a suite has this run."""
    return check_key(f"runs/of/{suite}/{run_id}")


def runs_of_suite(suite: str) -> str:
    """Below it is one name a run of a suite."""
    return check_key(f"runs/of/{suite}") + "/"


def run(run_id: str) -> str:
    """The resolved plan of a run."""
    return check_key(f"runs/{run_id}/run.json")


def run_summary(run_id: str) -> str:
    """What a run did."""
    return check_key(f"runs/{run_id}/summary.json")


def newest_run(suite: str) -> str:
    """Pointer to the newest run of a suite."""
    return check_key(f"runs/newest/{suite}")


def shard(run_id: str, number: int) -> str:
    """The chains of one shard of a run."""
    return check_key(f"runs/{run_id}/shards/{number:05d}.json")


def shard_summary(run_id: str, number: int) -> str:
    """What one shard did, with the steps that failed."""
    return check_key(f"runs/{run_id}/summaries/{number:05d}.json")


def steps_table(suite: str, dataset_id: str, model: str, digest: str) -> str:
    """Compacted step rows of one model."""
    return check_key(
        f"tables/steps/suite={suite}/dataset={dataset_id}/model={model}/part-{digest[:16]}.parquet"
    )


def model_of(steps_table_key: str) -> str:
    """The model whose rows a part of the steps table holds."""
    return next(p.removeprefix("model=") for p in steps_table_key.split("/") if p.startswith("model="))


def measured_table(fingerprint_: str, digest: str) -> str:
    """Compacted measurements, under the fingerprint of who measured what."""
    return check_key(f"tables/measured/{fingerprint_[:16]}/part-{digest[:16]}.parquet")


def measured_manifest(fingerprint_: str) -> str:
    """The list of compacted measurements that count."""
    return check_key(f"tables/measured/{fingerprint_[:16]}/parts.json")


def steps_manifest(suite: str, dataset_id: str) -> str:
    """Pointer to the list of files that hold a suite's step rows; written last."""
    return check_key(f"tables/steps/suite={suite}/dataset={dataset_id}/CURRENT.json")


def report(suite: str, snapshot: str, name: str) -> str:
    """One file of a published report."""
    return check_key(f"reports/{suite}/{snapshot[:16]}/{name}")


def report_pointer(suite: str) -> str:
    """Pointer to the newest report of a suite; written last."""
    return check_key(f"reports/{suite}/CURRENT.json")


def check(checker: str, key: str) -> str:
    """What a step checker (by fingerprint) answered about one edit."""
    return check_key(f"checks/{checker[:16]}/{key[:2]}/{key}.json")


def unread_check(checker: str, key: str, digest: str) -> str:
    """Answers about one edit that could not be read; for people, and never taken for a check."""
    return check_key(f"checks/{checker[:16]}/{key[:2]}/{key}-unread-{digest[:16]}.json")


def crop_box(photo: str, sha: str) -> str:
    """The square around a photo's face."""
    return check_key(f"crops/boxes/{sha[:2]}/{sha}/{photo}.json")


def crop(box: str, sha: str) -> str:
    """The face that a box (by fingerprint) cuts out of an image."""
    return check_key(f"crops/{box[:16]}/{sha[:2]}/{sha}.json")


def matches_table(suite: str, digest: str) -> str:
    """The matches of one run of a suite."""
    return check_key(f"matches/{suite}/{digest[:16]}/matches.parquet")


def match_set(suite: str, run_id: str) -> str:
    """What was made of a run's finished chains."""
    return check_key(f"matches/{suite}/of/{run_id}.json")


def votes(suite: str) -> str:
    """Below it are all votes of a suite, in parts that only grow in number."""
    return check_key(f"votes/{suite}/parts") + "/"


def votes_part(suite: str, digest: str) -> str:
    """The votes that one collection found new."""
    return check_key(f"votes/{suite}/parts/{digest[:32]}.parquet")


def vote_salt(suite: str) -> str:
    """What the pseudonyms of a suite's annotators are salted with; never published."""
    return check_key(f"votes/{suite}/salt")


def vote_job(suite: str, source: str, digest: str) -> str:
    """The job that a vote service was given for a set of matches; resumed by its id."""
    return check_key(f"votes/{suite}/jobs/{source}-{digest[:16]}.json")


def vote_intent(suite: str, source: str, digest: str) -> str:
    """That such a job is about to be given; written before it, since it is paid."""
    return check_key(f"votes/{suite}/jobs/{source}-{digest[:16]}-intent.json")


def votes_collected(suite: str, digest: str) -> str:
    """What one collection of votes did; written last."""
    return check_key(f"votes/{suite}/collected/{digest[:32]}.json")


def all_votes_collected(suite: str) -> str:
    """Below it is what every collection did."""
    return check_key(f"votes/{suite}/collected") + "/"


def thumbnail_of(version: str, sha: str) -> str:
    """A small picture of an edit, which every page of every snapshot shares."""
    return check_key(f"thumbnails/{version}/{sha[:2]}/{sha}.webp")


def report_index(suite: str, name: str) -> str:
    """A small file above a suite's reports: the way to the newest page, and the list of all; written last."""
    return check_key(f"reports/{suite}/{name}")


def task_result(name: str) -> str:
    """A result that Prefect persisted."""
    return check_key(f"results/{name}")
