# SPDX-License-Identifier: Apache-2.0
"""The list of all metrics that the services and the exporter show.

Names, labels and meanings are a public interface: dashboards and alerts of
operators use them. The reference page is made from this list. No label holds
an instance, a project, a uuid or free text; ``host`` stands only in rows with
``per_host``, and in those of maintenance runs.
"""

from kronos.metrics import capacity, limits, maintenance, metric
from kronos.metrics.metric import Kind, Metric, Source

_ENGINE = Source.DECISION_ENGINE
_APPLIER = Source.APPLIER
_SCHEDULER = Source.SCHEDULER


def _of_scope(name: str, text: str, *labels: str) -> Metric:
    return metric.gauge(_ENGINE, name, text, 'scope', *labels)


def _of_policy(name: str, text: str, *labels: str) -> Metric:
    return _of_scope(name, text, 'policy', *labels)


def _per_host(name: str, text: str, *labels: str) -> Metric:
    return Metric(name, Kind.GAUGE, _ENGINE, text, labels, per_host=True)


_AUDITS = (
    metric.counter(
        _ENGINE,
        'kronos_audits_total',
        'Runs of audits by outcome: planned, empty (nothing to do), blind '
        '(no scope could be judged), overtaken (another plan came first) or '
        'failed',
        'strategy',
        'outcome',
    ),
    metric.histogram(
        _ENGINE,
        'kronos_audit_part_seconds',
        'Duration of the parts of audits: reading, planning, proof, writing',
        metric.SECONDS_OF_WORK,
        'part',
    ),
    _of_scope(
        'kronos_scope_last_success_timestamp_seconds',
        'Time of the last audit that could judge the scope',
    ),
    _of_scope(
        'kronos_scope_stopped',
        '1 by the reason code with which planning of the scope ended',
        'reason',
    ),
    metric.counter(
        Source.EVERY_SERVICE,
        'kronos_prometheus_queries_total',
        'Queries to Prometheus by result: healthy, partial, stale or '
        'unreachable',
        'result',
    ),
    metric.histogram(
        Source.EVERY_SERVICE,
        'kronos_prometheus_query_seconds',
        'Duration of queries to Prometheus with their further tries',
        metric.SECONDS_OF_WORK,
    ),
)

_BALANCE = (
    _of_policy(
        'kronos_policy_imbalance_ratio',
        'Imbalance of the scope by the policy before the newest plan',
    ),
    _of_policy(
        'kronos_policy_planned_imbalance_ratio',
        'Imbalance of the scope by the policy that the newest plan predicts',
    ),
    _of_policy(
        'kronos_policy_threshold_ratio',
        'Imbalance above which the policy has servers moved',
    ),
    metric.gauge(
        _ENGINE,
        'kronos_policy_skipped',
        '1 if the policy could not be used, by the health of its samples, or '
        'unusable if another reason kept it from being used',
        'scope',
        'policy',
        'reason',
    ),
    _of_policy(
        'kronos_policy_partial',
        '1 if the samples of the policy are partial, else 0',
    ),
    _of_scope(
        'kronos_scope_imbalance_ratio',
        'Combined imbalance of the scope before the newest plan',
    ),
    _of_scope(
        'kronos_scope_planned_imbalance_ratio',
        'Combined imbalance of the scope that the newest plan predicts',
    ),
    _of_scope(
        'kronos_scope_hosts',
        'Hosts of the scope by state: in_use or unavailable',
        'state',
    ),
    _of_scope(
        'kronos_scope_hosts_over_threshold',
        'Hosts of the scope that are too full by a policy',
    ),
    _per_host(
        'kronos_host_score_ratio',
        'Load of the host by the policy',
        'scope',
        'policy',
        'host',
    ),
)

_MOVES = (
    metric.counter(
        _ENGINE,
        'kronos_moves_planned_total',
        'Moves in the plans of audits, by phase',
        'scope',
        'phase',
    ),
    _of_scope(
        'kronos_scope_planned_moves',
        'Moves in the newest plan of the scope, by phase',
        'phase',
    ),
    _of_scope('kronos_scope_instances', 'Instances of the scope'),
    _of_scope(
        'kronos_scope_staying_instances',
        'Instances that stay in the newest plan, by reason code',
        'reason',
    ),
    _of_scope(
        'kronos_scope_quarantined_instances',
        'Instances in quarantine after a failed move',
    ),
    _of_scope(
        'kronos_scope_repeatedly_moved_instances',
        'Instances that were moved more than twice within the longest '
        'cooldown or guard',
    ),
    _of_scope(
        'kronos_scope_cooldown_seconds',
        'Time until the scope is planned again after its last move',
    ),
    _of_scope(
        'kronos_scope_draining_instances',
        'Instances on draining hosts, by state: leaving or staying',
        'state',
    ),
    _per_host(
        'kronos_host_draining_instances',
        'Instances on the draining host, by state: leaving or staying',
        'scope',
        'host',
        'state',
    ),
    metric.gauge(
        _ENGINE,
        'kronos_plans_waiting',
        'Started plans that wait for an applier',
    ),
    metric.gauge(
        _ENGINE,
        'kronos_plans_waiting_oldest_timestamp_seconds',
        'Time since which the oldest started plan waits for an applier; no '
        'series if none waits',
    ),
    metric.gauge(
        _ENGINE,
        'kronos_plans_not_started',
        'Recommended plans with actions that were not started',
    ),
    metric.gauge(
        _ENGINE,
        'kronos_plans_not_started_newest_timestamp_seconds',
        'Creation time of the newest plan that was not started; no series if '
        'there is none',
    ),
)

_EFFECT = (
    _of_policy(
        'kronos_effect_ratio',
        'Realised over predicted effect of the measured plans',
    ),
    _of_policy(
        'kronos_effect_trust_ratio',
        'Trust in the predictions by the policy, from 0 to 1',
    ),
    _of_policy(
        'kronos_effect_measured_plans', 'Plans behind the ratio and the trust'
    ),
    _of_scope(
        'kronos_effect_unmeasured_plans',
        'Plans whose effect cannot be measured, by reason code',
        'reason',
    ),
    _of_policy(
        'kronos_effect_predicted_ratio',
        'Change of the scores that the newest measured plan predicted, '
        'summed over the hosts',
    ),
    _of_policy(
        'kronos_effect_realised_ratio',
        'Change of the scores that came with the newest measured plan, '
        'in the predicted direction',
    ),
    _of_scope(
        'kronos_effect_forecast_seconds',
        'Forecast duration of the newest measured plan',
    ),
    _of_scope(
        'kronos_effect_taken_seconds',
        'Real duration of the newest measured plan',
    ),
    _of_policy(
        'kronos_effect_not_started_predicted_ratio',
        'Change of the scores predicted by the newest plan that was not '
        'started',
    ),
    _of_policy(
        'kronos_effect_not_started_realised_ratio',
        'Change of the scores, in the predicted direction, since the newest '
        'plan that was not started',
    ),
    _of_scope(
        'kronos_effect_limited',
        '1 if use_effect limits the plans of the scope to canary_moves, else '
        '0',
    ),
)

_MIGRATIONS = (
    metric.counter(
        _APPLIER,
        'kronos_migrations_total',
        'Moves that ended, by outcome (succeeded, failed or cancelled) and '
        'by error type (none if succeeded)',
        'scope',
        'phase',
        'outcome',
        'error_type',
    ),
    metric.histogram(
        _APPLIER,
        'kronos_migration_queued_seconds',
        "Time that moves spent in Nova's queue",
        metric.SECONDS_OF_MOVES,
        'scope',
    ),
    metric.histogram(
        _APPLIER,
        'kronos_migration_running_seconds',
        'Time that moves took after the queue',
        metric.SECONDS_OF_MOVES,
        'scope',
    ),
    metric.histogram(
        _APPLIER,
        'kronos_migration_forecast_seconds',
        'Forecast duration of the same moves; compare its sum with that of '
        'the real durations',
        metric.SECONDS_OF_MOVES,
        'scope',
    ),
    metric.counter(
        _APPLIER,
        'kronos_migration_bytes_total',
        'Bytes that moves transferred, of memory or disk',
        'scope',
        'kind',
    ),
    metric.gauge(
        _APPLIER,
        'kronos_migrations_running',
        'Moves that are under way in this process',
        'scope',
    ),
    metric.gauge(
        _APPLIER,
        'kronos_moves_waiting',
        'Moves that wait to begin in this process',
        'scope',
    ),
    metric.counter(
        _APPLIER,
        'kronos_migration_retries_total',
        'Further tries of moves, by the error type of the failed one',
        'scope',
        'error_type',
    ),
    metric.counter(
        _APPLIER,
        'kronos_moves_skipped_total',
        'Moves that were skipped before anything was sent, by reason code',
        'scope',
        'reason',
    ),
)

_WEIGHER = (
    metric.counter(
        _SCHEDULER,
        'kronos_weighings_total',
        'Weighings by result: scored, neutral (no host had a score) or failed',
        'result',
    ),
    metric.histogram(
        _SCHEDULER,
        'kronos_weighing_seconds',
        'Duration of weighings',
        metric.SECONDS_OF_WEIGHING,
    ),
    metric.gauge(
        _SCHEDULER,
        'kronos_weigher_samples_timestamp_seconds',
        'Time at which Prometheus returned the samples in use',
    ),
    metric.gauge(
        _SCHEDULER,
        'kronos_weigher_hosts',
        'Hosts by state: scored or neutral',
        'state',
    ),
    metric.counter(
        _SCHEDULER,
        'kronos_weigher_refreshes_total',
        'Refreshes of the samples by result: good, troubled (some hosts or '
        'policies are not judged) or failed',
        'result',
    ),
    metric.counter(
        _SCHEDULER,
        'kronos_weigher_faults_total',
        'Faults of weighings and refreshes, by error type',
        'error_type',
    ),
)

_PROCESSES = (
    metric.gauge(
        Source.EVERY_SERVICE,
        'kronos_build_info',
        '1, by the version of Kronos in the process',
        'version',
    ),
    metric.gauge(
        Source.EVERY_SERVICE,
        'kronos_metrics_written_timestamp_seconds',
        'Time at which the process last wrote its metrics',
    ),
    metric.counter(
        Source.EVERY_SERVICE,
        'kronos_metrics_write_errors_total',
        'Attempts to write the metrics that failed',
    ),
)

_EXPORTER = (
    metric.gauge(
        Source.EXPORTER,
        'kronos_exporter_files',
        'Files of metrics by state: good, stale or broken',
        'state',
    ),
    metric.gauge(
        Source.EXPORTER,
        'kronos_exporter_ignored_file',
        '1 for each file that is not served, by the reason',
        'file',
        'reason',
    ),
)

METRICS = (
    *_AUDITS,
    *_BALANCE,
    *_MOVES,
    *_EFFECT,
    *limits.METRICS,
    *maintenance.METRICS,
    *capacity.METRICS,
    *_MIGRATIONS,
    *_WEIGHER,
    *_PROCESSES,
    *_EXPORTER,
)
"""All of them, in the order of the reference page."""

BY_NAME = {row.name: row for row in METRICS}
