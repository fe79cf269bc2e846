# SPDX-License-Identifier: Apache-2.0
"""A machine as DevStack's stack.sh has it, for the plugin of Kronos.

The functions of DevStack are a stand-in, tests/fakes/devstack.sh, written
from DevStack's documentation. Where DEVSTACK_DIR names a checkout of
DevStack, they are DevStack's own, and only what would change the machine is
replaced: sudo, the installation of packages, the pause of ``die``. The plugin
of Watcher is one that does to watcher.conf what Watcher's own does.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import textwrap
from collections.abc import Mapping, Sequence

from tests import places

DEVSTACK_DIR = os.environ.get('DEVSTACK_DIR', '')
STAND_IN = places.TOP / 'tests' / 'fakes' / 'devstack.sh'
TOOLS = (
    'awk',
    'cksum',
    'dirname',
    'grep',
    'install',
    'rm',
    'rmdir',
    'tac',
    'tail',
    'touch',
    'truncate',
)
"""Programs that the plugin may use: each machine of DevStack has them."""
STACK = (
    'stack pre-install',
    'stack install',
    'stack post-config',
    'stack extra',
    'stack test-config',
)
ALL = (*STACK, 'unstack', 'clean')
SERVICES = 'n-api,n-sch,n-cpu'
WATCHER_SETTINGS = """\
    enable_service watcher-api watcher-decision-engine watcher-applier
"""
WATCHER_PLUGIN = """\
    WATCHER_CONF=$ETC/watcher/watcher.conf
    if [[ "$1 $2" == "stack post-config" ]]; then
        rm -f "$WATCHER_CONF"
        install -m 644 "$ETC/watcher.conf.new" "$WATCHER_CONF"
    fi
"""
WATCHER_CONF = """\

[DEFAULT]
state_path = /opt/stack/data/watcher

[database]
connection = mysql+pymysql://root:secret@127.0.0.1/watcher?charset=utf8
"""
NOVA_CONF = """\

[DEFAULT]
debug = True

[filter_scheduler]
enabled_filters = ComputeFilter,PlacementAggregateFilter

[scheduler]
workers = 2
"""


class Node:
    """A machine with folders of its own.

    :param folder: where all of it is; blanks in its name stay out of the
        folder of the plugins only, which DevStack itself cannot have there
    :param plugins: where the plugins are; else below ``folder``
    """

    def __init__(
        self, folder: pathlib.Path, plugins: pathlib.Path | None = None
    ) -> None:
        self.folder = folder
        self.etc = folder / 'etc'
        self.dest = plugins or folder / 'dest'
        self.bin = folder / 'bin'
        self.kronos = self.etc / 'kronos'
        self.watcher_conf = self.etc / 'watcher' / 'watcher.conf'
        self.nova_conf = self.etc / 'nova' / 'nova.conf'
        self.unknown = folder / 'unknown'
        """What was called and is not there."""
        self.installed = folder / 'installed'
        """What was to be installed."""
        self.processes = folder / 'processes'
        """What was to be started and stopped."""
        for path in (self.bin, self.watcher_conf.parent, self.dest):
            path.mkdir(parents=True)
        self.nova_conf.parent.mkdir()
        self.nova_conf.write_text(NOVA_CONF)
        self.watcher(WATCHER_CONF)
        self.dest.joinpath('kronos').symlink_to(places.TOP)
        self._write_programs()
        self._write_watcher()

    def watcher(self, text: str) -> None:
        """Let Watcher's plugin write this watcher.conf."""
        self.etc.joinpath('watcher.conf.new').write_text(text)
        self.watcher_conf.write_text(text)

    def _write_programs(self) -> None:
        sudo = self.bin / 'sudo'
        sudo.write_text('#!/bin/bash\nexec "$@"\n')
        sudo.chmod(0o755)
        pause = self.bin / 'sleep'
        pause.symlink_to('/bin/true')
        for name in TOOLS:
            self.bin.joinpath(name).symlink_to(str(shutil.which(name)))

    def _write_watcher(self) -> None:
        folder = self.dest / 'watcher' / 'devstack'
        folder.mkdir(parents=True)
        for name, text in (
            ('settings', WATCHER_SETTINGS),
            ('plugin.sh', WATCHER_PLUGIN),
        ):
            folder.joinpath(name).write_text(textwrap.dedent(text))

    def run(
        self,
        *phases: str,
        plugins: Sequence[str] = ('watcher', 'kronos'),
        before: str = '',
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run phases in one process, as stack.sh does.

        :param plugins: that are enabled, in this order
        :param before: shell text of local.conf, such as a disabled service
        :param variables: of local.conf
        """
        own = pathlib.Path(DEVSTACK_DIR or STAND_IN.parent)
        script = [
            'set -o errexit',
            f'source {shlex.quote(str(self._functions(own)))}',
            'function echo_summary { echo "$@"; }',
            'function setup_develop {',
            f'    printf "%s\\n" "$@" >>{shlex.quote(str(self.installed))}',
            '}',
            *(
                f'function {name} {{ printf "%s\\n" "{name} $*" '
                f'>>{shlex.quote(str(self.processes))}; }}'
                for name in ('run_process', 'stop_process')
            ),
            'function command_not_found_handle {',
            f'    printf "%s\\n" "$1" >>{shlex.quote(str(self.unknown))}',
            '    return 127',
            '}',
            *(f'enable_plugin {name} git://{name}' for name in plugins),
            *(
                f'{name}={shlex.quote(value)}'
                for name, value in variables.items()
            ),
            before,
            'run_phase override_defaults',
            'run_phase source',
            *(f'run_phase {phase}' for phase in phases),
        ]
        return subprocess.run(
            ['/bin/bash', '-c', '\n'.join(script)],
            env=self._environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
        )

    @staticmethod
    def _functions(own: pathlib.Path) -> pathlib.Path:
        return own / 'functions' if DEVSTACK_DIR else STAND_IN

    def _environment(self) -> Mapping[str, str]:
        # DevStack's own functions need more programs than the plugin.
        more = ':/usr/bin:/bin:/usr/sbin:/sbin' if DEVSTACK_DIR else ''
        return {
            'PATH': f'{self.bin}{more}',
            'HOME': str(self.folder),
            'TOP_DIR': str(self.folder),
            'DEST': str(self.dest),
            'ETC': str(self.etc),
            'STACK_USER': str(os.geteuid()),
            'SERVICE_HOST': '192.0.2.7',
            'ENABLED_SERVICES': SERVICES,
            'DISABLED_SERVICES': '',
            'NOVA_CONF': str(self.nova_conf),
            'KRONOS_CONF_DIR': str(self.kronos),
            'DATA_DIR': str(self.etc / 'data'),
            'KRONOS_PROMETHEUS_FILE': str(self.etc / 'prometheus.yaml'),
        }

    def files(self) -> dict[str, bytes]:
        """Name and content of each file of the machine's configuration.

        A directory is there as its name and nothing.
        """
        return {
            str(path.relative_to(self.etc)): (
                path.read_bytes() if path.is_file() else b''
            )
            for path in sorted(self.etc.rglob('*'))
        }
