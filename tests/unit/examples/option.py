# SPDX-License-Identifier: Apache-2.0
"""An option of planning: for operators, for the engine, and between them."""

from dataclasses import dataclass

from oslo_config import cfg

from kronos.engine import settings

# In conf/planning.py:
OPTION = cfg.IntOpt(
    'spare_hosts',
    default=0,
    min=0,
    help='Hosts that are left without instances in every scope.',
)


# In engine/settings.py, a field of Settings:
@dataclass
class Settings(settings.Settings):
    spare_hosts: int = 0
    """So many hosts are left without instances."""


# In snapshots/settings_from_conf.py, a row of FIELDS:
ROW = {'spare_hosts': 'spare_hosts'}
