# SPDX-License-Identifier: Apache-2.0
"""The checks of what APIs tell of moves between cells.

Microversions of Nova and Cinder, an extension of Neutron, metadata of
aggregates.
"""

from typing import Any

from keystoneauth1 import exceptions as ks_exceptions

from kronos.clients import neutron, rest
from kronos.clients.nova.cell_listings import KEEPS_KEYS
from kronos.cmd.checks import cloud
from kronos.cmd.checks.cached_clients import OnceNova
from kronos.cmd.checks.causes import services
from kronos.cmd.checks.findings import Findings
from kronos.cmd.credentials import Access
from kronos.common import exceptions
from kronos.extensions.cells.checks import cross_cell_weigher
from kronos.extensions.cells.checks.needs import Need

MICROVERSIONS = {
    (2, 56): 'a cold migration cannot name its host, so that no server can '
    'be moved to another cell',
    (2, 80): 'a migration does not show who requested it',
    (2, 104): 'no server can be unpinned from its availability zone, so that '
    'pinned ones fail in an audit with unpin_az',
}
"""What is missing where Nova is older."""
NOVA, NEUTRON, CINDER = 'Nova', 'Neutron', 'Cinder'
KEYS = 'key pairs of servers that leave their cell'
BINDING = 'binding-extended'
"""The extension with which a port is bound to two hosts at a time."""
ATTACHMENTS = (3, 44)
"""Cinder's microversion with which a volume is attached to two hosts."""


def check(
    access: Access, nova: OnceNova, kronos: Any, findings: Findings
) -> list[Need]:
    """Ask for them.

    :param kronos: the group ``[kronos]``
    """
    newest = _newest(access)
    return [
        *_microversions(newest, findings),
        _keys(newest, kronos, findings),
        _extension(access, findings),
        _attachments(access, findings),
        *_multipliers(nova, findings),
    ]


def _newest(access: Access) -> tuple[int, int] | None:
    """The newest microversion; None if Nova does not tell it."""
    try:
        return cloud.newest(
            access.clients.adapter('compute', exceptions.NovaClientError),
            exceptions.NovaClientError,
        )
    except exceptions.NovaClientError:
        return None  # told where it was asked first


def _keys(newest: tuple[int, int] | None, kronos: Any, to: Findings) -> Need:
    """Whether Nova takes key pairs along; its API shows the name anyway."""
    if kronos.cell_keys_kept:
        return Need(KEYS, 'kept', 'cell_keys_kept', True)
    if newest is None:
        return Need(KEYS, 'unknown', NOVA, None)
    is_kept = newest >= KEEPS_KEYS
    if not is_kept:
        to.warning(
            'cells-keys',
            f'Nova has microversion {newest[0]}.{newest[1]}, so it is older '
            'than 34 and loses the key pair of a server that goes to another '
            'cell: such servers stay, unless cell_move_lossy is true',
            'upgrade Nova, or set cell_keys_kept = true in [kronos] if it has '
            'a backport of the correction of bug 2108974',
        )
    return Need(KEYS, 'kept' if is_kept else 'lost', NOVA, is_kept)


def _microversions(newest: tuple[int, int] | None, to: Findings) -> list[Need]:
    needs = []
    for needed, lacking in MICROVERSIONS.items():
        number = f'{needed[0]}.{needed[1]}'
        is_there = None if newest is None else newest >= needed
        value = {True: 'yes', False: 'no', None: 'unknown'}[is_there]
        needs.append(Need(f'microversion {number}', value, NOVA, is_there))
        if is_there is False:
            to.warning(
                'cells-microversion',
                f'Nova has no microversion {number}: {lacking}',
                f'upgrade Nova to one with {number} or later',
            )
    return needs


def _extension(access: Access, to: Findings) -> Need:
    what = f'extension {BINDING}'
    try:
        is_there = BINDING in neutron.extensions(access.adapter('network'))
    except exceptions.ClientError as error:
        to.warning(
            'neutron-failed',
            f'the extensions of Neutron cannot be read: {error}',
            services.remedy(error),
        )
        return Need(what, 'unknown', NEUTRON, None)
    if not is_there:
        to.error(
            'cells-binding',
            f'Neutron has no extension {BINDING}: Nova refuses every move '
            'to another cell',
            'use a Neutron, and a plugin of it, that has the extension, and '
            'restart nova-conductor, which remembers the list',
        )
    return Need(what, 'yes' if is_there else 'no', NEUTRON, is_there)


def _attachments(access: Access, to: Findings) -> Need:
    number = '.'.join(map(str, ATTACHMENTS))
    what = f'microversion {number}'
    kind = exceptions.ClientError
    adapter = access.adapter('block-storage')
    try:
        with rest.guarded(kind, 'its endpoint', sent=False):
            adapter.get_endpoint()
    except exceptions.ClientError as error:
        if isinstance(error.__cause__, ks_exceptions.EndpointNotFound):
            return Need(what, 'no Cinder', CINDER, None)
    newest = cloud.newest(adapter, kind)
    if newest is None:
        to.warning(
            'cinder-failed',
            'the microversions of Cinder cannot be read',
            services.CATALOG,
        )
        return Need(what, 'unknown', CINDER, None)
    is_good = newest >= ATTACHMENTS
    if not is_good:
        to.error(
            'cells-cinder',
            f'the newest microversion of Cinder is {newest[0]}.{newest[1]}: '
            f'Nova needs {number} to move a server with volumes to another '
            'cell',
            'upgrade Cinder',
        )
    return Need(what, 'yes' if is_good else 'no', CINDER, is_good)


def _multipliers(nova: OnceNova, to: Findings) -> list[Need]:
    """Of the aggregates that have one of their own."""
    try:
        aggregates = nova.list_aggregates()
    except exceptions.ClientError:
        return []  # told with the listing
    needs = []
    for aggregate in aggregates:
        text = aggregate.metadata.get(cross_cell_weigher.NAME)
        if text is None:
            continue
        what = f'{cross_cell_weigher.NAME} of aggregate {aggregate.name}'
        try:
            value = float(text)
        except ValueError:
            to.warning(
                'cells-weigher',
                f'{what} is not a number: Nova uses its option instead',
                'set a number above 0, or unset it',
            )
            needs.append(Need(what, 'no number', NOVA, False))
        else:
            needs.append(cross_cell_weigher.judge(what, value, NOVA, to))
    return needs
