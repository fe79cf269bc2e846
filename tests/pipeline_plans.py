# SPDX-License-Identifier: Apache-2.0
"""Plans of pipelines, as a later Watcher's database has them."""

import fixtures
import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from watcher import objects
from watcher.common import context
from watcher.db.sqlalchemy import models

COLUMNS = ('audit_id', 'strategy_id')


class PipelinePlans(fixtures.Fixture):
    """A table of plans that need no audit and no strategy.

    It comes after the database, which is SQLite's.
    """

    def _setUp(self):
        for name in COLUMNS:
            field = objects.ActionPlan.fields[name]
            self.useFixture(fixtures.MockPatchObject(field, '_nullable', True))
        with _session() as session:
            query = sa.text(
                'SELECT sql FROM sqlite_master '
                "WHERE type = 'table' AND name = 'action_plans'"
            )
            sql = session.execute(query).scalar_one()
            for name in COLUMNS:
                sql = sql.replace(
                    f'{name} INTEGER NOT NULL', f'{name} INTEGER'
                )
            session.execute(sa.text('DROP TABLE action_plans'))
            session.execute(sa.text(sql))

    def cut_loose(self, number, hostname=None):
        """Take audit and strategy from a plan.

        :param number: its id
        :param hostname: of the applier that has taken it
        """
        with _session() as session:
            session.execute(
                sa.update(models.ActionPlan)
                .where(models.ActionPlan.id == number)
                .values(**dict.fromkeys(COLUMNS), hostname=hostname)
            )


def _session():
    return enginefacade.writer.using(context.make_context())
