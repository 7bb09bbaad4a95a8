#!/usr/bin/env python3
"""Runs the product and its peers by turns and compares what they cost.

bench.py --product FILE --limits FOLDER --work FOLDER [--rounds N] [--quick] [CASE ...]

Each round runs every program of a case; a ratio is the median of the rounds' own ratios to the case's second program,
so that what the machine does besides falls on all alike. Wall and CPU (user and system) are seconds, memory is the peak
in MiB. The table goes to standard output, everything to results.json beside this file. Exit status 1: a threshold
(thresholds.json) is passed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys

from cases import Cases
from servers import Servers

HERE = pathlib.Path(__file__).parent
MEASURES = ("wall", "cpu", "memory")


@contextlib.contextmanager
def placed(case, servers):
    """Has programs and servers share a processor, or not: waking another costs more than a request, and moving about
    makes runs unlike each other."""
    everything = os.sched_getaffinity(0)
    if case.place and len(everything) > 1:
        first, second = sorted(everything)[:2]
        servers.place({first if case.place == "together" else second})
        os.sched_setaffinity(0, {first})
    try:
        yield
    finally:
        servers.place(everything)
        os.sched_setaffinity(0, everything)


def run(runner, argv, statuses):
    """Runs a program once and answers what it cost, or None when it failed."""
    told = subprocess.run([runner, *argv], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    if int(told[0]) not in (0, *statuses):
        return None
    return {"wall": float(told[1]), "cpu": float(told[2]), "memory": int(told[3]) / 1024}


def run_counted(runner, argv, case, servers):
    """The same, or None when it made too few requests. (Several tools exit with 0 when none of theirs was answered.)"""
    before = servers.served() if case.requests else 0
    cost = run(runner, argv, case.statuses)
    if not cost or not case.requests:
        return cost
    made = servers.served() - before
    if made < case.requests:
        return None
    if case.nominal:
        # The server counts its own status page too.
        cost["wall"] *= case.nominal / (made - 1)
        cost["cpu"] *= case.nominal / (made - 1)
    return cost


def measure(name, case, runner, servers, rounds):
    """Runs a case; program -> measure -> list of values. A peer that fails is left out; the first two may not."""
    programs = {label: argv for label, argv in case.programs.items() if argv}
    values = {label: {key: [] for key in MEASURES} for label in programs}
    needed = list(programs)[:2]
    if case.warm:
        with open(case.warm, "rb") as file:
            while file.read(1 << 20):
                pass
    for turn in range(rounds * case.repeats):
        for label, argv in list(programs.items()):
            if turn and label in case.slow:
                continue
            if case.written:
                case.written.unlink(missing_ok=True)
                os.sync()
            cost = run_counted(runner, argv, case, servers)
            if cost:
                for key in MEASURES:
                    values[label][key].append(cost[key])
                continue
            if label in needed:
                command = " ".join(argv)
                sys.exit(f"bench: {name}: {label} failed, or made fewer than {case.requests} requests: {command}")
            print(f"bench: {name}: {label} fails here and is left out", file=sys.stderr)
            del programs[label], values[label]
    if case.written:
        case.written.unlink(missing_ok=True)
    return values


def summarize(values):
    """Medians, spreads (half the distance between the quartiles, as a share of the median) and ratios to the second."""
    base = values[list(values)[min(1, len(values) - 1)]]
    result = {}
    for label, costs in values.items():
        result[label] = {}
        for key in MEASURES:
            median = statistics.median(costs[key])
            quartiles = statistics.quantiles(costs[key], n=4) if len(costs[key]) > 1 else [median] * 3
            result[label][key] = {
                "median": median,
                "spread": (quartiles[2] - quartiles[0]) / 2 / median if median else 0,
                "ratio": statistics.median(a / b for a, b in zip(costs[key], base[key]) if b),
            }
    return result


def measure_idle(case, rounds):
    """A download beside idle requests: the script itself tells its CPU seconds without and with them."""
    told = []
    for _ in range(rounds):
        out = subprocess.run(case.programs["httpscript"], stdout=subprocess.PIPE, check=True, text=True).stdout
        told.append(tuple(map(float, out.split())))
    ratio = statistics.median(beside / alone for alone, beside in told)
    cost = {"median": statistics.median(beside for _, beside in told), "spread": 0, "ratio": ratio}
    return {"httpscript": {"cpu": cost}}


def show(name, summary):
    """Prints a case's rows."""
    for label, costs in summary.items():
        cells = [f"{name:<18} {label:<13}"]
        for key, unit in (("wall", "s"), ("cpu", "s"), ("memory", "MiB")):
            if key in costs:
                cost = costs[key]
                spread = cost["spread"] * 100
                cells.append(f"{key} {cost['median']:8.3f} {unit} ±{spread:3.0f} % ×{cost['ratio']:6.2f}")
        print("  ".join(cells), flush=True)


def passed_thresholds(summaries):
    """What is above what is allowed.

    A threshold's key is a measure, compared with that of the case's second program; a measure and another program
    ("cpu/curl"); or "peak", the product's memory in MiB.
    """
    allowed = json.loads((HERE / "thresholds.json").read_text())
    for name, summary in summaries.items():
        product = summary["httpscript"]
        for key, most in allowed.get(name, {}).items():
            if key == "peak":
                peak = product["memory"]["median"]
                if peak > most:
                    yield f"{name}: the peak is {peak:.1f} MiB, allowed is {most}"
                continue
            measure, _, other = key.partition("/")
            if not other:
                other = list(summary)[1] if len(summary) > 1 else "it alone"
                ratio = product[measure]["ratio"]
            elif other in summary:
                ratio = product[measure]["median"] / summary[other][measure]["median"]
            else:
                continue
            if ratio > most:
                yield f"{name}: {measure} is {ratio:.2f} times that of {other}, allowed is {most}"


def main():
    parser = argparse.ArgumentParser()
    for option in ("product", "limits", "work"):
        parser.add_argument("--" + option, required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="others beside the limit")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    # Ends the servers as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    summaries = {}
    with Servers(options.work) as servers:
        cases = Cases(str(options.product), options.limits, servers, 10 if options.quick else 1).all()
        if unknown := set(options.cases) - set(cases):
            parser.error(f"no such case: {', '.join(unknown)} (there are: {', '.join(cases)})")
        for name in options.cases or cases:
            case = cases[name]
            if not options.peers:
                case.programs = dict(list(case.programs.items())[:2])
            if name == "idle":
                summaries[name] = measure_idle(case, options.rounds)
            else:
                with placed(case, servers):
                    values = measure(name, case, str(options.limits / "run"), servers, options.rounds)
                summaries[name] = summarize(values)
            show(name, summaries[name])
    machine = {"cpus": os.cpu_count(), "load": os.getloadavg()}
    results = {"machine": machine, "rounds": options.rounds, "quick": options.quick, "cases": summaries}
    (HERE / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    problems = list(passed_thresholds(summaries))
    for problem in problems:
        print(f"bench: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
