# SPDX-License-Identifier: Apache-2.0
"""Tests without a service; drawn cases take the time that they take."""

import hypothesis

hypothesis.settings.register_profile(
    'any machine',
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile('any machine')
