# SPDX-License-Identifier: Apache-2.0
"""The lab: a real OpenStack on loopback, with fake hypervisors."""
