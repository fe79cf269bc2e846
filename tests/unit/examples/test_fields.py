# SPDX-License-Identifier: Apache-2.0
"""A field of a policy and an option are each declared in one place.

All that reads, checks, records and overrides them learns of them there.
"""

import dataclasses
import json
import pathlib

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.common import exceptions
from kronos.conf import opts, planning
from kronos.engine.settings import Settings, TieBreak, UnexplainedLoad
from kronos.options import row
from kronos.policies import loader, models
from kronos.policies.models import Policy
from kronos.recordings import overrides
from kronos.snapshots import settings_from_conf
from tests.builders import recordings
from tests.unit.examples import option, policy_field
from tests.unit.strategies import declared

BY_AUDIT_OR_MODE = {
    'max_migrations',
    'extension',
    'beside',
    'drain_hosts',
    'rebalance',
    'unlimited',
}
BY_REPLAY = {'repeat_moves', 'exhaust'}
LITERAL = {UnexplainedLoad.IGNORED}
"""Of the literal rule, which no option is set to."""


@dataclasses.dataclass
class MoreSettings(Settings, option.PlanningOptions):
    pass


class PolicyFile(models.PolicyFile):
    policies: list[policy_field.Policy]


class TestPolicyField(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        for name, value in (
            ('kronos.policies.loader.PolicyFile', PolicyFile),
            ('kronos.policies.loader.Policy', policy_field.Policy),
            ('kronos.recordings.overrides.Policy', policy_field.Policy),
        ):
            self.useFixture(fixtures.MonkeyPatch(name, value))

    def text(self, **more):
        [row, *_] = [
            one.model_dump(mode='json', exclude_none=True)
            for one in recordings.policies()
        ]
        return json.dumps({'policies': [{**row, 'weight': 1.0, **more}]})

    def test_default_and_limits(self):
        [found] = loader.parse(self.text(), 'x').policies
        self.assertEqual(0.0, found.least_gain)
        [found] = loader.parse(self.text(least_gain=0.2), 'x').policies
        self.assertEqual(0.2, found.least_gain)
        error = self.assertRaises(
            exceptions.PolicyFileError,
            loader.parse,
            self.text(least_gain=7.0),
            'x',
        )
        self.assertIn('least_gain: must be a number from 0 to 1', str(error))

    def test_it_can_be_overridden(self):
        known = loader.parse(self.text(), 'x').policies
        wanted = {'least_gain.cpu': '0.3'}
        overrides.require_sense(known, wanted)
        [found] = overrides.policies(known, wanted)
        self.assertEqual(0.3, found.least_gain)

    def test_it_is_recorded(self):
        known = loader.parse(self.text(least_gain=0.2), 'x').policies
        self.assertEqual(known, loader.parse(loader.dump(known), 'x').policies)


class TestOption(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.snapshots.settings_from_conf.Settings', MoreSettings
            )
        )
        group = dict(opts.list_opts())[opts.KRONOS]
        (more,) = planning.of(option.PlanningOptions)
        group.append(more)
        self.addCleanup(group.remove, more)

    def test_from_a_file_to_the_engine(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'conf')
        path.write_text('[kronos]\nspare_hosts = 2\n')
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        conf([], default_config_files=[str(path)], default_config_dirs=[])
        found = settings_from_conf.settings_of(conf.kronos)
        self.assertEqual(2, found.spare_hosts)

    def test_overridden_and_checked(self):
        found = settings_from_conf.default_settings()
        overrides.require_sense([], {'spare_hosts': '1'})
        overrides.apply(found, {'spare_hosts': '1'})
        self.assertEqual(1, found.spare_hosts)
        self.assertRaises(
            ValueError, settings_from_conf.understood, 'spare_hosts', '-1'
        )


class TestEachField(base.BaseTestCase):
    """Nothing of the engine's settings is left without a source."""

    def test_settings(self):
        known = {one.name for one in dataclasses.fields(Settings)}
        configured = {one.field for one in row.rows(Settings)}
        self.assertEqual(known, configured | BY_AUDIT_OR_MODE | BY_REPLAY)

    def test_options_of_a_choice(self):
        """What an operator may write is what the engine knows."""
        known = {one.name: one for one in dict(opts.list_opts())[opts.KRONOS]}
        choices = {
            one.name: [word for word in one.choices if word not in LITERAL]
            for one in row.rows(Settings)
            if one.choices
        }
        self.assertEqual(10, len(choices))
        for name, words in choices.items():
            self.assertEqual(words, [*known[name].type.choices], name)

    def test_each_tie_break_is_understood(self):
        for one in TieBreak:
            kronos = declared.kronos(tie_break=one.value)
            found = settings_from_conf.settings_of(kronos)
            self.assertIs(one, found.tie_break)

    def test_policy(self):
        """Every number has limits and says them in words."""
        for name, field in Policy.model_fields.items():
            if field.annotation in (int, float):
                self.assertIn(' from ', field.description, name)
                self.assertEqual(2, _limits(field), name)


def _limits(field):
    return sum(
        hasattr(one, bound) for one in field.metadata for bound in ('ge', 'le')
    )
