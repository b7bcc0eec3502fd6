#!/usr/bin/env python3
"""Holds our decoder against the Python one on good, unusual and damaged messages.

usage: differential.py [--count N] [--seed N] [--keep FOLDER] DECODER
What Python reads and decisions 9 to 11 allow has to come out of ours with equal times, values, gaps and
types, bit for bit; what else Python reads, ours refuses or counts as the decisions say; what Python
refuses may do ours no harm. Prints how many messages fell where. Exit status 1 with the message's number,
and the message itself in FOLDER or a temporary folder, for everything that is different.
"""
import argparse
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from messages import Generator, channel_sets

HERE = os.path.dirname(os.path.abspath(__file__))

# What has to be refused of what Python reads; the rest outside of the allow-list may be decoded by our rules.
MUST_BE_REFUSED = {"columns, decision 9", "column types, decision 9", "encodings, decision 9",
                   "not valid Arrow, decision 9", "null in time, decision 10"}


def own_refusal(reason, reference):
    """Where a refusal comes from of what Python accepts; None when it should have been accepted."""
    if reason == "big-endian data":
        return "big-endian, wire 4.2"
    buffer = re.fullmatch(r"a buffer of (\d+) bytes at (\d+) in a body of (\d+) bytes", reason)
    if buffer and int(buffer[1]) + int(buffer[2]) > int(buffer[3]):
        return "a buffer that ends outside of its message, which Arrow cuts, decision 9"
    if re.fullmatch(r"-1 nulls among \d+ elements", reason):
        return "a count of nulls left open, as only Arrow's memory has it, decision 9"
    types = {channel["type"] for batch in reference["batches"] if batch["expected"]
             for channel in batch["expected"]["channels"].values()}
    if reason == "column 'data' is not a list of a sample type" and types <= {"float64"}:
        return "a precision that there is not, which Arrow takes for float64, decision 9"
    return None


def write_messages(folder, seed, count):
    cases = []
    generator = Generator(seed)
    with open(os.path.join(folder, "messages"), "wb") as file:
        for _ in range(count):
            number, done, message = next(generator)
            cases.append((number, done, message))
            file.write(struct.pack("<II", number, len(message)) + message)
    for number, channels in enumerate(channel_sets()):
        with open(os.path.join(folder, f"channels-{number}"), "w") as file:
            for channel in channels:
                print(json.dumps(channel), file=file)
    return cases


def run_ours(decoder, folder, count):
    with open(os.path.join(folder, "ours.log"), "w+") as log:
        run = subprocess.run([decoder, folder], stdout=subprocess.PIPE, stderr=log)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        if run.returncode != 0 or len(lines) != count:
            log.seek(0)
            sys.stderr.write(log.read())
            lines.append({"status": f"ended with status {run.returncode}"})
    return lines


def run_reference(folder, count):
    """Python's results; "died" for a message that ended its process."""
    results = []
    while len(results) < count:
        before = len(results)
        with open(os.path.join(folder, "reference.log"), "w+") as log:
            run = subprocess.run([sys.executable, "-B", os.path.join(HERE, "reference.py"), folder, str(before)],
                                 stdout=subprocess.PIPE, stderr=log)
            lines = [line for line in run.stdout.split(b"\n") if line.startswith(b"{") and line.endswith(b"}")]
            results += map(json.loads, lines)
            if run.returncode > 0 or (run.returncode == 0 and len(results) < count):
                log.seek(0)
                raise SystemExit(f"reference.py failed at message {len(results)}: {log.read()}")
        if len(results) < count:
            results.append({"died": -run.returncode})
    return results


def compare(ours, reference):
    """(where the message fell, what is wrong or None)"""
    if ours["status"] not in ("decoded", "no_rows", "bad"):
        return "broken", ours["status"]
    if ours["status"] == "bad" and not ours["reason"]:
        return "broken", "refused without a reason"
    if "died" in reference:
        return f"Python died of signal {reference['died']}", None
    if "refused" in reference:
        if ours["status"] == "bad":
            return "refused by both", None
        # Damage to what is not read: further columns, empty batches, a cut end marker, padding.
        return "only Python refuses", None
    if "outside" in reference:
        accepted = reference["outside"] in MUST_BE_REFUSED and ours["status"] != "bad"
        return f"outside: {reference['outside']}", "accepted" if accepted else None
    batches = reference["batches"]
    dropped = sum(batch["dropped"] for batch in batches)
    useless = any("useless" in batch for batch in batches) and not any(batch["expected"] for batch in batches)
    if useless and ours["dropped"] == dropped:
        return "nothing usable", None if ours["status"] == "bad" else "accepted"
    if ours["status"] == "bad":
        why = own_refusal(ours["reason"], reference)
        return (f"outside: {why}", None) if why else ("inside", "refused")
    expected = [batch["expected"] for batch in batches if batch["expected"] is not None]
    if ours["parts"] != expected:
        return "inside", "decoded differently"
    if ours["dropped"] != dropped:
        return "inside", f"{ours['dropped']} rows dropped instead of {dropped}"
    if not expected:
        return "equal, no rows for us", None
    gaps = any("1" in channel["gaps"] for part in expected for channel in part["channels"].values())
    return "equal, with rows dropped" if dropped else "equal, with gaps" if gaps else "equal", None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="keep what was compared here")
    parser.add_argument("decoder")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="arrakis-differential-")
    os.makedirs(folder, exist_ok=True)
    cases = write_messages(folder, options.seed, options.count)
    ours = run_ours(options.decoder, folder, options.count)
    reference = run_reference(folder, options.count)

    places, faults = collections.Counter(), 0
    for number, (case, found, wanted) in enumerate(zip(cases, ours, reference)):
        place, fault = compare(found, wanted)
        places[place] += 1
        if fault is None:
            continue
        faults += 1
        with open(os.path.join(folder, f"message-{number}"), "wb") as file:
            file.write(case[2])
        print(f"message {number} ({', '.join(case[1]) or 'plain'}), {place}: {fault}\n"
              f"  ours:   {json.dumps(found)[:600]}\n  Python: {json.dumps(wanted)[:600]}")
    for place, count in sorted(places.items()):
        print(f"{count:7} {place}")
    print(f"{options.count} messages of seed {options.seed}, {faults} different")
    # What was hardly there was not compared.
    for place in ("equal", "equal, with gaps", "equal, with rows dropped", "refused by both"):
        if places[place] < options.count // 100:
            print(f"too few messages of the kind '{place}'")
            faults += 1
    if faults:
        print(f"the messages are in {folder}")
        return 1
    if not options.keep:
        shutil.rmtree(folder)
    return 0


sys.exit(main())
