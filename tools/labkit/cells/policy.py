# SPDX-License-Identifier: Apache-2.0
"""Nova's policy for moves of servers to another cell.

Nova's default is that nobody may. nova-api reads the file again whenever it
changes. Standard library only.
"""

import os

from labkit import layout

FILE = layout.ETC / 'nova-policy.yaml'
RULE = 'compute:servers:resize:cross_cell'
OPEN = 'rule:admin_api'
CLOSED = '!'


def write(is_open: bool) -> None:
    """Open or close it; the next request meets the rule."""
    new = FILE.with_suffix('.new')
    new.write_text(f'"{RULE}": "{OPEN if is_open else CLOSED}"\n')
    os.replace(new, FILE)


def prepare(has_cells: bool) -> None:
    """Open it in a lab with two cells, unless it was closed there."""
    if not has_cells:
        FILE.unlink(missing_ok=True)
    elif not FILE.exists():
        write(is_open=True)
