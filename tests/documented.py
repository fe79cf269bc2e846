# SPDX-License-Identifier: Apache-2.0
"""The commands and files that the README and the documentation show."""

import pathlib
import re
import shlex
import textwrap
from collections.abc import Iterator

TOP = pathlib.Path(__file__).resolve().parent.parent
_BLOCK = re.compile(
    r'^( *)\.\. code-block:: console\n\n((?:\1[ ]{3,}.*\n|\n)+)', re.MULTILINE
)
"""In a numbered step it is indented."""
_SAMPLE = (
    r'^\.\. code-block:: {}\n {{3}}:caption: (\S+)\n\n((?: {{3}}.*\n|\n)+)'
)

NOT_RUN = {
    'journalctl': 'it asks the journal of the reader',
    'nova-manage': 'it changes a database; what it knows is tested with Nova',
    'pip': "it changes the reader's machine; what is installed is tested",
    'python3': "it changes the reader's machine, as pip does",
    'systemctl': "it restarts services of the reader's machine",
    # There is no cloud of theirs, and no engine of containers, in the tests;
    # what they would read is checked in test_deploying.
    'ansible': 'it needs a cloud of kolla-ansible',
    'ansible-playbook': 'it needs a cloud of kolla-ansible',
    'helm': 'it needs a cloud in Kubernetes',
    'kayobe': 'it needs a cloud of kayobe',
    'kolla-ansible': 'it needs a cloud of its own',
    'kolla-build': 'it needs an engine of containers',
    'kubectl': 'it needs a cloud in Kubernetes',
    'podman': 'it is an engine of containers',
    # Commands of hosts in a cluster; test_pacemaker tries the agent itself.
    'install': "it writes below the /usr of the reader's machine",
    'pcs': 'it needs a cluster of Pacemaker',
    'kronos-exporter': "it serves a directory of the reader's machine",
    'prometheus-node-exporter': 'it serves the same directory',
    'promtool': 'test_planner_alerts has it check the same rules',
    # What they would build is built in a Debian of its own.
    **dict.fromkeys(
        ('apt', 'cd', 'cp', 'dch', 'dpkg-buildpackage', 'tar'),
        'it makes a package for Debian, as test_system_packages_long does',
    ),
    'rpmbuild': 'it makes an RPM, as test_system_packages_long does',
}
"""Programs of the documentation that no test runs, and why."""
LEFT_OUT = '...'
"""What stands for lines of an output that a page does not show."""
TUTORIAL = 'tutorial.rst'
"""Its commands are one script, which a long scenario of the lab runs."""
OF_THE_READER = re.compile(r'\b(?:AUDIT|MIGRATION|PLAN|SERVER)\b')
"""What stands for a name that only the reader knows."""
OF_A_PACKAGE = re.compile(r'\bkronos_night\b')
"""The strategy of a page; functional tests put it into a Watcher."""


def why_not_run(command: str) -> str:
    """Why no test runs a command; '' if one does."""
    if OF_A_PACKAGE.search(command):
        return 'it needs the package of its page, which the lab has not'
    if ' --fetch ' in command:
        return 'it asks a cloud for days; fetches are tested with doubles'
    if command.startswith('kronos-explain --live '):
        return 'it asks a cloud; test_explain_drain asks a double'
    if command.startswith('openstack optimize kronos maintenance '):
        return 'it closes hosts; test_maintain_client has a Watcher for it'
    if command.startswith('openstack optimize kronos slots --flavor '):
        return 'it names flavors of its page; test_slot_command has them'
    if re.match(r'kronos-(replay|explain) slots-today ', command):
        return 'it reads what kronos-record of its page writes in the lab'
    if OF_THE_READER.search(command):
        return 'it names what only the reader has'
    return NOT_RUN.get(command.split()[0], '')


def files() -> list[pathlib.Path]:
    """README, CONTRIBUTING and every page of the documentation."""
    return [*TOP.glob('*.rst'), *sorted(TOP.glob('doc/source/*.rst'))]


def shown() -> Iterator[tuple[str, str]]:
    """(command, line) of what is shown below a command of a console block."""
    for path in files():
        for _indent, block in _BLOCK.findall(path.read_text() + '\n'):
            command = ''
            for line in re.sub(r'\\\n\s*', '', block).splitlines():
                prompt, _, rest = line.strip().partition(' ')
                if prompt == '$':
                    command = rest
                elif line.strip():
                    yield command, line.strip()


def commands() -> Iterator[tuple[str, str]]:
    """(file, command) of every line behind a ``$`` prompt.

    A line that ends in a backslash goes on in the next one.
    """
    for path in files():
        for _indent, block in _BLOCK.findall(path.read_text() + '\n'):
            text = re.sub(r'\\\n\s*', '', block)
            for line in text.splitlines():
                prompt, _, command = line.strip().partition(' ')
                if prompt == '$':
                    yield path.name, command


def page(name: str) -> str:
    """A page of the documentation, without line breaks in its commands."""
    text = (TOP / 'doc' / 'source' / name).read_text()
    return re.sub(r'\\\n\s*', '', text)


def section(text: str, head: str) -> str:
    """What stands below a heading of a page, up to the next one."""
    _, _, rest = text.partition(f'\n{head}\n{"=" * len(head)}\n')
    return re.split(r'\n\S.*\n={4,}\n', rest)[0]


def typed(name: str, program: str) -> list[list[str]]:
    """The commands of a program on a page, as words without the program.

    Those that have a line of their own, whether they are run or not, and
    those within a sentence that have more than one word.
    """
    text = page(name)
    found = re.findall(rf'^ +(?:\$ )?{program} (.+)$', text, re.MULTILINE)
    found += re.findall(rf'``{program}\s([^`]+)``', text)
    return [shlex.split(one) for one in found]


def samples() -> dict[str, str]:
    """Name and text of every YAML file that is shown with its name."""
    return _shown('yaml')


def scripts() -> dict[str, str]:
    """The same of the scripts in Python."""
    return _shown('python')


def _shown(language: str) -> dict[str, str]:
    sample = re.compile(_SAMPLE.format(language), re.MULTILINE)
    return {
        name: textwrap.dedent(text)
        for path in files()
        for name, text in sample.findall(path.read_text() + '\n')
    }
