#!/usr/bin/env python3
"""The reference's client fetches, and says what it got.

usage: client_stream.py < CALLS
A call is a line {"url": URL, "args": {...}} of arguments for fetch(). For each one a line:
{"time_ns": N, "duration_ns": N, "data": {NAME: [samples]}} with null for a gap, or
{"error": CLASS, "text": TEXT}.
"""
import json
import sys

import numpy
from arrakis import Client


def samples(series):
    data = numpy.ma.asarray(series.data)
    mask = numpy.ma.getmaskarray(data)
    return [None if gap else value.item() for value, gap in zip(data.data, mask)]


clients = {}
for line in sys.stdin:
    call = json.loads(line)
    try:
        url = call["url"]
        if url not in clients:
            clients[url] = Client(url, token=False)
        block = clients[url].fetch(**call["args"])
        print(json.dumps({
            "time_ns": int(block.time_ns),
            "duration_ns": int(block.duration_ns),
            "data": {name: samples(series) for name, series in block.items()},
        }))
    except Exception as error:
        print(json.dumps({"error": type(error).__name__, "text": str(error)}))
