# SPDX-License-Identifier: Apache-2.0
"""What the engine takes and gives: plain data with its units, no behaviour.

A :class:`Snapshot` goes in; a :class:`CycleReport` comes out. Scores are
ratios in [0, 1]; memory is in MiB, disk in GiB; times are Unix seconds. All
others import these names from here.
"""

from kronos.engine.extension import Phase as Phase
from kronos.engine.types.bounds import UNNOTICED as UNNOTICED
from kronos.engine.types.bounds import Bound as Bound
from kronos.engine.types.bounds import Certificate as Certificate
from kronos.engine.types.bounds import PackingBound as PackingBound
from kronos.engine.types.disruption import BudgetStanding as BudgetStanding
from kronos.engine.types.disruption import ConsentStanding as ConsentStanding
from kronos.engine.types.disruption import FullBudget as FullBudget
from kronos.engine.types.effects import EffectRatio as EffectRatio
from kronos.engine.types.inventory import ASKED as ASKED
from kronos.engine.types.inventory import BY_KRONOS as BY_KRONOS
from kronos.engine.types.inventory import UNASSIGNED as UNASSIGNED
from kronos.engine.types.inventory import ComputeService as ComputeService
from kronos.engine.types.inventory import Flavor as Flavor
from kronos.engine.types.inventory import Headroom as Headroom
from kronos.engine.types.inventory import Host as Host
from kronos.engine.types.inventory import Instance as Instance
from kronos.engine.types.inventory import PastRestart as PastRestart
from kronos.engine.types.inventory import ServerGroup as ServerGroup
from kronos.engine.types.metrics import ClockDifference as ClockDifference
from kronos.engine.types.metrics import Health as Health
from kronos.engine.types.metrics import PolicyReadings as PolicyReadings
from kronos.engine.types.metrics import Reading as Reading
from kronos.engine.types.metrics import Sample as Sample
from kronos.engine.types.metrics import VmProfile as VmProfile
from kronos.engine.types.migrations import Disruption as Disruption
from kronos.engine.types.migrations import Event as Event
from kronos.engine.types.migrations import Origin as Origin
from kronos.engine.types.migrations import Outcome as Outcome
from kronos.engine.types.migrations import Shares as Shares
from kronos.engine.types.plan import AggregateResult as AggregateResult
from kronos.engine.types.plan import Begun as Begun
from kronos.engine.types.plan import Closing as Closing
from kronos.engine.types.plan import CycleReport as CycleReport
from kronos.engine.types.plan import Drain as Drain
from kronos.engine.types.plan import GroupStanding as GroupStanding
from kronos.engine.types.plan import HostScore as HostScore
from kronos.engine.types.plan import InstanceStanding as InstanceStanding
from kronos.engine.types.plan import MigrationPhase as MigrationPhase
from kronos.engine.types.plan import MigrationStep as MigrationStep
from kronos.engine.types.plan import PolicyResult as PolicyResult
from kronos.engine.types.plan import Stage as Stage
from kronos.engine.types.plan import Stop as Stop
from kronos.engine.types.plan import StopReason as StopReason
from kronos.engine.types.rest import Rest as Rest
from kronos.engine.types.rest import SetAside as SetAside
from kronos.engine.types.snapshot import CycleInput as CycleInput
from kronos.engine.types.snapshot import EarlierMove as EarlierMove
from kronos.engine.types.snapshot import PlanningInput as PlanningInput
from kronos.engine.types.snapshot import Seeds as Seeds
from kronos.engine.types.snapshot import Snapshot as Snapshot
from kronos.engine.types.window import ScopeWindow as ScopeWindow
