# SPDX-License-Identifier: Apache-2.0
"""What is the lab? A real OpenStack on loopback, with fake hypervisors."""
