#!/usr/bin/env python3
"""The Python decoder's side of the differential test.

usage: reference.py FOLDER FIRST
Decodes FOLDER/messages from number FIRST on as arrakis.kafka does and prints one JSON object a message:
"refused" when Python cannot read it, "outside" with the reason when it is not one of those that we promise to
accept, else its batches, each with the block that has to come out. The process may die of a message: the caller
starts it again behind that one.

Where decisions depart from the reference row by row (null lists, rows of a wrong length or type, rows
without an id), the reference decodes the batch without these rows, and they are counted here.
"""
import json
import os
import resource
import struct
import sys
import types

import numpy
import pyarrow
from arrakis.block import SeriesBlock
from arrakis.channel import Channel
from arrakis.kafka import KafkaReader
from messages import TYPES, channel_sets

MEMORY = 4 << 30  # bytes; what a message declares may be more than there is
ARROW_TYPES = {name: getattr(pyarrow, name)() for name in TYPES}


def stream_outside_of_allow_list(message, schema):
    """Why a message that Python could read need not be accepted, whatever its batches hold; else None."""
    try:
        for _ in pyarrow.ipc.open_stream(message):
            pass
    except Exception:
        # The reference takes any message for a schema or a batch, whatever it says that it is.
        return "no stream to Arrow's own reader, decision 9"
    # Not by schema.names, which cannot hold every name.
    places = [schema.get_all_field_indices(name) for name in ("time", "id", "data")]
    if any(len(place) != 1 for place in places):
        return "columns, decision 9"
    data = schema.field("data")
    if (schema.field("time").type != pyarrow.int64()
            or schema.field("id").type not in (pyarrow.uint32(), pyarrow.int32())
            or not (pyarrow.types.is_list(data.type) or pyarrow.types.is_large_list(data.type))
            or data.type.value_type not in ARROW_TYPES.values()):
        return "column types, decision 9"
    for place, field in [*enumerate(schema), (None, data.type.value_field)]:
        is_read = [place] in places
        if (pyarrow.types.is_dictionary(field.type) or isinstance(field.type, pyarrow.BaseExtensionType)
                or (pyarrow.types.is_nested(field.type) and not is_read)
                or b"ARROW:extension:name" in (field.metadata or {})
                or pyarrow.types.is_run_end_encoded(field.type)):
            return "encodings, decision 9"
    return None


def batch_outside_of_allow_list(batch):
    for name in ("time", "id", "data"):
        try:
            batch.column(name).validate(full=True)
        except pyarrow.ArrowInvalid as error:
            miscounted = "doesn't match actual number of nulls" in str(error)
            return "a wrong count of nulls, decision 9" if miscounted else "not valid Arrow, decision 9"
    if batch.column("time").null_count:
        return "null in time, decision 10"
    return None


def faults_of(batch, channels):
    """What each row is by decisions 10 and 11: "foreign", "no id", "null list", "bad" or "good"."""
    ids = batch.column("id").to_pylist()
    data = batch.column("data")
    faults = []
    for index, length in zip(ids, data.value_lengths().to_pylist()):
        channel = channels.get(index)
        if index is None:
            faults.append("no id")
        elif channel is None:
            faults.append("foreign")
        elif length is None:
            faults.append("null list")
        elif data.type.value_type != ARROW_TYPES[str(channel.data_type)] or length == 0:
            faults.append("bad")
        elif channel.stride is not None and int(length * 10**9 / channel.sample_rate) != channel.stride:
            faults.append("bad")
        else:
            faults.append("good")
    return faults


def described(block):
    channels = {}
    for name, series in block.items():
        gaps = numpy.ma.getmaskarray(series.data)
        values = numpy.array(numpy.ma.getdata(series.data))
        values[gaps] = 0
        channels[name] = {"type": str(values.dtype), "gaps": "".join("01"[bool(gap)] for gap in gaps),
                          "values": values.tobytes().hex()}
    return {"time": block.time_ns, "duration": block.duration_ns, "channels": channels}


def expected_of(batch, channels):
    """What has to come out of a batch that is inside of the allow-list."""
    faults = faults_of(batch, channels)
    stride = next(iter(channels.values())).stride
    wanted = [fault for fault in faults if fault not in ("foreign", "no id")]
    dropped = faults.count("bad") + faults.count("no id")
    if not wanted:
        return {"expected": None, "dropped": dropped}
    if set(faults) <= {"good", "foreign"}:
        # Raises where durations differ, which without a known stride nobody but a majority can settle.
        try:
            return {"expected": described(SeriesBlock.from_row_batch(batch, channels)), "dropped": dropped}
        except AssertionError:
            if stride is None:
                return {"outside": "unequal durations without a stride, decision 10"}
            raise
    if stride is None:
        return {"outside": "faulty rows without a stride, decision 10"}
    ids = batch.column("id").to_pylist()
    last = {index: row for row, index in enumerate(ids)}
    good = [row for row, fault in enumerate(faults) if fault == "good" and last[ids[row]] == row]
    if not good and "null list" not in wanted:
        return {"expected": None, "dropped": dropped, "useless": True}
    if not good:
        return {"expected": {"time": batch.column("time")[0].as_py(), "duration": stride, "channels": {}},
                "dropped": dropped}
    kept = described(SeriesBlock.from_row_batch(batch.select(["time", "id", "data"]).take(good), channels))
    kept["time"] = batch.column("time")[0].as_py()
    return {"expected": kept, "dropped": dropped}


def decoded(message, channels):
    cache = types.SimpleNamespace(_schemas={})
    try:
        batches = KafkaReader._decode(cache, "topic", message)
    except Exception as error:  # whatever it is, Python does not take the message
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    outside = stream_outside_of_allow_list(message, cache._schemas["topic"][0])
    if outside:
        return {"outside": outside}
    found = []
    for batch in batches:
        if batch.num_rows == 0:
            continue
        outside = batch_outside_of_allow_list(batch)
        if outside:
            return {"outside": outside}
        found.append(expected_of(batch, channels))
    outside = [batch["outside"] for batch in found if "outside" in batch]
    return {"outside": outside[0]} if outside else {"batches": found}


def main():
    folder, first = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sets = [{fields["partition_index"]: Channel(**fields) for fields in channels} for channels in channel_sets()]
    with open(os.path.join(folder, "messages"), "rb") as file:
        number = 0
        while header := file.read(8):
            channels, size = struct.unpack("<II", header)
            message = file.read(size)
            if number >= first:
                print(json.dumps(decoded(message, sets[channels])), flush=True)
            number += 1


main()
