#!/usr/bin/env python3
"""Runs the product and its peers by turns and compares what they cost.

bench.py --run FILE --product FILE --limit FILE --url URL --status URL [--rounds N] [--quick] [CASE ...]

Each round runs every program of a case once; a ratio is the median of the rounds' own ratios, so that what the machine
does besides falls on all alike. Wall and CPU (user and system) are seconds, memory is the peak in MiB. The table goes to
standard output, everything to results.json beside this file. Exit status 1: a threshold (thresholds.json) is passed.
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).parent
MEASURES = ("wall", "cpu", "memory")


def run(runner, argv):
    """Runs a program once and answers what it cost."""
    told = subprocess.run([runner, *argv], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    if told[0] != "0":
        sys.exit(f"bench: {' '.join(argv)} failed ({told[0]})")
    return {"wall": float(told[1]), "cpu": float(told[2]), "memory": int(told[3]) / 1024}


def served(status_url):
    """How many requests the server has answered (nginx's stub_status)."""
    with urllib.request.urlopen(status_url) as page:
        return int(re.search(r"^\s*\d+ \d+ (\d+)", page.read().decode(), re.MULTILINE).group(1))


def make_cases(options):
    """Case -> how many requests, and the programs: the first is the product, the second what it is compared with."""
    product, limit, url = options.product, options.limit, options.url
    script = str(HERE / "requests.lua")
    curl, wget2 = shutil.which("curl"), shutil.which("wget2")
    scale = 10 if options.quick else 1

    def requests(count, at_once):
        count //= scale
        programs = {
            "httpscript": [product, script, url, str(count), str(at_once)],
            "C": [limit, url, str(count), str(at_once)],
        }
        if curl:
            parallel = ["--no-progress-meter", "-Z", "--parallel-max", str(at_once)] if 1 < at_once <= 300 else []
            if parallel or at_once == 1:
                programs["curl"] = [curl, "-sSf", "-o", "/dev/null", *parallel, f"{url}?[1-{count}]"]
        return count, programs

    start = {"httpscript": [product, "-e", ""], "C": [limit, url, "0", "1"]}
    one = {"httpscript": [product, "-e", f"assert(require('http').get('{url}'))"], "C": [limit, url, "1", "1"]}
    if curl:
        one = {"httpscript": one["httpscript"], "curl": [curl, "-sf", "-o", "/dev/null", url], "C": one["C"]}
    if wget2:
        one["wget2"] = [wget2, "-q", "-O", "/dev/null", url]
    return {
        "start": (0, start),
        "one": (1, one),
        "sequential": requests(20_000, 1),
        "64 at once": requests(50_000, 64),
        "512 at once": requests(50_000, 512),
    }


def measure(name, count, programs, options):
    """Runs a case; answers program -> measure -> the list of values."""
    short = count <= 1
    values = {program: {measure: [] for measure in MEASURES} for program in programs}
    for _ in range(options.rounds * (5 if short else 1)):
        for program, argv in programs.items():
            before = served(options.status)
            cost = run(options.run, argv)
            if served(options.status) - before < count:
                sys.exit(f"bench: {name}: {program} made fewer than {count} requests")
            for key in MEASURES:
                values[program][key].append(cost[key])
    return values


def summarize(values):
    """Medians, spreads (half the distance between the quartiles, as a share of the median) and ratios to the second
    program."""
    base = values[list(values)[1]]
    result = {}
    for program, costs in values.items():
        result[program] = {}
        for key in MEASURES:
            median = statistics.median(costs[key])
            quartiles = statistics.quantiles(costs[key], n=4) if len(costs[key]) > 1 else [median] * 3
            result[program][key] = {
                "median": median,
                "spread": (quartiles[2] - quartiles[0]) / 2 / median if median else 0,
                "ratio": statistics.median(a / b for a, b in zip(costs[key], base[key]) if b),
            }
    return result


def show(name, summary):
    """Prints a case's rows."""
    for program, costs in summary.items():
        cells = [f"{name:<12} {program:<11}"]
        for key, unit in (("wall", "s"), ("cpu", "s"), ("memory", "MiB")):
            cost = costs[key]
            cells.append(f"{key} {cost['median']:8.3f} {unit} ±{cost['spread'] * 100:3.0f} % ×{cost['ratio']:5.2f}")
        print("  ".join(cells), flush=True)


def passed_thresholds(summaries):
    """The product's ratios that are above what is allowed."""
    allowed = json.loads((HERE / "thresholds.json").read_text())
    for name, summary in summaries.items():
        for key, most in allowed.get(name, {}).items():
            ratio = next(iter(summary.values()))[key]["ratio"]
            if ratio > most:
                yield f"{name}: {key} is {ratio:.2f} times that of {list(summary)[1]}, allowed is {most}"


def main():
    parser = argparse.ArgumentParser()
    for option in ("run", "product", "limit", "url", "status"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    cases = make_cases(options)
    if unknown := set(options.cases) - set(cases):
        parser.error(f"no such case: {', '.join(unknown)} (there are: {', '.join(cases)})")
    summaries = {}
    for name in options.cases or cases:
        count, programs = cases[name]
        summaries[name] = summarize(measure(name, count, programs, options))
        show(name, summaries[name])
    (HERE / "results.json").write_text(json.dumps(summaries, indent=2) + "\n")
    problems = list(passed_thresholds(summaries))
    for problem in problems:
        print(f"bench: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
