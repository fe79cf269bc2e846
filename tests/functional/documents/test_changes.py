# SPDX-License-Identifier: Apache-2.0
"""Each row of "where a change goes" is shown by what is run.

By an example of the page ``plugins``, or by tests of the place that it names.
"""

import re

from oslotest import base

from tests import places

PAGES = places.TOP / 'doc' / 'source' / 'contributor'
EXAMPLES = places.TOP / 'tests' / 'unit' / 'examples'
SHOWN = {
    'a number or a word in a policy': ['unit/examples/policy_field.py'],
    'a query in a policy': ['unit/policies/test_models_queries.py'],
    'a label type': ['unit/engine/test_instance_keys.py'],
    "another word of an enum: a tie break, a policy's fallback": [
        'functional/documents/test_enum_words.py'
    ],
    'a hard constraint': ['unit/engine/constraints/test_new_constraint.py'],
    'the objections of policies to a move, or the gain of a move': [
        'unit/engine/simulation/test_utilization.py'
    ],
    'which servers and hosts take part, which hosts receive no server': [
        'unit/engine/eligibility/test_hosts.py',
        'unit/engine/eligibility/test_instances.py',
    ],
    'how many moves a plan may have': [
        'unit/engine/planning/test_scope_planner.py'
    ],
    'a budget for some instances, as those of a project': [
        'unit/extensions/cells/planning/test_quota.py'
    ],
    'why there is no plan for a scope': [
        'unit/engine/scoring/test_scorecard.py'
    ],
    'a strategy of known phases': [
        'unit/examples/strategy.py',
        'functional/watcher/test_example_strategy.py',
    ],
    'a mixture of phases': ['unit/examples/mixture.py'],
    'a goal': ['unit/examples/goal.py'],
    "plans that an audit may need instead of the trunk's plan, or beside it": [
        'unit/examples/extension.py',
        'unit/examples/extension_strategy.py',
        'unit/examples/test_extension.py',
        'functional/watcher/test_extension.py',
    ],
    'a rule of a phase': ['unit/engine/test_phase_rules.py'],
    'a phase': ['unit/engine/planning/test_phases.py'],
    'a search': ['unit/examples/search.py'],
    'a search that spreads': ['unit/engine/planning/search/test_registry.py'],
    'which of equal moves is taken': [
        'unit/examples/test_fields.py',
        'unit/engine/planning/search/test_ranking.py',
    ],
    'an option of planning': ['unit/examples/option.py'],
    'an option of the action': ['unit/actions/live/test_parameters.py'],
    'a parameter of an audit': ['unit/strategies/test_parameters.py'],
    'a field of an instance or a host': [
        'unit/recordings/test_inventory_schema.py'
    ],
    'an action': ['unit/extensions/recovery/actions/test_close_host.py'],
    'an option of the weigher': ['unit/weighers/test_score_source.py'],
    'what nova-scheduler ranks by': [
        'unit/engine/scoring/test_host_weights.py',
        'unit/weighers/test_agreement.py',
    ],
    'what the action waits for or checks': [
        'unit/actions/live/test_admission.py',
        'unit/actions/live/test_preflight.py',
    ],
    'which host is closed, and when none is': [
        'unit/extensions/recovery/test_faulty_hosts.py',
        'unit/extensions/recovery/actions/close/test_run.py',
    ],
    'which server is restarted, and where': [
        'unit/extensions/recovery/test_restarts.py',
        'unit/extensions/recovery/test_planning.py',
        'unit/extensions/recovery/actions/restart/test_run.py',
    ],
    'which server leaves its cell, its destination, and why others stay': [
        'unit/extensions/cells/planning/test_cell_moves.py',
        'unit/extensions/cells/planning/test_search.py',
        'unit/extensions/cells/test_cell_parameters.py',
    ],
    'a notification about a migration': [
        'unit/actions/core/test_notifications.py'
    ],
    'the receiver of notifications': [
        'unit/actions/core/test_notifications.py'
    ],
    'a way to authenticate, or another Prometheus': [
        'unit/clients/prometheus/test_auth.py'
    ],
    'a hypervisor that reports events': ['unit/monitor/sources/test_base.py'],
    'a sink of the instance monitor': [
        'unit/monitor/sinks/test_base.py',
        'unit/examples/sink.py',
    ],
    'what is an incident': [
        'unit/monitor/test_incidents.py',
        'unit/monitor/test_gaps.py',
    ],
    'a field of a rule': ['unit/monitor/rules/test_decision.py'],
    'a field of a message': ['unit/monitor/test_messages.py'],
    'what a recording keeps': ['unit/recordings/test_schema.py'],
    'a format of recordings': ['unit/recordings/test_load.py'],
    'what a load contains about a server or a policy': [
        'unit/simulate/fetch/test_documents.py'
    ],
    'a function of PromQL that looks back': ['unit/policies/test_windows.py'],
    'a column of a table on the terminal': ['unit/cmd/test_replay.py'],
    'a column, or a part, of the HTML page': [
        'functional/pages/test_content.py'
    ],
    'a key of a report': ['unit/reports/test_document.py'],
    'a metric of Kronos itself': ['unit/monitor/metrics_alone.py'],
    'a metric of the decision engine, the applier or nova-scheduler': [
        'unit/actions/core/test_move_metrics.py',
        'unit/metrics/test_catalogue.py',
        'unit/strategies/outcome/test_audit_metrics.py',
        'unit/weighers/test_weigher_metrics.py',
    ],
    'a release of Nova or Watcher': [
        'functional/watcher/test_installed_versions.py'
    ],
    'a check of kronos-test-config': ['unit/cmd/test_test_config.py'],
    'a check before upgrades': ['unit/cmd/test_status.py'],
    'an exporter with sample policies': [
        'lab/test_sample_queries.py',
        'unit/cmd/checks/test_exporters.py',
    ],
}
"""Row of the table to files below ``tests``."""


class TestChanges(base.BaseTestCase):
    def test_each_row(self) -> None:
        text = (PAGES / 'architecture.rst').read_text()
        _, _, table = text.partition('\nWhere a change goes\n')
        table, _, _ = table.partition('\nTests\n')
        table = re.sub(':term:`([^`<]+)`', r'\1', table)
        rows = re.findall(r'   \* - (.+)\n     - ', table)
        self.assertEqual(['Change', *SHOWN], rows)

    def test_files(self) -> None:
        for row, names in SHOWN.items():
            for name in names:
                path = places.TOP / 'tests' / name
                self.assertTrue(path.is_file(), f'{row}: {name}')

    def test_examples_stand_on_the_page(self) -> None:
        """All of them, and as files that are there."""
        text = (PAGES / 'plugins.rst').read_text()
        shown = {
            (PAGES / name).resolve()
            for name in re.findall(r'literalinclude:: (\S+)', text)
        }
        examples = {
            path
            for path in EXAMPLES.glob('*.py')
            if not path.name.startswith(('test_', '__'))
        }
        self.assertEqual(examples, shown)
