#!/usr/bin/env python3
"""The reference's KafkaReader and muxer read the blocks of formula.py and check every sample.

usage: read.py BROKER START_NS METADATA      prints "ok BLOCKS SAMPLES GAPS"
"""
import json
import sys

import numpy
from arrakis.channel import Channel
from arrakis.kafka import KafkaReader
from arrakis.mux import BlockMuxStream
from formula import BLOCKS, CHANNELS, STRIDE, is_gap, value

broker, start, metadata = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(metadata) as file:
    channels = {c["name"]: Channel(**c) for c in map(json.loads, file)}
reader = KafkaReader(broker, channels, start=start)
mux = BlockMuxStream(reader, start=start, timeout=3600 * 10**9)
blocks = samples = gaps = 0
for block in mux.stream(start + BLOCKS * STRIDE):
    assert block.time_ns == start + blocks * STRIDE, (block.time_ns, blocks)
    for c, (name, dtype, rate) in enumerate(CHANNELS):
        series = block[name]
        expected = [value(c, blocks, i) for i in range(rate * STRIDE // 10**9)]
        mask = [is_gap(c, blocks, i) for i in range(len(expected))]
        got = numpy.ma.asarray(series.data)
        assert got.dtype == numpy.dtype(dtype), (name, got.dtype)
        assert numpy.ma.getmaskarray(got).tolist() == mask, (name, blocks)
        for i, (a, b, gap) in enumerate(zip(got.data.tolist(), expected, mask)):
            assert gap or a == b, (name, blocks, i, a, b)
        samples += len(expected)
        gaps += sum(mask)
    blocks += 1
assert blocks == BLOCKS, blocks
print("ok", blocks, samples, gaps)
