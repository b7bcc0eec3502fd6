#!/usr/bin/env python3
"""The reference's client makes calls and says what came of them.

usage: client_metadata.py < CALLS
A call is a line {"url": URL, "call": NAME, "args": {...}}. For each one a line: {"result": ...} or
{"error": CLASS, "text": TEXT}. Channels are objects without nulls.
"""
import json
import sys

from arrakis import Client


def channel_json(channel):
    return {key: value for key, value in channel.as_dict().items() if value is not None}


def answer(client, name, args):
    result = getattr(client, name)(**args)
    if name == "find":
        return [channel_json(channel) for channel in result]
    if name == "describe":
        return [channel_json(channel) for channel in result.values()]
    return result


clients = {}
for line in sys.stdin:
    call = json.loads(line)
    try:
        url = call["url"]
        if url not in clients:
            clients[url] = Client(url, token=False)
        print(json.dumps({"result": answer(clients[url], call["call"], call["args"])}))
    except Exception as error:
        print(json.dumps({"error": type(error).__name__, "text": str(error)}))
