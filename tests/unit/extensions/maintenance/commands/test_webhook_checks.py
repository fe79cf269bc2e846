# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config know what is wrong with the webhook?"""

import argparse
import pathlib
from typing import Any

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.cmd.checks import parts
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.conf import opts
from kronos.extensions.maintenance.commands.part import MaintenanceCommands

URL = 'https://hooks.example.org/kronos?token=s3cret'


class TestWebhookChecks(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.key = folder / 'key'
        self.key.write_bytes(b'k' * 32)
        self.key.chmod(0o640)
        self.conf = cfg.ConfigOpts()
        opts.register_opts(self.conf)
        self.set_options(url=URL, key_file=str(self.key))

    def set_options(self, **options: Any) -> None:
        for name, value in options.items():
            self.conf.set_override(
                f'maintenance_webhook_{name}', value, 'kronos'
            )

    def codes(self, *words: str, offline: bool = False) -> list[str]:
        """The codes of the findings.

        :param words: which their texts have, one after the other
        """
        [part] = [
            each
            for each in parts.every()
            if isinstance(each, MaintenanceCommands)
        ]
        findings = Findings()
        parsed = argparse.Namespace(offline=offline)
        self.assertEqual(
            {}, part.check(parsed, self.conf, None, Apis(), findings)
        )
        texts = [f'{item.text}; {item.remedy}' for item in findings.items]
        self.assertEqual(len(words), len(texts), texts)
        for word, text in zip(words, texts, strict=True):
            self.assertIn(word, text)
            self.assertNotIn('s3cret', text)
        return [item.code for item in findings.items]

    def test_all_is_well(self) -> None:
        self.assertEqual([], self.codes())

    def test_no_webhook(self) -> None:
        """Nobody needs its key."""
        self.set_options(url=None, key_file='/none')
        self.assertEqual([], self.codes())

    def test_faults(self) -> None:
        for name, value, word in (
            ('url', 'http://hooks.example.org/s3cret', 'webhook_url'),
            ('url', 'hooks/s3cret', 'webhook_url'),
            ('key_file', None, 'key_file: it is unset'),
            ('key_file', '/none', 'key_file: /none: No such file'),
            ('cafile', '/none', 'webhook_cafile: '),
        ):
            self.set_options(url=URL, key_file=str(self.key), cafile=None)
            self.set_options(**{name: value})
            self.assertEqual(['maintenance-webhook'], self.codes(word), value)

    def test_a_key_that_is_too_short(self) -> None:
        self.key.write_bytes(b'short\n')
        self.assertEqual(['maintenance-webhook'], self.codes('less than 16'))

    def test_a_key_that_all_can_read(self) -> None:
        for mode in (0o644, 0o602):
            self.key.chmod(mode)
            self.assertEqual(
                ['maintenance-key-open'], self.codes(f'chmod 600 {self.key}')
            )

    def test_files_of_another_machine(self) -> None:
        self.set_options(key_file='/none')
        self.assertEqual(
            ['file-absent'], self.codes('key_file: /none', offline=True)
        )
