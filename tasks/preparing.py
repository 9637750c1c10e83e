"""From files to a dataset: exactly one face each, base apart from reference, every rejection counted.

In stages that each skip what the store already holds: look at the files, read their faces, make the mirror
images that are missing as references, read those, put the dataset together. Everyday photos are cropped and
resized in place of the mirror images, and screened when the dataset is put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from adapters.base import Embedder, ObjectStore
from adapters.datasets.source import DatasetSource
from adapters.imaging.decode import VERSION as DECODER
from domain import keys
from domain.dataset_options import ScreenedOptions, dataset_options
from domain.errors import DefinitionError, IncompleteError
from domain.photos import Dataset, GroupChoice, LeftOut, Listing, Preparation
from domain.records import EmbedderIdentity
from domain.suites import DatasetChoice, Suite
from metrics.near_duplicates import NEAR_DUPLICATE
from metrics.photo_selection import choose_per_group
from tasks import wiring
from tasks.cutting import with_cuts
from tasks.embedding import ImageKey, read_faces
from tasks.group_choice import GroupsOf, check_labels, check_source
from tasks.preparing_pages import write_dataset
from tasks.preparing_photos import list_photos, mirror_of, side_by_side
from tasks.preparing_roles import Person, assign_roles, is_alone, usable_by_subject
from tasks.progress import Progress
from tasks.screening import screened

BATCH = 8
"""Photos embedded in one go."""


def as_labelled(labels: Mapping[str, str]) -> list[str]:
    """Each label as a group: where no suite says more."""
    return [f"{name}={value}" for name, value in sorted(labels.items())]


def prepare(
    choice: DatasetChoice,
    source: DatasetSource,
    embedder: Embedder,
    identity: EmbedderIdentity,
    store: ObjectStore,
    groups_of: GroupsOf = as_labelled,
) -> Dataset:
    """Read a source into the store and say what became a photo and what was left out.

    The roles are those that the source states. Of a person without any the first usable photo is the base
    photo and the others are references. A person with one photo gets its mirror image as reference, where
    the choice allows it, marked as derived: it then says that the person is still there, not how the person
    looks on another day.

    Raises:
        DefinitionError: no photo can be used (the message counts the reasons), or none is in any group of a
            column of `per_group`.
    """
    fingerprint = keys.fingerprint(identity)
    listing = looked_at(choice, source, store, groups_of)
    read_in_process(unread(listing, fingerprint, store), identity, embedder, store)
    listing = with_made(listing, choice, fingerprint, store)
    read_in_process(unread(listing, fingerprint, store), identity, embedder, store)
    return put_together(listing, choice, fingerprint, store, groups_of)


def looked_at(
    choice: DatasetChoice, source: DatasetSource, store: ObjectStore, groups_of: GroupsOf
) -> Listing:
    """What a source holds; columns of `per_group` that are not there are found before a photo is decoded."""
    check_source(choice, source, groups_of)
    listing = list_photos(choice.id, source, store)
    check_labels(choice, (item.groups for item in listing.candidates), groups_of)
    return listing


def unread(listing: Listing, embedder: str, store: ObjectStore) -> list[ImageKey]:
    """The contents of a listing in which nobody has looked for faces."""
    contents = dict.fromkeys(
        ImageKey(sha256=item.content.sha256, extension=item.content.extension) for item in listing.candidates
    )
    heads = side_by_side(lambda image: store.head(keys.faces(embedder, image.sha256)), contents)
    return [image for image, size in zip(contents, heads, strict=True) if size is None]


def read_in_process(
    images: Sequence[ImageKey], identity: EmbedderIdentity, embedder: Embedder, store: ObjectStore
) -> None:
    """Read the faces of images on a few threads, each of which keeps one core busy.

    Raises:
        IncompleteError: some images are gone from the store; the others are done.
    """
    progress, problems = Progress("photos embedded", len(images)), list[str]()

    def read(part: tuple[ImageKey, ...]) -> tuple[int, str | None]:
        try:
            read_faces(part, identity, embedder, store)
        except IncompleteError as error:
            return len(part), str(error)
        return len(part), None

    for count, problem in side_by_side(read, _parts(images)):
        progress.count(count)
        problems += [problem] if problem else []
    if problems:
        raise IncompleteError(problems[0])


def _parts(images: Sequence[ImageKey]) -> Iterable[tuple[ImageKey, ...]]:
    rest = iter(images)
    while part := tuple(islice(rest, BATCH)):
        yield part


def screened_options(choice: DatasetChoice) -> ScreenedOptions | None:
    """How a dataset of everyday photos is prepared; None of any other."""
    options = dataset_options(choice.adapter, choice.options)
    return options if isinstance(options, ScreenedOptions) else None


def with_made(listing: Listing, choice: DatasetChoice, embedder: str, store: ObjectStore) -> Listing:
    """A listing with what is made of its files."""
    options = screened_options(choice)
    if options:
        return with_cuts(listing, options.screening, embedder, store)
    return with_mirrors(listing, choice, embedder, store)


def with_mirrors(listing: Listing, choice: DatasetChoice, embedder: str, store: ObjectStore) -> Listing:
    """A listing with a mirror image for each person who has one usable photo; itself where nobody does."""
    if not choice.mirror_alone or choice.exclude_near_duplicates:
        return listing
    usable, _ = usable_by_subject(listing, embedder, store)
    alone = [found[0].candidate for found in usable.values() if is_alone(found)]
    made = side_by_side(lambda candidate: mirror_of(candidate, store), alone)
    return listing.model_copy(update={"candidates": (*listing.candidates, *made)})


def put_together(
    listing: Listing,
    choice: DatasetChoice,
    embedder: str,
    store: ObjectStore,
    groups_of: GroupsOf = as_labelled,
) -> Dataset:
    """The dataset of a listing whose faces were all read.

    Raises:
        DefinitionError: no photo can be used; the message counts the reasons.
    """
    options = screened_options(choice)
    if options:
        found = screened(listing, choice.id, options, embedder, store)
        if not found.photos:
            raise _nothing_usable(choice, found.left_out)
        return found
    usable, left_out = usable_by_subject(listing, embedder, store)
    people = [assign_roles(found, choice) for found in usable.values()]
    left_out = [*listing.left_out, *left_out, *(item for person in people for item in person.left_out)]
    not_chosen: dict[str, int] = {}
    if choice.per_group:
        not_chosen = _choose(people, choice.per_group, left_out, groups_of)
    photos = tuple(photo for person in people for photo in (*person.base, *person.references))
    if not any(photo.role == "base" for photo in photos):
        raise _nothing_usable(choice, left_out)
    return Dataset(
        id=choice.id,
        embedder_fingerprint=embedder,
        photos=photos,
        left_out=tuple(left_out),
        preparation=Preparation(
            decoder=DECODER,
            min_fss0=choice.min_fss0,
            near_duplicate_above=NEAR_DUPLICATE,
            exclude_near_duplicates=choice.exclude_near_duplicates,
            mirror_alone=choice.mirror_alone,
            per_group=choice.per_group,
            not_chosen=not_chosen,
        ),
    )


def _choose(
    people: list[Person], wanted: GroupChoice, left_out: list[LeftOut], groups_of: GroupsOf
) -> dict[str, int]:
    """Keep the chosen base photos, and the people who have one; of each group, how many were not chosen."""
    groups: dict[str, tuple[str, ...]] = {}
    for photo in (photo for person in people for photo in person.base):
        held = dict(group.split("=", 1) for group in groups_of(photo.groups))
        unknown = [name for name in wanted.columns if name not in held]
        if unknown:
            detail = f"{', '.join(unknown)} not stated, or in no group"
            left_out.append(
                LeftOut(source=photo.source, reason="no_group", detail=detail, subject=photo.subject)
            )
        else:
            groups[photo.image_sha256] = tuple(held[name] for name in wanted.columns)
    chosen = choose_per_group(groups, wanted.n, wanted.seed)
    for person in people:
        person.base = [photo for photo in person.base if photo.image_sha256 in chosen]
        person.references = person.references if person.base else []
    names = ("-".join(group) or "all" for sha, group in groups.items() if sha not in chosen)
    return dict(sorted(Counter(names).items()))


def _nothing_usable(choice: DatasetChoice, left_out: Sequence[LeftOut]) -> DefinitionError:
    return DefinitionError(f"no photo of {choice.id!r} can be used: {_reasons(left_out)}", field="dataset")


def _reasons(left_out: Sequence[LeftOut]) -> str:
    reasons = [item.reason for item in left_out]
    counts = [f"{reasons.count(reason)} × {reason}" for reason in sorted(set(reasons))]
    names = "; ".join(f"{item.source}: {item.reason}" for item in left_out[:10])
    return f"{', '.join(counts)} ({names})" if counts else "it is empty"


def prepare_suite(suite: Suite) -> str:
    """Prepare a suite's dataset in this process; returns the key of its manifest."""
    pack, store = suite.embedder.pack, wiring.store()
    source, identity = wiring.dataset_source(suite.dataset), wiring.embedder_identity(pack)
    embedder = wiring.embedder(pack)
    found = prepare(suite.dataset, source, embedder, identity, store, suite.groups_of)
    return write_dataset(found, store)
