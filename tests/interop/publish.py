#!/usr/bin/env python3
"""The reference's own server and Publisher write the blocks of formula.py to a broker.

usage: publish.py BROKER START_NS METADATA_OUT
Registers the channels with an arrakis-server that it starts itself, publishes, and writes the
channels' metadata, one JSON object a line, to METADATA_OUT.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import numpy
from arrakis import Publisher, SeriesBlock
from formula import BLOCKS, CHANNELS, STRIDE, is_gap, value

FIELDS = ["name", "data_type", "sample_rate", "publisher", "partition_id", "partition_index",
          "stride", "max_latency"]

broker, start, metadata_out = sys.argv[1], int(sys.argv[2]), sys.argv[3]

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

with tempfile.TemporaryDirectory() as folder:
    config = os.path.join(folder, "publisher.toml")
    with open(config, "w") as file:
        file.write('[publisher]\npublisher_id = "INTEROP"\n')
        file.write(f"stride = {STRIDE}\nmax_latency = 1000000000\n")
        for name, dtype, rate in CHANNELS:
            file.write(f'["{name}"]\ndata_type = "{dtype}"\nsample_rate = {rate}\n')
    server = subprocess.Popen(
        [os.path.join(os.path.dirname(sys.executable), "arrakis-server"), "-u",
         f"grpc://127.0.0.1:{port}", "kafka", "--kafka-url", broker, "--publisher-config", config],
        cwd=folder, env={**os.environ, "HOME": folder, "XDG_CACHE_HOME": folder},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                publisher = Publisher("INTEROP", url=f"grpc://127.0.0.1:{port}", token=False).register()
                break
            except Exception:
                if time.monotonic() > deadline or server.poll() is not None:
                    raise
                time.sleep(0.2)
        with open(metadata_out, "w") as file:
            for channel in publisher.channels.values():
                fields = {field: getattr(channel, field) for field in FIELDS}
                print(json.dumps({k: v for k, v in fields.items() if v is not None}), file=file)
        with publisher:
            for block in range(BLOCKS):
                data = {}
                for c, (name, dtype, rate) in enumerate(CHANNELS):
                    n = rate * STRIDE // 10**9
                    samples = numpy.array([value(c, block, i) for i in range(n)], dtype)
                    mask = [is_gap(c, block, i) for i in range(n)]
                    data[name] = numpy.ma.array(samples, mask=mask) if any(mask) else samples
                publisher.publish(SeriesBlock(start + block * STRIDE, data, dict(publisher.channels)))
    finally:
        server.terminate()
        server.wait(20)
