"""Tables of a corpus (SQLAlchemy Core). Migrations bring a file of any earlier version to exactly this.

Nothing in here depends on the machine: no absolute path, and times only in `attempts` and `timings`.
"""

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

REVISION = "0001"
"""Alembic revision of the tables below."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

blobs = Table(
    "blobs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True, comment="SHA-256 of the content, 32 bytes"),
    Column("size", Integer, nullable=False, comment="bytes of the content"),
    Column("bases", LargeBinary, comment="digests of the blobs whose joined content is the zstd dictionary"),
    Column("packed", LargeBinary, comment="zstd frame; null when it lies in a file under blobs/"),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False, index=True),
    Column("record", Text, nullable=False, comment="canonical JSON of the Snapshot"),
    Column("manifest", String, nullable=False, comment="blob: canonical JSON of path -> [mode, digest]"),
    Column("suite", String, comment="blob: JSON list of node ids, dictionary of the tasks' test lists"),
)

environments = Table(
    "environments",
    metadata,
    Column("id", String, primary_key=True, comment="recipe id, and the digest of the blob that holds it"),
    Column("distribution", String, nullable=False),
)

tasks = Table(
    "tasks",
    metadata,
    Column(
        "id", String, primary_key=True, comment="task id, and the digest of the blob that holds the record"
    ),
    Column("slug", String, nullable=False, index=True),
    Column("repository", String, nullable=False),
    Column("snapshot", String, ForeignKey("snapshots.id"), nullable=False),
    Column("tier", Integer, nullable=False),
    Column("mode", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("files", Integer, nullable=False),
    Column("symbols", Integer, nullable=False),
    Column("removed_lines", Integer, nullable=False),
    Column("fail_to_pass", Integer, nullable=False),
    Column("pass_to_pass", Integer, nullable=False),
    Column("rank", Integer, nullable=False),
    Index("ix_tasks_repository_rank", "repository", "rank", "id"),
)

outcomes = Table(
    "outcomes",
    metadata,
    Column("stage", String, primary_key=True),
    Column("item", String, primary_key=True),
    Column("label", String, nullable=False),
    Column("repository", String, nullable=False, index=True),
    Column("reason", String, comment="SkipReason; null when the stage finished"),
    Column("detail", String, nullable=False, default=""),
    Column("value", Text, comment="JSON; null when skipped"),
    Column("evidence", LargeBinary, comment="zstd of the evidence's text"),
    Index("ix_outcomes_label", "label"),
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("stage", String, nullable=False),
    Column("item", String, nullable=False),
    Column("label", String, nullable=False),
    Column("repository", String, nullable=False),
    Column("boundary", String, nullable=False),
    Column("evidence", LargeBinary),
    Column("at", Float, nullable=False, comment="seconds since 1970"),
    Index("ix_attempts_item", "item", "stage"),
)

timings = Table(
    "timings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("stage", String, nullable=False),
    Column("item", String, nullable=False),
    Column("repository", String, nullable=False, index=True),
    Column("cpu_s", Float, nullable=False),
    Column("wall_s", Float, nullable=False),
    Column("extra", Text, nullable=False, default="{}", comment="JSON"),
    Column("at", Float, nullable=False, comment="seconds since 1970"),
)
