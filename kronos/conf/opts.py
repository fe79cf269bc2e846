# SPDX-License-Identifier: Apache-2.0
"""Every option of Kronos, for whichever process loads it.

The same lines serve in watcher.conf, in nova.conf and in a kronos.conf.
"""

from typing import Any

from oslo_config import cfg

from kronos.conf import execution, extensions, metrics, planning, weigher
from kronos.options import choices

KRONOS = 'kronos'
PROMETHEUS = 'kronos_prometheus'

SCOPE_OPTS = [
    cfg.StrOpt(
        'policies_file',
        default='/etc/kronos/policies.yaml',
        help='Path of the policies file. Kronos reads and validates it at '
        'the start of every audit; an invalid file stops that audit.',
    ),
    cfg.StrOpt(
        'pack_policies_file',
        help='Path of the policies file of kronos_pack. Set it to use '
        'policies with mode pack beside policies with mode spread. '
        'Unset: policies_file.',
    ),
    cfg.ListOpt(
        'aggregates',
        default=[],
        help='Names of the host aggregates to plan if an audit names none, '
        'in this order. Each is planned by itself; migrations stay '
        'inside an aggregate. Related options: include_unassigned_hosts.',
    ),
    cfg.BoolOpt(
        'include_unassigned_hosts',
        default=False,
        help='Whether Kronos also plans the hosts that are in no aggregate, '
        'as a scope of their own.',
    ),
    cfg.ListOpt(
        'hypervisor_types',
        default=[*choices.HYPERVISOR_TYPES],
        help='Hypervisor types to plan, as Nova reports them; Kronos ignores '
        'hosts of other types (ironic).',
    ),
    cfg.StrOpt(
        'cell_source',
        default='metadata',
        choices=[
            ('metadata', 'the key kronos:cell of its host aggregates'),
            ('az', 'its availability zone'),
        ],
        help='Source from which Kronos reads the cell of a host. Live '
        'migrations cannot cross cells, and Nova has no API that shows '
        'cells. As soon as the cell of one host is known, Kronos '
        'ignores hosts without a known cell.',
    ),
    cfg.StrOpt(
        'exclude_hosts_query',
        default='',
        help='PromQL that returns hosts at fault. Its label host, or else '
        'instance, names the host, matched by host_match. A host with a '
        'value other than 0 is no destination in audits, actions and '
        'replays. Leave out failures that a guest can cause itself, '
        'such as hang and panic. A host without a series is not '
        'excluded. If the query fails, Kronos plans no migration and '
        'starts none. Empty: no host is at fault.',
    ),
]

REPORT_OPTS = [
    cfg.StrOpt(
        'report_dir',
        help='Directory to which every audit writes its full report as a '
        'JSON file. It must exist and be writable for the decision '
        'engine. Unset: no files.',
    ),
    cfg.IntOpt(
        'report_keep',
        default=100,
        min=1,
        help='Number of reports to keep; older ones are deleted, with their '
        'HTML pages.',
    ),
    cfg.BoolOpt(
        'report_html',
        default=False,
        help='Whether every audit also writes its report as an HTML page, '
        'beside the JSON file and with the same name. The page needs no '
        'network and runs no script. Related options: report_dir, '
        'report_keep.',
    ),
    cfg.StrOpt(
        'record_dir',
        help='Directory to which every audit writes the input of its plan, '
        'as a recording that kronos-replay can plan again. It must '
        'exist and be writable for the decision engine. A recording '
        'names instances, hosts and projects; it contains no '
        'credentials. Unset: no recordings. Related options: '
        'record_keep, record_max_age.',
    ),
    cfg.IntOpt(
        'record_keep',
        default=100,
        min=1,
        help='Number of recordings to keep in record_dir; older ones are '
        'deleted. A recording of 20,000 instances takes about 20 MB.',
    ),
    cfg.IntOpt(
        'record_max_age',
        default=30,
        min=1,
        help='Age in days at which a recording in record_dir is deleted, at '
        'the next audit that records.',
    ),
    cfg.ListOpt(
        'watched_flavors',
        default=[],
        help='Names of flavors for which every audit counts how many more '
        'servers fit into each scope, as the metrics kronos_slots and '
        'kronos_pooled_slots. A flavor counts if a server of the scope has '
        'it, or if the strategy of the audit is kronos_make_room.',
    ),
]

EFFECT_OPTS = [
    cfg.IntOpt(
        'effect_settling_seconds',
        min=0,
        help='Seconds after the end of a plan before Kronos measures what it '
        'changed, for reports, metrics, kronos-effect and use_effect. Set it '
        'longer than the queries of the policies look back. Unset: the value '
        'of cooldown, or the longest range of an imbalance_query if that is '
        'longer.',
    ),
    cfg.IntOpt(
        'effect_plans',
        default=10,
        min=1,
        max=100,
        help='Number of the newest plans of a scope that Kronos measures, '
        'for reports, metrics, kronos-effect and use_effect.',
    ),
]

PROMETHEUS_OPTS = [
    cfg.URIOpt(
        'url',
        schemes=['http', 'https'],
        secret=True,
        help='Address of Prometheus, with its prefix if it has one. Unset: '
        'Aetos, found in the Keystone catalog as "metric-storage". The '
        'address may contain a user and a password, so logs of options '
        'hide it.',
    ),
    cfg.FloatOpt(
        'timeout',
        default=30,
        min=0.1,
        help='Seconds before a try of a query fails, from connecting to the '
        'last byte of the answer. If Keystone provides the address of '
        'Prometheus, each request to Keystone has the same limit.',
    ),
    cfg.IntOpt(
        'max_retries',
        default=3,
        min=0,
        help='Further tries of a query after the first failed.',
    ),
    cfg.FloatOpt(
        'retry_backoff',
        default=1,
        min=0,
        help='Seconds before the first further try; doubled each time.',
    ),
    cfg.FloatOpt(
        'staleness_threshold',
        default=300,
        min=1,
        help='Age in seconds above which Kronos ignores a sample.',
    ),
    cfg.StrOpt('bearer_token', secret=True, help='Token to authenticate.'),
    cfg.StrOpt(
        'bearer_token_file',
        help='File with the token; read again when it changes.',
    ),
    cfg.StrOpt('username', help='User of basic authentication.'),
    cfg.StrOpt(
        'password', secret=True, help='Password of basic authentication.'
    ),
    cfg.MultiStrOpt(
        'headers',
        default=[],
        secret=True,
        help='Header to send with each request, as NAME: VALUE. Repeat the '
        'option for further headers. Mimir and Cortex with several '
        'tenants need X-Scope-OrgID: TENANT.',
    ),
    cfg.StrOpt(
        'cafile', help="CA certificates to trust instead of the system's."
    ),
    cfg.StrOpt('certfile', help='Client certificate. Related: keyfile.'),
    cfg.StrOpt('keyfile', help='Key of the client certificate.'),
    cfg.URIOpt(
        'proxy',
        schemes=['http', 'https'],
        secret=True,
        help='HTTP proxy for requests to url. Unset: none. Proxies and a '
        '.netrc of the environment are ignored.',
    ),
    cfg.StrOpt(
        'interface',
        default='public',
        choices=['public', 'internal', 'admin'],
        help='Interface of the metric-storage endpoint.',
    ),
    cfg.StrOpt('region_name', help='Region of the metric-storage endpoint.'),
]

_GROUPS = {
    KRONOS: [
        *SCOPE_OPTS,
        *planning.OPTS,
        *REPORT_OPTS,
        *EFFECT_OPTS,
        *extensions.opts(),
        *execution.OPTS,
        *weigher.OPTS,
    ],
    PROMETHEUS: PROMETHEUS_OPTS,
    metrics.GROUP: metrics.OPTS,
}


def register_opts(conf: Any) -> None:
    """Register all groups on a process' own configuration.

    :param conf: an ``oslo_config.cfg.ConfigOpts``; registering again the
        same options changes nothing
    """
    for group, opts in _GROUPS.items():
        conf.register_opts(opts, group=group)


def list_opts() -> list[tuple[str, list[Any]]]:
    """All options by group, for oslo-config-generator."""
    return list(_GROUPS.items())
