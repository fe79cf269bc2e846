# SPDX-License-Identifier: Apache-2.0
"""The options of the instance monitor, which no other process reads."""

from typing import Any

from oslo_config import cfg

GROUP = 'kronos_monitor'

OPTS = [
    cfg.StrOpt(
        'host',
        help='Name of this host, as nova-compute has it in its option host. '
        "Unset: the machine's name.",
    ),
    cfg.StrOpt(
        'source',
        default='libvirt',
        help='Where events come from. "synthetic" follows a file of made-up '
        'events, for tests and measuring. Related: libvirt_uri, events_file.',
    ),
    cfg.StrOpt(
        'libvirt_uri',
        default='qemu:///system',
        help='The libvirt of this host. It is only read. Only with source = '
        'libvirt, as the next two.',
    ),
    cfg.FloatOpt(
        'storm_rate',
        default=200,
        min=1,
        max=100000,
        help='I/O errors per second above which they are listened to for a '
        'moment now and then, to spare libvirt. Other events come as always.',
    ),
    cfg.FloatOpt(
        'storm_seconds',
        default=20,
        min=1,
        max=50,
        help='Seconds between two such moments. Related: storm_rate.',
    ),
    cfg.StrOpt(
        'events_file',
        help='File of made-up events. Only with source = synthetic.',
    ),
    cfg.StrOpt(
        'rules_file',
        default='/etc/kronos/event_rules.yaml',
        help='Path of the event rules. The file is read again when it '
        'changes. Where none is at the default path, failures are sent and '
        'nothing else.',
    ),
    cfg.StrOpt(
        'state_file',
        default='/var/lib/kronos/monitor.db',
        help='Path of the file that keeps incidents until they are '
        'delivered, and what is remembered of servers. Its directory must '
        'exist and be writable for the user of the agent, and for nobody '
        'else.',
    ),
    cfg.IntOpt(
        'spool_max_mb',
        default=100,
        min=16,
        max=65536,
        help='MiB that the state file may take. When it is full, the least '
        'severe and oldest incidents are let go, which is counted and '
        'logged. 100 MiB hold some 40,000 incidents.',
    ),
    cfg.ListOpt(
        'sinks',
        default=[],
        help='Names of the sinks that get messages, each with a group '
        '[kronos_monitor_NAME]. Rules name them. Unset: incidents are only '
        'counted.',
    ),
    cfg.FloatOpt(
        'stale_seconds',
        default=300,
        min=0,
        help='Seconds after which a message is too old to go out without a '
        'look at its server: if that runs anew, the message says so.',
    ),
    cfg.FloatOpt(
        'control_error_seconds',
        default=5,
        min=0,
        help='Seconds that an error of control is held back. It counts only '
        'if the server still runs then, since the ordinary end of a server '
        'may show one, too.',
    ),
    cfg.StrOpt(
        'metrics_host',
        default='127.0.0.1',
        help='Address on which /metrics is served.',
    ),
    cfg.PortOpt(
        'metrics_port',
        default=9877,
        help='Port of /metrics; 0: it is not served.',
    ),
    cfg.StrOpt(
        'metrics_certfile',
        help='Certificate with which /metrics is served over TLS. Unset: '
        'without TLS. Related: metrics_keyfile.',
    ),
    cfg.StrOpt('metrics_keyfile', help='Key of metrics_certfile.'),
    cfg.StrOpt(
        'metrics_client_cafile',
        help='CA certificates; whoever reads /metrics needs a certificate of '
        'one of them. Unset: nobody needs one.',
    ),
]

SINK_OPTS = [
    cfg.StrOpt(
        'driver',
        help='What the sink is: webhook. Unset: the name of the sink.',
    ),
    cfg.FloatOpt(
        'timeout',
        default=10,
        min=0.1,
        max=600,
        help='Seconds before a try to deliver a message fails.',
    ),
    cfg.FloatOpt(
        'retry_max_seconds',
        default=60,
        min=1,
        max=3600,
        help='Longest pause between two tries, in seconds. The first is one '
        'second, and each is twice the one before. A sink may ask for more '
        'by Retry-After.',
    ),
]

WEBHOOK_OPTS = [
    cfg.StrOpt(
        'url',
        secret=True,
        help='Address to which messages are posted. Since a secret may stand '
        'in its path, logs of options hide it.',
    ),
    cfg.BoolOpt(
        'insecure',
        default=False,
        help='Whether url may be http://, which anybody on the way can read '
        'and change.',
    ),
    cfg.StrOpt(
        'cafile',
        help="CA certificates to trust instead of the system's. Like the "
        'next three, the file is read again when it changes.',
    ),
    cfg.StrOpt('certfile', help='Client certificate. Related: keyfile.'),
    cfg.StrOpt('keyfile', help='Key of the client certificate.'),
    cfg.StrOpt(
        'bearer_token_file',
        help='File with the token that is sent in the header Authorization.',
    ),
]

DRIVERS = {'webhook': WEBHOOK_OPTS}
"""Driver to the options of its own."""


def group_of(sink: str) -> str:
    """Where the options of a sink stand."""
    return f'{GROUP}_{sink}'


def opts_of(driver: str) -> list[Any]:
    """All options of a sink with that driver, be it known or not."""
    return [*SINK_OPTS, *DRIVERS.get(driver, [])]


def register_opts(conf: Any) -> None:
    """Register the agent's own options on its configuration.

    :param conf: an ``oslo_config.cfg.ConfigOpts``
    """
    conf.register_opts(OPTS, group=GROUP)


def register_sink(conf: Any, sink: str) -> str:
    """Register the options of a sink, by its driver.

    :returns: the driver
    """
    group = group_of(sink)
    conf.register_opts(SINK_OPTS, group=group)
    driver = conf[group].driver or sink
    conf.register_opts(DRIVERS.get(driver, []), group=group)
    return str(driver)


def list_opts() -> list[tuple[str, list[Any]]]:
    """All options by group, for oslo-config-generator.

    A sink is called as its driver here; its name may be another.
    """
    sinks = [(group_of(driver), opts_of(driver)) for driver in DRIVERS]
    return [(GROUP, OPTS), *sinks]
