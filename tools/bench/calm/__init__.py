# SPDX-License-Identifier: Apache-2.0
"""How calm a cloud stays: weeks of plans in the closed loop."""
