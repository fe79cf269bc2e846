# SPDX-License-Identifier: Apache-2.0
"""Are plugins found, imported only when used, and refused if broken?"""

import abc
import collections

from oslotest import base

from kronos.common.plugins.registry import Registry, UnusableError
from tests.builders.packages import Package

NAMESPACE = 'kronos.test_registry'
CODE = """
    from tests.unit.common.plugins.test_registry import Kind

    class Good(Kind):
        def run(self):
            return 'good'

    class Lacking(Kind):
        pass

    class Other:
        pass
"""


class Kind(abc.ABC):
    @abc.abstractmethod
    def run(self) -> str: ...


class TestRegistry(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.registry = Registry[Kind](
            NAMESPACE,
            {'own': 'collections:OrderedDict'},
            Kind,  # type: ignore[type-abstract]
        )

    def install(self, code: str = CODE, name: str = 'acme') -> Package:
        names = 'good', 'lacking', 'other', 'absent', 'own'
        entries = {name: name.title() for name in names}
        package = Package(name, code, {NAMESPACE: entries})
        self.useFixture(package)
        return package

    def refused(self, name: str) -> str:
        return str(self.assertRaises(UnusableError, self.registry.load, name))

    def test_of_another_package(self) -> None:
        """It is imported when it is used."""
        self.assertEqual(['own'], self.registry.names())
        package = self.install()
        self.assertEqual(
            ['own', 'absent', 'good', 'lacking', 'other'],
            self.registry.names(),
        )
        self.assertIsNone(package.module)
        self.assertEqual('good', self.registry.load('good')().run())
        self.assertIsNotNone(package.module)

    def test_kronos_own_comes_first(self) -> None:
        package = self.install()
        self.assertIs(
            collections.OrderedDict,
            self.registry.load('own'),  # type: ignore[comparison-overlap]
        )
        self.assertIsNone(package.module)

    def test_unknown(self) -> None:
        self.assertRaises(KeyError, self.registry.load, 'good')

    def test_no_such_plugin(self) -> None:
        self.install()
        for name, why in (
            ('lacking', 'it lacks run'),
            ('other', f'it is no subclass of {__name__}.Kind'),
            ('absent', 'AttributeError: '),
        ):
            text = self.refused(name)
            self.assertIn(
                f'{name} of the package acme cannot be loaded: {why}', text
            )
            self.assertIn('. Correct the package or remove it', text)

    def test_what_cannot_be_imported(self) -> None:
        """Whatever it raises, in one line."""
        self.install('import no_such_module_of_acme')
        self.assertIn(
            'good of the package acme cannot be loaded: ModuleNotFoundError: '
            "No module named 'no_such_module_of_acme'. Correct",
            self.refused('good'),
        )

    def test_what_raises(self) -> None:
        self.install("raise RuntimeError('line 1\\nline 2')")
        text = self.refused('good')
        self.assertIn('RuntimeError: line 1', text)
        self.assertNotIn('\n', text)

    def test_of_two_packages(self) -> None:
        """Which of them is meant is not known."""
        self.install(name='acme')
        self.install(name='brand')
        self.assertIn(
            'good of the package acme and brand cannot be loaded: several '
            'packages have one',
            self.refused('good'),
        )
