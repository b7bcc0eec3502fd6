"""What the interoperability tests publish: the same formula stands in interop_test.cpp."""

STRIDE = 62_500_000
BLOCKS = 40

# name, type, rate; every data type that travels
CHANNELS = [
    ("X1:INT-I8", "int8", 64),
    ("X1:INT-U8", "uint8", 64),
    ("X1:INT-I16", "int16", 128),
    ("X1:INT-U16", "uint16", 32),
    ("X1:INT-I32", "int32", 16),
    ("X1:INT-U32", "uint32", 64),
    ("X1:INT-I64", "int64", 64),
    ("X1:INT-U64", "uint64", 64),
    ("X1:FLT-F32", "float32", 256),
    ("X1:FLT-F64", "float64", 512),
]


def value(channel, block, sample):
    return (channel * 31 + block * 7 + sample * 3) % 120


def is_gap(channel, block, sample):
    return channel % 2 == 0 and (channel + block + sample) % 7 == 0
