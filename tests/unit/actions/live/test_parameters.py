# SPDX-License-Identifier: Apache-2.0
"""Are an action's parameters and the options read as they are meant?"""

from oslo_config import cfg
from oslo_config import fixture as config_fixture
from oslotest import base

from kronos.actions.live import parameters
from kronos.actions.live.force_complete import AtStall
from kronos.conf import opts

TOLD = {
    'resource_id': '11111111-1111-1111-1111-111111111111',
    'resource_name': 'one',
    'aggregate': 'alpha',
    'phase': 'spread',
    'source_node': 'h1',
    'destination_node': 'h2',
    'action_uuid': 'a',
    'action_plan_uuid': 'p',
    'audit_uuid': 'u',
}


class ParametersTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        conf = cfg.ConfigOpts()
        self.options = self.useFixture(config_fixture.Config(conf))
        opts.register_opts(conf)
        conf([], default_config_files=[])
        self.conf = conf

    def set(self, **values):
        self.options.config(group='kronos', **values)

    def settings(self, **more):
        return parameters.settings_of({**TOLD, **more}, self.conf.kronos)


class OrderTestCase(ParametersTestCase):
    def test_defaults(self):
        settings = self.settings()
        limits = list(vars(settings.limits).values())
        self.assertEqual([2, 1, 2, 0, 10, 86400], limits)
        timing = settings.timing
        self.assertEqual(
            (1800, 600, 300, 3, 5),
            (
                timing.queue_timeout,
                timing.migration_timeout,
                timing.stall_timeout,
                timing.stall_passes,
                timing.poll_interval,
            ),
        )
        self.assertEqual(
            (AtStall.ABORT, 5, False),
            (
                settings.at_stall,
                settings.max_pause_seconds,
                settings.recover_rows,
            ),
        )
        self.assertEqual(
            (3, 30), (settings.max_retries, settings.retry_backoff)
        )
        self.assertEqual(['VCPU', 'MEMORY_MB'], settings.resources)

    def test_options(self):
        self.set(
            max_concurrent_migrations=4,
            stagger_seconds=7,
            queue_timeout=8,
            migration_timeout=9,
            stall_timeout=0,
            stall_passes=0,
            at_stall='post_copy',
            max_pause_seconds=9,
            recover_rows=True,
            migration_poll_interval=2,
            max_retries=0,
            retry_backoff=1,
            require_headroom=False,
            check_disk=True,
        )
        settings = self.settings()
        self.assertEqual(
            (4, 7), (settings.limits.in_scope, settings.limits.stagger_seconds)
        )
        timing = settings.timing
        self.assertEqual(
            (8, 9, 0, 0, 2),
            (
                timing.queue_timeout,
                timing.migration_timeout,
                timing.stall_timeout,
                timing.stall_passes,
                timing.poll_interval,
            ),
        )
        self.assertEqual(
            (AtStall.POST_COPY, 9, True),
            (
                settings.at_stall,
                settings.max_pause_seconds,
                settings.recover_rows,
            ),
        )
        self.assertEqual(
            (0, 1), (settings.max_retries, settings.retry_backoff)
        )
        self.assertFalse(settings.require_headroom)
        self.assertEqual(['VCPU', 'MEMORY_MB', 'DISK_GB'], settings.resources)

    def test_task(self):
        task = self.settings().task
        self.assertEqual(
            ('h1', 'h2', 'spread', 'alpha', 'one'),
            (
                task.source,
                task.destination,
                task.phase,
                task.aggregate,
                task.name,
            ),
        )

    def test_a_claim_outlives_its_move(self):
        self.set(queue_timeout=100, migration_timeout=200)
        turn = parameters.slots_of(TOLD, self.settings())
        self.assertGreaterEqual(turn._max_age, 100 + 2 * 200)


class SoftRulesTestCase(ParametersTestCase):
    """They bind where no plan breaks them knowingly."""

    def binding(self):
        return [
            phase
            for phase in ('evacuate', 'affinity', 'spread', 'pack')
            if self.settings(phase=phase).soft_rules_bind
        ]

    def test_veto(self):
        self.set(soft_rules='veto')
        self.assertEqual(
            ['evacuate', 'affinity', 'spread', 'pack'], self.binding()
        )

    def test_penalty(self):
        self.set(soft_rules='penalty')
        self.assertEqual(['affinity', 'pack'], self.binding())

    def test_penalty_but_enforced(self):
        self.set(soft_rules='penalty', enforce_soft_affinity=True)
        self.assertEqual(
            ['evacuate', 'affinity', 'spread', 'pack'], self.binding()
        )
