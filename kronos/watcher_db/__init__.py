# SPDX-License-Identifier: Apache-2.0
"""What decision engines and appliers agree on through Watcher's database.

In: Watcher's tables. Out: a lock that all of them share, and the moment in
which an action plan may be started. Strategies, planners and actions use it.
"""
