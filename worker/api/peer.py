"""Pure: whether a request comes from a program of this machine."""

import ipaddress

from starlette.datastructures import Headers

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def is_of_this_machine(client: str | None, headers: Headers) -> bool:
    """True unless the peer is another machine, or a proxy here that may stand before one. client: its address."""
    remote = client is not None and not is_loopback(client)
    return not remote and not any(name in headers for name in _FORWARDED)


def is_loopback(host: str) -> bool:
    """Whether an address leads nowhere but to this machine; a name is no address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)
