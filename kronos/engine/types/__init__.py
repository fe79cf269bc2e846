# SPDX-License-Identifier: Apache-2.0
"""The data that all rooms of the engine share."""

from kronos.engine.types.inventory import UNASSIGNED as UNASSIGNED
from kronos.engine.types.inventory import AggregateResult as AggregateResult
from kronos.engine.types.inventory import Begun as Begun
from kronos.engine.types.inventory import ComputeService as ComputeService
from kronos.engine.types.inventory import CycleReport as CycleReport
from kronos.engine.types.inventory import Drain as Drain
from kronos.engine.types.inventory import Event as Event
from kronos.engine.types.inventory import GroupStanding as GroupStanding
from kronos.engine.types.inventory import Headroom as Headroom
from kronos.engine.types.inventory import Health as Health
from kronos.engine.types.inventory import Host as Host
from kronos.engine.types.inventory import HostScore as HostScore
from kronos.engine.types.inventory import Instance as Instance
from kronos.engine.types.inventory import InstanceStanding as InstanceStanding
from kronos.engine.types.inventory import MigrationPhase as MigrationPhase
from kronos.engine.types.inventory import MigrationStep as MigrationStep
from kronos.engine.types.inventory import PolicyReadings as PolicyReadings
from kronos.engine.types.inventory import PolicyResult as PolicyResult
from kronos.engine.types.inventory import Reading as Reading
from kronos.engine.types.inventory import Sample as Sample
from kronos.engine.types.inventory import Seeds as Seeds
from kronos.engine.types.inventory import ServerGroup as ServerGroup
from kronos.engine.types.inventory import Snapshot as Snapshot
from kronos.engine.types.inventory import Stage as Stage
from kronos.engine.types.inventory import StopReason as StopReason
from kronos.engine.types.inventory import VmProfile as VmProfile
