# SPDX-License-Identifier: Apache-2.0
"""Is it told whose the names of our plugins are, and whether they load?"""

from typing import Any
from unittest import mock

from oslo_upgradecheck.upgradecheck import Code, Result
from oslotest import base

from kronos.cmd.checks.subprocess_probe import InspectionError
from kronos.cmd.config_files import Paths
from kronos.cmd.upgrade_checks import plugins, services
from tests.unit.cmd.upgrade_checks import packages

SPREAD = 'kronos_spread = kronos.strategies.spread:Spread\n'
RIVAL = 'kronos_spread = rival:Spread\n'
STRATEGIES = '[watcher_strategies]\n'


class TestNames(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.packages = self.useFixture(packages.Packages())

    def test_good(self) -> None:
        self.packages.add('other', '1.0', f'{STRATEGIES}other = other:Other\n')
        result = plugins.names()
        self.assertEqual(Code.SUCCESS, result.code)
        self.assertIn('plugins, and no other package uses', result.details)

    def test_two_packages(self) -> None:
        self.packages.add('rival', '1.0', STRATEGIES + RIVAL)
        result = plugins.names()
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn(
            'watcher_strategies:kronos_spread is also provided by rival 1.0',
            result.details,
        )
        self.assertIn('Remedy: uninstall the package that', result.details)

    def test_a_copy(self) -> None:
        """Such as what a package leaves that was called otherwise."""
        self.packages.add('kronos-copy', '0.9', STRATEGIES + SPREAD)
        result = plugins.names()
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn(
            'kronos_spread is also provided by kronos-copy 0.9', result.details
        )

    def test_a_package_without_entry_points(self) -> None:
        self.packages.add('kronos-watcher', '9.9')
        result = plugins.names()
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn('has no entry points here', result.details)

    def test_metadata_of_an_older_release(self) -> None:
        """As of an editable installation whose code was brought forward."""
        self.packages.add('kronos-watcher', '9.9', STRATEGIES + SPREAD)
        result = plugins.names()
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn(
            'the extensions cells, maintenance, recovery, room have no',
            result.details,
        )


class TestLoad(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.answers: dict[str, Any] = {
            services.ENGINE: {'plugins': {'watcher_planners:kronos': ''}},
            services.APPLIER: {'plugins': {'watcher_actions:kronos_x': ''}},
            services.weigher.MODULE: {'error': '', 'is_enabled': True},
        }

    def load(self, watcher: bool = True, nova: bool = True) -> Result:
        def inspect(module: str, arguments: Any, _: Any) -> Any:
            answer = self.answers[(*arguments, module)[0]]
            if isinstance(answer, Exception):
                raise answer
            return answer

        local_services = services.LocalServices(
            inspect, Paths(), Paths(), Paths()
        )
        local_services.has_watcher, local_services.has_nova = watcher, nova
        return plugins.load(local_services)

    def test_good(self) -> None:
        result = self.load()
        self.assertEqual(Code.SUCCESS, result.code)
        for text in (
            'watcher-decision-engine can load 1 plugins',
            'watcher-applier can load 1 plugins',
            'nova-scheduler can load the weigher',
        ):
            self.assertIn(text, result.details)

    def test_a_plugin(self) -> None:
        for name, effect in plugins.EFFECTS.items():
            why = f'{name}:kronos_x', 'ImportError: no x'
            self.answers[services.ENGINE] = {'plugins': dict([why])}
            result = self.load()
            self.assertEqual(Code.FAILURE, result.code)
            self.assertIn(
                f'cannot load {name}:kronos_x: ImportError: no x; {effect}',
                result.details,
            )

    def test_a_service(self) -> None:
        self.answers[services.APPLIER] = InspectionError('ImportError: no y')
        result = self.load()
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn(
            'a test process of watcher-applier failed to start: ImportError: '
            'no y. Remedy: install kronos-watcher[watcher] with all '
            'its dependencies',
            result.details,
        )

    def test_the_weigher(self) -> None:
        scheduler = self.answers[services.weigher.MODULE]
        scheduler['error'] = 'ImportError: no z'
        result = self.load()
        self.assertEqual(Code.FAILURE, result.code)
        self.assertIn('nova-scheduler cannot load its wei', result.details)

    def test_no_weigher(self) -> None:
        self.answers[services.weigher.MODULE]['is_enabled'] = False
        result = self.load()
        self.assertEqual(Code.SUCCESS, result.code)
        self.assertIn('nova-scheduler does not use kronos', result.details)

    def test_neither_is_here(self) -> None:
        with mock.patch.dict(self.answers, clear=True):
            result = self.load(watcher=False, nova=False)
        self.assertEqual(Code.WARNING, result.code)
        self.assertIn('Watcher is not installed here', result.details)
