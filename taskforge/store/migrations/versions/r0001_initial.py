"""Tables of the first corpus format."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make an empty corpus."""
    op.create_table(
        "blobs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("bases", sa.LargeBinary),
        sa.Column("packed", sa.LargeBinary),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False, index=True),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("manifest", sa.String, nullable=False),
        sa.Column("suite", sa.String),
    )
    op.create_table(
        "environments",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("distribution", sa.String, nullable=False),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("slug", sa.String, nullable=False, index=True),
        sa.Column("repository", sa.String, nullable=False),
        sa.Column("snapshot", sa.String, sa.ForeignKey("snapshots.id"), nullable=False),
        sa.Column("tier", sa.Integer, nullable=False),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        *(
            sa.Column(name, sa.Integer, nullable=False)
            for name in ("files", "symbols", "removed_lines", "fail_to_pass", "pass_to_pass", "rank")
        ),
    )
    op.create_index("ix_tasks_repository_rank", "tasks", ["repository", "rank", "id"])
    op.create_table(
        "outcomes",
        sa.Column("stage", sa.String, primary_key=True),
        sa.Column("item", sa.String, primary_key=True),
        sa.Column("label", sa.String, nullable=False),
        sa.Column("repository", sa.String, nullable=False, index=True),
        sa.Column("reason", sa.String),
        sa.Column("detail", sa.String, nullable=False),
        sa.Column("value", sa.Text),
        sa.Column("evidence", sa.LargeBinary),
    )
    op.create_index("ix_outcomes_label", "outcomes", ["label"])
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, primary_key=True),
        *(
            sa.Column(name, sa.String, nullable=False)
            for name in ("stage", "item", "label", "repository", "boundary")
        ),
        sa.Column("evidence", sa.LargeBinary),
        sa.Column("at", sa.Float, nullable=False),
    )
    op.create_index("ix_attempts_item", "attempts", ["item", "stage"])
    op.create_table(
        "timings",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("stage", sa.String, nullable=False),
        sa.Column("item", sa.String, nullable=False),
        sa.Column("repository", sa.String, nullable=False, index=True),
        sa.Column("cpu_s", sa.Float, nullable=False),
        sa.Column("wall_s", sa.Float, nullable=False),
        sa.Column("extra", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
    )
