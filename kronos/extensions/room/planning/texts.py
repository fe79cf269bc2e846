# SPDX-License-Identifier: Apache-2.0
"""The end of a plan that makes room, as a sentence with its proof."""

from collections.abc import Mapping

from kronos.engine import wording
from kronos.extensions.room.certificates import Certificate, Claim, Verdict
from kronos.extensions.room.room import Proof, RoomOutcome

NO_PROOF = (
    'without a proof, since scipy is not installed or the scope is too large '
    'for an exact plan'
)
ON_NODES = (
    'without a proof, and only if Nova chooses NUMA nodes as numa_cells has it'
)
NO_CERTIFICATE = 'the file has no proof for this scope'
EXACT = 'proven by the exact program only'
CLAIMS = {
    Claim.MOST: 'at most {} slots with {} migrations',
    Claim.FEWEST: 'at least {} migrations',
    Claim.IMPOSSIBLE: 'no number of migrations makes the wanted room',
    Claim.STUCK: 'no server can move first, and {} slots stay',
}


def checked(certificate: Certificate, verdict: Verdict) -> str:
    """How the check of a proof ended."""
    claim = CLAIMS[certificate.claim].format(
        certificate.number, certificate.migrations
    )
    end = 'is proven' if verdict.holds else 'is not proven'
    return f'"{claim}" {end}: {verdict.text}'


def sentence(outcome: RoomOutcome) -> str:
    """How planning ended, and what no prices prove of it."""
    text, certificate = _end(outcome), outcome.certificate
    is_open = outcome.proof in (Proof.NONE, Proof.NOT_KNOWN)
    if is_open or outcome.is_met or outcome.on_nodes:
        return text
    if certificate is None:
        return f'{text} ({EXACT})'
    if outcome.bound is not None and certificate.number != outcome.bound:
        claim = CLAIMS[certificate.claim].format(
            certificate.number, certificate.migrations
        )
        return f'{text} ({EXACT}: prices prove {claim})'
    return text


def _end(outcome: RoomOutcome) -> str:
    if not outcome.has_number:
        return _most(outcome)
    number = servers(outcome.wanted)
    if outcome.is_met:
        return f'the scope already has room for {number}'
    if outcome.proof is Proof.IMPOSSIBLE:
        text = (
            f'no number of migrations makes room for {number}; at most '
            f'{servers(outcome.nearest)} can get room'
        )
        return f'{text}{_staying(outcome)}'
    if outcome.budget is not None:
        return (
            f'room for {number} requires at least {_moves(outcome.bound)}, '
            f'but the plan may have {outcome.budget}; with these, at most '
            f'{servers(outcome.nearest)} can get room'
        )
    if outcome.proof is Proof.NOT_KNOWN:
        return (
            f'it is not known whether there can be room for {number}, since '
            f'the solver has reached its limit; at least '
            f'{_moves(outcome.bound)} would be needed'
        )
    return _fewest(outcome, number)


def _staying(outcome: RoomOutcome) -> str:
    """Who is in the way: the first by name, and how many."""
    if not outcome.staying:
        return ''
    first, *others = outcome.staying
    text = f'; there would be room if {first} could move'
    if others:
        text += f', and {len(others)} more'
    return f'{text}: {outcome.staying[first]}'


def _fewest(outcome: RoomOutcome, number: str) -> str:
    if outcome.missing_after or not outcome.moves:
        text = f'no order of migrations was found that makes room for {number}'
        if any(outcome.nearest.values()):
            text += f', but one for {servers(outcome.nearest)}'
        if outcome.proof is Proof.NONE:
            return f'{text}; it was sought {_without_proof(outcome)}'
        return f'{text}; at least {_moves(outcome.bound)} would be needed'
    text = f'room for {number} after {_moves(outcome.moves)}'
    if outcome.proof is Proof.NONE:
        return f'{text}, {_without_proof(outcome)}'
    if outcome.proof is Proof.OPTIMAL:
        return f'{text}; no plan requires fewer'
    return f'{text}; every plan requires at least {outcome.bound}'


def _without_proof(outcome: RoomOutcome) -> str:
    return ON_NODES if outcome.on_nodes else NO_PROOF


def _most(outcome: RoomOutcome) -> str:
    text = f'{slots(outcome)} after {_moves(outcome.moves)}'
    if outcome.proof is Proof.NONE:
        text = f'{text}, {_without_proof(outcome)}'
        if outcome.bound is None:
            return text
        return f'{text}; no number of migrations gives over {outcome.bound}'
    if outcome.proof is Proof.OPTIMAL:
        return f'{text}; no plan with as many migrations has more'
    return f'{text}; no plan with as many migrations has over {outcome.bound}'


def slots(outcome: RoomOutcome) -> str:
    """``slots of f16: 1 -> 3``"""
    return ', '.join(
        f'slots of {name}: {number} -> {outcome.after[name]}'
        for name, number in outcome.before.items()
    )


def servers(numbers: Mapping[str, int]) -> str:
    """``3 servers of f16 and 1 server of f32``"""
    parts = [
        f'{wording.counted(number, "server")} of {name}'
        for name, number in numbers.items()
    ]
    return ' and '.join(parts)


def _moves(number: int | None) -> str:
    return wording.counted(number or 0, 'migration')
