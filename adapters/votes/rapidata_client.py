"""The client of the Rapidata SDK as it is used here: nothing opened, nothing told to others, one paid call.

The SDK opens a browser when it has no credentials or wrong ones, so a token is fetched here and handed to it.
Its own retries would send a job twice, so they are off while one is given. What is used of it that is private
is pinned by a contract test: `_check_version`, `_openapi_service`, and two names of `api_client.rest`.

API: https://docs.rapidata.ai (rapidata 3.27.1, read 2026-11)
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import httpx
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from adapters.providers.settings import Key, read
from domain.errors import AmbiguousError, DefinitionError, FatalError, QuotaError, TransientError

PROVIDER = "rapidata"
SCOPE = "openid email api"
TIMEOUT_S = 30.0


class RapidataSettings(BaseSettings):
    """`RAPIDATA_…`: the account that pays. Files of credentials in the home folder are not read."""

    model_config = SettingsConfigDict(
        env_prefix="RAPIDATA_", frozen=True, env_ignore_empty=True, hide_input_in_errors=True
    )

    client_id: str | None = None
    client_secret: Key | None = None
    token: Key | None = None
    """An access token in their place; it is not renewed."""
    environment: str = "rapidata.ai"
    api_url: str | None = None
    """In place of https://api.<environment>, and for tokens as well."""
    workers: int = Field(default=25, ge=1, le=200)
    """Uploads at the same time."""


def settings() -> RapidataSettings:
    """The account; raises DefinitionError where there is none or its package is missing."""
    found = read(RapidataSettings, "Rapidata", "RAPIDATA_CLIENT_ID")
    if find_spec("rapidata") is None:
        raise DefinitionError("Rapidata needs its package: uv sync --extra rapidata")
    if found.token is None and not (found.client_id and found.client_secret):
        raise DefinitionError(
            "Rapidata needs an account: set RAPIDATA_CLIENT_ID and RAPIDATA_CLIENT_SECRET, or RAPIDATA_TOKEN"
        )
    return found


def fetch_token(account: RapidataSettings) -> dict[str, Any]:
    """A token for the account; raises ProviderError."""
    if account.token is not None:
        return _token(account.token.get_secret_value(), 3600)
    base = account.api_url or f"https://auth.{account.environment}"
    secret = account.client_secret or SecretStr("")
    try:
        answer = httpx.post(
            f"{base}/connect/token",
            data={"grant_type": "client_credentials", "scope": SCOPE},
            auth=(account.client_id or "", secret.get_secret_value()),
            timeout=TIMEOUT_S,
        )
    except httpx.TransportError as error:
        raise TransientError(f"Rapidata does not answer: {error}", provider=PROVIDER) from error
    if answer.status_code in (400, 401, 403):
        raise FatalError(
            "Rapidata does not accept the account: check RAPIDATA_CLIENT_ID and RAPIDATA_CLIENT_SECRET",
            provider=PROVIDER,
            code=str(answer.status_code),
        )
    try:
        held = answer.raise_for_status().json()
        return _token(str(held["access_token"]), int(held.get("expires_in", 3600)))
    except (httpx.HTTPStatusError, ValueError, KeyError, TypeError) as error:
        raise TransientError(
            f"Rapidata gave no token ({answer.status_code}); try again later", provider=PROVIDER
        ) from error


def _token(access: str, lasts_s: int) -> dict[str, Any]:
    return {"access_token": access, "token_type": "Bearer", "expires_at": int(time.time()) + lasts_s}


def open_client(account: RapidataSettings) -> Any:
    """A client that was given its token, so that it never asks anybody for one."""
    token = fetch_token(account)
    import rapidata  # pyright: ignore[reportMissingTypeStubs]
    from rapidata.rapidata_client.config.upload_config import (  # pyright: ignore[reportMissingTypeStubs]
        CompressionConfig,
    )

    config = rapidata.rapidata_config
    config.logging.enable_otlp = False
    config.logging.silent_mode = True
    config.upload.compression = CompressionConfig(enabled=False)
    config.upload.cacheToDisk = False
    config.upload.maxWorkers = account.workers

    class Client(rapidata.RapidataClient):
        """Does not look for a newer version of itself, nor at who its user is."""

        def _check_version(self) -> None:
            return

        def _check_beta_features(self) -> None:
            return

    secret = account.client_secret.get_secret_value() if account.client_secret else None
    client: Any = Client(
        client_id=account.client_id, client_secret=secret, environment=account.environment, token=token
    )
    service = client._openapi_service
    if account.api_url:
        service.api_client.configuration.host = account.api_url
    if account.token is None:  # an upload of many matches outlasts a token
        session = service.api_client.rest_client.session
        session.metadata.update(
            grant_type="client_credentials",
            token_endpoint=f"{account.api_url or f'https://auth.{account.environment}'}/connect/token",
        )
    return client


@contextmanager
def calling(*, paid: bool = False) -> Generator[None]:
    """Turns what the SDK raises into errors that say what to do; a paid call is sent once.

    Raises:
        AmbiguousError: a paid call may have been accepted.
        ProviderError: any other failure, by its kind.
    """
    from authlib.common.errors import AuthlibBaseError
    from rapidata.api_client import rest  # pyright: ignore[reportMissingTypeStubs]
    from rapidata.api_client.exceptions import OpenApiException  # pyright: ignore[reportMissingTypeStubs]
    from rapidata.rapidata_client.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
        FailedUploadException,
        RapidataError,
    )

    tries = rest._TRANSIENT_RETRY_MAX_ATTEMPTS  # pyright: ignore[reportPrivateUsage]
    if paid:
        rest._TRANSIENT_RETRY_MAX_ATTEMPTS = 0  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    except RapidataError as error:
        raise _of_status(error.status_code or 0, str(error), paid) from error
    except OpenApiException as error:
        raise _of_status(int(getattr(error, "status", 0) or 0), str(error), paid) from error
    except AuthlibBaseError as error:
        raise FatalError(f"Rapidata does not accept the account: {error}", provider=PROVIDER) from error
    except FailedUploadException as error:
        first = str(error).strip().splitlines()[:2]
        text = f"not everything could be uploaded, and no job was given: {' '.join(first)[:300]}"
        raise TransientError(f"Rapidata: {text}", provider=PROVIDER) from error
    except (TypeError, ValidationError) as error:  # raised where an answer is not as the SDK knows it
        text = f"Rapidata: an answer that the SDK does not understand; update facedrift: {str(error)[:300]}"
        raise (AmbiguousError if paid else FatalError)(text, provider=PROVIDER) from error
    finally:
        rest._TRANSIENT_RETRY_MAX_ATTEMPTS = tries  # pyright: ignore[reportPrivateUsage]


def _of_status(status: int, said: str, paid: bool) -> Exception:
    text, code = f"Rapidata: {said[:300]}", str(status or "none")
    if status in (402, 429):
        return QuotaError(text, provider=PROVIDER, code=code)
    if 400 <= status < 500 and status != 408:
        return FatalError(text, provider=PROVIDER, code=code)
    kind = AmbiguousError if paid else TransientError
    return kind(text, provider=PROVIDER, code=code)
