"""check.py FILE mask|nan: prints "equal" when FILE holds what files_in_python_test.cpp wrote."""
import csv
import json
import sys
from decimal import Decimal

import numpy as np

NS = 10**9
START = 1126259462062500000
SECONDS = 6
MISSING = 3  # the second that was never sent
CHANNELS = [
    ("X1:INT-I8", "int8", 64),
    ("X1:INT-U8", "uint8", 64),
    ("X1:INT-I16", "int16", 128),
    ("X1:INT-U16", "uint16", 32),
    ("X1:INT-I32", "int32", 16),
    ("X1:INT-U32", "uint32", 64),
    ("X1:INT-I64", "int64", 64),
    ("X1:INT-U64", "uint64", 64),
    ("X1:FLT-F32", "float32", 16384),
    ("X1:FLT-F64", "float64", 3),
]


def description(c):
    name, dtype, rate = CHANNELS[c]
    return {
        "name": name, "data_type": dtype, "sample_rate": rate, "publisher": "PUB",
        "partition_id": "PART", "partition_index": c, "stride": NS, "max_latency": 2 * NS,
    }


def values(c):
    _, dtype, rate = CHANNELS[c]
    whole = (c * 31 + np.arange(SECONDS * rate) * 7) % 120
    if dtype.startswith("float"):
        return whole.astype(dtype) / np.dtype(dtype).type(7)
    return whole.astype(dtype)


def is_sent(c):
    i = np.arange(SECONDS * CHANNELS[c][2])
    return i // CHANNELS[c][2] != MISSING


def is_gap(c):
    i = np.arange(SECONDS * CHANNELS[c][2])
    return ((i + c) % 11 == 0) | ~is_sent(c)


def times(c):
    rate = CHANNELS[c][2]
    return [START + (2 * i * NS + rate) // (2 * rate) for i in range(SECONDS * rate)]


def require(holds, *what):
    if not holds:
        sys.exit("not equal: " + " ".join(map(str, what)))


def require_equal(got, expected, *what):
    require(got.dtype == expected.dtype, *what, got.dtype, "is not", expected.dtype)
    require(got.shape == expected.shape, *what, got.shape, "is not", expected.shape)
    require(np.array_equal(got, expected, equal_nan=got.dtype.kind == "f"), *what)


def stored(c, gaps):
    """The samples as an array without nulls keeps them."""
    samples = values(c)
    if gaps == "mask":
        return np.where(is_gap(c), np.zeros_like(samples), samples)
    if samples.dtype.kind != "f":
        samples = samples.astype("float64")
    return np.where(is_gap(c), samples.dtype.type("nan"), samples)


def check_table(table, gaps):
    names = sorted(name for name, _, _ in CHANNELS)
    require(table.column_names == ["time", *names], table.column_names)
    blocks = [s for s in range(SECONDS) if s != MISSING]
    require(table["time"].to_pylist() == [START + s * NS for s in blocks], "time")
    metadata = table.schema.metadata
    for c, (name, dtype, rate) in enumerate(CHANNELS):
        field = table.schema.field(name)
        require(str(field.type.value_type).replace("double", "float64").replace(
            "float", "float32").replace("float3264", "float64") == dtype, name, field.type)
        require(field.metadata[b"rate"] == str(rate).encode(), name, field.metadata)
        require(json.loads(metadata[b"arrakis.channel." + name.encode()]) == description(c), name)
        for row, second in enumerate(blocks):
            span = slice(second * rate, (second + 1) * rate)
            expected = [None if gap else value
                        for value, gap in zip(values(c)[span].tolist(), is_gap(c)[span])]
            require(table[name][row].as_py() == expected, name, "block", row)


def check_arrow(path, gaps):
    import pyarrow as pa
    with pa.ipc.open_file(path) as file:
        table = file.read_all()
    table.validate(full=True)
    check_table(table, gaps)


def check_parquet(path, gaps):
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(path)
    table.validate(full=True)
    check_table(table, gaps)


def check_hdf5(path, gaps):
    import h5py
    from gwpy.timeseries import TimeSeries, TimeSeriesDict
    read = TimeSeriesDict.read(path)
    require(sorted(read) == sorted(name for name, _, _ in CHANNELS), list(read))
    with h5py.File(path) as file:
        require(file["arrakis"].attrs["gaps"] == gaps, "gaps")
        for c, (name, _, rate) in enumerate(CHANNELS):
            expected = TimeSeries(stored(c, gaps), t0=START / NS, sample_rate=rate, name=name,
                                  channel=name, unit="")
            series = read[name]
            require_equal(series.value, expected.value, name)
            for key in ("t0", "dt", "unit", "name", "channel", "sample_rate"):
                require(getattr(series, key) == getattr(expected, key), name, key)
            require_equal(series.times.value, expected.times.value, name, "times")
            if gaps == "mask":
                require_equal(file["arrakis/mask"][name][()], is_gap(c), name, "mask")
            else:
                require("mask" not in file["arrakis"], "there is a mask")
            runs = file["arrakis/times"][name]
            require(runs[()].tolist() == [[0, START]], name, "runs")
            require(json.loads(runs.attrs["channel"]) == description(c), name, "description")


def check_npz(path, gaps):
    with np.load(path) as file:
        require(file["gaps"].item() == gaps, "gaps")
        for c, (name, _, _) in enumerate(CHANNELS):
            require_equal(file[name], stored(c, gaps), name)
            require(file["start/" + name].item() == START, name, "start")
            require(file["times/" + name].tolist() == [[0, START]], name, "times")
            require(json.loads(file["channel/" + name].item()) == description(c), name)
            if gaps == "mask":
                require_equal(file["mask/" + name], is_gap(c), name, "mask")
            else:
                require("mask/" + name not in file, "there is a mask")


def check_csv(path, gaps):
    with open(path, newline="") as file:
        lines = file.readlines()
    comments = [line for line in lines if line.startswith("#")]
    described = [json.loads(line.split(": ", 1)[1]) for line in comments
                 if line.startswith("# channel: ")]
    require(described == [description(c) for c in range(len(CHANNELS))], "descriptions")
    require(any(line.startswith(f"# gaps: {gaps}") for line in comments), "gaps")
    rows = list(csv.reader(lines[len(comments):]))
    require(rows[0] == ["time", *(name for name, _, _ in CHANNELS)], rows[0])
    expected = {}
    for c in range(len(CHANNELS)):
        for time, value, gap, sent in zip(times(c), values(c), is_gap(c), is_sent(c)):
            if sent:
                expected.setdefault(time, {})[c] = None if gap else value
    require(len(rows) - 1 == len(expected), len(rows), "lines")
    for row, time in zip(rows[1:], sorted(expected)):
        require(Decimal(row[0]) * NS == time, "time", row[0], time)
        for c, (name, dtype, _) in enumerate(CHANNELS):
            cell = row[c + 1]
            if c not in expected[time]:
                require(cell == "", name, row[0], cell)
            elif expected[time][c] is None:
                require(cell == ("nan" if gaps == "nan" else ""), name, row[0], cell)
            else:
                require(np.dtype(dtype).type(cell) == expected[time][c], name, row[0], cell)


path, form = sys.argv[1:]
check = {"arrow": check_arrow, "parquet": check_parquet, "h5": check_hdf5, "hdf5": check_hdf5,
         "csv": check_csv, "npz": check_npz}
check[path.rpartition(".")[2]](path, form)
print("equal")
