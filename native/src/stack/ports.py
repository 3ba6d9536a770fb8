"""Finds taken ports and their owners before anything starts."""

import socket
from collections.abc import Collection

import psutil

from .errors import StackError


def check_free(key: str, port: int, ours: Collection[int]) -> None:
    """Refuse a port on which another process listens.

    Args:
        key: the setting that chose the port.
        ours: ids of processes that may use it.

    Raises:
        StackError: naming the port, its owner if known, and the remedy.
    """
    try:
        everywhere = [one for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
        listening = [one for one in everywhere if one.laddr and one.laddr.port == port]
    except psutil.AccessDenied:  # some systems allow this only to root
        listening = []
    if any(connection.pid in ours for connection in listening):
        return
    if not listening and _bindable(port):
        return
    if not listening:
        raise StackError(f"port {port} ({key}) is in use by a passing connection; run this again in a moment")
    pid = next((connection.pid for connection in listening if connection.pid), None)
    owner = f"{psutil.Process(pid).name()} (pid {pid})" if pid else "another user's process"
    raise StackError(f"port {port} ({key}) is taken by {owner}; stop it, or choose another port: {key}=… in .env")


def _bindable(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
