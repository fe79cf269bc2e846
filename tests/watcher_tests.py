# SPDX-License-Identifier: Apache-2.0
"""Watcher's own test code, wherever a release keeps it.

It comes before any other of Watcher's modules: it chooses how its services
run, by native threads or by eventlet.
"""

import importlib
import importlib.util

import watcher.tests

IS_HARNESS_THERE = bool(importlib.util.find_spec('watcher.tests.functional'))
"""For tests with services in process; since 17."""
if IS_HARNESS_THERE:
    importlib.import_module('watcher.tests.functional')


def _found(name):
    """One of the modules, of which each release has moved some."""
    for place in ('unit.', 'local_fixtures.', 'fixtures.', ''):
        full_name = f'{watcher.tests.__name__}.{place}{name}'
        try:
            return importlib.import_module(full_name)
        except ModuleNotFoundError as error:
            if not full_name.startswith(error.name):
                raise
    raise ModuleNotFoundError(f'the tests of Watcher have no {name}')


base = _found('base')
db_base = _found('db.base')
db_utils = _found('db.utils')
object_utils = _found('objects.utils')
policy_fixture = _found('policy_fixture')
