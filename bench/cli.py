#!/usr/bin/env python3
"""Measures the program `arrakis` beside the Python program of that name, in turn, in one run.

usage: cli.py PROGRAM VENV RUNS [OUTPUT.json]
PROGRAM is ours, VENV an environment with arrakis and arrakis-server. Whole processes are measured,
from start to exit, against the reference's mock server on this machine: wall seconds, CPU seconds
and most memory. Prints the table in Markdown; with OUTPUT.json it also writes every figure there.
"""
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM, VENV, RUNS = sys.argv[1], sys.argv[2], int(sys.argv[3])
OUTPUT = sys.argv[4] if len(sys.argv) > 4 else None
PYTHON = os.path.join(VENV, "bin", "arrakis")
FEW, MANY = 100, 100_000
START_SECONDS = 300


def channel_name(i):
    return f"X{i % 4}:SUB{i % 50:02d}-CHANNEL_{i:06d}"


# name: channels of the server, arguments
CASES = {
    "fetch, 60 s of 100 channels of 256 Hz": (
        FEW, ["fetch", "--start", "1000000000", "--duration", "60", "--json-abrv", *map(channel_name, range(FEW))]),
    "count": (FEW, ["count"]),
    "find, 100 channels": (FEW, ["find", "."]),
    "find, 100 000 channels": (MANY, ["find", "."]),
    "find --json, 100 000 channels": (MANY, ["find", ".", "--json"]),
    "find, 50 000 channels": (MANY, ["find", ".*[02468]$"]),
}


def write_channels(path, count):
    with open(path, "w") as file:
        file.write('["common"]\npublisher = "BENCH"\nsample_rate = 256\ndata_type = "float32"\n'
                   "stride = 62_500_000\nmax_latency = 1_000_000_000\n")
        for i in range(count):
            file.write(f'["{channel_name(i)}"]\n')


class Server:
    def __init__(self, folder, count):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"grpc://127.0.0.1:{port}"
        channels = os.path.join(folder, f"channels-{count}.toml")
        write_channels(channels, count)
        self.process = subprocess.Popen(
            [os.path.join(VENV, "bin", "arrakis-server"), "--url", self.url, "mock", channels],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while run(PROGRAM, self.url, ["count"])["status"] != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the server did not start")
            time.sleep(0.2)

    def stop(self):
        self.process.kill()
        self.process.wait()


def run(program, url, arguments):
    """One whole process with its output in a pipe that is read as fast as it comes."""
    began = time.monotonic()
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env={**os.environ, "ARRAKIS_SERVER": url})
    lines = 0
    while chunk := process.stdout.read(1 << 20):
        lines += chunk.count(b"\n")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"wall": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime,
            "mb": usage.ru_maxrss / 1024, "lines": lines, "status": process.returncode}


def least_and_median(runs, key, digits=3):
    numbers = [figure[key] for figure in runs]
    return f"{min(numbers):.{digits}f} / {statistics.median(numbers):.{digits}f}"


def row(name, ours, reference):
    times = statistics.median(f["wall"] for f in reference) / statistics.median(
        f["wall"] for f in ours)
    return (f"| {name} | {least_and_median(ours, 'wall')} | {least_and_median(reference, 'wall')} | "
            f"{times:.0f} | {least_and_median(ours, 'cpu')} | {least_and_median(reference, 'cpu')} | "
            f"{max(f['mb'] for f in ours):.0f} | {max(f['mb'] for f in reference):.0f} |")


results = {}
with tempfile.TemporaryDirectory() as temporary:
    servers = {}
    try:
        for count in (FEW, MANY):
            servers[count] = Server(temporary, count)
        for name, (count, arguments) in CASES.items():
            figures = results[name] = {"ours": [], "reference": []}
            for _ in range(RUNS):
                for who, program in (("ours", PROGRAM), ("reference", PYTHON)):
                    figures[who].append(run(program, servers[count].url, arguments))
            printed = {f["lines"] for runs in figures.values() for f in runs}
            if len(printed) != 1:
                sys.exit(f"{name}: not always as many lines: {printed}")
    finally:
        for server in servers.values():
            server.stop()

print("| command | wall s | reference | times less | CPU s | reference | most MB | reference |")
print("|---|---|---|---|---|---|---|---|")
for name, figures in results.items():
    print(row(name, figures["ours"], figures["reference"]))
if OUTPUT:
    with open(OUTPUT, "w") as output:
        json.dump(results, output, indent=1)
        output.write("\n")
