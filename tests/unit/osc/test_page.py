# SPDX-License-Identifier: Apache-2.0
"""Do the commands of the page of the client print what it shows?"""

import re
import textwrap
from collections.abc import Iterator

import fixtures

from kronos.osc import rows
from tests import places, terminal
from tests.unit.osc import clouds
from tests.unit.osc.clouds import uuid
from tests.unit.osc.run import scripted

PAGE = places.TOP / 'doc' / 'source' / 'client.rst'
PLAN = '0c3b6f52-7a1e-4d0c-9d3e-2f1b8c5a7e64'
_BLOCK = re.compile(r'code-block:: console\n\n((?: {4}.*\n|\n)+)')
_TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ')


def examples() -> Iterator[tuple[list[str], str]]:
    """The words of each command, and what is shown as its output."""
    for block in _BLOCK.findall(PAGE.read_text()):
        text = re.sub(r'\\\n *', '', textwrap.dedent(block).strip())
        command, _, output = text.partition('\n')
        words = command.split()
        if words[1:4] == ['openstack', 'optimize', 'kronos']:
            yield words[4:], output


class TestRun(scripted.CommandTestCase):
    def test_it_prints_what_is_shown(self) -> None:
        """Whoever reads it has a terminal, where the progress goes away."""
        [(words, shown)] = [x for x in examples() if x[0][0] == 'run']
        lines = shown.splitlines()
        [question] = [line for line in lines if line.endswith('[y/N] y')]
        lines.remove(question)
        self.useFixture(fixtures.EnvironmentVariable('TERM', 'xterm'))
        tty = self.useFixture(terminal.Terminal())
        tty.type('y\n')
        code, out, _ = self.ended(
            *words[1:],
            terminal=tty,
            message='gpu: 2 migrations, combined imbalance 0.60 -> 0.20',
        )
        screen = tty.shown()
        self.assertEqual(0, code, screen)
        self.assertIn(question.removesuffix('y'), screen)
        self.assertEqual(
            re.sub(r'after [\d.]+ s', 'after', '\n'.join(lines)),
            re.sub(r'after [\d.]+ s', 'after', out.strip()),
        )
        parameters = self.script.audit['parameters']
        self.assertEqual({'aggregates': ['gpu']}, parameters)


class TestPage(clouds.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        audit = self.add_audit(
            name='even',
            status_message='gpu: 3 migrations, combined imbalance 0.62 -> '
            '0.18 (balanced)',
        )
        numbers = {
            'combined_imbalance_before': 0.62,
            'combined_imbalance_after': 0.18,
            'migrations': 3,
            'hosts_over_threshold_before': 2,
            'hosts_over_threshold_after': 0,
        }
        self.add_plan(
            1,
            uuid=PLAN,
            state='FAILED',
            audit_uuid=audit,
            efficacy_indicators=[
                {'name': name, 'value': number}
                for name, number in numbers.items()
            ],
            global_efficacy=[
                {'name': 'imbalance_removed', 'value': 71.0, 'unit': '%'}
            ],
        )
        for number, (state, message) in enumerate(
            (
                ('SUCCEEDED', None),
                ('FAILED', clouds.TOLD.replace('instance is', 'server is')),
                ('SUCCEEDED', None),
            ),
            start=1,
        ):
            self.add_action(
                PLAN,
                f'vm{number}',
                state=state,
                status_message=message,
                inputs={
                    'resource_name': f'web-{number}',
                    'aggregate': 'gpu',
                    'sequence': number,
                    'source_node': 'cmp1',
                    'destination_node': f'cmp{number + 1}',
                    'audit_uuid': audit,
                },
            )

    def test_every_command_prints_what_is_shown(self) -> None:
        ran = 0
        for words, output in examples():
            if words[0] in ('run', 'maintenance', 'slots'):
                continue
            code, out, err = self.run_client(*words)
            self.assertEqual((0, ''), (code, err))
            expected = _TIME.sub('TIME', output)
            self.assertEqual(expected, _TIME.sub('TIME', out.strip()), words)
            ran += 1
        self.assertEqual(3, ran)

    def test_every_column_key_and_option_is_told(self) -> None:
        text = PAGE.read_text()
        (move,) = self.told('explain', uuid(1))['actions']
        keys = set(move) - {'at', 'plan', 'plan_state'}
        helps = [
            self.run_client(*words, '--help')[1]
            for words in (('plan', 'list'), ('explain',))
        ]
        options = set(re.findall(r'\[(--\w+)', ''.join(helps)))
        of_run = self.run_client('run', '--help')[1]
        options |= set(re.findall(r'\[(--[\w-]+)', of_run))
        theirs = {'--quote', '--noindent', '--max', '--fit', '--print'}
        theirs |= {'--sort', '--format', '--column', '--prefix', '--variable'}
        for name in {*rows.PLAN, *rows.MORE, *keys, *(options - theirs)}:
            self.assertRegex(text, f'``{name}[` ]', name)
