#!/usr/bin/env python3
"""Measures Arrakis beside librdkafka alone and the Python reference, in turn, in one run.

usage: compare.py BIN BROKER RUNS OUTPUT.json [README.md]
BIN has raw_drain and arrakis-bench. Writes every figure to OUTPUT.json and prints the tables in
Markdown; with README.md it also puts them there, between the two lines that say "results".
"""
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

BIN, BROKER, RUNS, OUTPUT = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
README = sys.argv[5] if len(sys.argv) > 5 else None
HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END = "<!-- results: script/bench writes them -->", "<!-- end of results -->"
# name: seconds, partitions, channels a partition, rate, type
SETS = {
    "fast": ["30", "4", "10", "16384", "float64"],
    "wide": ["60", "4", "1000", "16", "float32"],
    "mid": ["60", "8", "100", "256", "float32"],
}
FLOORS = {"floor": "batch", "lean floor": "lean"}
MODES = ["raw", "blocks", "mux", "visit"]
REFERENCE_MODES = ["raw", "mux"]
ENCODE_SECONDS = "1"
DETECTOR_SECONDS = "5"
# Of either side, in turns of a hundred, in real time: a minute.
LATENCY_STRIDES = "400"
PACKAGES = ["arrakis", "pyarrow", "confluent-kafka", "numpy"]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def bench(*arguments):
    return run(os.path.join(BIN, "arrakis-bench"), *arguments)


def script(name, *arguments):
    return run(sys.executable, os.path.join(HERE, name), *arguments)


def cpu_model():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def drain_all(folder):
    results = {}
    for name, arguments in SETS.items():
        fill = script("fill_topics.py", BROKER, name, *arguments)
        metadata = os.path.join(folder, name + ".json")
        with open(metadata, "w") as file:
            json.dump(fill, file)
        figures = {"messages": fill["blocks"] * len(fill["topics"])}
        for _ in range(RUNS):
            for floor, way in FLOORS.items():
                figures.setdefault(floor, []).append(
                    run(os.path.join(BIN, "raw_drain"), way, BROKER, str(fill["blocks"]),
                        *fill["topics"]))
            for mode in MODES:
                figures.setdefault(mode, []).append(
                    bench("drain", "--kafka-url", BROKER, "--meta", metadata, "--mode", mode))
            for mode in REFERENCE_MODES:
                figures.setdefault("reference " + mode, []).append(
                    script("ref_drain.py", BROKER, metadata, mode))
        results[name] = figures
    return results


def values(figures, key):
    return [figure[key] for figure in figures]


def least_and_median(numbers, digits=3):
    return f"{min(numbers):.{digits}f} / {statistics.median(numbers):.{digits}f}"


def best_and_median(numbers, digits=1):
    return f"{max(numbers):.{digits}f} / {statistics.median(numbers):.{digits}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def milliseconds(figures):
    return [str(figures["count"]), *(f"{figures[key]:.2f}" for key in ("p50", "p90", "p99", "max"))
            ] if figures["count"] else ["0", "-", "-", "-", "-"]


def seconds_after_first(figure):
    return max(figure["wall"] - figure["first_ms"] / 1e3, 1e-3)


def drain_tables(results):
    columns = [*FLOORS, *MODES, *("reference " + mode for mode in REFERENCE_MODES)]
    cpu, wall, goals = [], [], []
    for name, figures in results.items():
        cpu.append([name, *(least_and_median(values(figures[c], "cpu")) for c in columns)])
        wall.append([name, *(least_and_median(values(figures[c], "wall")) for c in columns)])
        mux, visit, reference = (min(values(figures[c], "cpu"))
                                 for c in ("mux", "visit", "reference mux"))
        seconds = statistics.median(seconds_after_first(f) for f in figures["mux"])
        row = [name, f"{mux:.3f}"]
        for floor in FLOORS:
            allowed = min(values(figures[floor], "cpu")) * 1.2 + 2e-6 * figures["messages"]
            of_floor = statistics.median(seconds_after_first(f) for f in figures[floor])
            row += [f"{allowed:.3f}", f"{100 * of_floor / seconds:.0f} %"]
        goals.append([*row, f"{reference / visit:.1f}"])
    return [
        "CPU seconds of the process, draining:", table(["set", *columns], cpu),
        "Wall seconds of the same runs, from the start of reading:", table(["set", *columns], wall),
        "By the least CPU time: `mux`, and what it may take by each floor (1.2 × floor + 2 µs a "
        "message); by the median: its rate after its first message, of each floor's; how many times "
        "less CPU time `visit` takes than the reference's `mux`:",
        table(["set", "mux", "allowed", "rate", "allowed, lean", "rate, lean", "reference / visit"],
              goals),
    ]


def other_tables(results):
    encode = [[name, best_and_median(values(runs, "mrows_per_s")),
               best_and_median(values(runs, "gb_per_s")),
               least_and_median(values(runs, "us_per_block"), 1)]
              for name, runs in results["encode"].items()]
    detector = [[name, least_and_median(values(runs, "cores"), 4),
                 least_and_median(values(runs, "us_per_message"), 2),
                 least_and_median(values(runs, "decode_us_per_message"), 2),
                 f"{sum(values(runs, 'gap_blocks'))}"]
                for name, runs in results["detector"].items()]
    latency = results["latency"]
    times = [["publish → block out", *milliseconds(latency["ours_ms"])],
             ["the same by librdkafka alone", *milliseconds(latency["floor_ms"])],
             ["last part → block out", *milliseconds(latency["after_last_part_ms"])],
             ["deadline → block out", *milliseconds(latency["after_deadline_ms"])]]
    memory = results["memory"]
    return [
        "Encoding, most and median of a run, per CPU second; µs of CPU a block, least and median:",
        table(["set", "M rows/s", "GB/s", "µs a block"], encode),
        "A whole detector out of memory, 1.6 M rows a second, cores of the reading thread, least and "
        "median:",
        table(["", "cores", "µs a message", "of it decoding", "blocks with gaps"], detector),
        "Latency, ms, 100 channels at 16 strides a second, same topics, in turns:",
        table(["", "strides", "p50", "p90", "p99", "most"], times),
        f"{latency['lost']} strides were lost and {latency['gaps']} had unexpected gaps; librdkafka "
        f"alone lost {latency['floor_lost']}.",
        f"Memory: while {memory['minutes']} minutes of {memory['channels']} channels were published "
        f"to it, a reader whose consumer had stalled held {memory['reader_mb']:.1f} MB, "
        f"{memory['growth_mb']:.1f} MB more in the second half than in the first.",
    ]


def replace_results(path, text):
    with open(path) as file:
        page = file.read()
    if BEGIN not in page or END not in page:
        sys.exit(f"{path} has no lines '{BEGIN}' and '{END}'")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    with open(path, "w") as file:
        file.write(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


results = {
    "date": datetime.date.today().isoformat(),
    "runs": RUNS,
    "machine": {"cpu": cpu_model(), "cores": os.cpu_count(), "kernel": platform.release(),
                "system": platform.platform(), "load_before": os.getloadavg()},
    "versions": {**bench("versions"), "python": platform.python_version(),
                 "packages": {name: importlib.metadata.version(name) for name in PACKAGES}},
}
with tempfile.TemporaryDirectory() as temporary:
    results["drain"] = drain_all(temporary)
results["encode"] = {name: [] for name in SETS}
results["detector"] = {"nobody looks": [], "every channel visited": []}
for _ in range(RUNS):
    for name, runs in results["encode"].items():
        runs.append(bench("encode", "--set", name, "--seconds", ENCODE_SECONDS))
    for name, runs in results["detector"].items():
        visit = ["--visit"] if "visited" in name else []
        runs.append(bench("detector", "--seconds", DETECTOR_SECONDS, *visit))
results["latency"] = bench("latency", "--kafka-url", BROKER, "--strides", LATENCY_STRIDES)
results["memory"] = bench("memory", "--kafka-url", BROKER)
results["machine"]["load_after"] = os.getloadavg()

with open(OUTPUT, "w") as output:
    json.dump(results, output, indent=1)
    output.write("\n")
machine, versions = results["machine"], results["versions"]
caption = (f"`script/bench {RUNS}` on {results['date']}: {machine['cores']} cores of {machine['cpu']}, "
           f"Linux {machine['kernel']}, load {machine['load_before'][0]:.1f} before and "
           f"{machine['load_after'][0]:.1f} after; librdkafka {versions['librdkafka']}, Arrow "
           f"{versions['arrow']}, {versions['compiler']}; broker on the same machine. Least / median "
           f"of {RUNS} runs.")
report = "\n\n".join([caption, *drain_tables(results["drain"]), *other_tables(results)])
print(report)
if README:
    replace_results(README, report)
