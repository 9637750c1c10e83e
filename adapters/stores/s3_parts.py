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


def put_in_parts(
    client: S3Client,
    bucket: str,
    name: str,
    data: bytes,
    part_bytes: int,
    extra: dict[str, Any],
    condition: dict[str, Any],
) -> None:
    """Write an object in parts; what was sent of one that fails is thrown away.

    Args:
        client: Of the bucket.
        bucket: Its name.
        name: Of the object in it.
        data: All of it.
        part_bytes: Of each part but the last; more where there would be too many.
        extra: What the object carries.
        condition: On which it is completed.

    Raises:
        ClientError: the endpoint refused; 412 where the condition does not hold.
        BotoCoreError: an answer is lost.
    """
    where: dict[str, Any] = {"Bucket": bucket, "Key": name}
    where["UploadId"] = client.create_multipart_upload(Bucket=bucket, Key=name, **extra)["UploadId"]
    size = max(part_bytes, math.ceil(len(data) / MOST_PARTS))
    parts: list[CompletedPartTypeDef] = []
    done = False
    try:
        for number, start in enumerate(range(0, len(data), size), 1):
            answer = client.upload_part(**where, PartNumber=number, Body=data[start : start + size])
            parts.append({"PartNumber": number, "ETag": answer["ETag"]})
        client.complete_multipart_upload(**where, MultipartUpload={"Parts": parts}, **condition)
        done = True
    finally:
        if not done:
            with contextlib.suppress(ClientError, BotoCoreError):  # the first error is the one to hear of
                client.abort_multipart_upload(**where)
