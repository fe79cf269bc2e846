# SPDX-License-Identifier: Apache-2.0
"""The rest of a scope: the hosts that are judged once others are set aside."""

from dataclasses import dataclass, field

from kronos.engine.types.bounds import Certificate


@dataclass
class SetAside:
    """A host that a policy is judged without: no migration helps it."""

    policy: str
    host: str
    is_high: bool
    """Whether it is above all that are judged; else it is below them."""
    value: float
    """Of the policy, when it was set aside."""
    reason: str

    @property
    def end(self) -> str:
        """``highest`` or ``lowest``."""
        return 'highest' if self.is_high else 'lowest'


@dataclass
class Rest:
    """What is planned for the hosts that are not set aside."""

    set_aside: list[SetAside] = field(default_factory=list)
    """By policy; the same hosts until the end of the plan."""
    after: int = 0
    """So many steps of the plan were made before it."""
    certificate: Certificate | None = None
    """What no plan gets below that goes on from there, of these hosts alone;
    None where all of them are within the thresholds."""
    imbalance_before: dict[str, float] = field(default_factory=dict)
    """By policy in use, before the first step."""
    imbalance_after: dict[str, float] = field(default_factory=dict)
    """After the last aside."""
    combined_before: float = 0.0
    combined_after: float = 0.0

    @property
    def policies(self) -> list[str]:
        """Those that hosts were set aside for."""
        return list(dict.fromkeys(aside.policy for aside in self.set_aside))

    def of_host(self, host: str) -> list[dict[str, str]]:
        """The policies that are judged without a host, and why."""
        return [
            {'policy': aside.policy, 'end': aside.end, 'reason': aside.reason}
            for aside in self.set_aside
            if aside.host == host
        ]

    def hosts(self, policy: str, is_high: bool | None = None) -> list[str]:
        """The hosts that are set aside for a policy.

        :param is_high: at one end alone; None: at both
        """
        return [
            aside.host
            for aside in self.set_aside
            if aside.policy == policy and is_high in (None, aside.is_high)
        ]
