# SPDX-License-Identifier: Apache-2.0
"""Guests without a system: each does one thing in a boot sector.

x86, 16 bits, as a BIOS of the 1980s loads it. Standard library only.
"""

ORIGIN, SIZE = 0x7C00, 512
IDLE = bytes.fromhex('F4 EB FD')
PANIC = bytes.fromhex('BA 05 05 B0 01 EE') + IDLE
"""By the panic device ``isa``."""
HANG = bytes.fromhex('BA 43 04 B0 0F EE') + IDLE
"""It starts the watchdog ``ib700`` with the shortest time, and feeds it no
more."""
RESET = bytes.fromhex('B0 FE E6 64') + IDLE
OFF = bytes.fromhex('BA 04 06 B8 00 20 EF') + IDLE
"""By ACPI of the machine ``pc``."""
DIRTY = bytes.fromhex(
    'FB B8 00 10 8E C0 26 FF 06 00 00 05 00 01 3D 00 90 72 F1 F4 EB EA'
)
"""At each tick it writes to 512 KiB of its memory, so that no migration at
1 MiB/s ends."""
DIRTIED = 0x10000
"""The first of them; it counts the ticks."""
ON_KEY = bytes.fromhex('31 C0 CD 16')
"""What follows waits for a key."""
_PACKET = ORIGIN + 0x100
"""Where the packet of a disk's write stands."""
_SECTORS = 64


def after(seconds: float) -> bytes:
    """What follows waits for some seconds of the guest."""
    high, low = divmod(int(seconds * 1e6), 2**16)
    return b''.join(
        [
            b'\xb4\x86\xb9',
            high.to_bytes(2, 'little'),
            b'\xba',
            low.to_bytes(2, 'little'),
            b'\xcd\x15',
        ]
    )


def writing() -> bytes:
    """It writes to its second disk, on ide, for ever.

    After an error the BIOS puts 0 into the packet's count.
    """
    place = _PACKET.to_bytes(2, 'little')
    count = (_PACKET + 2).to_bytes(2, 'little')
    loop = b''.join(
        [
            b'\xc7\x06' + count + _SECTORS.to_bytes(2, 'little'),
            b'\xbe' + place,
            b'\xb2\x81',
            b'\xb8\x00\x43',
            b'\xcd\x13',
        ]
    )
    return b'\x31\xc0\x8e\xd8' + loop + b'\xeb' + bytes([254 - len(loop)])


def sector(code: bytes) -> bytes:
    """A boot sector of some code, with the packet of a write."""
    packet = b''.join(
        [
            b'\x10\x00',
            _SECTORS.to_bytes(2, 'little'),
            (0).to_bytes(2, 'little'),
            (0x1000).to_bytes(2, 'little'),
            (0).to_bytes(8, 'little'),
        ]
    )
    start = code.ljust(_PACKET - ORIGIN, b'\0') + packet
    return start.ljust(SIZE - 2, b'\0') + b'\x55\xaa'
