"""Content identities: canonical JSON, digests and readable slugs.

Identity is a hash of content, never of a wall clock, a path of this machine or a random number.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of every frozen record: unknown keys are an error, values cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def canonical_json(value: object) -> bytes:
    """Return the one JSON text of `value` (sorted keys, no spaces, UTF-8), for hashing and comparing.

    Raises TypeError for what JSON cannot hold, ValueError for NaN and infinities.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal (64 characters)."""
    return hashlib.sha256(data).hexdigest()


def content_id(value: object) -> str:
    """Return the digest of the canonical JSON of `value`."""
    return digest(canonical_json(value))


def tree_digest(files: Mapping[str, tuple[int, bytes]]) -> str:
    """Return the identity of a tree: path to (mode bits 0o644, 0o755 or 0o120000 for a link, content)."""
    hasher = hashlib.sha256()
    for path in sorted(files):
        mode, content = files[path]
        hasher.update(f"{mode:o} {PurePosixPath(path)}\0".encode("utf-8", "surrogateescape"))
        hasher.update(hashlib.sha256(content).digest())
    return hasher.hexdigest()


def slugify(*words: str) -> str:
    """Return the words as one lower-case slug of letters, digits and single hyphens."""
    return "-".join(filter(None, (re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words)))
