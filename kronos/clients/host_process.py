# SPDX-License-Identifier: Apache-2.0
"""Which endpoints does the process that loaded Kronos use? The same ones.

Watcher has the interface, the region and the endpoint override of each
service in the service's own group; openstacksdk knows how to read them.
"""

from typing import Any

from openstack import connection

from kronos.clients import cloud

GROUPS = ('nova', 'placement')


def connect(session: Any, conf: Any) -> connection.Connection:
    """An openstacksdk connection as the host process would make it.

    :param session: the host process' keystoneauth1 session
    :param conf: its configuration; without the groups ``nova`` and
        ``placement`` (Watcher before 17) it is the public endpoints
    """
    if not all(group in conf for group in GROUPS):
        return cloud.connect(session)
    return connection.Connection(
        session=session,
        oslo_conf=conf,
        service_types={'compute', 'placement'},
        app_name='kronos',
    )
