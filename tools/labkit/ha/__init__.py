# SPDX-License-Identifier: Apache-2.0
"""The lab as production runs it: three databases and three brokers."""
