# SPDX-License-Identifier: Apache-2.0
"""Does a server with a vTPM go only where Nova lets it go?"""

from oslotest import base

from kronos.engine.constraints.constraint_set import CONSTRAINTS
from kronos.engine.constraints.vtpm import VtpmTraits
from kronos.engine.edits import Pair
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import PlanningInput, Snapshot
from tests.builders import cells, constraints, scopes

ALL = [
    'COMPUTE_SECURITY_TPM_2_0',
    'COMPUTE_SECURITY_TPM_CRB',
    'COMPUTE_SECURITY_TPM_SECRET_SECURITY_HOST',
    'COMPUTE_SECURITY_TPM_TIS',
]


def scope(specs: dict[str, str], **traits: list[str]) -> Snapshot:
    """A server on a host without traits, and other hosts."""
    found = scopes.scope(
        [],
        {host: [] for host in ('a', *traits)},
        [scopes.vm('u', 'a', [])],
    )
    found.instances['u'].extra_specs = specs
    for host, names in traits.items():
        found.hosts[host].traits = ['HW_CPU_X86_AVX', *names]
    return found


class TestTraits(base.BaseTestCase):
    def allowed(self, specs: dict[str, str], **traits: list[str]) -> list[str]:
        """The hosts that it may go to."""
        given = constraints.given(scope(specs, **traits))
        constraint = VtpmTraits.build(given)
        if constraint is None:
            return [*given.index.hosts]
        for mask in constraints.masked(constraint, given.shape):
            self.assertEqual(
                constraints.said(constraint, given.shape).tolist(),
                mask.tolist(),
            )
        return [
            host
            for at, host in enumerate(given.index.hosts)
            if constraint.why_not(0, at) is None
        ]

    def test_each_trait(self) -> None:
        """By version and by model, whose default is TIS."""
        for specs, needed in (
            ({'hw:tpm_version': '2.0'}, {ALL[0], ALL[2], ALL[3]}),
            ({'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb'},
             {ALL[0], ALL[2], ALL[1]}),
            ({'hw:tpm_version': '1.2'},
             {'COMPUTE_SECURITY_TPM_1_2', ALL[2], ALL[3]}),
        ):  # fmt: skip
            self.assertEqual(
                ['b'], self.allowed(specs, b=sorted(needed), c=[])
            )
            for one in needed:
                self.assertEqual(
                    [], self.allowed(specs, b=sorted(needed - {one}))
                )

    def test_without_a_vtpm(self) -> None:
        self.assertEqual(['a', 'b'], self.allowed({}, b=[]))

    def test_not_of_a_cell_drain(self) -> None:
        """Such a server stays in its cell for a reason of its own."""
        extension = cells.settings().extension
        self.assertNotIn(VtpmTraits, extension.constraints(CONSTRAINTS))

    def test_reason_and_relaxation(self) -> None:
        snapshot = scope({'hw:tpm_version': '2.0'}, b=ALL[:2])
        constraint = VtpmTraits.build(constraints.given(snapshot))
        assert constraint is not None
        reason = constraint.why_not(0, 1)
        assert reason is not None
        self.assertIs(Code.VTPM_HOST, reason.code)
        self.assertIn(f'traits of the host: {ALL[2]}, {ALL[3]}', reason)
        case = VtpmTraits.relax(
            PlanningInput(snapshot, [], Settings()),
            reason,
            Pair('u', 'a', 'b'),
        )
        constraint = VtpmTraits.build(constraints.given(case.snapshot))
        assert constraint is not None
        self.assertIsNone(constraint.why_not(0, 1))
