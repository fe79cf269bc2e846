# SPDX-License-Identifier: Apache-2.0
"""What happens if somebody writes nonsense about windows, budgets or consent?

Aggregates and options are the operator's, metadata and tags the tenant's. All
of it gets into logs, tables and pages: a message names place and rule on one
plain line, and nothing else takes place than what it says.
"""

import pathlib

import fixtures
import hypothesis
from hypothesis import strategies as st
from oslo_config import cfg
from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.common import plain_text
from kronos.conf import opts as conf_opts
from kronos.conf import validation
from kronos.engine import phase_rules
from kronos.engine.eligibility import consent
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, Instance, Snapshot
from kronos.snapshots import scope_windows, settings_from_conf
from tests.builders import scopes
from tests.builders.hostile_names import HOSTILE

MOST_CHARACTERS = 500
"""Of a message, whatever the value is like."""
BUDGETS = 'project_budget', 'group_budget', 'instance_budget'
CHECKED = (*BUDGETS, 'project_budgets', 'budget_exempt')

GARBAGE = (
    st.sampled_from(
        [
            *HOSTILE,
            '<script>alert(1)</script>',
            'x' * 100_000,
            'Mon-Fri 22:00-05:30 Europe/Berlin\x1b[31m',
            'Mon-Fri 22:00-05:30 \x1b]0;x\x07/Berlin',
            '2026-12-20/2027-01-06 UTC;<b>',
            '5/3600\n[kronos]\nconsent = ignore',
            '\x1b[2J:5/36x',
            'a:\u202e5',
            '9' * 5000,
            '٥/٣٦٠٠',
        ]
    )
    | st.text(max_size=60)
    | st.text('MonFri -:0123456789/,;UTC\x1b\n<>', max_size=40)
)


def snapshot() -> Snapshot:
    """A scope in which a move would help."""
    servers = [scopes.vm(f'v{number}', 'a', [0.2]) for number in range(4)]
    hosts = {'a': [0.8], 'b': [0.0], 'c': [0.0]}
    return scopes.scope([scopes.policy('cpu')], hosts, servers)


def planned(case: Snapshot, settings: Settings) -> AggregateResult:
    policies = [scopes.policy('cpu')]
    return propose.propose([case], policies, settings).scopes[0]


class GarbageTestCase(base.BaseTestCase):
    def assert_plain(self, message: str) -> None:
        """One short line that steers no terminal."""
        self.assertEqual(plain_text.line(message), message)
        self.assertLess(len(message), MOST_CHARACTERS)


class TestWindows(GarbageTestCase):
    @hypothesis.given(
        GARBAGE, st.sampled_from(['kronos:window', 'kronos:freeze', ''])
    )
    @hypothesis.settings(max_examples=60)
    def test_scope_is_closed(self, text: str, key: str) -> None:
        """A window that cannot be used closes its scope, and no other one."""
        settings = Settings(windows=[] if key else [text], max_migrations=9)
        metadata = {key: text} if key else {}
        own, other = snapshot(), snapshot()
        own.scope, other.scope = 'gpu', 'other'
        context = scope_windows.PlanContext(
            [
                HostAggregate(1, 'gpu', metadata=metadata),
                HostAggregate(
                    2,
                    'other',
                    metadata={'kronos:window': 'Mon-Sun 00:00-24:00 UTC'},
                ),
            ],
            'kronos_spread',
            1,
        )
        scope_windows.note([own, other], settings, context)
        assert other.window is not None
        self.assertTrue(other.window.is_open)
        if own.window is None:
            self.assertEqual('', text.strip().strip(';').strip())
            return
        if not own.window.fault:
            self.assertTrue(scope_windows.is_usable(text.strip(';')), text)
            return
        place = f'aggregate gpu, metadata {key}: ' if key else 'windows: '
        self.assertIn(place, own.window.fault)
        self.assert_plain(own.window.fault)
        result = planned(own, settings)
        self.assertEqual([], result.steps)
        self.assertIs(Code.SCOPE_WINDOW_UNUSABLE, result.stopped.code)


class TestOptions(GarbageTestCase):
    @hypothesis.given(GARBAGE, st.sampled_from(CHECKED))
    @hypothesis.settings(max_examples=150)
    def test_understood_or_refused(self, text: str, option: str) -> None:
        try:
            value = settings_from_conf.understood(option, text)
        except ValueError as error:
            self.assert_plain(str(error))
            return
        again = (
            ','.join(f'{key}:{each}' for key, each in value.items())
            if isinstance(value, dict)
            else value
        )
        if option != 'budget_exempt':
            self.assertEqual(
                value, settings_from_conf.understood(option, again)
            )

    @hypothesis.given(GARBAGE, st.sampled_from(CHECKED))
    @hypothesis.settings(max_examples=30)
    def test_file(self, text: str, option: str) -> None:
        """The audit stops before it asks a service."""
        folder = self.useFixture(fixtures.TempDir()).path
        path = pathlib.Path(folder, 'watcher.conf')
        line = ' '.join(text.replace('$', '').splitlines())
        path.write_text(
            f'[kronos]\n{option} = {line}\n', errors='surrogatepass'
        )
        conf = cfg.ConfigOpts()
        conf_opts.register_opts(conf)
        try:
            conf([], default_config_files=[str(path)], default_config_dirs=[])
        except (cfg.Error, UnicodeDecodeError):
            return  # no such file is ever read
        for fault in validation.faults(conf):
            self.assertIn(f'[kronos] {option}', fault)
            self.assert_plain(fault)


class TestConsent(GarbageTestCase):
    @hypothesis.given(GARBAGE, st.booleans())
    @hypothesis.settings(max_examples=60)
    def test_counts_as_never(self, text: str, is_tag: bool) -> None:
        case = snapshot()
        tag, metadata = [consent.TAG_PREFIX + text], {consent.KEY: text}
        for uuid, instance in case.instances.items():
            case.instances[uuid] = self.with_wish(
                instance, tag if is_tag else [], {} if is_tag else metadata
            )
        result = planned(case, Settings(max_migrations=9))
        if text.strip() in consent.VALUES:
            return
        self.assertEqual([], result.steps)
        row = phase_rules.TABLE['spread']
        for uuid, instance in case.instances.items():
            self.assertIs(Code.INSTANCE_CONSENT, result.stayed[uuid].code)
            reason = consent.why_not(instance, Settings(), row)
            self.assertIn('is none of any, window, drain, never', str(reason))
            self.assert_plain(str(reason))

    @staticmethod
    def with_wish(
        instance: Instance, tags: list[str], metadata: dict[str, str]
    ) -> Instance:
        instance.tags, instance.metadata = tags, metadata
        return instance
