# SPDX-License-Identifier: Apache-2.0
"""Are the options of extensions registered, and what if they are broken?"""

from oslo_config import cfg
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.conf import extensions, opts, validation
from tests.builders import packages


class TestOpts(base.BaseTestCase):
    def package(self, attribute: str) -> None:
        self.useFixture(
            packages.Package(
                'rack',
                """
                from oslo_config import cfg
                from kronos.conf import extensions

                class Opts(extensions.ExtensionOpts):
                    OPTS = [cfg.IntOpt('rack_height', default=42)]

                class Plain: pass
                """,
                {'kronos.extensions.conf': {'rack': attribute}},
            )
        )

    def test_those_of_kronos_are_options_of_its_group(self) -> None:
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        names = [opt.dest for opt in extensions.opts()]
        self.assertIn('cell_verify_query', names)
        self.assertIn('restart_timeout', names)
        for name in names:
            self.assertIn(name, conf.kronos)

    def test_of_another_package(self) -> None:
        self.package('Opts')
        extensions.require_usable()
        self.assertIn('rack_height', [opt.dest for opt in extensions.opts()])

    def test_broken_ones_are_left_out_and_named(self) -> None:
        self.package('Plain')
        self.assertIn('restart_timeout', [o.dest for o in extensions.opts()])
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        error = self.assertRaises(
            ConfigurationError, validation.require_valid, conf
        )
        self.assertIn('rack of the package rack cannot', str(error))
