# SPDX-License-Identifier: Apache-2.0
"""A policy with one more number: its limits, its default, its meaning."""

from kronos.policies import models


class Policy(models.Policy):
    least_gain: models.Ratio = 0.0
    """A move must lower the policy's imbalance by so much."""
