"""Predicts whether the model hub is reachable, without sending a request."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

DEFAULT_ENDPOINT = "https://huggingface.co"
_TRUE = frozenset({"1", "ON", "YES", "TRUE"})
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def endpoint_of(environment: Mapping[str, str]) -> str:
    """The hub's URL: HF_ENDPOINT if set, else huggingface.co."""
    return (environment.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")


def host_of(endpoint: str) -> str:
    """A hub's host name, for sentences."""
    try:
        return urlsplit(endpoint).hostname or endpoint
    except ValueError:
        return endpoint


def is_turned_off(environment: Mapping[str, str]) -> bool:
    """Whether HF_HUB_OFFLINE forbids every request."""
    return any(environment.get(name, "").upper() in _TRUE for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))


def may_be_reached(environment: Mapping[str, str]) -> bool:
    """Whether a request could succeed; sends nothing and reads only this machine's network addresses."""
    if is_turned_off(environment):
        return False
    return _is_local(host_of(endpoint_of(environment))) or has_connection()


def has_connection() -> bool:
    """Whether this machine has an address on a network that is up; a guess if there are virtual networks."""
    import psutil

    try:
        addresses, states = psutil.net_if_addrs(), psutil.net_if_stats()
    except Exception:  # noqa: BLE001 - a failed guess must not be an error
        return True
    return any(
        _leads_out(address.address)
        for name, entries in addresses.items()
        if name in states and states[name].isup
        for address in entries
        if address.family in _FAMILIES
    )


def _leads_out(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
