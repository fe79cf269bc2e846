# SPDX-License-Identifier: Apache-2.0
"""The dashboard, drawn from a day that Prometheus answers for."""
