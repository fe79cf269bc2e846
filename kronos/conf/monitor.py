# SPDX-License-Identifier: Apache-2.0
"""The options of the instance monitor, which no other process reads."""

from collections.abc import Sequence
from typing import Any

from oslo_config import cfg

GROUP = 'kronos_monitor'

OPTS = [
    cfg.StrOpt(
        'host',
        help='Name of this host, as in the option host of nova-compute. '
        "Unset: the machine's name.",
    ),
    cfg.StrOpt(
        'source',
        default='libvirt',
        help='Source of events: libvirt, or the source of another package. '
        '"synthetic" follows a file of made-up events, for tests and '
        'measurements. Related: libvirt_uri, events_file.',
    ),
    cfg.StrOpt(
        'libvirt_uri',
        default='qemu:///system',
        help='Address of the libvirt of this host. The agent only reads from '
        'it. Only with source = libvirt, like the next two options.',
    ),
    cfg.FloatOpt(
        'storm_rate',
        default=200,
        min=1,
        max=100000,
        help='I/O errors per second above which the agent only samples them '
        'from time to time, to spare libvirt. Other events are not '
        'affected.',
    ),
    cfg.FloatOpt(
        'storm_seconds',
        default=20,
        min=1,
        max=50,
        help='Seconds between two such samples. Related: storm_rate.',
    ),
    cfg.StrOpt(
        'events_file',
        help='File of made-up events. Only with source = synthetic.',
    ),
    cfg.StrOpt(
        'rules_file',
        default='/etc/kronos/event_rules.yaml',
        help='Path of the event rules. The file is read again when it '
        'changes. If there is no file at the default path, the agent '
        'sends failures only.',
    ),
    cfg.StrOpt(
        'state_file',
        default='/var/lib/kronos/monitor.db',
        help='Path of the file that keeps incidents until they are '
        'delivered, and the state of servers. Its directory must exist '
        'and be writable only for the user of the agent.',
    ),
    cfg.IntOpt(
        'spool_max_mb',
        default=100,
        min=16,
        max=65536,
        help='Largest size of the state file in MiB. When it is full, the '
        'agent drops the least severe and oldest incidents, and counts '
        'and logs that. 100 MiB are enough for about 40,000 incidents.',
    ),
    cfg.ListOpt(
        'sinks',
        default=[],
        help='Names of the sinks that receive messages, each with a group '
        '[kronos_monitor_NAME]. Rules refer to these names. Unset: '
        'incidents are only counted.',
    ),
    cfg.FloatOpt(
        'stale_seconds',
        default=300,
        min=0,
        help='Age in seconds above which the agent checks the server before '
        'it sends a message. If the server runs again, the message '
        'contains that.',
    ),
    cfg.FloatOpt(
        'control_error_seconds',
        default=5,
        min=0,
        help='Seconds that the agent waits before it reports a control '
        'error. It reports the error only if the server still runs '
        'then, since a normal shutdown can cause one, too.',
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
        help='CA certificates for clients: only clients with a certificate '
        'from one of them may read /metrics. Unset: clients need no '
        'certificate.',
    ),
]

SINK_OPTS = [
    cfg.StrOpt(
        'driver',
        help='Driver of the sink: webhook, masakari, watcher, or the driver '
        'of another package. Unset: the name of the sink.',
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
        help='Longest pause between two tries, in seconds. The first pause '
        'is one second, and each is twice the one before. A sink may '
        'request a longer pause with Retry-After.',
    ),
]

TLS_OPTS = [
    cfg.StrOpt(
        'cafile',
        help="CA certificates to trust instead of the system's. Like the "
        'other files of the sink, it is read again when it changes.',
    ),
    cfg.StrOpt('certfile', help='Client certificate. Related: keyfile.'),
    cfg.StrOpt('keyfile', help='Key of the client certificate.'),
]

WEBHOOK_OPTS = [
    cfg.StrOpt(
        'url',
        secret=True,
        help='Address to which messages are posted. Its path may contain a '
        'secret, so logs of options hide it.',
    ),
    cfg.BoolOpt(
        'insecure',
        default=False,
        help='Whether url may be http://. Anybody on the network path can '
        'then read and change the messages.',
    ),
    *TLS_OPTS,
    cfg.StrOpt(
        'bearer_token_file',
        help='File with the token that is sent in the header Authorization.',
    ),
]

CLOUD_OPTS = [
    cfg.StrOpt(
        'auth_type',
        default='password',
        help='Method of authentication in Keystone, such as password or '
        'v3applicationcredential. The options of that plugin of '
        'keystoneauth belong in this group, too.',
    ),
    cfg.StrOpt(
        'secret_file',
        help="File with the user's password, or with the secret of the "
        'application credential, instead of the option of that name. It is '
        'read again when it changes.',
    ),
    cfg.BoolOpt(
        'insecure',
        default=False,
        help='Whether Keystone and the endpoint may be http://. Anybody on '
        'the network path can then read and change the requests.',
    ),
    *TLS_OPTS,
    cfg.StrOpt(
        'region_name',
        help="Region of the endpoint. Unset: the catalog's first.",
    ),
    cfg.StrOpt(
        'interface',
        default='public',
        choices=['public', 'internal', 'admin'],
        help="Interface of the service's endpoint.",
    ),
    cfg.StrOpt(
        'endpoint_override',
        help="URL of the service, instead of its URL in Keystone's catalog.",
    ),
]
"""Of every sink that is a service of OpenStack."""

MASAKARI_OPTS = [
    cfg.DictOpt(
        'event_map',
        default=dict.fromkeys(
            (
                'crash',
                'panic',
                'hang',
                'io_error',
                'postcopy_failed',
                'paused',
            ),
            'LIFECYCLE/STOPPED_FAILED',
        ),
        help='Event and vir_domain_event to send to Masakari for each kind '
        "of incident: KIND:EVENT/DETAIL. Masakari's engine recovers "
        'only on LIFECYCLE/STOPPED_FAILED, IO_ERROR/IO_ERROR_REPORT and '
        'QEMU_GUEST_AGENT_ERROR/STOPPED_FAILED. Masakari gets no event '
        'for a kind that is not listed.',
    ),
]

WATCHER_OPTS = [
    cfg.StrOpt(
        'audit',
        help='UUID or name of the EVENT audit to trigger. A name still works '
        'after you delete the audit and create a new one.',
    ),
    cfg.FloatOpt(
        'trigger_delay',
        default=60,
        min=0,
        max=3600,
        help='Seconds after which an incident triggers the audit if /metrics '
        'has not been read since. Set it a little above the scrape '
        'interval of Prometheus. Related: metrics_port.',
    ),
    cfg.BoolOpt(
        'confirm',
        default=True,
        help='Whether the agent reads the audit to check that it began after '
        'the incident. This requires the policy audit:get. If false, '
        'the agent triggers the audit again and again for repeat_for.',
    ),
    cfg.FloatOpt(
        'repeat_seconds',
        default=60,
        min=5,
        max=3600,
        help='Pause in seconds before the agent triggers an audit again that '
        'did not begin, for example while an action plan runs. Without '
        'confirm this is the first pause, and each is twice the one '
        'before.',
    ),
    cfg.FloatOpt(
        'repeat_for',
        default=7200,
        min=0,
        max=86400,
        help='Seconds for which an audit is triggered again without confirm: '
        'set it to the duration of the longest action plan.',
    ),
]

DRIVERS = {
    'webhook': WEBHOOK_OPTS,
    'masakari': [*CLOUD_OPTS, *MASAKARI_OPTS],
    'watcher': [*CLOUD_OPTS, *WATCHER_OPTS],
}
"""Driver to the options of its own, but for those of credentials."""
OF_THE_CLOUD = ('masakari', 'watcher')
"""Drivers with the options of a plugin of keystoneauth, too."""


def group_of(sink: str) -> str:
    """Where the options of a sink stand."""
    return f'{GROUP}_{sink}'


def opts_of(
    driver: str, auth_type: str = '', of_package: Sequence[Any] = ()
) -> list[Any]:
    """All options of a sink with that driver, be it known or not.

    :param auth_type: a plugin of keystoneauth; '' or an unknown one: that
        for passwords
    :param of_package: those of a driver of another package
    """
    own = [*SINK_OPTS, *DRIVERS.get(driver, of_package)]
    if driver not in OF_THE_CLOUD:
        return own
    names = {option.dest for option in own}
    others = credentials(auth_type)
    return [*own, *(each for each in others if each.dest not in names)]


def credentials(auth_type: str = '') -> list[Any]:
    """The options of a plugin of keystoneauth.

    :param auth_type: as for :func:`opts_of`
    """
    # Nothing else of the agent needs it.
    from keystoneauth1 import exceptions, loading

    usual = 'password'
    try:
        options = loading.get_auth_plugin_conf_options(auth_type or usual)
    except exceptions.NoMatchingPlugin:
        options = loading.get_auth_plugin_conf_options(usual)
    return [*options]


def register_opts(conf: Any) -> None:
    """Register the agent's own options on its configuration.

    :param conf: an ``oslo_config.cfg.ConfigOpts``
    """
    conf.register_opts(OPTS, group=GROUP)


def driver_of(conf: Any, sink: str) -> str:
    """The driver of a sink; the options of every sink are registered."""
    group = group_of(sink)
    conf.register_opts(SINK_OPTS, group=group)
    return str(conf[group].driver or sink)


def register_sink(
    conf: Any, sink: str, driver: str, of_package: Sequence[Any] = ()
) -> list[Any]:
    """Register the options of a sink, by its driver.

    :param of_package: as for :func:`opts_of`
    :returns: all of them
    """
    group = group_of(sink)
    conf.register_opts(DRIVERS.get(driver, of_package), group=group)
    auth_type = ''
    if driver in OF_THE_CLOUD:
        auth_type = conf[group].auth_type or ''
    options = opts_of(driver, auth_type, of_package)
    conf.register_opts(options, group=group)
    return options


def list_opts() -> list[tuple[str, list[Any]]]:
    """All options by group, for oslo-config-generator.

    A sink is called as its driver here; its name may be another.
    """
    sinks = [(group_of(driver), opts_of(driver)) for driver in DRIVERS]
    return [(GROUP, OPTS), *sinks]
