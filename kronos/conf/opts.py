# SPDX-License-Identifier: Apache-2.0
"""Every option of Kronos, for whichever process loads it.

The same lines serve in watcher.conf, in nova.conf and in a kronos.conf.
"""

from typing import Any, ClassVar

from oslo_config import cfg, types

from kronos.conf import cells, execution, planning, recovery, weigher

KRONOS = 'kronos'
PROMETHEUS = 'kronos_prometheus'

SCOPE_OPTS = [
    cfg.StrOpt(
        'policies_file',
        default='/etc/kronos/policies.yaml',
        help='Path of the policies file. It is read and validated at the '
        'start of every audit; a broken file stops that audit.',
    ),
    cfg.StrOpt(
        'pack_policies_file',
        help='Path of the policies file of kronos_pack, so that policies of '
        'mode pack can live beside those of mode spread. Unset: '
        'policies_file.',
    ),
    cfg.ListOpt(
        'aggregates',
        default=[],
        help='Names of the host aggregates that are planned when an audit '
        'names none, in this order. Each is planned by itself; migrations '
        'stay inside an aggregate. Related options: '
        'include_unassigned_hosts.',
    ),
    cfg.BoolOpt(
        'include_unassigned_hosts',
        default=False,
        help='Whether the hosts that are in no aggregate are planned too, '
        'as a scope of their own.',
    ),
    cfg.ListOpt(
        'hypervisor_types',
        default=['QEMU', 'KVM'],
        help='Hypervisor types, as Nova reports them, that are planned; '
        'hosts of other types (ironic) are left out.',
    ),
    cfg.StrOpt(
        'cell_source',
        default='metadata',
        choices=[
            ('metadata', 'the key kronos:cell of its host aggregates'),
            ('az', 'its availability zone'),
        ],
        help='What tells the cell of a host. No live migration crosses '
        'cells, and no API of Nova tells them. As soon as the cell of one '
        'host is known, hosts of which it is not known take no part.',
    ),
]


class _SwapMoves(types.String):  # type: ignore[misc]
    """One of the choices, or what it was as a flag."""

    FLAGS: ClassVar[dict[str, str]] = {
        **dict.fromkeys(types.Boolean.TRUE_VALUES, 'safe'),
        **dict.fromkeys(types.Boolean.FALSE_VALUES, 'none'),
    }

    def __call__(self, value: Any) -> Any:
        text = str(value).lower()
        return super().__call__(self.FLAGS.get(text, text))


PLANNING_OPTS = [
    cfg.BoolOpt(
        'restrict_to_az',
        default=False,
        help='Whether a migration must stay in its availability zone. An '
        'instance that is pinned to a zone stays there in any case.',
    ),
    cfg.BoolOpt(
        'require_all_policies',
        default=False,
        help='Whether a scope stands still when one of its policies cannot '
        'be used. If false, the weights of the others are scaled to 1.',
    ),
    cfg.FloatOpt(
        'min_host_coverage',
        default=0.9,
        min=0.0,
        max=1.0,
        help='Share of the available hosts of a scope that must have a '
        'fresh sample; with fewer the policy is skipped.',
    ),
    cfg.StrOpt(
        'unexplained_load',
        default='follows',
        choices=[
            ('follows', 'it moves with them, by their usage'),
            ('stays', 'it is the own load of the host'),
        ],
        help='What becomes of the load of a host that its instances do not '
        'explain, beyond what a host without instances shows, when they '
        'leave. A plan warns of hosts where that is much. Set it to stays '
        'where the hosts have much load of their own, such as storage '
        'daemons.',
    ),
    cfg.StrOpt(
        'host_match',
        default='exact',
        choices=[
            ('exact', 'the label value is the Nova host name'),
            (
                'short',
                'a ":port" and the domain are dropped on both sides where '
                'that is unambiguous',
            ),
        ],
        help='How a label value of Prometheus finds its Nova host.',
    ),
    cfg.StrOpt(
        'partial_answers',
        default='warn',
        choices=[
            ('warn', 'the policy is judged by it, and the plan warns'),
            ('skip', 'the policy is not judged'),
        ],
        help='What becomes of a policy if Prometheus says that its answer to '
        'one of the queries of the policy is partial (isPartial of '
        'VictoriaMetrics, warnings of Thanos and Prometheus): hosts and '
        'servers may be missing, and sums are too small. The same holds for '
        'dirty_rate_query. Partial answers to exclude_hosts_query, '
        'host_fault_query and server_fault_query are never used.',
    ),
    cfg.StrOpt(
        'exclude_hosts_query',
        default='',
        help='PromQL that names hosts at fault by a label host, or else '
        'instance, as host_match says: a host with a value other than 0 is '
        'no destination, in audit, action and replay. Leave out failures '
        'that a guest can cause itself, such as hang and panic. A host '
        'without a series is not excluded. When the query fails, no '
        'migration is planned, and none begins. Empty: no host is at fault.',
    ),
    cfg.BoolOpt(
        'check_disk',
        default=False,
        help='Whether a destination needs Placement headroom for DISK_GB '
        'too. Leave it off where instances live on shared storage.',
    ),
    cfg.BoolOpt(
        'require_headroom',
        default=True,
        help='Whether a host whose inventory Placement does not show is '
        'refused as a destination.',
    ),
    cfg.ListOpt(
        'allowed_extra_specs',
        default=[
            'aggregate_instance_extra_specs:*',
            'hw_rng:*',
            'hw_video:*',
            'hw:cpu_cores',
            'hw:cpu_max_cores',
            'hw:cpu_max_sockets',
            'hw:cpu_max_threads',
            'hw:cpu_policy=shared',
            'hw:cpu_sockets',
            'hw:cpu_threads',
            'hw:vif_multiqueue_enabled',
            'hw:watchdog_action',
            'quota:*',
        ],
        help='Flavor extra specs that do not keep an instance from being '
        'moved: a key, a key=value, or a prefix that ends in "*". An '
        'instance whose flavor has any other stays where it is and is '
        'reported.',
    ),
    cfg.BoolOpt(
        'plateau_moves',
        default=True,
        help='Whether spread may leave a stall by moves that keep the '
        'combined imbalance: those that lower the variance, and those that '
        'even out the hosts beside the ones that no move helps.',
    ),
    cfg.Opt(
        'swap_moves',
        type=_SwapMoves(
            choices=[
                ('none', 'no exchange'),
                (
                    'safe',
                    'no policy that is within its threshold is beyond it '
                    'between the two migrations, and none that is over it '
                    'more than doubles or comes above 1',
                ),
                ('any', 'it may be: also if the second one fails'),
            ],
        ),
        default='safe',
        help='Which exchanges of two instances may lead spread out of a '
        'stall. "true" is "safe", and "false" is "none".',
    ),
    cfg.StrOpt(
        'tie_break',
        default='variance',
        choices=['first', 'variance', 'variance_per_gib'],
        help='Which of several equally good migrations is taken: the first '
        'by name, the one that lowers the variance most, or the one that '
        'lowers it most per GiB moved.',
    ),
]

PROMETHEUS_OPTS = [
    cfg.URIOpt(
        'url',
        schemes=['http', 'https'],
        secret=True,
        help='Address of Prometheus, with its prefix if it has one. Unset: '
        'Aetos, found in the Keystone catalog as "metric-storage". Since a '
        'user and a password may stand in it, logs of options hide it.',
    ),
    cfg.FloatOpt(
        'timeout',
        default=30,
        min=0.1,
        help='Seconds before a try of a query fails, from connecting to the '
        'last byte of the answer. If Keystone finds Prometheus, each request '
        'to Keystone has as many.',
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
        help='Seconds after which a sample no longer counts.',
    ),
    cfg.StrOpt('bearer_token', secret=True, help='Token to authenticate.'),
    cfg.StrOpt(
        'bearer_token_file',
        help='File with the token; read anew when it changes.',
    ),
    cfg.StrOpt('username', help='User of basic authentication.'),
    cfg.StrOpt(
        'password', secret=True, help='Password of basic authentication.'
    ),
    cfg.MultiStrOpt(
        'headers',
        default=[],
        secret=True,
        help='Header that each request has, as NAME: VALUE; one on each line '
        'that begins with headers. Mimir and Cortex with several tenants need '
        'X-Scope-OrgID: TENANT.',
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
        help='HTTP proxy on the way to url. Unset: none. Proxies and a .netrc '
        'of the environment are ignored.',
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
        *PLANNING_OPTS,
        *planning.OPTS,
        *recovery.OPTS,
        *cells.OPTS,
        *execution.OPTS,
        *weigher.OPTS,
    ],
    PROMETHEUS: PROMETHEUS_OPTS,
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
