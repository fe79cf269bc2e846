# SPDX-License-Identifier: Apache-2.0
"""Does the line for a refused parameter name it, and what to do?

The words are those of the installed Watcher, for the real schemas.
"""

import json
from typing import Any

import jsonschema
import testscenarios
from watcher.common import exception, utils

from kronos.extensions.cells.audit import strategy as cell_drain
from kronos.strategies import spread
from tests.fakes import watcher_api
from tests.unit.osc.run import scripted


def refusal(schema: dict[str, Any], parameters: dict[str, Any]) -> str:
    """Watcher's complaint, as its API makes it."""
    try:
        utils.StrictDefaultValidatingDraft4Validator(schema).validate(
            parameters
        )
    except jsonschema.exceptions.ValidationError as error:
        return str(
            exception.Invalid(f'Invalid parameters for strategy: {error}')
        )
    except exception.AuditParameterNotAllowed as error:
        return str(error)
    raise AssertionError('Watcher takes them')


class TestLines(testscenarios.WithScenarios, scripted.CommandTestCase):
    scenarios = [
        (line, {'word': word, 'parameters': parameters, 'line': line})
        for word, parameters, line in (
            (
                'cell-drain',
                {},
                'the audit needs the parameter source_cell: add --param '
                'source_cell=VALUE',
            ),
            (
                'cell-drain',
                {'source_cell': 'old', 'target_cells': ['new'], 'foo': 1},
                'the strategy kronos_cell_drain has no parameter foo: remove '
                '--param foo=VALUE',
            ),
            (
                'spread',
                {'max_migrations': 'few'},
                "the audit cannot use the parameter max_migrations: 'few' "
                "does not match '^([1-9][0-9]?|100)$'. Correct --param "
                'max_migrations=VALUE',
            ),
            (
                'spread',
                {'max_migrations': [5]},
                'the audit cannot use the parameter max_migrations: [5] is '
                "not of type 'integer', 'string'. Correct --param "
                'max_migrations=VALUE',
            ),
            (
                'cell-drain',
                {'aggregates': 'old'},
                'the strategy kronos_cell_drain has no parameter aggregates: '
                'remove --aggregate NAME',
            ),
        )
    ]
    SCHEMAS = {
        'cell-drain': cell_drain.CellDrainStrategy.get_schema,
        'spread': spread.Spread.get_schema,
    }

    def test_line(self) -> None:
        self.play()
        text = refusal(self.SCHEMAS[self.word](), dict(self.parameters))
        self.wire.post(
            f'{scripted.URL}/v1/audits',
            status_code=400,
            json=watcher_api.fault(text),
        )
        pairs = [
            word
            for name, value in self.parameters.items()
            for word in ('--param', f'{name}={json.dumps(value)}')
        ]
        code, out, err = self.given(self.word, *pairs)
        self.assertEqual((1, ''), (code, out), err)
        self.assertEqual(self.line, err.splitlines()[-1])
        self.assertNotIn('Failed validating', err)


class TestOthers(scripted.CommandTestCase):
    def test_another_refusal(self) -> None:
        """It stays as it is."""
        self.play()
        self.wire.post(
            f'{scripted.URL}/v1/audits',
            status_code=400,
            json=watcher_api.fault('Audit interval must be set.'),
        )
        code, out, err = self.given('spread')
        self.assertEqual((1, ''), (code, out), err)
        self.assertEqual(
            'Watcher: POST /v1/audits: HTTP 400: Audit interval must be set.',
            err.splitlines()[-1],
        )

    def test_a_parameter_that_draft_4_refuses_itself(self) -> None:
        """The other words for a parameter that is not in the schema."""
        self.play()
        self.wire.post(
            f'{scripted.URL}/v1/audits',
            status_code=400,
            json=watcher_api.fault(
                'Invalid parameters for strategy: Additional properties are '
                "not allowed ('foo' was unexpected)"
            ),
        )
        _, _, err = self.given('spread')
        self.assertEqual(
            'the strategy kronos_spread has no parameter foo: remove --param '
            'foo=VALUE',
            err.splitlines()[-1],
        )
