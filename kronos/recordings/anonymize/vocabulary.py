# SPDX-License-Identifier: Apache-2.0
"""The closed lists of what may stay in a recording that names nobody.

A name, a value or a text that is in none of them gets another one, so what
nobody thought of does not leave the house.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any

import os_resource_classes
import os_traits

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.scoring import dirty_rates
from kronos.engine.settings import PlanMode
from kronos.engine.types import MigrationPhase
from kronos.recordings.formats import kronos_openstack
from kronos.snapshots import cloud, exclusions

OTHER = 'other'
"""Instead of a word that no closed list has."""


def allowed(word: Any, words: Collection[str], other: str = OTHER) -> Any:
    """A word of a closed list, or nothing at all; else another one."""
    return word if not word or word in words else other


def own_words(text: str, more: Iterable[str] = ()) -> str:
    """What of a warning, an error or a reason is Kronos' own words.

    :param more: beside those of all
    """
    if not text:
        return ''
    phrases = [phrase for phrase in (*PHRASES, *more) if phrase in text]
    phrases += HTTP_STATUS.findall(text)
    if text in phrases:
        return text
    return '; '.join([*dict.fromkeys(phrases), 'the rest is not told'])


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NUMBER = re.compile(r'[-+]?\d+(?:\.\d+)?', re.ASCII)

SERVER_STATUSES = _words(
    'ACTIVE BUILD DELETED ERROR HARD_REBOOT MIGRATING PASSWORD PAUSED REBOOT '
    'REBUILD RESCUE RESIZE REVERT_RESIZE SHELVED SHELVED_OFFLOADED SHUTOFF '
    'SOFT_DELETED SUSPENDED UNKNOWN VERIFY_RESIZE'
)
TASK_STATES = _words(
    'block_device_mapping deleting image_backup image_pending_upload '
    'image_snapshot image_snapshot_pending image_uploading migrating '
    'networking pausing powering-off powering-on reboot_pending '
    'reboot_pending_hard reboot_started reboot_started_hard rebooting '
    'rebooting_hard rebuild_block_device_mapping rebuild_spawning rebuilding '
    'rescuing resize_confirming resize_finish resize_migrated '
    'resize_migrating resize_prep resize_reverting restoring resuming '
    'scheduling shelving shelving_image_pending_upload '
    'shelving_image_uploading shelving_offloading soft-deleting spawning '
    'suspending unpausing unrescuing unshelving updating_password'
)
MOVE_STATUSES = _words(
    # of Nova's migrations
    'accepted cancelled completed confirmed confirming conflict done error '
    'failed finished migrating post-migrating pre-migrating preparing queued '
    'reverted reverting running '
    # of Watcher's actions and plans
    'CANCELLED CANCELLING DELETED FAILED ONGOING PENDING RECOMMENDED SKIPPED '
    'SUCCEEDED SUPERSEDED'
)
PHASES = frozenset(phase.value for phase in MigrationPhase)
ERROR_TYPES = (
    {row.error for row in faults.TABLE.values() if row.error}
    | {
        name
        for name, kind in vars(exceptions).items()
        if isinstance(kind, type)
    }
    | {'unknown'}
)
FAULTS = frozenset(faults.TABLE)
BINARIES = frozenset({'nova-compute'})
SERVICE_STATES = frozenset({'up', 'down'})
SERVICE_STATUSES = frozenset({'enabled', 'disabled'})
GROUP_POLICIES = frozenset(
    {'affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity'}
)
HYPERVISORS = _words(
    'QEMU KVM LXC Parallels ironic fake hyperv powervm zvm'
) | {'VMware vCenter Server'}
STRATEGIES = frozenset(mode.strategy for mode in PlanMode)
MADE_BY = re.compile(
    r'kronos-watcher \d+(?:\.\d+)*(?:\.?(?:a|b|rc|dev|post)\d+)*', re.ASCII
)
TRAITS = frozenset(os_traits.get_traits())
RESOURCE_CLASSES = frozenset(os_resource_classes.STANDARDS)

POLICY_WORDS = _words(
    'allocation balance bandwidth bytes cores cpu disk host io iops load '
    'mem memory net network numa pack power pressure psi ram rx spread '
    'steal storage temperature traffic tx usage used util utilization '
    'vcpu vcpus'
)
"""Words of policies' names, which ``-`` and ``_`` join."""

PHRASES = (
    *kronos_openstack.ALWAYS_UNKNOWN,
    cloud.NO_HEADROOM,
    cloud.NO_HISTORY,
    cloud.NO_DIRTY_RATES,
    dirty_rates.FIELD,
    'the recording does not contain its time',
    'all hosts as up and enabled',
    'are not planned',
    'is taken for 1',
    'their rules are not known',
    'it is in no known cell',
    'it is in more than one cell',
    exclusions.OPTION,
    'the newest sample is too old',
    'so no sample counts as fresh',
    'Synchronise the clocks',
    'the answer is partial',
    'isPartial',
    exclusions.STRANGERS,
    'parse error',
    'timed out',
    'Connection refused',
    'TLS',
    'Placement',
    'Prometheus',
    'Watcher',
)
"""Of warnings and errors."""
HTTP_STATUS = re.compile(r'\bHTTP (?:status )?[1-5]\d\d\b', re.ASCII)

ACTION_STATES = _words(
    'PENDING ONGOING SUCCEEDED FAILED CANCELLED DELETED SKIPPED'
)

EXTRA_SPECS = _words(
    'group_policy hide_hypervisor_id '
    'hw:boot_menu hw:cpu_cores hw:cpu_dedicated_mask hw:cpu_max_cores '
    'hw:cpu_max_sockets hw:cpu_max_threads hw:cpu_policy hw:cpu_realtime '
    'hw:cpu_realtime_mask hw:cpu_sockets hw:cpu_thread_policy '
    'hw:cpu_threads hw:emulator_threads_policy hw:ephemeral_encryption '
    'hw:ephemeral_encryption_format hw:hide_hypervisor_id hw:locked_memory '
    'hw:maxphysaddr_bits hw:maxphysaddr_mode hw:mem_encryption '
    'hw:mem_encryption_model hw:mem_page_size hw:numa_nodes '
    'hw:pci_numa_affinity_policy hw:pmem hw:pmu hw:redirected_usb_ports '
    'hw:serial_port_count hw:sound_model hw:tpm_model '
    'hw:tpm_secret_security hw:tpm_version hw:usb_model '
    'hw:vif_multiqueue_enabled hw:viommu_model hw:virtio_packed_ring '
    'hw:watchdog_action '
    'hw_rng:allowed hw_rng:rate_bytes hw_rng:rate_period '
    'hw_video:ram_max_mb '
    'os:secure_boot os:hide_hypervisor_id '
    'quota:cpu_limit quota:cpu_period quota:cpu_quota quota:cpu_reservation '
    'quota:cpu_shares quota:cpu_shares_level quota:cpu_shares_share '
    'quota:disk_io_limit quota:disk_io_reservation '
    'quota:disk_io_shares_level quota:disk_io_shares_share '
    'quota:disk_read_bytes_sec quota:disk_read_iops_sec '
    'quota:disk_total_bytes_sec quota:disk_total_iops_sec '
    'quota:disk_write_bytes_sec quota:disk_write_iops_sec '
    'quota:memory_limit quota:memory_reservation '
    'quota:memory_shares_level quota:memory_shares_share '
    'quota:vif_inbound_average quota:vif_inbound_burst '
    'quota:vif_inbound_peak quota:vif_limit quota:vif_outbound_average '
    'quota:vif_outbound_burst quota:vif_outbound_peak '
    'quota:vif_reservation quota:vif_shares_level '
    'quota:vif_shares_share'
)
"""Keys of flavors' extra specs that Nova defines."""
EXTRA_SPEC_OF_NODE = re.compile(r'hw:numa_(?:cpus|mem)\.\d{1,3}', re.ASCII)
EXTRA_SPEC_OF_PLACEMENT = re.compile(
    r'(?P<kind>trait|resources)(?P<group>\d{0,3}):(?P<name>.*)', re.ASCII
)
EXTRA_SPEC_PREFIXES = frozenset(
    {
        '',
        'aggregate_instance_extra_specs:',
        'hw:',
        'hw_rng:',
        'hw_video:',
        'os:',
        'quota:',
        'resources:',
        'trait:',
    }
)
"""Of rules such as ``hw:*``."""
EXTRA_SPEC_VALUES = _words(
    'true false yes no required forbidden dedicated shared mixed isolate '
    'prefer require share any large small auto isolated none preferred '
    'legacy poweroff reset pause disabled enabled socket uefi bios host user '
    'deployment virtio intel smmuv3 tpm-tis tpm-crb amd-sev amd-sev-es '
    'amd-sev-snp intel-tdx plain luks luksv2 custom high normal low emulate '
    'passthrough'
)

PROMQL = _words(
    # keywords
    'and or unless atan2 by without on ignoring group_left group_right '
    'offset bool start end inf nan '
    # aggregations
    'sum min max avg group stddev stdvar count count_values bottomk topk '
    'quantile limitk limit_ratio '
    # functions
    'abs absent absent_over_time acos acosh asin asinh atan atanh '
    'avg_over_time ceil changes clamp clamp_max clamp_min cos cosh '
    'count_over_time day_of_month day_of_week day_of_year days_in_month deg '
    'delta deriv double_exponential_smoothing exp first_over_time floor '
    'histogram_avg histogram_count histogram_fraction histogram_quantile '
    'histogram_stddev histogram_stdvar histogram_sum holt_winters hour '
    'idelta increase info irate label_join label_replace last_over_time ln '
    'log10 log2 mad_over_time max_over_time min_over_time minute month pi '
    'predict_linear present_over_time quantile_over_time rad rate resets '
    'round scalar sgn sin sinh sort sort_by_label sort_by_label_desc '
    'sort_desc sqrt stddev_over_time stdvar_over_time sum_over_time tan tanh '
    'time timestamp vector year'
)
METRICS = _words(
    'up ALERTS '
    'node_boot_time_seconds node_cpu_seconds_total '
    'node_disk_io_time_seconds_total node_disk_read_bytes_total '
    'node_disk_reads_completed_total node_disk_writes_completed_total '
    'node_disk_written_bytes_total node_filesystem_avail_bytes '
    'node_filesystem_size_bytes node_load1 node_load15 node_load5 '
    'node_memory_Buffers_bytes node_memory_Cached_bytes '
    'node_memory_HugePages_Free node_memory_HugePages_Total '
    'node_memory_Hugepagesize_bytes node_memory_MemAvailable_bytes '
    'node_memory_MemFree_bytes node_memory_MemTotal_bytes '
    'node_memory_SwapFree_bytes node_memory_SwapTotal_bytes '
    'node_network_info node_network_receive_bytes_total '
    'node_network_speed_bytes node_network_transmit_bytes_total '
    'node_network_up node_pressure_cpu_waiting_seconds_total '
    'node_pressure_io_stalled_seconds_total '
    'node_pressure_io_waiting_seconds_total '
    'node_pressure_memory_stalled_seconds_total '
    'node_pressure_memory_waiting_seconds_total node_uname_info '
    'libvirt_domain_block_stats_read_bytes_total '
    'libvirt_domain_block_stats_read_requests_total '
    'libvirt_domain_block_stats_write_bytes_total '
    'libvirt_domain_block_stats_write_requests_total '
    'libvirt_domain_info_cpu_time_seconds_total '
    'libvirt_domain_info_maximum_memory_bytes '
    'libvirt_domain_info_memory_usage_bytes libvirt_domain_info_meta '
    'libvirt_domain_info_virtual_cpus libvirt_domain_info_vstate '
    'libvirt_domain_interface_stats_receive_bytes_total '
    'libvirt_domain_interface_stats_transmit_bytes_total '
    'libvirt_domain_memory_stats_available_bytes '
    'libvirt_domain_memory_stats_rss_bytes '
    'libvirt_domain_memory_stats_unused_bytes '
    'libvirt_domain_memory_stats_usable_bytes '
    'libvirt_domain_memory_stats_used_percent libvirt_domain_openstack_info '
    'libvirt_domain_vcpu_time_seconds_total libvirt_domains_number '
    'libvirt_up '
    'ceilometer_cpu ceilometer_disk_device_read_bytes '
    'ceilometer_disk_device_write_bytes ceilometer_memory_resident '
    'ceilometer_memory_usage '
    'ceilometer_network_incoming_bytes '
    'ceilometer_network_outgoing_bytes'
)
LABELS = _words(
    '__name__ cpu device display_name domain flavor flavor_name fqdn '
    'hostname host instance instance_id instance_name interface job le mode '
    'mountpoint node nodename project_id project_name project_uuid resource '
    'resource_id server source_bridge target target_device user_id user_name '
    'uuid'
)
IDENTIFIERS = PROMQL | METRICS | LABELS
LITERALS = (
    _words(
        'idle iowait irq nice softirq steal system user guest total node '
        'libvirt sd vd nvme dm tap eth en bond lo'
    )
    | LABELS
)
"""Words of what is in quotes in a query."""
