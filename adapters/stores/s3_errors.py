"""What an S3 endpoint or the way to it says, as errors that tell what to do; no secret is ever quoted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from adapters.stores.s3_client import NO_CREDENTIALS, WRONG_REGION
from domain.errors import StoreError
from domain.keys import is_of_probe

MOST_QUOTED = 200
"""Characters of an endpoint's own text."""

PERMISSIONS = {
    "read": "s3:GetObject, and s3:ListBucket, without which an absent object looks forbidden",
    "write": "s3:PutObject",
    "list": "s3:ListBucket",
    "delete": "s3:DeleteObject",
}
_WRONG_KEY = (
    "the access key is unknown to {endpoint}; check AWS_ACCESS_KEY_ID, and that it is of this endpoint"
)

_EXPIRED = "the credentials have expired; log in again, or renew them"
_SIGNATURE = "the secret key does not belong to the access key; copy AWS_SECRET_ACCESS_KEY again, whole"
_KMS = "the KMS key cannot be used; check FACEDRIFT_S3_SSE_KMS_KEY_ID, its state and its policy"
SENTENCES = {
    "NoSuchBucket": "there is no bucket {bucket!r} at {endpoint}; create it, or correct FACEDRIFT_STORE",
    "InvalidBucketName": "{bucket!r} is no name of a bucket for {endpoint}; correct FACEDRIFT_STORE",
    "InvalidAccessKeyId": _WRONG_KEY,
    "InvalidClientTokenId": _WRONG_KEY,
    "UnrecognizedClientException": _WRONG_KEY,
    "Unauthorized": _WRONG_KEY,
    "SignatureDoesNotMatch": _SIGNATURE,
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "RequestTimeTooSkewed": "the clock of this machine is wrong by more than {endpoint} allows; set it",
    "KMS.DisabledException": _KMS,
    "KMS.NotFoundException": _KMS,
    "KMS.KMSInvalidStateException": _KMS,
    "SlowDown": "{endpoint} said {tries} times that it is overloaded; run later, or with less --concurrency",
    "XMinioStorageFull": "{endpoint} has no room left; make some",
    "QuotaExceeded": "the quota of bucket {bucket!r} is used up; raise it or make room",
    "EntityTooLarge": "the object is too large for {endpoint} in one piece; set FACEDRIFT_S3_MULTIPART_MIB",
}
DENIED = ("AccessDenied", "AllAccessDisabled", "Forbidden", "403")


class Translator:
    """Makes StoreErrors about one bucket."""

    def __init__(self, bucket: str, endpoint_url: str, region: str) -> None:
        parts = urlsplit(endpoint_url)
        port = f":{parts.port}" if parts.port else ""
        self.endpoint = f"{parts.scheme}://{parts.hostname}{port}"
        self._bucket = bucket
        self._region = region

    def refused(self, error: ClientError, verb: str, key: str) -> StoreError:
        """For an answer of the endpoint."""
        said = error.response.get("Error", {})
        code = str(said.get("Code", "")) or "no code"
        about = error.response.get("ResponseMetadata", {})
        if code in WRONG_REGION or code == "400":
            text = self.wrong_region(region_named_in(error))
        elif code in SENTENCES:
            tries = about.get("RetryAttempts", 0) + 1
            text = SENTENCES[code].format(bucket=self._bucket, endpoint=self.endpoint, tries=tries)
        elif code in DENIED:
            text = (
                f"access denied on bucket {self._bucket!r}; let the policy of the key allow "
                f"{PERMISSIONS[verb]} there, or take another key"
            )
        else:
            text = f"{self.endpoint} answered {about.get('HTTPStatusCode', '?')} {code}"
            text += f" ({str(said.get('Message', ''))[:MOST_QUOTED]})" if said.get("Message") else ""
            text += "; look at the state and the log of the endpoint, then run again"
        return self._about(text, verb, key)

    def unreached(self, error: BotoCoreError, verb: str, key: str) -> StoreError:
        """For a call that got no whole answer, or was never sent."""
        name = type(error).__name__
        if "Credential" in name or "Token" in name or "SSO" in name:
            return self._about(NO_CREDENTIALS, verb, key)
        if name == "SSLError":
            text = (
                f"{self.endpoint} shows no certificate that is trusted; set AWS_CA_BUNDLE to its authority's"
            )
        elif name == "ParamValidationError":
            text = "the settings of S3 cannot be used; look at FACEDRIFT_STORE and FACEDRIFT_S3_*"
        else:
            text = (
                f"{self.endpoint} cannot be reached ({name}); check that it runs, "
                "FACEDRIFT_S3_ENDPOINT_URL or AWS_ENDPOINT_URL, and the network"
            )
        return self._about(text, verb, key)

    def wrong_region(self, right: str | None) -> str:
        """A sentence about a bucket that is elsewhere."""
        where = f"is in region {right!r}" if right else "is in another region or behind another endpoint"
        remedy = f"set AWS_REGION={right}" if right else "set AWS_REGION to the bucket's"
        return f"bucket {self._bucket!r} {where}, not in {self._region!r}; {remedy}"

    def _about(self, text: str, verb: str, key: str) -> StoreError:
        if is_of_probe(key):
            return StoreError(f"the store s3://{self._bucket} cannot be used: {text}", key=key)
        return StoreError(f"cannot {verb} {key!r} in the store: {text}", key=key)


def region_named_in(error: ClientError) -> str | None:
    """The region that an endpoint says a bucket is in, if it says so."""
    about: Mapping[str, Any] = error.response
    headers = about.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return headers.get("x-amz-bucket-region") or about.get("Error", {}).get("Region")


def code_of(error: ClientError) -> str:
    """The endpoint's code, such as `NoSuchKey`."""
    return str(error.response.get("Error", {}).get("Code", ""))


def was_sent_again(error: ClientError) -> bool:
    """Whether boto3 had tried before, so that an earlier try may have done what this one was refused."""
    return int(error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0)) > 0


def status_of(error: ClientError) -> int:
    """The HTTP status of an answer."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
