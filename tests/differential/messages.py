"""Messages for the differential test: good ones of every type and form, and ones changed by a seeded
generator, first field by field through Arrow's own writer, then byte by byte."""
import random
import struct

import numpy
import pyarrow

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
SECOND = 10**9
TIME = 1_400_000_000 * SECOND
FOREIGN_IDS = [5, 77, 2**31 - 1]

# The channels that a message may be for: their ids, rates and stride. Each with every type.
FORMS = [
    {"rates": {0: 16, 1: 8, 2: 4, 3: 3}, "stride": SECOND},
    {"rates": {3_000_000_000: 3}, "stride": 333_333_333},  # as int32 another id
    {"rates": {0: 16, 1: 8, 2: 4, 3: 3}, "stride": None},
]


def channel_sets():
    """One list of channels, as keyword arguments, for each set number."""
    sets = []
    for dtype in TYPES:
        for form in FORMS:
            sets.append([{"name": f"X1:DIFF-{index}_{rate}HZ", "data_type": dtype, "sample_rate": rate,
                          "partition_id": "DIFF", "partition_index": index, "stride": form["stride"]}
                         for index, rate in form["rates"].items()])
    return sets


class Generator:
    """An endless series of (set number, what was done, message)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.previous = b""

    def __iter__(self):
        return self

    def __next__(self):
        rng = self.random
        number = rng.randrange(len(TYPES) * len(FORMS))
        done = []
        message = self.written(TYPES[number // len(FORMS)], FORMS[number % len(FORMS)], done)
        if rng.random() < 0.5:
            message = self.damaged(message, done)
        self.previous = message
        return number, done, message

    # Field by field.

    def chance(self, probability, done, what):
        if self.random.random() >= probability:
            return False
        done.append(what)
        return True

    def written(self, dtype, form, done):
        rng = self.random
        shape = {
            "dtype": dtype,
            "id": pyarrow.uint32(),
            "time": pyarrow.int64(),
            "list": pyarrow.list_,
            "names": ["time", "id", "data"],
        }
        if self.chance(0.05, done, "id type"):
            shape["id"] = rng.choice([pyarrow.int32(), pyarrow.int32(), pyarrow.int64(), pyarrow.uint16()])
        if self.chance(0.02, done, "time type"):
            shape["time"] = rng.choice([pyarrow.uint64(), pyarrow.int32(), pyarrow.timestamp("ns")])
        if self.chance(0.05, done, "other samples"):
            shape["dtype"] = rng.choice([*TYPES, "float16", "bool"])
        if self.chance(0.1, done, "list type"):
            shape["list"] = rng.choice([pyarrow.large_list, pyarrow.large_list, pyarrow.list_view, "fixed"])
        if self.chance(0.01, done, "renamed column"):
            shape["names"][rng.randrange(3)] = rng.choice(["time", "id", "data", "Time", "x", ""])
        extra = None
        if self.chance(0.15, done, "extra column"):
            extra = rng.choice(list(self.extra_columns(1)))
        order = list(range(3 + (extra is not None)))
        if self.chance(0.15, done, "column order"):
            rng.shuffle(order)
        dropped_column = rng.randrange(3) if self.chance(0.01, done, "missing column") else None
        batches = 1
        if self.chance(0.1, done, "batches"):
            batches = rng.choice([0, 2, 2, 3])
        built = []
        for number in range(max(batches, 1)):
            no_rows = self.chance(0.04, done, "no rows")
            built.append(self.batch(shape, form, extra, order, dropped_column, no_rows, number, done))
        options = {}
        if self.chance(0.08, done, "compressed"):
            options["compression"] = rng.choice(["lz4", "zstd"])
        # Arrow does not see that a body of version 4 is compressed, though it writes such.
        elif self.chance(0.04, done, "version 4"):
            options["metadata_version"] = pyarrow.ipc.MetadataVersion.V4
        if self.chance(0.04, done, "legacy frames"):
            options["use_legacy_format"] = True
        schema = built[0].schema
        if self.chance(0.04, done, "schema metadata"):
            schema = schema.with_metadata({"made": "by hand", "": "x" * rng.randrange(50)})
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
            for batch in built[:batches]:
                writer.write_batch(batch)
        message = sink.getvalue().to_pybytes()
        if self.chance(0.03, done, "no end"):
            message = message[: -4 if options.get("use_legacy_format") else -8]
        elif self.chance(0.03, done, "bytes behind the end"):
            message += rng.randbytes(rng.randrange(1, 40))
        return message

    def batch(self, shape, form, extra, order, dropped_column, no_rows, number, done):
        rng = self.random
        rows = self.rows(form, number, done) if not no_rows else []
        times = pyarrow.array([row[0] for row in rows], pyarrow.int64()).cast(shape["time"], safe=False)
        ids = pyarrow.array([row[1] for row in rows], pyarrow.int64()).cast(shape["id"], safe=False)
        data = self.lists([row[2] for row in rows], shape)
        if rows and self.chance(0.05, done, "sliced"):
            doubled = pyarrow.concat_arrays([data, data])
            data = doubled.slice(len(rows))
        columns = [times, ids, data]
        names = list(shape["names"])
        if extra is not None:
            columns.append(dict(self.extra_columns(len(rows)))[extra[0]])
            names.append(rng.choice(["note", "note", "x\u00e9", ""]) if number == 0 else self.extra_name)
            self.extra_name = names[-1]
        order = [place for place in order if place != dropped_column]
        fields = []
        for place in order:
            field = pyarrow.field(names[place], columns[place].type)
            if place == 3 and extra[0] == "extension":
                field = field.with_metadata({"ARROW:extension:name": "unknown"})
            fields.append(field)
        return pyarrow.record_batch([columns[place] for place in order], schema=pyarrow.schema(fields))

    def rows(self, form, number, done):
        """(time, id, (samples, which of them are null) or None) for each row."""
        rng = self.random
        stride = form["stride"] or SECOND
        time = TIME + number * stride
        ids = list(form["rates"])
        if self.chance(0.1, done, "channels absent"):
            ids = rng.sample(ids, rng.randrange(len(ids) + 1))
        if self.chance(0.1, done, "foreign ids"):
            ids += rng.sample(FOREIGN_IDS, rng.randrange(1, 3))
        if ids and self.chance(0.05, done, "duplicate ids"):
            ids += rng.choices(ids, k=rng.randrange(1, 4))
        if self.chance(0.3, done, "row order"):
            rng.shuffle(ids)
        uneven = self.chance(0.05, done, "unequal times")
        wrong = self.chance(0.07, done, "wrong lengths")
        all_wrong = self.chance(0.02, done, "another duration")
        gappy = self.chance(0.3, done, "gaps")
        no_lists = self.chance(0.05, done, "null lists")
        no_ids = self.chance(0.02, done, "null ids")
        no_times = self.chance(0.02, done, "null times")
        rows = []
        for index in ids:
            rate = form["rates"].get(index, rng.randrange(20))
            length = rate * stride // SECOND + (1 if stride % SECOND else 0)
            if all_wrong:
                length *= 2
            if wrong and rng.random() < 0.5:
                length = rng.choice([0, 1, length + 1, max(0, length - 1)])
            nulls = [gappy and rng.random() < 0.3 for _ in range(length)]
            samples = None if no_lists and rng.random() < 0.5 else (length, nulls)
            rows.append((None if no_times and rng.random() < 0.5 else time + uneven * rng.randrange(9),
                         None if no_ids and rng.random() < 0.5 else index, samples))
        return rows

    def lists(self, rows, shape):
        """A list column of random bits. Values lie under nulls, too."""
        rng = self.random
        lengths = [0 if row is None else row[0] for row in rows]
        if shape["list"] == "fixed":
            lengths = [4] * len(rows)
        count = sum(lengths)
        nulls = numpy.array([flag for row in rows if row is not None for flag in row[1]], bool)
        if shape["list"] == "fixed":
            nulls = numpy.zeros(count, bool)
        if shape["dtype"] == "bool":
            values = numpy.array([rng.random() < 0.5 for _ in range(count)], bool)
        else:
            dtype = numpy.dtype(shape["dtype"])
            values = numpy.frombuffer(rng.randbytes(count * dtype.itemsize), dtype)
        values = pyarrow.array(values, mask=nulls if nulls.any() else None)
        if shape["list"] == "fixed":
            return pyarrow.FixedSizeListArray.from_arrays(values, 4)
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths, dtype=numpy.int64)])
        mask = pyarrow.array([row is None for row in rows], pyarrow.bool_())
        if shape["list"] is pyarrow.list_view:
            return pyarrow.ListViewArray.from_arrays(
                pyarrow.array(offsets[:-1], pyarrow.int32()), pyarrow.array(lengths, pyarrow.int32()), values)
        is_large = shape["list"] is pyarrow.large_list
        offsets = pyarrow.array(offsets, pyarrow.int64() if is_large else pyarrow.int32())
        kind = pyarrow.LargeListArray if is_large else pyarrow.ListArray
        return kind.from_arrays(offsets, values, mask=mask if any(row is None for row in rows) else None)

    @staticmethod
    def extra_columns(rows):
        words = pyarrow.array((["a longer word than a view holds", None, "b"] * rows)[:rows], pyarrow.string())
        numbers = pyarrow.array(range(rows), pyarrow.int64())
        return {
            "text": words,
            "large text": words.cast(pyarrow.large_string()),
            "binary": words.cast(pyarrow.binary()),
            "view": words.cast(pyarrow.string_view()),
            "dictionary": words.dictionary_encode(),
            "nested": pyarrow.StructArray.from_arrays([numbers], ["a"]),
            "list": pyarrow.array([[1, 2]] * rows, pyarrow.list_(pyarrow.int8())),
            "extension": numbers,
            "number": numbers.cast(pyarrow.float64()),
            "flag": pyarrow.array([True] * rows, pyarrow.bool_()),
            "null": pyarrow.nulls(rows),
            "time": numbers.cast(pyarrow.timestamp("us")),
            "fixed": pyarrow.array([b"abc"] * rows, pyarrow.binary(3)),
            "decimal": numbers.cast(pyarrow.decimal128(30, 2)),
        }.items()

    # Byte by byte.

    def damaged(self, message, done):
        rng = self.random
        message = bytearray(message)
        for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
            name, damage = rng.choice(self.DAMAGES)
            done.append(name)
            damage(self, message)
        return bytes(message)

    def place(self, message):
        return self.random.randrange(len(message)) if message else 0

    def flip(self, message):
        if message:
            message[self.place(message)] ^= 1 << self.random.randrange(8)

    def overwrite_byte(self, message):
        if message:
            message[self.place(message)] = self.random.choice([0, 1, 2, 0x7F, 0x80, 0xFF, self.random.randrange(256)])

    def overwrite_number(self, message):
        rng = self.random
        form, numbers = rng.choice([
            ("<h", [0, 1, -1, 4, 32767, -32768]),
            ("<i", [0, 1, -1, 2, 16, 2**31 - 1, -(2**31), 1000]),
            ("<q", [0, 1, -1, 3, 2**31, 2**40, 2**63 - 1, -(2**63)])])
        size = struct.calcsize(form)
        if len(message) >= size:
            place = rng.randrange((len(message) - size) // size + 1) * size
            struct.pack_into(form, message, place, rng.choice(numbers))

    def add_to_byte(self, message):
        if message:
            place = self.place(message)
            message[place] = (message[place] + self.random.choice([1, -1, 4, -4, 8, -8])) % 256

    def truncate(self, message):
        del message[self.place(message):]

    def insert(self, message):
        place = self.place(message)
        message[place:place] = self.random.randbytes(self.random.choice([1, 4, 8, 8, 30]))

    def remove(self, message):
        place = self.place(message)
        del message[place: place + self.random.choice([1, 4, 8, 8, 30])]

    def repeat(self, message):
        place = self.place(message)
        message[place:place] = message[place: place + self.random.choice([4, 8, 64, 500])]

    def splice(self, message):
        if self.previous:
            message[self.place(message):] = self.previous[self.random.randrange(len(self.previous)):]

    def swap_words(self, message):
        count = len(message) // 8
        if count < 2:
            return
        a, b = (8 * self.random.randrange(count) for _ in range(2))
        message[a: a + 8], message[b: b + 8] = message[b: b + 8], message[a: a + 8]

    DAMAGES = [("flip", flip)] * 4 + [("byte", overwrite_byte)] * 3 + [("number", overwrite_number)] * 3 + [
        ("step", add_to_byte), ("step", add_to_byte), ("truncated", truncate), ("insertion", insert),
        ("removal", remove), ("repetition", repeat), ("splice", splice), ("swap", swap_words)]
