# SPDX-License-Identifier: Apache-2.0
"""Messages with fields that stay readable."""

from oslotest import base

from kronos.common import exceptions


def every(cls):
    for subclass in cls.__subclasses__():
        yield subclass
        yield from every(subclass)


class TestExceptions(base.BaseTestCase):
    def test_fields_are_filled_in_and_kept(self):
        error = exceptions.PolicyFileError(path='p.yaml', reason='it is empty')
        self.assertEqual('Policies file p.yaml: it is empty', str(error))
        self.assertEqual(
            {'path': 'p.yaml', 'reason': 'it is empty'}, error.kwargs
        )

    def test_whole_text(self):
        self.assertEqual('all', str(exceptions.ScopeError('all')))

    def test_a_field_that_is_not_given_is_our_mistake(self):
        self.assertRaises(KeyError, exceptions.PrometheusError, reason='x')

    def test_each_says_its_reason(self):
        for cls in every(exceptions.KronosException):
            fields = {'reason': 'the reason', 'path': 'p', 'url': 'u'}
            self.assertIn('the reason', str(cls(**fields)), cls)
