"""Participants may choose the entry that counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    with op.batch_alter_table("users") as users:
        users.add_column(sa.Column("chosen_entry_id", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Take it away."""
    with op.batch_alter_table("users") as users:
        users.drop_column("chosen_entry_id")
