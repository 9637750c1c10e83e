"""Sending an object in parts: it appears whole at the end, or not at all."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

MOST_PARTS = 10_000


class Upload:
    """One object on its way in parts."""

    def __init__(self, client: S3Client, bucket: str, name: str, extra: dict[str, Any]) -> None:
        """Begin it; `extra` is what the object carries."""
        begun = client.create_multipart_upload(Bucket=bucket, Key=name, **extra)
        self._client = client
        self._where: dict[str, Any] = {"Bucket": bucket, "Key": name, "UploadId": begun["UploadId"]}
        self._parts: list[CompletedPartTypeDef] = []

    def send(self, data: bytes, part_bytes: int) -> None:
        """Send all parts, larger ones where there would be too many."""
        size = max(part_bytes, math.ceil(len(data) / MOST_PARTS))
        for number, start in enumerate(range(0, len(data), size), 1):
            answer = self._client.upload_part(
                **self._where, PartNumber=number, Body=data[start : start + size]
            )
            self._parts.append({"PartNumber": number, "ETag": answer["ETag"]})

    def complete(self, condition: dict[str, Any]) -> None:
        """Let the object appear; ClientError 412 where the condition does not hold."""
        self._client.complete_multipart_upload(
            **self._where, MultipartUpload={"Parts": self._parts}, **condition
        )

    def abort(self) -> None:
        """Throw away what was sent; what fails here is less worth hearing than what led here."""
        with contextlib.suppress(ClientError, BotoCoreError):
            self._client.abort_multipart_upload(**self._where)


def put_in_parts(upload: Upload, data: bytes, part_bytes: int, condition: dict[str, Any]) -> None:
    """Send an object in parts and let it appear; what was sent of one that fails is thrown away."""
    done = False
    try:
        upload.send(data, part_bytes)
        upload.complete(condition)
        done = True
    finally:
        if not done:
            upload.abort()
