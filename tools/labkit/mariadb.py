# SPDX-License-Identifier: Apache-2.0
"""The start of a MariaDB, and the making of its data.

Standard library only.
"""

import pathlib

from labkit import running


def command(
    data: pathlib.Path, port: int, temporary: pathlib.Path
) -> list[str]:
    """The command of a server.

    :param data: its folder
    :param temporary: a folder that it clears of what looks like its own
    """
    # No durability and little memory: a lab's data is soon made again.
    return [
        running.program('mariadbd', '/usr/sbin/mariadbd'),
        '--no-defaults',
        '--user=root',
        f'--datadir={data}',
        f'--tmpdir={temporary}',
        '--bind-address=127.0.0.1',
        f'--port={port}',
        # Relative to the datadir: a socket's path must be short.
        '--socket=mariadb.sock',
        '--pid-file=mariadb.pid',
        '--innodb-flush-log-at-trx-commit=0',
        '--innodb-buffer-pool-size=64M',
        '--innodb-log-file-size=16M',
        '--innodb-doublewrite=0',
        '--performance-schema=0',
        '--skip-name-resolve',
        '--character-set-server=utf8mb3',
    ]


def install(data: pathlib.Path, temporary: pathlib.Path) -> None:
    """Make the data of a server that has no database yet."""
    running.run(
        'mariadb',
        [
            'mariadb-install-db',
            '--no-defaults',
            f'--datadir={data}',
            # One that starts clears the folder of what others have there.
            f'--tmpdir={temporary}',
            '--user=root',
            '--auth-root-authentication-method=normal',
            '--skip-test-db',
            '--force',  # whether or not the machine's name can be looked up
            '--skip-name-resolve',
            '--innodb-log-file-size=16M',
        ],
    )
