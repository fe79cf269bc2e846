# SPDX-License-Identifier: Apache-2.0
"""Are single values understood as the command line sends them?"""

from oslotest import base

from kronos.common import parameter_types
from kronos.common.exceptions import ConfigurationError


class EitherTestCase(base.BaseTestCase):
    def test_the_audit_goes_first(self):
        for of_audit, configured, expected in (
            (None, True, True),
            (None, False, False),
            (True, False, True),
            (False, True, False),
        ):
            self.assertIs(
                expected, parameter_types.either(of_audit, configured)
            )


class TestValues(base.BaseTestCase):
    def test_names(self) -> None:
        """A name may not hold a comma in a string, but may in a list."""
        for value, expected in (
            (None, None),
            ('a, b,a', ['a', 'b']),
            (['a,b', 7], ['a,b', '7']),
        ):
            names = parameter_types.names({'x': value}, 'x', 'host')
            self.assertEqual(expected, names)

    def test_what_is_wrong_is_named(self) -> None:
        for call, text in (
            (lambda: parameter_types.names({'x': ['a', 1.5]}, 'x', 'host'),
             "Audit parameter x: ['a', 1.5] is no list of host names."),
            (lambda: parameter_types.boolean({'x': 'maybe'}, 'x'),
             "Audit parameter x: 'maybe' is neither true nor false."),
            (lambda: parameter_types.count(101),
             'max_migrations: 101 is no whole number from 1 to 100'),
            (lambda: parameter_types.require_known({'y': 1}, {'x': {}}),
             'Audit parameter y: 1 is unknown to this strategy; known: x.'),
        ):  # fmt: skip
            error = self.assertRaises(ConfigurationError, call)
            self.assertIn(text, str(error))
