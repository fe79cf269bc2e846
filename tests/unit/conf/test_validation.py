# SPDX-License-Identifier: Apache-2.0
"""Is a bad option told by name, place and rule, and never a secret?"""

import pathlib

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.common import exceptions
from kronos.conf import opts as conf_opts
from kronos.conf import validation


class OptionsTestCase(base.BaseTestCase):
    def conf(self, *lines, group='kronos'):
        folder = self.useFixture(fixtures.TempDir()).path
        self.file = pathlib.Path(folder, 'watcher.conf')
        self.file.write_text('\n'.join([f'[{group}]', *lines]))
        found = cfg.ConfigOpts()
        conf_opts.register_opts(found)
        found(
            [],
            default_config_files=[str(self.file)],
            default_config_dirs=[],
        )
        return found

    def refused(self, *lines, **fields):
        conf = self.conf(*lines, **fields)
        error = self.assertRaises(
            exceptions.ConfigurationError, validation.require_valid, conf
        )
        # Nothing of oslo.config's own text gets into a log by a chain.
        self.assertTrue(error.__suppress_context__)
        return str(error)

    def test_good_ones(self):
        validation.require_valid(self.conf('cooldown = 5'))
        validation.require_valid(self.conf('hold_until = 2026-12-31'))
        validation.require_valid(self.conf())

    def test_every_kind_of_rule(self):
        for line, rule in (
            (
                'cooldown = 10m',
                "'10m' is not a whole number of seconds: write 600",
            ),
            ('cooldown = soon', "'soon' is not a whole number of seconds"),
            ('min_gain = 5m', "'5m' is not a number"),
            ('soft_rules = Penalty', "but found 'Penalty'"),
            ('report_keep = 0', 'Should be greater than or equal to 1'),
            ('min_host_coverage = 7', 'Should be less than or equal to 1'),
            ('check_disk = maybe', "Unexpected boolean value 'maybe'"),
            ('report_dir = /$kronos', 'substituting group kronos'),
            ('refresh_seconds = nan', 'nan is not a finite number'),
            ('settling_seconds = inf', 'inf is not a finite number'),
            ('hold_until = soon', "'soon' is not a date: write it as"),
            ('cooldown =', 'it is empty: give it a value, or remove it'),
            ('soft_rule_penalty =  ', 'the default is 0.05'),
            ('policies_file =', 'default is /etc/kronos/policies.yaml'),
            ('check_disk =', "Unexpected boolean value ''"),
        ):
            told = self.refused(line)
            name = line.split(' ', 1)[0]
            self.assertIn(f'Bad configuration: [kronos] {name}', told)
            self.assertIn(rule, told)
            # Of this one oslo.config tells no place.
            if name != 'report_dir':
                self.assertIn(f'{name} in {self.file}: ', told)
            self.assertNotIn('LocationInfo', told)

    def test_all_at_once(self):
        """Who corrects a file wants to do so once."""
        told = self.refused('cooldown =', 'keep_hosts = 0', 'tie_break = x')
        for name in ('cooldown', 'keep_hosts', 'tie_break'):
            self.assertIn(f'[kronos] {name} in {self.file}: ', told)

    def test_no_option_is_none_without_a_word(self):
        """Left empty, each is refused or means what it means unset."""
        for group, opts in conf_opts.list_opts():
            for opt in opts:
                conf = self.conf(f'{opt.name} =', group=group)
                found = [*validation.faults(conf)]
                if found:
                    self.assertIn(f'[{group}] {opt.name} in ', found[0])
                    continue
                value = conf[group][opt.dest]
                self.assertIn(value, ('', [], [''], opt.default))
                if value == '':
                    self.assertIn(opt.default, (None, ''))

    def test_a_secret(self):
        """Only its name."""
        for name in ('password', 'bearer_token'):
            self.assertEqual(
                f'Bad configuration: [kronos_prometheus] {name}: its value '
                'is not valid',
                self.refused(
                    f'{name} = s3$kronos/cret', group='kronos_prometheus'
                ),
            )

    def test_a_url_may_hold_a_secret(self):
        """Its rule, not its value."""
        for url in ('ftp://joe:s3cret@h', 'http://joe:s3/cr@et@h', 'joe:s3@'):
            told = self.refused(f'url = {url}', group='kronos_prometheus')
            self.assertEqual(
                f'Bad configuration: [kronos_prometheus] url in {self.file}: '
                'it must be a URL: http or https',
                told,
            )


class ToldTestCase(base.BaseTestCase):
    def error(self, name, value, what):
        found = cfg.ConfigOpts()
        found.register_opts([cfg.IntOpt('number'), cfg.StrOpt('text')], 'g')
        folder = self.useFixture(fixtures.TempDir()).path
        file = pathlib.Path(folder, 'x.conf')
        file.write_text(f'[g]\n{name} = {value}')
        found([], default_config_files=[str(file)], default_config_dirs=[])
        error = self.assertRaises(cfg.Error, lambda: found['g'][what])
        return validation.told(error).replace(str(file), 'FILE')

    def test_no_value_is_told(self):
        """Any of Watcher's options may be a secret."""
        self.assertEqual(
            'option number in FILE is not valid',
            self.error('number', 's3cret', 'number'),
        )
        self.assertEqual(
            'TemplateSubstitutionError of oslo.config',
            self.error('text', 's3$g', 'text'),
        )

    def test_names_are(self):
        self.assertIn('none', self.error('text', 'x', 'none'))


class TestOldGroups(OptionsTestCase):
    """Of kronos-openstack: oslo.config passes over them in silence."""

    def test_in_each_file(self):
        conf = self.conf('[engine]', 'cooldown = 5', '[prometheus]')
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        more = folder / 'more.conf'
        more.write_text('[engine]\n[nova]\n')
        (folder / 'broken.conf').write_text('[engine\n')
        self.assertEqual(2, len([*validation.old_groups(conf)]))
        (folder / 'broken.conf').unlink()
        conf([], default_config_dirs=[str(folder)])
        [found] = validation.old_groups(conf)
        self.assertEqual(
            f'{more}: [engine] is a group of kronos-openstack and has no '
            'effect; set its options in [kronos], under their names in '
            'configuration.rst of the documentation',
            found,
        )

    def test_none(self):
        self.assertEqual([], [*validation.old_groups(self.conf())])
        self.assertEqual([], [*validation.old_groups(cfg.ConfigOpts())])
