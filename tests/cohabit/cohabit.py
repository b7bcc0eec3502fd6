"""Two streams of ours and confluent_kafka, which brings a librdkafka of its own, in one process.

cohabit.py BROKER SHIM PARTITION START_NS [late]: publishes blocks through confluent_kafka, and reads them
through both. With `late` our library is loaded after confluent_kafka has connected, else before.
"""

import ctypes
import json
import os
import sys
import threading

BLOCKS = 64
STRIDE = 62_500_000
SAMPLES = 4

broker, shim_path, partition, start, order = (*sys.argv[1:], "early")[:5]
start = int(start)
topic = "arrakis-" + partition


def load_shim():
    shim = ctypes.CDLL(shim_path, mode=ctypes.RTLD_GLOBAL)
    shim.shim_open.restype = ctypes.c_void_p
    shim.shim_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_longlong]
    shim.shim_next.restype = ctypes.c_longlong
    shim.shim_next.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)]
    shim.shim_close.restype = None
    shim.shim_close.argtypes = [ctypes.c_void_p]
    return shim


# Every symbol that a library shows is there for those loaded later: whoever comes first would serve
# both, were one of the two librdkafkas not kept to itself.
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
shim = load_shim() if order == "early" else None
import confluent_kafka  # noqa: E402
import pyarrow  # noqa: E402

producer = confluent_kafka.Producer({"bootstrap.servers": broker})
producer.list_topics(timeout=60)
shim = shim or load_shim()

channel = {
    "name": f"X1:{partition}-0", "data_type": "float32", "sample_rate": 64,
    "partition_id": partition, "partition_index": 0, "stride": STRIDE, "max_latency": 10**9,
}
streams = [shim.shim_open(broker.encode(), json.dumps(channel).encode(), start) for _ in range(2)]
assert all(streams), "not opened"

consumer = confluent_kafka.Consumer({"bootstrap.servers": broker, "group.id": "cohabit"})
consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])


def message(number):
    batch = pyarrow.record_batch(
        [
            pyarrow.array([start + number * STRIDE], pyarrow.int64()),
            pyarrow.array([0], pyarrow.uint32()),
            pyarrow.array([[float(number)] * SAMPLES], pyarrow.list_(pyarrow.float32())),
        ],
        names=["time", "id", "data"],
    )
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def read_ours(stream, found):
    sample = ctypes.c_double()
    for _ in range(BLOCKS):
        found.append((shim.shim_next(stream, ctypes.byref(sample)), sample.value))


def read_theirs(found):
    while len(found) < BLOCKS:
        got = consumer.poll(60)
        assert got is not None and got.error() is None, got and got.error()
        found.append(got.value())


ours = [[], []]
theirs = []
threads = [threading.Thread(target=read_ours, args=pair) for pair in zip(streams, ours)]
threads.append(threading.Thread(target=read_theirs, args=(theirs,)))
for thread in threads:
    thread.start()
sent = [message(number) for number in range(BLOCKS)]
for data in sent:
    producer.produce(topic, data, partition=0)
assert producer.flush(60) == 0
for thread in threads:
    thread.join()

expected = [(start + number * STRIDE, float(number)) for number in range(BLOCKS)]
assert ours[0] == expected, ours[0]
assert ours[1] == expected, ours[1]
assert theirs == sent
for stream in streams:
    shim.shim_close(stream)
consumer.close()

# Theirs still works when ours is gone.
producer.produce(topic, sent[0], partition=0)
assert producer.flush(60) == 0
print("both read", BLOCKS)
