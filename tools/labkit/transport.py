# SPDX-License-Identifier: Apache-2.0
"""The address of the message broker, for services and for Nova's cells.

Standard library only.
"""

from labkit.ha import choice


def url(ports: dict[str, int], vhost: str = '') -> str:
    """Where the message broker is: a client takes a node that answers."""
    names = choice.brokers()
    hosts = ','.join(f'guest:guest@127.0.0.1:{ports[name]}' for name in names)
    return f'rabbit://{hosts}/{vhost}'


def template(vhost: str = '') -> str:
    """The same as a template of Nova's: no port stands in the database."""
    hosts = ['{username}:{password}@{hostname}:{port}']
    if choice.is_chosen():
        hosts = [
            f'{{username{n}}}:{{password{n}}}@{{hostname{n}}}:{{port{n}}}'
            for n in range(1, len(choice.BROKERS) + 1)
        ]
    return f'{{scheme}}://{",".join(hosts)}/{vhost}'
