#!/usr/bin/env python3
"""Drains the same topics with librdkafka alone, with Arrakis and with the Python reference, in turn.

usage: compare.py BIN BROKER RUNS OUTPUT.json
BIN has raw_drain and arrakis-bench. Fills the topics of the three data sets first. Prints a table
in Markdown and writes every figure to OUTPUT.json.
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

BIN, BROKER, RUNS, OUTPUT = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
HERE = os.path.dirname(os.path.abspath(__file__))
# name: seconds, partitions, channels a partition, rate, type
SETS = {
    "fast": ["30", "4", "10", "16384", "float64"],
    "wide": ["60", "4", "1000", "16", "float32"],
    "mid": ["60", "8", "100", "256", "float32"],
}
MODES = ["raw", "blocks", "mux", "visit"]
REFERENCE_MODES = ["raw", "mux"]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)


def script(name, *arguments):
    return run(sys.executable, os.path.join(HERE, name), *arguments)


results = {}
with tempfile.TemporaryDirectory() as folder:
    for name, arguments in SETS.items():
        fill = script("fill_topics.py", BROKER, name, *arguments)
        metadata = os.path.join(folder, name + ".json")
        with open(metadata, "w") as file:
            json.dump(fill, file)
        figures = {}
        for _ in range(RUNS):
            figures.setdefault("floor", []).append(
                run(os.path.join(BIN, "raw_drain"), BROKER, str(fill["blocks"]), *fill["topics"]))
            for mode in MODES:
                figures.setdefault(mode, []).append(
                    run(os.path.join(BIN, "arrakis-bench"), "drain", "--kafka-url", BROKER, "--meta",
                        metadata, "--mode", mode))
            for mode in REFERENCE_MODES:
                figures.setdefault("reference " + mode, []).append(
                    script("ref_drain.py", BROKER, metadata, mode))
        results[name] = figures

with open(OUTPUT, "w") as file:
    json.dump({"machine": platform.platform(), "cores": os.cpu_count(), "runs": RUNS,
               "results": results}, file, indent=1)

columns = ["floor", *MODES, *("reference " + mode for mode in REFERENCE_MODES)]
print(f"CPU seconds, minimum / median of {RUNS}:\n")
print("| set |", " | ".join(columns), "|")
print("|---|" + "---|" * len(columns))
for name, figures in results.items():
    cells = []
    for column in columns:
        cpu = [figure["cpu"] for figure in figures[column]]
        cells.append(f"{min(cpu):.3f} / {statistics.median(cpu):.3f}")
    print("|", name, "|", " | ".join(cells), "|")
