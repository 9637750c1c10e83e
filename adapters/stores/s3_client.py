"""The boto3 client of a bucket, and the same access in the words of polars.

Like all modules `s3*` it takes a second to import, so nothing imports them before a bucket is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import boto3  # pyright: ignore[reportMissingTypeStubs]
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from adapters.stores.settings import S3Settings
from domain.errors import DefinitionError, StoreError

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_s3 import S3Client

DEFAULT_REGION = "us-east-1"
"""What endpoints without regions expect in a signature."""
WRONG_REGION = (
    "PermanentRedirect",
    "AuthorizationHeaderMalformed",
    "IllegalLocationConstraintException",
    "301",
)
NO_CREDENTIALS = (
    "no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; on a cloud "
    "machine with a role, FACEDRIFT_S3_INSTANCE_CREDENTIALS=true"
)


def open_client(settings: S3Settings) -> tuple[S3Client, Credentials]:
    """A client that many threads share, and the credentials that it signs with, which renew themselves.

    Raises:
        StoreError: there are no credentials; nobody was asked over a network that was not allowed.
        DefinitionError: the profile or the region is not one.
    """
    core = Session()
    try:
        if not settings.instance_credentials:
            core.get_component("credential_provider").remove("iam-role")
        if settings.access_key_id and settings.secret_access_key:
            secrets = (settings.secret_access_key, settings.session_token)
            core.set_credentials(
                settings.access_key_id, *(held.get_secret_value() for held in secrets if held)
            )
        session = cast(Any, boto3).Session(botocore_session=core)
        credentials: Credentials | None = session.get_credentials()
        if credentials is None:
            raise StoreError(NO_CREDENTIALS)
        client: S3Client = session.client(
            "s3",
            region_name=settings.region or session.region_name or DEFAULT_REGION,
            endpoint_url=settings.endpoint_url,
            config=_config(settings),
        )
    except (BotoCoreError, ValueError) as error:  # ValueError: an endpoint in the profile that is no URL
        if "Credential" in type(error).__name__ or "Token" in type(error).__name__:
            raise StoreError(f"{NO_CREDENTIALS} ({error})") from error
        raise DefinitionError(
            f"the settings of S3 cannot be used: {error}; look at FACEDRIFT_S3_* and AWS_*"
        ) from error
    client.meta.events.register_first("needs-retry.s3", _refuse_to_be_sent_elsewhere)
    return client, credentials


def _refuse_to_be_sent_elsewhere(
    response: tuple[Any, dict[str, Any]] | None, operation: Any, **_: object
) -> None:
    """boto3 follows a bucket into another region in silence; polars does not, so a wrong one is an error."""
    if response is None:
        return
    code = str(response[1].get("Error", {}).get("Code", ""))
    headers = response[1].get("ResponseMetadata", {}).get("HTTPHeaders", {})
    if code in WRONG_REGION or (code == "400" and "x-amz-bucket-region" in headers):
        raise ClientError(response[1], operation.name)  # pyright: ignore[reportArgumentType]


def _config(settings: S3Settings) -> Config:
    return Config(
        signature_version="s3v4",
        request_checksum_calculation="when_required",  # trailers that R2 and others refuse
        response_checksum_validation="when_required",
        retries={"mode": "standard", "total_max_attempts": settings.max_attempts},
        connect_timeout=settings.connect_timeout_s,
        read_timeout=settings.read_timeout_s,
        max_pool_connections=settings.connections,
        s3={"addressing_style": settings.addressing_style},
        tcp_keepalive=True,
    )


def polars_options(
    client: S3Client, credentials: Credentials, settings: S3Settings, bucket: str
) -> dict[str, str | int]:
    """`storage_options` under which polars reaches the bucket as the client does, never asking elsewhere."""
    frozen = credentials.get_frozen_credentials()
    endpoint = urlsplit(client.meta.endpoint_url)
    virtual = _is_virtual(settings, endpoint.netloc)
    host = f"{bucket}.{endpoint.netloc}" if virtual else endpoint.netloc
    found: dict[str, str | int] = {
        "aws_access_key_id": frozen.access_key or "",
        "aws_secret_access_key": frozen.secret_key or "",
        "aws_region": client.meta.region_name,
        "aws_endpoint_url": f"{endpoint.scheme}://{host}",
        "aws_virtual_hosted_style_request": "true" if virtual else "false",
        "aws_allow_http": "true" if endpoint.scheme == "http" else "false",
        "connect_timeout": f"{settings.connect_timeout_s}s",
        "max_retries": settings.max_attempts - 1,
    }
    if frozen.token:
        found["aws_session_token"] = frozen.token
    if settings.sse:
        found["aws_server_side_encryption"] = settings.sse
    if settings.sse_kms_key_id:
        found["aws_sse_kms_key_id"] = settings.sse_kms_key_id
    return found


def _is_virtual(settings: S3Settings, host: str) -> bool:
    if settings.addressing_style != "auto":
        return settings.addressing_style == "virtual"
    return host.endswith((".amazonaws.com", ".amazonaws.com.cn"))
