"""What the benchmarks ran on: the machine's kind and the versions, never its name."""

import json
import os
import pathlib
import platform
import re
import subprocess

PACKAGES = [
    "nginx-light", "libcurl4-openssl-dev", "libssl-dev", "zlib1g-dev", "wrk", "nghttp2-client", "libnghttp2-dev",
    "libh2o-evloop-dev", "node-llhttp",
]
DEPENDENCIES = ["async-http-client", "swift-nio", "swift-nio-ssl", "swift-nio-http2", "benchmark"]


def description(resolved):
    memory = int(match(r"MemTotal:\s*(\d+)", read("/proc/meminfo")) or 0)
    rows = [
        ["processor", match(r"model name\s*: (.*)", read("/proc/cpuinfo"))],
        ["cores", str(os.cpu_count())],
        ["memory", f"{memory / 2**20:.0f} GiB"],
        # What ran beside the benchmarks is in it too: how far the figures can be trusted.
        ["load average of the last 15 minutes", f"{os.getloadavg()[2]:.1f}"],
        ["kernel", "Linux " + match(r"^(\d+(?:\.\d+)*)", platform.release())],
        ["distribution", match(r'PRETTY_NAME="(.*)"', read("/etc/os-release"))],
        ["Swift (and FoundationNetworking)", match(r"Swift version (\S+)", output("swift", "--version"))],
    ]
    rows += [[name, version] for name, version in dependencies(resolved)]
    rows += [[package, output("dpkg-query", "-W", "-f", "${Version}", package)] for package in PACKAGES]
    return [[what, which or "unknown"] for what, which in rows]


def dependencies(resolved):
    pins = json.loads(read(resolved) or '{"pins": []}')["pins"]
    versions = {pin["identity"]: pin["state"].get("version", "") for pin in pins}
    return [(name, versions.get(name, "")) for name in DEPENDENCIES]


def read(path):
    path = pathlib.Path(path)
    return path.read_text() if path.exists() else ""


def match(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
