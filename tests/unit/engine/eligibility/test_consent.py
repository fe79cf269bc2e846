# SPDX-License-Identifier: Apache-2.0
"""Does an instance move only as its owner and the operator agree?"""

import itertools
from typing import Any

from oslotest import base

from kronos.engine import phase_rules
from kronos.engine.eligibility import consent
from kronos.engine.eligibility.consent import Consent
from kronos.engine.planning import propose
from kronos.engine.reasons import Code
from kronos.engine.settings import ConsentRule, Settings
from kronos.engine.types import AggregateResult, Instance, MigrationPhase
from tests.builders import scopes

BALANCE = {MigrationPhase.RELIEVE, MigrationPhase.SPREAD, MigrationPhase.PACK}
VALUES = [None, *Consent, 'Never', '', 'x' * 300, 'a\nb', '\u202edrain']
"""What an owner may write; None: not the key at all."""


def instance(metadata: str | None, tag: str | None) -> Instance:
    """One of project acme."""
    return Instance(
        'v',
        'a',
        project_id='acme',
        metadata={} if metadata is None else {consent.KEY: metadata},
        tags=[] if tag is None else [consent.TAG_PREFIX + tag],
    )


def expected(
    values: set[str | None], rule: ConsentRule, phase: MigrationPhase
) -> bool:
    """Whether a move is allowed, by the words of the documents."""
    values = values - {None}
    if rule is ConsentRule.IGNORE:
        return True
    is_never = any(value not in ('any', 'window', 'drain') for value in values)
    if phase is MigrationPhase.EVACUATE:
        return not is_never or rule is ConsentRule.DRAIN_OVERRIDES
    return not is_never and not ('drain' in values and phase in BALANCE)


class TestTruthTable(base.BaseTestCase):
    def test_each(self) -> None:
        rows = itertools.product(
            VALUES, VALUES, ConsentRule, ([], ['acme'], ['other']), BALANCE
        )
        for metadata, tag, rule, projects, phase in itertools.chain(
            rows,
            itertools.product(
                VALUES,
                VALUES,
                ConsentRule,
                ([], ['acme'], ['other']),
                [MigrationPhase.EVACUATE, MigrationPhase.AFFINITY],
            ),
        ):
            settings = Settings(consent=rule, consent_projects=projects)
            server = instance(metadata, tag)
            row = phase_rules.TABLE[phase]
            always = consent.forbidden(server, settings)
            reason = consent.why_not(server, settings, row)
            is_allowed = projects == ['other'] or expected(
                {metadata, tag}, rule, phase
            )
            message = f'{metadata!r} {tag!r} {rule} {projects} {phase}'
            self.assertEqual(is_allowed, reason is None, message)
            if always is not None:
                self.assertEqual(always, reason, message)
            if reason is not None:
                self.assertIs(Code.INSTANCE_CONSENT, reason.code)

    def test_unknown_project(self) -> None:
        """Its wish counts: a wrong move is worse than no move."""
        server = instance('never', None)
        server.project_id = ''
        settings = Settings(consent_projects=['other'])
        self.assertIsNotNone(consent.forbidden(server, settings))


class TestReasons(base.BaseTestCase):
    def text(self, server: Instance) -> str:
        row = phase_rules.TABLE[MigrationPhase.SPREAD]
        return str(consent.why_not(server, Settings(), row))

    def test_texts(self) -> None:
        for server, text in (
            (instance('never', None), 'its metadata kronos:consent=never'),
            (instance(None, 'never'), 'its tag kronos:consent:never forbids'),
            (instance('drain', None), 'to drain or repair, not for balance'),
            (instance('any', 'drain'), 'its tag kronos:consent:drain allows'),
            (
                instance('no', None),
                'kronos:consent=no is none of any, window, drain, never, '
                'so its server does not move',
            ),
        ):
            self.assertIn(text, self.text(server))
        bare = Instance('v', 'a', tags=[consent.KEY + ':'])
        self.assertIn('does not move', self.text(bare))
        self.assertIn(
            'does not move',
            self.text(Instance('v', 'a', tags=[consent.KEY])),
        )

    def test_hostile(self) -> None:
        text = self.text(instance('\x1b[2J\n\u202e' + 'x' * 300, None))
        self.assertTrue(text.isprintable(), text)
        self.assertNotIn('x' * (consent.SHOWN_CHARACTERS + 1), text)

    def test_blanks(self) -> None:
        server = instance(' any ', ' window')
        self.assertEqual('None', self.text(server))

    def test_other_tags(self) -> None:
        server = Instance('v', 'a', tags=['kronos:consenting', 'web'])
        self.assertEqual([], consent.wishes(server))


class TestRecorded(base.BaseTestCase):
    def test_shortened(self) -> None:
        for text in ('never', 'kronos:consent:drain', 'kronos:consent'):
            self.assertEqual(text, consent.shortened(text))
        long = consent.shortened('kronos:consent:' + 'x' * 300)
        self.assertEqual('kronos:consent:' + 'x' * 32, long)
        again = consent.shortened(long)
        self.assertEqual(long, again)

    def test_renamed(self) -> None:
        for tag, name in (
            ('kronos:consent:drain', 'kronos:consent:drain'),
            ('kronos:consent:Secret', 'kronos:consent:SECRET'),
            ('kronos:pin', 'kronos:pin'),
        ):
            self.assertEqual(name, consent.renamed(tag, str.upper))


class TestPlans(base.BaseTestCase):
    """Four servers on a host of three, two of which do not agree."""

    def plan(self, value: str, **settings: Any) -> AggregateResult:
        policy = scopes.policy('cpu')
        servers = [scopes.vm(f'v{number}', 'a', [0.2]) for number in range(4)]
        hosts = {'a': [0.8], 'b': [0.0], 'c': [0.0]}
        snapshot = scopes.scope([policy], hosts, servers)
        for uuid in ('v0', 'v1'):
            snapshot.instances[uuid].metadata = {consent.KEY: value}
        if settings.get('evacuate'):
            assert snapshot.services is not None
            snapshot.services['a'].status = 'disabled'
        options = Settings(max_migrations=10, **settings)
        return propose.propose([snapshot], [policy], options).scopes[0]

    def moved(self, value: str, **settings: Any) -> set[str]:
        result = self.plan(value, **settings)
        moved = {step.instance for step in result.steps}
        for uuid in {'v0', 'v1'} - moved:
            self.assertIs(
                Code.INSTANCE_CONSENT, result.stayed[uuid].code, value
            )
        return moved

    def test_spread(self) -> None:
        self.assertEqual({'v2', 'v3'}, self.moved('drain'))
        self.assertEqual({'v2', 'v3'}, self.moved('never'))
        rule = ConsentRule.DRAIN_OVERRIDES
        self.assertEqual({'v2', 'v3'}, self.moved('never', consent=rule))
        for rule, value in (
            (ConsentRule.IGNORE, 'never'),
            (ConsentRule.HONOUR, 'any'),
            (ConsentRule.HONOUR, 'window'),
        ):
            result = self.plan(value, consent=rule)
            self.assertEqual(
                {},
                {
                    uuid: reason
                    for uuid, reason in result.stayed.items()
                    if reason.code is Code.INSTANCE_CONSENT
                },
            )
            self.assertNotEqual([], result.steps)

    def test_drain(self) -> None:
        """Never, but for maintenance."""
        drain = {
            'evacuate': True,
            'rebalance': False,
            'drain_may_exceed_threshold': True,
        }
        everything = {'v0', 'v1', 'v2', 'v3'}
        self.assertEqual(everything, self.moved('drain', **drain))
        self.assertEqual({'v2', 'v3'}, self.moved('never', **drain))
        rule = ConsentRule.DRAIN_OVERRIDES
        self.assertEqual(
            everything, self.moved('never', consent=rule, **drain)
        )
