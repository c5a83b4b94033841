#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sets the rates of `gyre top` beside what `gyre bench` counted in the same time.

    top_beside_bench.py [--case NAME] [--seconds S] [--rest MS] [--every MS] [--json FILE] GYRE [OPTION...]

Both run at once; OPTIONs are for `gyre bench`, as in --backend cuda. The bench rests between its rounds, where counts stand, and tells
when each round began and ended. Of the looks that gyre top showed in rests the first and the last are taken: the messages that top's
rates make of the time between them are those of the rounds between. Which looks these are decides how many rounds are
compared, and not what comes out, so a busy machine changes nothing. Exit code 1 where they differ by more than 1 %.
Below stand the looks of top that fill at least half of a round, beside the bench's rate in it: for people, and not judged.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

MOST = 0.01  # of the messages: how much both may differ
TRIES = 3  # with rests that are twice as long each time


def run_both(options, folder, rest_ms):
    """The bench's row, and the documents that top printed meanwhile."""
    environment = dict(os.environ, GYRE_OBSERVE__FOLDER=folder)
    shown = os.path.join(folder, "shown")
    with open(shown, "w") as out:
        top = subprocess.Popen([options.gyre, "top", "--json", "--interval", str(options.every)], env=environment, stdout=out,
                               stderr=subprocess.DEVNULL)
        try:
            bench = subprocess.run([options.gyre, "bench", "--case", options.case, "--seconds", str(options.seconds), "--rest",
                                    str(rest_ms), "--json", "--set", f"observe.every_ms={options.every}"] + options.rest_of_line,
                                   env=environment, stdout=subprocess.PIPE, check=True)
        finally:
            top.kill()
            top.wait()
    with open(shown) as file:
        return json.loads(bench.stdout)["rows"][0], documents(file.read())


def documents(text):
    """All whole documents of a text; the last one may be cut."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            document, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield document
        while at < len(text) and text[at].isspace():
            at += 1


def looks_of(shown):
    """What top said of the kernel that handled most, look by look: from, to, messages a second, how busy its blocks were."""
    kernels = {}
    for document in shown:
        for row in document["rows"]:
            if row["queue"] is None and "to_ns" in row:
                looks = kernels.setdefault((row["pid"], row["record"]), {})
                looks[row["to_ns"]] = (row["from_ns"], row["to_ns"], row["per_second"]["handled"], row["busy"])
    chosen = max(kernels.values(), key=lambda looks: sum((to - start) * rate for start, to, rate, _ in looks.values()), default={})
    return [chosen[to] for to in sorted(chosen)]


def messages_of(looks):
    return sum(rate * (to - start) / 1e9 for start, to, rate, _ in looks)


def rest_at(rounds, ns):
    """The number of the round before the rest in whose second half a time lies. None: it is no such time."""
    for number, (before, behind) in enumerate(zip(rounds, rounds[1:])):
        if (before["end_ns"] + behind["begin_ns"]) / 2 <= ns <= behind["begin_ns"]:
            return number
    return None


def compare(rounds, looks):
    """Rounds that were compared, and the messages of both. None: too few looks were in rests."""
    resting = [(rest_at(rounds, look[1]), at) for at, look in enumerate(looks)]
    resting = [pair for pair in resting if pair[0] is not None]
    if not resting or resting[0][0] == resting[-1][0]:
        return None
    (first, begin), (last, end) = resting[0], resting[-1]
    between = looks[begin + 1:end + 1]
    if any(one[1] != other[0] for one, other in zip(looks[begin:end], between)):
        return None  # top lost sight of the kernel
    counted = sum(each["messages"] for each in rounds[first + 1:last + 1])
    return {"rounds": last - first, "top_messages": messages_of(between), "bench_messages": counted}


def inside(rounds, looks):
    """Looks that lie within one round and are at least half of it: top's rate and shares of blocks, and the bench's rate in that round."""
    for start, to, rate, busy in looks:
        for each in rounds:
            length = each["end_ns"] - each["begin_ns"]
            if each["begin_ns"] <= start and to <= each["end_ns"] and 2 * (to - start) >= length:
                yield {"seconds": (to - start) / 1e9, "top": rate,
                       "bench": each["messages"] * 1e9 / length, "busy": busy and busy["shares"]}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--case", default="pair/48/six")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rest", type=int, default=400)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--json")
    parser.add_argument("gyre")
    parser.add_argument("rest_of_line", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    for number in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            row, shown = run_both(options, folder, options.rest << number)
        looks = looks_of(shown)
        found = compare(row["rounds"], looks)
        if found:
            break
    else:
        sys.exit(f"{TRIES} times gyre top showed fewer than two looks in rests of the bench: try a longer --rest")
    found["difference"] = found["top_messages"] / found["bench_messages"] - 1
    found["inside"] = list(inside(row["rounds"], looks))
    print(f"{row['case']} on {row['device']}: {found['rounds']} rounds, bench counted {found['bench_messages']}, top's rates make"
          f" {found['top_messages']:.0f}, {100 * found['difference']:+.4f} %")
    for each in found["inside"]:
        shares = " ".join(f"{100 * share:.0f}" for share in each["busy"] or [])
        print(f"  {each['seconds']:.3f} s of top: {each['top'] / 1e6:9.3f} M/s, the round: {each['bench'] / 1e6:9.3f} M/s; blocks busy: {shares} %")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"row": row, "found": found}, file)
    sys.exit(abs(found["difference"]) > MOST)


main()
