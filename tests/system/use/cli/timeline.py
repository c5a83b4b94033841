# SPDX-License-Identifier: Apache-2.0
"""Reads a timeline of `gyre trace` in both of its forms, strictly, and compares them.

timeline.py JSON PERFETTO [EXPRESSION]: refuses what the published formats do not allow, and forms that do not say the same. EXPRESSION
must be true, with `slices`, `messages` and `arrows` of the timeline. timeline.py --package PERFETTO prints what Perfetto's own Python
package reads, as one line; status 77: the package is not there.

The formats: "Trace Event Format" of Chromium, and protos/perfetto/trace/perfetto_trace.proto of Perfetto.
"""
import decimal
import json
import struct
import sys

# ---- JSON ----

NEEDED = {"X": {"ts", "dur", "cat", "args"}, "b": {"ts", "cat", "id", "args"}, "e": {"ts", "cat", "id"}, "s": {"ts", "cat", "id"},
          "f": {"ts", "cat", "id", "bp"}, "M": {"args"}}


def nanoseconds(value):
    ns = decimal.Decimal(value) * 1000
    assert ns == int(ns) >= 0, value
    return int(ns)


def check_event(event):
    assert event["ph"] in NEEDED, event
    assert set(event) == NEEDED[event["ph"]] | {"ph", "name", "pid", "tid"} | ({"cat"} & set(event)), event
    assert isinstance(event["name"], str) and isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    assert isinstance(event.get("args", {}), dict) and isinstance(event.get("cat", ""), str), event
    assert event["ph"] != "f" or event["bp"] == "e", event
    assert event["ph"] != "M" or (event["name"] in ("process_name", "thread_name") and set(event["args"]) == {"name"}), event


def arguments(args):
    return tuple(sorted((name, str(value)) for name, value in args.items() if value is not None))


def read_json(path):
    document = json.load(open(path), parse_float=str)
    assert set(document) == {"displayTimeUnit", "traceEvents", "otherData"} and document["displayTimeUnit"] == "ns"
    events = document["traceEvents"]
    groups, names, slices, messages, begun, starts, arrows, order = {}, {}, [], [], {}, {}, [], []
    for event in events:
        check_event(event)
        if event["ph"] == "M":
            of, key = (groups, event["pid"]) if event["name"] == "process_name" else (names, (event["pid"], event["tid"]))
            assert of.setdefault(key, event["args"]["name"]) == event["args"]["name"], event
    for event in events:
        if event["ph"] == "M":
            continue
        row, at = (groups[event["pid"]], names[event["pid"], event["tid"]]), nanoseconds(event["ts"])
        if event["ph"] == "X" or (event["ph"] == "b" and event["name"] != "waited" and not begun.get((event["cat"], event["id"]))):
            order.append(at)
        if event["ph"] == "X":
            slices.append((row, event["name"], at, at + nanoseconds(event["dur"]), arguments(event["args"])))
        elif event["ph"] == "b":
            begun.setdefault((event["cat"], event["id"]), []).append((event, row, at))
        elif event["ph"] == "e":
            first, of, since = begun[event["cat"], event["id"]].pop()
            assert (first["name"], of) == (event["name"], row) and since <= at, (first, event)
            messages.append((row, event["name"], since, at, arguments(first["args"])))
        elif event["ph"] == "s":
            assert event["id"] not in starts, event
            starts[event["id"]] = (event["name"], row, at)
        else:
            name, of, since = starts.pop(event["id"])
            assert name == event["name"] and since <= at, event
            arrows.append((name, of, since, row, at))
    assert not starts and not any(begun.values())
    assert order == sorted(order), "not in the order of stamps"
    return sorted(slices), sorted(messages), sorted(arrows)


# ---- Perfetto's form ----

# of each message: field: (name, how it is written, whether it may come several times)
TRACE = {1: ("packet", "packet", True)}
KINDS = {
    "packet": {6: ("clock_snapshot", "snapshot", False), 8: ("timestamp", "varint", False),
               10: ("trusted_packet_sequence_id", "varint", False), 11: ("track_event", "event", False),
               13: ("sequence_flags", "varint", False), 58: ("timestamp_clock_id", "varint", False),
               60: ("track_descriptor", "track", False)},
    "snapshot": {1: ("clocks", "clock", True), 2: ("primary_trace_clock", "varint", False)},
    "clock": {1: ("clock_id", "varint", False), 2: ("timestamp", "varint", False)},
    "track": {1: ("uuid", "varint", False), 2: ("name", "text", False), 5: ("parent_uuid", "varint", False)},
    "event": {4: ("debug_annotations", "annotation", True), 9: ("type", "varint", False), 11: ("track_uuid", "varint", False),
              22: ("categories", "text", True), 23: ("name", "text", False), 47: ("flow_ids", "fixed64", True),
              48: ("terminating_flow_ids", "fixed64", True)},
    "annotation": {2: ("bool_value", "varint", False), 3: ("uint_value", "varint", False), 6: ("string_value", "text", False),
                   10: ("name", "text", False)},
}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            assert shift <= 70 and value < 1 << 64
            return value, at


def decode(data, fields):
    message, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        assert tag >> 3 in fields, f"field {tag >> 3} is none of {[f[0] for f in fields.values()]}"
        name, kind, repeated = fields[tag >> 3]
        assert tag & 7 == {"varint": 0, "fixed64": 1}.get(kind, 2), (name, tag & 7)
        if kind == "varint":
            value, at = varint(data, at)
        elif kind == "fixed64":
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            size, at = varint(data, at)
            assert at + size <= len(data), name
            value, at = data[at:at + size], at + size
            value = value.decode() if kind == "text" else decode(value, KINDS[kind])
        if repeated:
            message.setdefault(name, []).append(value)
        else:
            assert name not in message, f"{name} comes twice"
            message[name] = value
    return message


def annotations(event):
    said = {}
    for one in event.get("debug_annotations", []):
        value, = [one[name] for name in ("string_value", "uint_value", "bool_value") if name in one]
        said[one["name"]] = bool(value) if "bool_value" in one else value
    return arguments(said)


MESSAGE_TRACK = 1 << 63


def timeline_of(packets):
    """The same as read_json, from packets. They are put into the order of their times, as a viewer does."""
    tracks, stacks, slices, messages, flows, arrows = {}, {}, [], [], {}, []
    assert packets[0]["clock_snapshot"] == {"clocks": [{"clock_id": 3, "timestamp": 0}], "primary_trace_clock": 3}, packets[0]
    assert packets[0]["sequence_flags"] == 1 and all(p["trusted_packet_sequence_id"] == 1 for p in packets)
    for packet in packets:
        if "track_descriptor" in packet:
            track = packet["track_descriptor"]
            assert tracks.setdefault(track["uuid"], track) == track, track
            assert "parent_uuid" not in track or track["parent_uuid"] in tracks, track

    def row_of(uuid):
        own = tracks[tracks[uuid]["parent_uuid"]] if uuid & MESSAGE_TRACK else tracks[uuid]
        return tracks[own["parent_uuid"]]["name"], own["name"]

    timed = sorted((p for p in packets if "track_event" in p), key=lambda p: p["timestamp"])  # sorted() keeps what is equal in order
    assert all(p["timestamp_clock_id"] == 3 for p in timed)
    for packet in timed:
        event, at = packet["track_event"], packet["timestamp"]
        uuid = event["track_uuid"]
        stack = stacks.setdefault(uuid, [])
        if event["type"] == 1:
            assert uuid & MESSAGE_TRACK or not stack, "slices of a block overlap"
            stack.append((event["name"], at, annotations(event), event["categories"]))
        elif event["type"] == 2:
            name, since, said, categories = stack.pop()
            assert categories == (["message"] if uuid & MESSAGE_TRACK else ["handled"])
            (messages if uuid & MESSAGE_TRACK else slices).append((row_of(uuid), name, since, at, said))
        else:
            assert event["type"] == 3 and event["categories"] == ["link"], event
            begins, ends = event.get("flow_ids", []), event.get("terminating_flow_ids", [])
            assert len(begins) + len(ends) == 1, event
            flows.setdefault((begins + ends)[0], {})["from" if begins else "to"] = (event["name"], row_of(uuid), at)
    assert not any(stacks.values())
    for flow in flows.values():
        (name, of, since), (other, row, at) = flow["from"], flow["to"]
        assert name == other
        arrows.append((name, of, since, row, at))
    return sorted(slices), sorted(messages), sorted(arrows)


def read_perfetto(path):
    return timeline_of(decode(open(path, "rb").read(), TRACE)["packet"])


# ---- Perfetto's own package ----

def as_dictionary(message):
    """Of a message of the package, as decode() makes it."""
    known = {}
    for field, value in message.ListFields():
        plain = as_dictionary if field.message_type else (int if field.type == field.TYPE_ENUM else lambda one: one)
        try:
            repeated = field.is_repeated
        except AttributeError:
            repeated = field.label == field.LABEL_REPEATED
        known[field.name] = [plain(one) for one in value] if repeated else plain(value)
    return known


def read_by_package(path):
    try:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
    except ImportError:
        sys.exit(77)
    trace = Trace()
    data = open(path, "rb").read()
    assert trace.ParseFromString(data) == len(data)
    return timeline_of([as_dictionary(packet) for packet in trace.packet])


def main():
    if sys.argv[1] == "--package":
        print(repr(read_by_package(sys.argv[2])))
        return
    if sys.argv[1] == "--read":
        print(repr(read_perfetto(sys.argv[2])))
        return
    one, other = read_json(sys.argv[1]), read_perfetto(sys.argv[2])
    for name, a, b in zip(("slices", "messages", "arrows"), one, other):
        assert a == b, f"{name}: JSON {set(a) - set(b)}, Perfetto {set(b) - set(a)}"
    slices, messages, arrows = one
    assert eval('(' + sys.argv[3] + ')', {'slices': slices, 'messages': messages, 'arrows': arrows}), (len(slices), len(messages), len(arrows), one)


main()
