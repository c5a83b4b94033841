#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults by the hundred against a cluster on three machines, of which each has a NATS server and a member, with clients beside them.

usage: campaign.py PROGRAMS [--faults N] [--rest S] [--seed N] [--server PROGRAM] [--keep]

Each machine is a network namespace with a disk of its own (a tmpfs), so it is cut off and its disk filled for real: root is needed. Faults, drawn from
the seed: SIGKILL of the server that leads the stream, of any server, member or client; SIGSTOP of them for longer than a lease, and SIGCONT, also of a
server and a member together; a machine that is cut off, any or the one that leads the stream; a full disk; members that end in order, are drained, and shards
that are moved. The clocks of the machines' members are days apart. One of the three servers is away at a time, and members and
clients fail meanwhile. Each client compares every reply with a model of its account (campaign_client.c). At the end each account of all clients is
read, also of those that were killed, and `gyre cluster verify` reads what is kept. Exit code 1 when anything was lost, doubled, wrong or out of order.

It tells how long requests waited: of all that were under way at a fault, or were sent within a second of it, the longest wait, counted from the fault on. Faults
overlap, so what one of them costs is counted for others, too, unless there is a rest between them: then each is over before the next one.
"""

import argparse
import ctypes
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

MACHINES = 3
SHARDS = 8
LEASE_S = 2.0
TOLD_S = 0.2  # clients tell of waits that are longer (campaign_client.c),
SOON_S = 1.0  # and those that begin so long after a fault count for it
DAY_S = 86400
NOT_THERE = (3, 5)  # exit codes of a member that cannot begin, because no server answers, or not in time: it is started again
STILL_ALIVE = "already, and it is alive"  # the last words of the one that was killed may arrive while the next one looks
HERE = pathlib.Path(__file__).resolve().parent


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Process:
    """A program that is started, killed, stopped and continued. Its output is appended to a file."""

    def __init__(self, name, command, log, environment=None):
        self.name, self.command, self.log = name, [str(word) for word in command], log
        self.environment = {**os.environ, **(environment or {})}
        self.running = None

    def start(self):
        with open(self.log, "ab") as log:
            self.running = subprocess.Popen(
                self.command, stdout=log, stderr=log, env=self.environment, preexec_fn=die_with_parent)

    def is_running(self):
        return self.running is not None and self.running.poll() is None

    def send(self, number):
        if self.is_running():
            self.running.send_signal(number)

    def kill(self):
        self.send(signal.SIGKILL)
        if self.running:
            self.running.wait()

    def ended_by_itself(self):
        """The exit code of one that nobody killed; None: it runs."""
        return self.running.poll() if self.running else None


class Machine:
    """A network namespace with a disk, a server and a member."""

    def __init__(self, number, folder, arguments, settings):
        self.number, self.folder = number, folder
        self.address = f"10.77.0.{number + 1}"
        folder.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={arguments.disk}m", "tmpfs", str(folder))
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"], preexec_fn=die_with_parent)
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            time.sleep(0.01)
        self.connect()
        inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        routes = ",".join(f"nats://10.77.0.{i + 1}:6222" for i in range(MACHINES))
        config = folder.parent / f"server{number}.conf"
        config.write_text(
            f'server_name: server{number}\nlisten: "{self.address}:4222"\nhttp: "{self.address}:8222"\n'
            f'jetstream {{\n store_dir: "{folder}/data"\n {arguments.sync}\n}}\n'
            f'cluster {{ name: campaign, listen: "{self.address}:6222", routes: [{routes}] }}\n')
        self.server = Process(f"server{number}", [*inside, arguments.server, "-c", config],
                              folder.parent / f"server{number}.log")
        self.member = Process(
            f"member{number}",
            [*inside, "unshare", "--time", "--monotonic", str(number * 9 * DAY_S), "--boottime", str(number * 9 * DAY_S),
             arguments.programs / "gyre", "serve", f"{HERE}/counters.gyre.c:counters",
             "--set", f"cluster.member=member{number}", *settings],
            folder.parent / f"member{number}.log", {"XDG_RUNTIME_DIR": str(folder.parent / f"runtime{number}")})
        (folder.parent / f"runtime{number}").mkdir(mode=0o700)

    def connect(self):
        inside = ("nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "ip")
        run("ip", "link", "add", f"machine{self.number}", "type", "veth", "peer", "name", "outside", "netns",
            str(self.holder.pid))
        run("ip", "link", "set", f"machine{self.number}", "master", "between", "up")
        run(*inside, "addr", "add", f"{self.address}/24", "dev", "outside")
        run(*inside, "link", "set", "outside", "up")
        run(*inside, "link", "set", "lo", "up")

    def cut_off(self, is_off):
        run("ip", "link", "set", f"machine{self.number}", "down" if is_off else "up")

    def fill_disk(self):
        with open(self.folder / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"\0" * 65536)
            except OSError:
                pass

    def free_disk(self):
        (self.folder / "filler").unlink(missing_ok=True)

    def leads(self):
        """Whether its server leads a stream with the logs."""
        try:
            with urllib.request.urlopen(f"http://{self.address}:8222/jsz?streams=1", timeout=1) as answer:
                found = json.load(answer)
        except OSError:
            return False
        return any(stream["name"] == "GYRE_campaign" and stream.get("cluster", {}).get("leader") == f"server{self.number}"
                   for account in found.get("account_details", []) for stream in account.get("stream_detail") or [])


class Campaign:
    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gyre-machines-"))
        self.begin = time.monotonic()
        self.faults, self.due, self.failures = [], [], []  # faults: which, and when
        self.clients, self.client_number, self.files = [], 0, []
        urls = ",".join(f"nats://10.77.0.{i + 1}:4222" for i in range(MACHINES))
        settings = {
            "cluster.app": "campaign", "cluster.transport": "nats", "cluster.url": urls, "cluster.replicas": 3,
            "cluster.shards": SHARDS, "cluster.lease_ms": int(LEASE_S * 1000), "cluster.settle_ms": 3000,
            "cluster.checkpoint_ms": 500, "cluster.reach_ms": 5000, "kernel.counters.keys": 20000,
            "kernel.counters.poison_limit": 1000}  # so many owners are killed that one request may well meet three of these deaths
        self.settings = [f"{key}={value}" for key, value in settings.items()]
        given = [word for setting in self.settings for word in ("--set", setting)]
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "between", "type", "bridge")
        run("ip", "addr", "add", "10.77.0.254/24", "dev", "between")
        run("ip", "link", "set", "between", "up")
        self.machines = [Machine(i, self.folder / f"machine{i}", arguments, given) for i in range(MACHINES)]
        self.given = given

    def say(self, text):
        print(f"{time.monotonic() - self.begin:7.1f} s  {text}", flush=True)

    def command(self, *words, seconds=60):
        return subprocess.run([str(self.arguments.programs / "gyre"), "cluster", *words, *self.given],
                              capture_output=True, text=True, timeout=seconds,
                              env={**os.environ, "XDG_RUNTIME_DIR": str(self.folder)})

    def add_client(self):
        self.client_number += 1
        number = self.client_number
        file = self.folder / f"client{number}.books"
        way = "ahead" if number % 3 else "settled"
        client = Process(f"client{number}", [self.arguments.programs / "campaign_client", "load", file, number,
                                             self.arguments.seed, way, *self.settings],
                         self.folder / f"client{number}.log")
        client.start()
        self.clients.append(client)
        self.files.append((number, file))

    # ---- faults: each does something now, and returns how long until what is done then, or nothing ----

    def later(self, seconds, what, *arguments):
        self.due.append((time.monotonic() + seconds, what, arguments))

    def restart(self, process):
        if not process.is_running():
            process.start()

    def kill_server(self, machine):
        machine.server.kill()
        self.later(self.random.uniform(0, 4), self.return_server, machine)

    def return_server(self, machine):
        machine.free_disk()
        self.restart(machine.server)
        self.later(2, self.end_server_fault)

    def end_server_fault(self):
        self.server_fault = None

    def leader(self):
        return next((machine for machine in self.machines if machine.leads()), None)

    def kill_leader(self, machine):
        machine = self.leader() or machine
        self.kill_server(machine)
        return machine

    def stop_server(self, machine):
        machine.server.send(signal.SIGSTOP)
        self.later(self.random.uniform(0.5, 3 * LEASE_S), self.go_on_server, machine)

    def go_on_server(self, machine):
        machine.server.send(signal.SIGCONT)
        self.later(2, self.end_server_fault)

    def stop_machine(self, machine):
        """Its member and its server stand still together, and go on together."""
        machine.member.send(signal.SIGSTOP)
        machine.server.send(signal.SIGSTOP)
        self.later(self.random.uniform(1.2, 3) * LEASE_S, self.go_on_machine, machine)

    def go_on_machine(self, machine):
        machine.member.send(signal.SIGCONT)
        self.go_on_server(machine)

    def cut_leader_off(self, machine):
        """The server that leads the stream, and the member beside it."""
        machine = self.leader() or machine
        self.cut_machine_off(machine)
        return machine

    def cut_machine_off(self, machine):
        machine.cut_off(True)
        self.later(self.random.uniform(0.5, 4 * LEASE_S), self.connect_machine, machine)

    def connect_machine(self, machine):
        machine.cut_off(False)
        self.later(2, self.end_server_fault)

    def fill_disk(self, machine):
        """A server that found its disk full keeps nothing until it is started again."""
        machine.fill_disk()
        self.later(self.random.uniform(1, 4), self.kill_full, machine)

    def kill_full(self, machine):
        machine.server.kill()
        self.later(0.5, self.return_server, machine)

    def kill_member(self, machine):
        machine.member.kill()
        self.later(self.random.uniform(0, 3), self.restart, machine.member)

    def kill_all_members(self, _machine):
        for machine in self.machines:
            machine.member.kill()
            self.later(self.random.uniform(0, 1), self.restart, machine.member)

    def stop_member(self, machine):
        machine.member.send(signal.SIGSTOP)
        self.later(self.random.uniform(1.2, 3) * LEASE_S, machine.member.send, signal.SIGCONT)

    def end_member(self, machine):
        machine.member.send(signal.SIGTERM)
        self.later(self.random.uniform(3, 6), self.kill_ended, machine)

    def kill_ended(self, machine):
        machine.member.kill()
        machine.member.start()

    def kill_client(self, _machine):
        client = self.random.choice(self.clients)
        client.kill()
        self.clients.remove(client)
        self.add_client()

    def stop_client(self, _machine):
        client = self.random.choice(self.clients)
        client.send(signal.SIGSTOP)
        self.later(self.random.uniform(0.5, 5), client.send, signal.SIGCONT)

    def order(self, machine):
        words = self.random.choice([("drain", machine.member.name), ("drain", machine.member.name, "--end"),
                                    ("move", str(self.random.randrange(SHARDS)), "--to", machine.member.name)])
        orders = Process("order", [self.arguments.programs / "gyre", "cluster", *words, *self.given],
                         self.folder / "orders.log", {"XDG_RUNTIME_DIR": str(self.folder)})
        orders.start()
        self.orders.append(orders)

    SERVER_FAULTS = {"kill_leader": 5, "kill_server": 2, "stop_server": 2, "stop_machine": 2, "cut_machine_off": 2,
                     "cut_leader_off": 3, "fill_disk": 1}
    OTHER_FAULTS = {"kill_member": 5, "stop_member": 5, "kill_client": 4, "stop_client": 2, "kill_all_members": 1,
                    "end_member": 2, "order": 1}

    def draw(self, faults):
        return self.random.choices(list(faults), weights=list(faults.values()))[0]

    def one_fault(self):
        faults = self.OTHER_FAULTS if self.server_fault is not None else {**self.SERVER_FAULTS, **self.OTHER_FAULTS}
        name = self.draw(faults)
        machine = self.random.choice(self.machines)
        if name.endswith("member") and not machine.member.is_running():
            return False
        if name in self.SERVER_FAULTS:
            self.server_fault = machine
        self.faults.append((name, time.monotonic()))
        machine = getattr(self, name)(machine) or machine
        where = "" if "client" in name or name == "kill_all_members" else f" {machine.number}"
        self.say(f"{name}{where}")
        return True

    # ---- the whole ----

    def serve_due(self):
        now = time.monotonic()
        ready = [entry for entry in self.due if entry[0] <= now]
        self.due = [entry for entry in self.due if entry[0] > now]
        for _, what, arguments in ready:
            what(*arguments)

    def look(self):
        for client in self.clients:
            code = client.ended_by_itself()
            if code is not None:
                self.failures.append(f"{client.name} ended with {code}: {client.log.read_text()[-800:]}")
        for machine in self.machines:
            code = machine.member.ended_by_itself()
            if code in NOT_THERE or (code == 1 and STILL_ALIVE in machine.member.log.read_text().splitlines()[-1]):
                self.refused_starts += 1
                machine.member.running = None
                self.later(0.5, self.restart, machine.member)
            elif code not in (None, 0, -signal.SIGKILL, -signal.SIGTERM):  # SIGTERM: it was ended before it had begun
                self.failures.append(f"{machine.member.name} ended with {code}")

    def spend(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.failures:
            self.serve_due()
            self.look()
            time.sleep(0.02)

    def owned(self):
        """Shards with an owner: the lines below the heading of the second table."""
        lines = [line.split() for line in self.command("status").stdout.splitlines()]
        heading = next((at for at, words in enumerate(lines) if words[:1] == ["SHARD"]), len(lines))
        return sum(len(words) > 1 and words[1].startswith("member") for words in lines[heading:])

    def begin_all(self):
        for machine in self.machines:
            machine.server.start()
        time.sleep(3)
        for machine in self.machines:
            machine.member.start()
        until = time.monotonic() + 90
        while self.owned() < SHARDS:
            self.spend(0.5)
            if self.failures or time.monotonic() > until:
                sys.exit(f"the members do not come to own their shards: {self.folder}: {self.failures} {self.command('status')}")
        self.say("all shards have an owner")
        for _ in range(3):
            self.add_client()

    def await_end(self):
        """Everything comes back, and clients end when all was answered."""
        while self.due:
            self.spend(0.1)
            if self.failures:
                return
        for machine in self.machines:
            self.restart(machine.member)
        self.command("drain", "--reset")
        self.say("no more faults")
        for client in self.clients:
            client.send(signal.SIGTERM)
        for client in self.clients:
            try:
                code = client.running.wait(timeout=150)
            except subprocess.TimeoutExpired:
                code = "no end"
            if code != 0:
                self.failures.append(f"{client.name} ended with {code}: {client.log.read_text()[-800:]}")
        self.clients = []
        self.say("all that was sent by clients that live is answered" if not self.failures else "it is not all answered")

    def check(self):
        for number, file in self.files:
            checked = subprocess.run([str(self.arguments.programs / "campaign_client"), "check", str(file), str(number),
                                      *self.settings], capture_output=True, text=True)
            if checked.returncode:
                self.failures.append(f"the accounts of client {number}: {checked.stderr[-800:]}")
        verified = self.command("verify", seconds=300)
        if verified.returncode:
            self.failures.append("verify: " + (verified.stdout + verified.stderr)[-2000:])
        self.say(f"{len(self.files)} clients' accounts are read; verify: {verified.returncode}")

    def waits(self):
        """From when to when each request waited that a client told of."""
        lines = [line.split() for number, _ in self.files
                 for line in (self.folder / f"client{number}.log").read_text().splitlines()]
        return [(int(words[1]) / 1e9, int(words[2]) / 1e9) for words in lines if len(words) == 3 and words[0] == "waited"]

    def report_waits(self):
        waits = self.waits()
        costs = {}
        for name, at in self.faults:
            its = [end - max(begin, at) for begin, end in waits if begin < at + SOON_S and end > at]
            costs.setdefault(name, []).append(max(its, default=0))
        print(f"longest wait of a request: {max((end - begin for begin, end in waits), default=0):.2f} s")
        print(f"longest wait from a fault on, s    faults  below {TOLD_S}    p50    p99   most")
        for name, its in [*sorted(costs.items()), ("all", [cost for its in costs.values() for cost in its])]:
            its = sorted(its)
            print(f"{name:34s} {len(its):6d} {sum(cost < TOLD_S for cost in its):10d}"
                  + "".join(f" {its[min(len(its) - 1, len(its) * part // 100)]:6.2f}" for part in (50, 99, 100)))

    def report(self):
        logs = "".join((self.folder / f"member{i}.log").read_text() for i in range(MACHINES))
        answered = sum(int.from_bytes(file.read_bytes()[at + 16:at + 24], "little")
                       for _, file in self.files for at in range(0, file.stat().st_size, 24))
        self.report_waits()
        print(f"requests answered and compared: {answered}; clients: {self.client_number}")
        print(f"members that could not begin, and were started again: {self.refused_starts}")
        print(f"members that told of a lease that ran out: {logs.count('ran out before this member')} times; "
              f"of another owner of their shard: {logs.count('another member took')} times")
        for failure in self.failures:
            print("FAILED:", failure)
        print(f"seed {self.arguments.seed}: " + ("wrong" if self.failures else "0 lost, 0 doubled, 0 out of order"))

    def main(self):
        self.server_fault, self.orders, self.refused_starts = None, [], 0
        self.begin_all()
        faults = 0
        while faults < self.arguments.faults and not self.failures:
            faults += self.one_fault()
            while self.arguments.rest and self.due and not self.failures:
                self.spend(0.1)
            self.spend(self.arguments.rest or self.random.choice([0.1, 0.5, 1, 2, 3]))
        self.await_end()
        if not self.failures or self.arguments.keep:
            self.check()
        self.report()
        for machine in self.machines:
            for process in (machine.member, machine.server):
                if process.is_running():
                    process.kill()
            machine.holder.kill()
            run("umount", "-l", str(machine.folder))
        if self.failures or self.arguments.keep:
            print(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder)
        return 1 if self.failures else 0


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--rest", type=float, default=0, help="seconds after all that a fault took away is back; 0: faults overlap")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server", default="nats-server")
    parser.add_argument("--disk", type=int, default=512, help="MiB of each machine")
    parser.add_argument("--sync", default="", help="as in 'sync_interval: always'")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # it has namespaces of its own
    return parser.parse_args()


if __name__ == "__main__":
    given = parse()
    given.programs = given.programs.resolve()
    if not given.inside:
        os.execvp("unshare", ["unshare", "-n", "-m", sys.executable, *sys.argv, "--inside"])
    sys.exit(Campaign(given).main())
