/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists all fault points: the name, the actions that have an effect there (each point may also delay), and the place.
 * docs/reliability.md shows this table; the test unit/faults compares both. fault.h explains fault points.
 */
#ifndef GYRE_CORE_BASE_FAULT_TABLE_H
#define GYRE_CORE_BASE_FAULT_TABLE_H

#define GYRE_FAULT_TABLE(ROW)                                                                                \
    ROW(RING_REGION, "ring.region", "fail", "shared memory for a ring or a checkpoint is made")              \
    ROW(RING_COMMIT, "ring.commit", "die", "reserved requests are written and not yet published")            \
    ROW(RING_PARK, "ring.park", "die", "a sender or receiver is about to sleep")                             \
    ROW(ATTENDANT_LOOK, "attendant.look", "die", "a queue's own thread is about to look for work")           \
    ROW(KEEPER_SPAWN, "keeper.spawn", "fail", "a worker process is started")                                 \
    ROW(KEEPER_CONNECT, "keeper.connect", "fail", "a connection to the worker is made")                      \
    ROW(PROXY_SEND, "proxy.send", "fail", "a call goes to the worker: its socket is cut")                    \
    ROW(PROXY_ANSWER, "proxy.answer", "fail", "the worker has a call: its socket is cut before the answer")  \
    ROW(PROXY_REVIVE, "proxy.revive", "fail", "a new worker has opened the device and knows no object yet")  \
    ROW(WORKER_START, "worker.start", "die", "the worker begins")                                            \
    ROW(WORKER_CALL, "worker.call", "die", "the worker has a call and did nothing of it")                    \
    ROW(WORKER_ANSWER, "worker.answer", "die", "the worker did a call and has not answered")                 \
    ROW(WORKER_MAP, "worker.map", "fail die", "the worker maps a ring")                                      \
    ROW(WORKER_LAUNCH, "worker.launch", "fail die", "the worker launches a kernel")                          \
    ROW(LAUNCH_REPORT, "launch.report", "fail die",                                                          \
        "a kernel is launched and about to be told to run: the worker is killed")                            \
    ROW(CHANGE_LAUNCH, "change.launch", "fail die",                                                          \
        "a kernel's other body is about to be launched in a swap or a move: the worker is killed")           \
    ROW(RECOVERY_LAUNCH, "recovery.launch", "die", "a kernel is about to be launched in the new worker")     \
    ROW(RECOVERY_REPLAY, "recovery.replay", "fail die", "a request is handled again: the worker is killed")  \
    ROW(CHECKPOINT_COPY, "checkpoint.copy", "fail die",                                                      \
        "the kernel is paused and its state about to be copied")                                             \
    ROW(CHECKPOINT_COMMIT, "checkpoint.commit", "die", "the copy is whole and not yet the last checkpoint")  \
    ROW(JOURNAL_OPEN, "journal.open", "fail", "a journal is opened")                                         \
    ROW(JOURNAL_READ, "journal.read", "fail", "a journal is read")                                           \
    ROW(JOURNAL_WRITE, "journal.write", "fail short die", "bytes are about to be written to a journal")      \
    ROW(JOURNAL_WROTE, "journal.wrote", "die", "bytes, or half of them, were written to a journal")          \
    ROW(JOURNAL_SYNC, "journal.sync", "fail die", "a journal is forced to the disk")                         \
    ROW(JOURNAL_RENEW, "journal.renew", "fail die", "a new file is begun for a journal")                     \
    ROW(JOURNAL_RENAME, "journal.rename", "fail die",                                                        \
        "the new file is whole and about to replace the old one")                                            \
    ROW(CONTROL_LOOK, "control.look", "die", "a command was given to a kernel, and its blocks may obey")     \
    ROW(RELAY_END, "relay.end", "die", "a relay has looked for completions, and its queue is being closed")

#endif
