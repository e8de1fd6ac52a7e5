"""A wire between two hosts (network namespaces), on which packets are late and lost: for kernels without netem."""

import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import struct
import subprocess
import threading
import time

CLONE_NEWNET, TUNSETIFF, IFF_TUN_NO_PI = 0x40000000, 0x400454CA, 0x1001
ADDRESSES = ("10.9.0.1", "10.9.0.2")


class Host:
    """A network namespace with one end of the wire. `prefix` starts a program there."""

    def __init__(self, address):
        self.process = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.prefix = ("nsenter", f"--net=/proc/{self.process.pid}/ns/net")
        # A thread of its own, because it changes its namespace.
        opening = threading.Thread(target=self.open_wire, args=(address,))
        opening.start()
        opening.join()

    def open_wire(self, address):
        own, path = os.readlink("/proc/thread-self/ns/net"), f"/proc/{self.process.pid}/ns/net"
        while os.readlink(path) == own: time.sleep(0.01)
        with open(path) as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        self.wire = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.wire, TUNSETIFF, struct.pack("16sH", b"wire", IFF_TUN_NO_PI))
        for command in ("link set lo up", f"address add {address}/24 dev wire", "link set wire up"):
            subprocess.run(["ip", *command.split()], check=True)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Wire:
    """Passes packets on in both directions, in a thread of its own, until `stop`."""

    def __init__(self, round_trip, loss, bytes_a_second):
        self.delay, self.loss, self.rate = round_trip / 2, loss, bytes_a_second
        self.hosts = [Host(address) for address in ADDRESSES]
        self.is_over = False
        self.thread = threading.Thread(target=self.pass_on, daemon=True)
        self.thread.start()

    def pass_on(self):
        first, second = (host.wire for host in self.hosts)
        target, free_at = {first: second, second: first}, {first: 0.0, second: 0.0}
        late, numbers, chance = [], itertools.count(), random.Random(1)
        for end in target: os.set_blocking(end, False)
        while not self.is_over:
            wait = max(0, late[0][0] - time.monotonic()) if late else 0.1
            for source in select.select((first, second), (), (), wait)[0]:
                packet, now = os.read(source, 65_536), time.monotonic()
                free_at[source] = max(free_at[source], now) + len(packet) / self.rate
                # A router's queue is a quarter of a second long here.
                if chance.random() >= self.loss and free_at[source] - now < 0.25:
                    heapq.heappush(late, (free_at[source] + self.delay, next(numbers), target[source], packet))
            while late and late[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(late)
                os.write(end, packet)

    def stop(self):
        self.is_over = True
        self.thread.join()
        for host in self.hosts:
            os.close(host.wire)
            host.stop()
