# SPDX-License-Identifier: Apache-2.0
"""The checks of the webhook: can it be used as it is set?

Nothing is sent: the receiver may act on what it is told.
"""

import os
import stat

from kronos.cmd.checks.findings import Findings, option
from kronos.extensions.maintenance.notices.signed_webhook import (
    NAME,
    Address,
)

KEY_FILE = f'{NAME}_key_file'
ABSENT = 'file-absent'


def check_webhook(address: Address, is_offline: bool, to: Findings) -> None:
    """Tell what the applier would find wrong with it.

    :param is_offline: whether files may be those of other machines
    """
    files = {f'{NAME}_cafile': address.cafile, KEY_FILE: address.key_file}
    absent = [
        name
        for name, path in files.items()
        if is_offline and path and not os.path.exists(path)
    ]
    for name in absent:
        to.note(
            ABSENT,
            f'[kronos] {name}: {files[name]} was not found here',
            'check that it exists on the machines that run the appliers',
        )
    for text in address.faults():
        name = text.partition(':')[0]
        if name in absent:
            continue
        to.error(
            'maintenance-webhook',
            f'[kronos] {text}, so no notice of maintenance is posted',
            f'correct {name} for the user of the appliers, and restart them',
            because=[option(name)],
        )
    if _is_open(address.key_file):
        to.warning(
            'maintenance-key-open',
            f'[kronos] {KEY_FILE}: every user of this machine can read or '
            f'change {address.key_file}, and sign notices with it',
            f'chmod 600 {address.key_file}, and replace the key',
            because=[option(KEY_FILE)],
        )


def _is_open(path: str) -> bool:
    try:
        return bool(path and os.stat(path).st_mode & stat.S_IRWXO)
    except OSError:
        return False
