"""Cut a Python process off from the network: only this machine itself can be reached.

Python imports this module at its start when this folder stands on PYTHONPATH; so it covers the
notebook's kernel and every Python process that the notebook starts. (The kernel's own messages
travel through ZeroMQ on the loopback address, which stays open.)
"""

import ipaddress
import socket

_connect, _connect_ex, _getaddrinfo = (
    socket.socket.connect,
    socket.socket.connect_ex,
    socket.getaddrinfo,
)


def _refuse(host):
    if host in (None, "", "localhost", b"localhost"):
        return
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise OSError(f"a notebook must run without the network, and this one asked for {host!r}")


def _checked(original):
    def connect(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse(address[0])
        return original(self, address)

    return connect


def _resolve(host, *arguments, **options):
    _refuse(host)
    return _getaddrinfo(host, *arguments, **options)


socket.socket.connect = _checked(_connect)
socket.socket.connect_ex = _checked(_connect_ex)
socket.getaddrinfo = _resolve
