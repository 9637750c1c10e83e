"""Where the store is: a directory, or a prefix in a bucket of anything that speaks S3."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.errors import DefinitionError
from domain.keys import check_key

VARIABLE = "FACEDRIFT_STORE"
ALLOWED = ("a directory", "s3://bucket/prefix")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|s3:", re.IGNORECASE)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
MIB = 1 << 20
LARGEST_PUT_MIB = 5 * 1024
"""What S3 takes in one piece."""


class StoreSettings(BaseSettings):
    """`FACEDRIFT_STORE`: the directory or the s3:// address of the store."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_", env_ignore_empty=True)

    store: str = ".facedrift/store"


def _no_login_in(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("must be http(s)://host[:port], and keys do not belong in it")
    return url.rstrip("/")


class S3Settings(BaseSettings):
    """`FACEDRIFT_S3_*`: how a bucket is reached; keys may come from the usual AWS places instead."""

    model_config = SettingsConfigDict(
        env_prefix="FACEDRIFT_S3_",
        frozen=True,
        populate_by_name=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    endpoint_url: Annotated[str, AfterValidator(_no_login_in)] | None = Field(
        default=None,
        validation_alias=AliasChoices("FACEDRIFT_S3_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    )
    """None: AWS, or what the AWS profile says."""
    region: str | None = Field(
        default=None, validation_alias=AliasChoices("FACEDRIFT_S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION")
    )
    access_key_id: str | None = None
    """With the secret; without both, AWS variables, profiles, SSO, web identity and containers are asked."""
    secret_access_key: SecretStr | None = None
    session_token: SecretStr | None = None
    instance_credentials: bool = False
    """Whether the metadata address of a cloud machine may be asked for keys."""
    addressing_style: Literal["auto", "path", "virtual"] = "auto"
    """`auto`: host names on AWS, paths on any other endpoint."""
    sse: Literal["AES256", "aws:kms"] | None = None
    sse_kms_key_id: str | None = None
    multipart_mib: int = Field(default=0, ge=0, le=LARGEST_PUT_MIB)
    """Larger objects are sent in parts; 0 sends all in one piece, whose condition more endpoints honour."""
    part_mib: int = Field(default=8, ge=5, le=LARGEST_PUT_MIB)
    max_attempts: int = Field(default=6, ge=1, le=20)
    connect_timeout_s: float = Field(default=5.0, gt=0)
    read_timeout_s: float = Field(default=60.0, gt=0)
    connections: int = Field(default=64, ge=1, le=1024)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.access_key_id is None) != (self.secret_access_key is None):
            raise ValueError("ACCESS_KEY_ID and SECRET_ACCESS_KEY go together; set both or neither")
        if self.session_token and not self.access_key_id:
            raise ValueError("SESSION_TOKEN goes with ACCESS_KEY_ID and SECRET_ACCESS_KEY; set all or none")
        if self.sse_kms_key_id and self.sse != "aws:kms":
            raise ValueError("SSE_KMS_KEY_ID is for SSE=aws:kms only")
        return self


@dataclass(frozen=True)
class BucketPlace:
    """A prefix of a bucket, and how it is reached."""

    bucket: str
    prefix: str
    """Without slashes around it; empty for the whole bucket."""
    settings: S3Settings

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def full(self, key: str) -> str:
        """The name of a key within the bucket."""
        return f"{self.prefix}/{key}" if self.prefix else key


Place = Path | BucketPlace
"""Where a store is; hashable, so that what was built for it can be kept."""


def place() -> Place:
    """Where the store is, by the environment; raises DefinitionError.

    How a bucket is reached is read once in a process, since every step asks for its store.
    """
    found = parse(StoreSettings().store)
    return found if isinstance(found, Path) else _bucket_place(*found)


@cache
def _bucket_place(bucket: str, prefix: str) -> BucketPlace:
    return BucketPlace(bucket, prefix, s3_settings())


def is_relative() -> bool:
    """Whether the store is a folder below wherever this process was started."""
    text = StoreSettings().store
    return not _ADDRESS.match(text) and not Path(text).expanduser().is_absolute()


def parse(text: str) -> Path | tuple[str, str]:
    """A location as an absolute directory, or as bucket and prefix; raises DefinitionError."""
    if not _ADDRESS.match(text):
        try:
            return Path(text).expanduser().absolute()
        except RuntimeError as error:  # there is no such user
            raise _wrong(text, "names the home of nobody") from error
    if not text.startswith("s3://"):
        raise _wrong(text, "is neither a directory nor an s3:// address")
    bucket, _, prefix = text.removeprefix("s3://").partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise _wrong(text, "names no bucket: 3 to 63 letters, digits, dots and hyphens")
    prefix = prefix.rstrip("/")
    try:
        return bucket, check_key(prefix) if prefix else ""
    except ValueError as error:
        raise _wrong(text, "has a prefix with characters that no key has") from error


def s3_settings() -> S3Settings:
    """The settings of a bucket; raises DefinitionError that names the variable and quotes no value."""
    try:
        return S3Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        said = first["msg"].removeprefix("Value error, ")
        name = str(first["loc"][0]) if first["loc"] else "*"
        raise DefinitionError(f"{_variables(name)}: {said}; mend the variable") from error


def _variables(name: str) -> str:
    """Every variable that a field is read from; an error names the field, or the first of them."""
    for field in S3Settings.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices) and name in field.validation_alias.choices:
            return " or ".join(map(str, field.validation_alias.choices))
    return f"FACEDRIFT_S3_{name.upper()}"


def _wrong(text: str, what: str) -> DefinitionError:
    shown = "its value" if "@" in text else repr(text)  # somebody's key may be before the @
    return DefinitionError(f"{VARIABLE} or --store: {shown} {what}", field="store", allowed=ALLOWED)
