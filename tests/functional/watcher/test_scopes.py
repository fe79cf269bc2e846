# SPDX-License-Identifier: Apache-2.0
"""Does an audit touch what its scope means, and nothing else?"""

import fixtures
import yaml

from tests import documented
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base


class ScopeTestCase(base.KronosTestCase):
    START_APPLIER = False

    def setUp(self):
        super().setUp()
        self.env.flags(group='collector', collector_plugins=['compute'])

    def audited(self, scope, state='SUCCEEDED', **fields):
        """An audit of a template with a scope, and its message."""
        response = self.admin_api.post(
            '/audit_templates',
            {
                'name': f'template-{self.getUniqueInteger()}',
                'goal': 'kronos_balance',
                'strategy': 'kronos_spread',
                'scope': scope,
            },
        )
        self.assertEqual(201, response.status_code, response.text)
        audit = self.create_audit(
            audit_template_uuid=response.json()['uuid'],
            **{'goal': None, 'strategy': None, 'parameters': {}, **fields},
        )
        message = self.message(audit)
        self.assertEqual(state, audit['state'], message)
        return audit, message

    def moves(self, audit):
        """(aggregate, source, destination) of each migration."""
        found = [
            (told['aggregate'], told['source_node'], told['destination_node'])
            for told in (
                action.input_parameters
                for action in self.actions(self.plan(audit))
            )
        ]
        self.assertNotEqual([], found)
        return set(found)


def compute(*rules):
    return [{'compute': list(rules)}]


class ReferenceTestCase(ScopeTestCase):
    """Aggregate 2 is "other"; the one named "2" has the id 1."""

    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            ['h1', 'h2', 'h3', 'h4'],
            {'2': ['h1', 'h3'], 'other': ['h2', 'h4']},
            base.servers('h1', 1, 6) + base.servers('h2', 11, 6),
        )

    def test_by_id(self):
        audit, _ = self.audited(compute({'host_aggregates': [{'id': 2}]}))
        self.assertEqual({('other', 'h2', 'h4')}, self.moves(audit))

    def test_by_name(self):
        audit, _ = self.audited(compute({'host_aggregates': [{'name': '2'}]}))
        self.assertEqual({('2', 'h1', 'h3')}, self.moves(audit))

    def test_a_name_that_is_only_an_id(self):
        audit, message = self.audited(
            compute({'host_aggregates': [{'name': '1'}]}), 'FAILED'
        )
        self.assertIn('no aggregate named "1"; known: 2, other', message)
        self.assertEqual([], self.plans(audit))

    def test_the_parameter_takes_either(self):
        audit = self.create_audit(parameters={'aggregates': '2,1'})
        self.assertEqual('SUCCEEDED', audit['state'], self.message(audit))
        self.assertEqual({('2', 'h1', 'h3')}, self.moves(audit))

    def test_excluded_by_id(self):
        self.cloud.aggregates['all'] = ['h1', 'h2', 'h3', 'h4']
        audit, _ = self.audited(
            compute({'exclude': [{'host_aggregates': [{'id': 2}]}]}),
            parameters={'aggregates': 'all'},
        )
        self.assertEqual({('all', 'h1', 'h3')}, self.moves(audit))

    def test_an_empty_list(self):
        """It does not fall back to the configuration."""
        self.set('kronos', aggregates=['other'])
        audit, message = self.audited(
            compute({'host_aggregates': []}), 'FAILED'
        )
        self.assertIn('host_aggregates without an item', message)
        self.assertEqual([], self.plans(audit))

    def test_the_default_zone(self):
        audit, message = self.audited(
            compute({'availability_zones': [{'name': 'nova'}]}), 'FAILED'
        )
        self.assertIn('no host aggregate makes', message)
        self.assertIn('include_unassigned_hosts', message)
        self.assertEqual([], self.plans(audit))


class CellTestCase(ScopeTestCase):
    """alpha reaches over two cells."""

    def audit_of_alpha(self):
        return self.audited(compute({'host_aggregates': [{'name': 'alpha'}]}))

    def test_no_migration_leaves_a_cell(self):
        cells = {'one': {'h1', 'h2'}, 'two': {'h3', 'h4', 'h5'}}
        audit, _ = self.audit_of_alpha()
        used = {into for _, _, into in self.moves(audit)}
        self.assertLessEqual({'h3', 'h4'}, used)
        for name, hosts in cells.items():
            self.cloud.aggregates[name] = sorted(hosts)
            self.cloud.aggregate_metadata[name] = {'kronos:cell': name}
        audit, _ = self.audit_of_alpha()
        self.assertEqual({('alpha', 'h1', 'h2')}, self.moves(audit))

    def test_a_host_of_no_cell_takes_no_part(self):
        self.cloud.aggregates['one'] = ['h1', 'h3']
        self.cloud.aggregate_metadata['one'] = {'kronos:cell': 'one'}
        audit, _ = self.audit_of_alpha()
        self.assertEqual({('alpha', 'h1', 'h3')}, self.moves(audit))


class DocumentedTestCase(ScopeTestCase):
    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            ['cmp1', 'cmp2', 'cmp3', 'cmp5'],
            {'gpu': ['cmp1', 'cmp2', 'cmp5'], 'hpc': ['cmp3']},
            base.servers('cmp1', 1, 4)
            + base.servers(
                'cmp1', 11, 2, cpu=0.25, metadata={'optimize': 'False'}
            ),
        )

    def test_the_scope_file_of_the_documentation(self):
        """Without its exclusions cmp5 and vm11 would be in the plan."""
        log = self.useFixture(fixtures.FakeLogger())
        ((_name, text),) = documented.samples().items()
        scope = yaml.safe_load(text)
        audit, _ = self.audited(scope, parameters={'max_migrations': 9})
        self.assertEqual({('gpu', 'cmp1', 'cmp2')}, self.moves(audit))
        moved = {
            action.input_parameters['resource_name']
            for action in self.actions(self.plan(audit))
        }
        self.assertLessEqual(moved, {'vm1', 'vm2', 'vm3', 'vm4'})
        for kind in ('instances', 'projects'):
            self.assertIn(f'The scope excludes {kind} of which', log.output)
