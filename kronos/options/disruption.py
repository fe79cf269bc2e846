# SPDX-License-Identifier: Apache-2.0
"""The options of disruption: whose servers may be moved, when, how often."""

from dataclasses import dataclass

from kronos.common.names.name_marks import ProjectName, Text
from kronos.options import budget
from kronos.options.choices import ConsentRule
from kronos.options.row import option


@dataclass
class DisruptionOptions:
    """Of ``[kronos]``; they limit plans, and moves when they begin."""

    consent: ConsentRule = option(
        ConsentRule.HONOUR,
        'Whether moves need the consent that the owner of a server gives by '
        'the metadata key or tag kronos:consent. The lock of a server and '
        'kronos:pin always hold.',
    )
    consent_projects: list[ProjectName] = option(
        [],
        'Ids of the projects whose consent counts. Empty: all projects.',
    )
    windows: list[Text] = option(
        [],
        'Times at which Kronos may move servers, as days, times and an IANA '
        'time zone: Mon-Fri 22:00-05:30 Europe/Berlin. May be repeated; '
        'without any, Kronos may always move servers. The metadata key '
        'kronos:window of an aggregate replaces it for that scope.',
        has_lines=True,
    )
    freezes: list[Text] = option(
        [],
        'Days on which Kronos moves no server, as first day, last day and an '
        'IANA time zone: 2026-12-20/2027-01-06 Europe/Berlin. May be '
        'repeated. The metadata key kronos:freeze of an aggregate replaces '
        'it for that scope.',
        has_lines=True,
    )
    window_exempt: list[Text] = option(
        ['kronos_evacuate'],
        'Strategies to which windows and freezes do not apply.',
    )
    expected_move_seconds: float = option(
        120,
        'Seconds that a move is expected to take, until Nova has records of '
        'live migrations that arrived inside the scope. Kronos starts no '
        'move that would not end before its window closes.',
        least=1,
    )
    project_budget: Text = option(
        '',
        'Moves that the servers of a project may have: N at a time, '
        'N/SECONDS, or both as N,M/SECONDS, such as 2,5/3600. Live and cold '
        'migrations and evacuations count from their start, whoever '
        'requested them; resizes do not. Empty: any number.',
        check=budget.checked,
    )
    project_budgets: dict[ProjectName, Text] = option(
        {},
        'Budgets of single projects, which replace project_budget there, as '
        'ID:BUDGET with commas in between.',
        check=budget.by_project,
    )
    group_budget: Text = option(
        '',
        'Moves that the members of a server group may have, written as '
        'project_budget is.',
        check=budget.checked,
    )
    instance_budget: Text = option(
        '',
        'Moves that a server may have, written as project_budget is.',
        check=budget.checked,
    )
    budget_exempt: list[Text] = option(
        ['evacuate'],
        'Phases of a plan whose moves no budget limits: evacuate, affinity, '
        'relieve, spread, pack, cell_drain. These moves still count '
        'afterwards.',
        check=budget.phases,
    )
