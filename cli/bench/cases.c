/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of cases, in the order in which they run. Its targets are for the CPU backend on two cores; targets.c has the
 * targets of other backends.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_against.h"
#include "cli/bench/cases_between.h"
#include "cli/bench/cases_chain.h"
#include "cli/bench/cases_collect.h"
#include "cli/bench/cases_device.h"
#include "cli/bench/cases_grid.h"
#include "cli/bench/cases_kept.h"
#include "cli/bench/cases_keyed.h"
#include "cli/bench/cases_layouts.h"
#include "cli/bench/cases_lifecycle.h"
#include "cli/bench/cases_messages.h"
#include "cli/bench/floor_rings.h"
#include "cli/bench/floor_turns.h"

/* kind, slots, window, burst, producers. Large messages get fewer slots, so that rings stay in the caches. */
#define ONE(kind)                                                                                            \
    {                                                                                                        \
        kind, 1024, 1, 1, 1                                                                                  \
    }
#define ONE_65536                                                                                            \
    {                                                                                                        \
        BENCH_65536, 64, 1, 1, 1                                                                             \
    }
#define STREAM_48                                                                                            \
    {                                                                                                        \
        BENCH_48, 1024, 1024, 256, 1                                                                         \
    }
/* As many requests under way as a queue of default capacity has room for. */
#define STREAM_48_BY_ITSELF                                                                                  \
    {                                                                                                        \
        BENCH_48, 0, 0, 256, 1                                                                               \
    }
/* As many requests under way as the best batches for a device behind a bus need. */
#define STREAM_48_DEEP                                                                                       \
    {                                                                                                        \
        BENCH_48, 16384, 16384, 1024, 1                                                                      \
    }
#define STREAM_1024                                                                                          \
    {                                                                                                        \
        BENCH_1024, 1024, 256, 32, 1                                                                         \
    }
#define STREAM_65536                                                                                         \
    {                                                                                                        \
        BENCH_65536, 64, 16, 4, 1                                                                            \
    }
#define STREAM_ADD                                                                                           \
    {                                                                                                        \
        BENCH_VECTOR_ADD, 1024, 256, 64, 1                                                                   \
    }
#define BURST(kind)                                                                                          \
    {                                                                                                        \
        kind, 1024, 256, 256, 1                                                                              \
    }
#define BURST_65536                                                                                          \
    {                                                                                                        \
        BENCH_65536, 64, 16, 16, 1                                                                           \
    }

#define PING_PONG       bench_floor_slots_ping_pong, "slot ring, ping-pong"
#define PARK            bench_floor_park, "futex, ping-pong"
#define BETTER          bench_floor_better_there_and_back, "better bare ring, there and back"
#define SLOTS           bench_floor_slots_there_and_back, "slot ring a client, there and back"
#define BURSTS          bench_floor_slots_burst, "slot ring, bursts"
#define NO_FLOOR        NULL, NULL
#define FIVE_RINGS      bench_floor_chain_ping_pong, "slot rings, a thread a stage, ping-pong"
#define FIVE_RINGS_FULL bench_floor_chain_there_and_back, "slot rings, a thread a stage, there and back"

/* Two threads for each ring, in place. The rings are long, because a device may be behind a bus. */
#define PAIR_48(rings)                                                                                       \
    {                                                                                                        \
        BENCH_48, 65536, 65536, 256, rings                                                                   \
    }
#define PAIR_ONE(kind)                                                                                       \
    {                                                                                                        \
        kind, 65536, 65536, 256, 1                                                                           \
    }
#define PAIR_ADD                                                                                             \
    {                                                                                                        \
        BENCH_VECTOR_ADD, 16384, 16384, 64, 1                                                                \
    }
#define PAIR_4096                                                                                            \
    {                                                                                                        \
        BENCH_4096, 1024, 1024, 8, 1                                                                         \
    }
#define PAIR_65536(kind, rings)                                                                              \
    {                                                                                                        \
        kind, 64, 64, 1, rings                                                                               \
    }

#define PAIR_CHAIN(kind)                                                                                     \
    {                                                                                                        \
        kind, 16384, 16384, 64, 6                                                                            \
    }

/* as many blocks of the sender and of the receiver, and requests enough for all */
#define LINK_RATE(blocks)                                                                                    \
    {                                                                                                        \
        BENCH_48, (blocks) < 16 ? 1024 : 8192, (blocks) < 16 ? 1024 : 8192, 1, blocks                        \
    }

static const char *const soon[] = {"kernel.collect0.stands_soon=true", "kernel.collect1.stands_soon=true",
                                   NULL};
static const char *const fed[] = {"queue.link_rate.capacity=8192", NULL}; /* the window of LINK_RATE(64) */

/* one block for each multiprocessor of an H200 */
static const char *const wide_chain[] = {"kernel.chain.blocks=132", NULL};
/* two blocks on each multiprocessor: while one waits for messages, the other works */
static const char *const wide_chain_block[] = {"kernel.chain_block.blocks=264", "kernel.chain_block.lanes=32",
                                               NULL};
static const char *const leaving[] = {"backend.cuda.residency_ms=2", NULL};
static const char *const wide_leaving[] = {"backend.cuda.residency_ms=2", "kernel.words_48.blocks=132", NULL};
static const char *const six_blocks[] = {"kernel.words_48.blocks=6", NULL};
static const char *const wired[] = {"queue.default.wire=memorypack", NULL};
static const char *const four_blocks[] = {"kernel.words_4096.blocks=4", NULL};
static const char *const eight_blocks[] = {"kernel.words_1024.blocks=8", NULL};
static const char *const many_blocks[] = {"kernel.words_65536_block.blocks=128", NULL};
static const char *const many_blocks_of_lanes[] = {"kernel.words_65536.blocks=128", NULL};
static const char *const headed[] = {"queue.words_48.header=32", NULL};
static const char *const stamped[] = {"kernel.words_48.timing=true", NULL};
static const char *const parked[] = {"kernel.words_48.idle=park", "queue.words_48.idle=park", NULL};

/* Rings of bytes as deep as the slots, and no larger than the processor's caches hold; with two threads a
 * ring, as many blocks as a GPU needs for them. */
static const char *const bridged[] = {"queue.default.layout=bridged", NULL};
#define BRIDGED_RINGS "queue.default.layout=bridged", "queue.default.bytes=4194304"
static const char *const bridged_one[] = {BRIDGED_RINGS, "kernel.bridged_512.blocks=32", NULL};
static const char *const bridged_six[] = {BRIDGED_RINGS, "kernel.bridged_512.blocks=96", NULL};
static const char *const bridged_large[] = {"queue.default.layout=bridged", "kernel.bridged_65536.blocks=32",
                                            NULL};
static const char *const bridged_four[] = {BRIDGED_RINGS, "kernel.bridged_65536.blocks=64", NULL};

/* As many keys as the case has, and no other block: the sender has the other core. */
static const char *const keyed[] = {"kernel.keyed_48.keys=1048576", "kernel.keyed_48.blocks=1", NULL};
/* Blocks that route and blocks that handle: for devices with many. */
static const char *const routed_hot[] = {"kernel.keyed_48.keys=1048576", "kernel.keyed_48.blocks=3", NULL};
static const char *const routed_one[] = {"kernel.keyed_48.keys=262144", "kernel.keyed_48.blocks=33", NULL};
static const char *const routed_six[] = {"kernel.keyed_48.keys=1572864", "kernel.keyed_48.blocks=70", NULL};
#define PAIR_KEYED(kind, rings)                                                                              \
    {                                                                                                        \
        kind, 65536, 65536, 256, rings                                                                       \
    }

static const char *const keyed_linked[] = {"backend.cpu.pin=none", "kernel.keyed_linked_48.keys=1048576",
                                           NULL};

/* A thread a stage, on whatever processors there are, as its floor has it. */
static const char *const unpinned[] = {"backend.cpu.pin=none", NULL};
static const char *const isolated[] = {"backend.default.isolation=process", NULL};
#define WITHOUT NULL, "the same without isolation"
#define FRAGILE                                                                                              \
    "backend.default.isolation=process", "backend.default.restart_limit=1000", "kernel.faults.poison_limit=1"
static const char *const fragile[] = {FRAGILE, NULL};
static const char *const followed[] = {FRAGILE, "backend.default.standby=true", NULL};
static const char *const impatient[] = {FRAGILE, "kernel.faults.handler_budget_ms=100", NULL};

/* Checkpoints only when the case asks for one, with room in the log for the calls while a checkpoint is stored. */
static const char *const keeping[] = {
    "backend.default.isolation=process", "kernel.keep_cells.checkpoints=true",
    "kernel.keep_cells.checkpoint_ms=0", "kernel.keep_cells.replay_log=268435456", NULL};

#define JOURNALED "kernel.keep_sum.checkpoints=true", "queue.keep_sum.durability=journal"
static const char *const kept[] = {"kernel.keep_sum.checkpoints=true", NULL};
static const char *const journaled[] = {JOURNALED, "queue.keep_sum.fsync=never", NULL};
static const char *const synced[] = {JOURNALED, "queue.keep_sum.fsync=group", NULL};
/* The floor is the same kernel with the same settings in this process. */
static const char *const kept_words[] = {"kernel.keep_words_48.checkpoints=true", NULL};
#define INSIDE NULL, "the same inside one program"
#define KEPT_STREAM_48                                                                                       \
    {                                                                                                        \
        BENCH_KEEP_48, 1024, 1024, 256, 1                                                                    \
    }
#define KEEP_STREAM                                                                                          \
    {                                                                                                        \
        BENCH_KEEP, 1024, 1024, 64, 1                                                                        \
    }
#define DISK      bench_floor_write, "the disk: write"
#define DISK_SYNC bench_floor_sync, "the disk: write, fdatasync"

/* `burst`: KiB of a part */
#define COLLECT(size)                                                                                        \
    {                                                                                                        \
        BENCH_KEEP, 1024, 1, size, 1                                                                         \
    }
#define PLAINLY bench_floor_collect, "loops that add and copy"

const bench_case bench_cases[] = {
    {"floor/line", bench_run_floor, bench_floor_line, NULL, ONE(BENCH_48), NULL, {{0}}},
    {"floor/park", bench_run_floor, bench_floor_park, NULL, ONE(BENCH_48), NULL, {{0}}},
    {"floor/ping_pong/48", bench_run_floor, bench_floor_slots_ping_pong, NULL, ONE(BENCH_48), NULL, {{0}}},
    {"floor/slots/48", bench_run_floor, bench_floor_slots_there_and_back, NULL, STREAM_48, NULL, {{0}}},
    {"floor/indices/48", bench_run_floor, bench_floor_indices_there_and_back, NULL, STREAM_48, NULL, {{0}}},

    {"call/48",
     bench_run_call,
     PING_PONG,
     ONE(BENCH_48),
     NULL,
     {{"p50 ratio", "x", false, 1.25, 0}, {"p99 ratio", "x", false, 1.5, 0}}},
    {"call/48/park", bench_run_call, PARK, ONE(BENCH_48), parked, {{"p50 ratio", "x", false, 1.3, 0}}},
    {"call/48/headers",
     bench_run_call,
     PING_PONG,
     ONE(BENCH_48),
     headed,
     {{"p50 ratio", "x", false, 1.25, 0}}},
    {"call/1024", bench_run_call, PING_PONG, ONE(BENCH_1024), NULL, {{0}}},
    {"call/1024/block", bench_run_call, PING_PONG, ONE(BENCH_BLOCK_1024), NULL, {{0}}},
    {"call/65536", bench_run_call, PING_PONG, ONE_65536, NULL, {{0}}},

    {"stream/48",
     bench_run_stream,
     BETTER,
     STREAM_48_BY_ITSELF,
     NULL,
     {{"rate", "msg/s", true, 40e6, 0}, {"ratio", "x", true, 0.6, 0}}},
    {"stream/48/headers",
     bench_run_stream,
     BETTER,
     STREAM_48_BY_ITSELF,
     headed,
     {{"rate", "msg/s", true, 36e6, 0}}},
    {"stream/48/deep", bench_run_stream, BETTER, STREAM_48_DEEP, NULL, {{0}}},
    {"stream/1024", bench_run_stream, BETTER, STREAM_1024, NULL, {{"ratio", "x", true, 0.75, 0}}},
    {"stream/1024/block", bench_run_stream, BETTER, {BENCH_BLOCK_1024, 1024, 256, 32, 1}, NULL, {{0}}},
    {"stream/4096", bench_run_stream, BETTER, {BENCH_4096, 512, 128, 16, 1}, NULL, {{0}}},
    {"stream/4096/deep", bench_run_stream, BETTER, {BENCH_4096, 2048, 2048, 32, 1}, NULL, {{0}}},
    {"stream/4096/place", bench_run_stream_in_place, BETTER, {BENCH_4096, 1024, 1024, 32, 1}, NULL, {{0}}},
    {"stream/65536", bench_run_stream, BETTER, STREAM_65536, NULL, {{"ratio", "x", true, 0.75, 0}}},
    {"burst/48", bench_run_burst, BURSTS, BURST(BENCH_48), NULL, {{0}}},
    {"burst/1024", bench_run_burst, BURSTS, BURST(BENCH_1024), NULL, {{0}}},
    {"burst/65536", bench_run_burst, BURSTS, BURST_65536, NULL, {{0}}},
    {"handler/vector_add",
     bench_run_stream_in_place,
     BETTER,
     STREAM_ADD,
     NULL,
     {{"rate", "msg/s", true, 10e6, 0}, {"ratio", "x", true, 0.7, 0}}},
    {"handler/vector_add/copied", bench_run_stream, BETTER, STREAM_ADD, NULL, {{0}}},
    {"producers/3",
     bench_run_stream,
     SLOTS,
     {BENCH_48, 1024, 1024, 256, 3},
     NULL,
     {{"rate", "msg/s", true, 35e6, 0}}},
    {"producers/3/single",
     bench_run_stream,
     SLOTS,
     {BENCH_48, 1024, 1024, 1, 3},
     NULL,
     {{"rate", "msg/s", true, 12e6, 0}}},
    {"pair/48", bench_run_pair, NO_FLOOR, PAIR_48(1), NULL, {{0}}},
    {"pair/48/six", bench_run_pair, NO_FLOOR, PAIR_48(6), six_blocks, {{0}}},
    {"pair/1024", bench_run_pair, NO_FLOOR, {BENCH_1024, 4096, 4096, 32, 1}, NULL, {{0}}},
    {"pair/1024/eight", bench_run_wide, NO_FLOOR, {BENCH_1024, 4096, 4096, 32, 1}, eight_blocks, {{0}}},
    {"pair/4096", bench_run_pair, NO_FLOOR, PAIR_4096, four_blocks, {{0}}},
    {"pair/65536", bench_run_wide, NO_FLOOR, PAIR_65536(BENCH_BLOCK_65536, 1), many_blocks, {{0}}},
    {"pair/65536/four", bench_run_wide, NO_FLOOR, PAIR_65536(BENCH_BLOCK_65536, 4), many_blocks, {{0}}},
    {"pair/65536/four/lanes",
     bench_run_wide,
     NO_FLOOR,
     PAIR_65536(BENCH_65536, 4),
     many_blocks_of_lanes,
     {{0}}},
    {"pair/vector_add", bench_run_pair, NO_FLOOR, PAIR_ADD, NULL, {{0}}},
    {"bridged/64..512",
     bench_run_bridged,
     bench_floor_direct,
     "stream of 288 bytes in slots",
     {BENCH_BRIDGED_512, 1024, 256, 32, 1},
     bridged,
     {{"ratio", "x", true, 0.7, 0}}},
    {"bridged/64..512/one",
     bench_run_bridged_pair,
     NO_FLOOR,
     {BENCH_BRIDGED_512, 8192, 8192, 256, 1},
     bridged_one,
     {{0}}},
    {"bridged/64..512/six",
     bench_run_bridged_pair,
     NO_FLOOR,
     {BENCH_BRIDGED_512, 8192, 8192, 256, 6},
     bridged_six,
     {{0}}},
    {"bridged/65536",
     bench_run_bridged_pair,
     NO_FLOOR,
     {BENCH_BRIDGED_65536, 64, 64, 1, 1},
     bridged_large,
     {{0}}},
    {"bridged/65536/four",
     bench_run_bridged_pair,
     NO_FLOOR,
     {BENCH_BRIDGED_65536, 64, 64, 1, 4},
     bridged_four,
     {{0}}},
    {"arithmetic/block", bench_run_wide, NO_FLOOR, PAIR_CHAIN(BENCH_BLOCK_CHAIN), wide_chain_block, {{0}}},
    {"arithmetic/lane", bench_run_wide, NO_FLOOR, PAIR_CHAIN(BENCH_CHAIN), wide_chain, {{0}}},
    {"pair/add", bench_run_pair, NO_FLOOR, PAIR_ONE(BENCH_PLAIN), NULL, {{0}}},
    {"pair/add/wire", bench_run_pair, NO_FLOOR, PAIR_ONE(BENCH_DOTNET), wired, {{0}}},
    {"wire/encode",
     bench_run_wire,
     NO_FLOOR,
     ONE(BENCH_DOTNET),
     NULL,
     {{"p50", "ns", false, 8, 0}, {"ratio", "x", false, 1.5, 0}}},
    {"wire/decode",
     bench_run_wire,
     NO_FLOOR,
     ONE(BENCH_DOTNET),
     NULL,
     {{"p50", "ns", false, 8, 0}, {"ratio", "x", false, 1.5, 0}}},

    {"chain/5/48",
     bench_run_call,
     FIVE_RINGS,
     ONE(BENCH_LINKED_48),
     unpinned,
     {{"p50 ratio", "x", false, 1.25, 0}}},
    {"chain/5/48/pair", bench_run_pair, NO_FLOOR, PAIR_ONE(BENCH_LINKED_48), unpinned, {{0}}},
    {"chain/5/48/six", bench_run_pair, NO_FLOOR, {BENCH_LINKED_48, 65536, 65536, 256, 6}, unpinned, {{0}}},
    {"chain/5/48/host", bench_run_chain_by_host, NO_FLOOR, ONE(BENCH_48), unpinned, {{0}}},
    {"ask/48", bench_run_ask, NO_FLOOR, ONE(BENCH_48), unpinned, {{0}}},
    {"barrier/grid", bench_run_barrier, NO_FLOOR, ONE(BENCH_48), unpinned, {{0}}},
    {"chain/5/48/one",
     bench_run_stream,
     FIVE_RINGS_FULL,
     {BENCH_LINKED_48, 1024, 1024, 256, 1},
     unpinned,
     {{0}}},

    {"steal/skewed/born", bench_run_steal, NO_FLOOR, ONE(BENCH_CHAIN), unpinned, {{0}}},
    {"steal/skewed/spread", bench_run_steal, NO_FLOOR, ONE(BENCH_CHAIN), unpinned, {{0}}},
    {"link/48/rate/1", bench_run_link_rate, NO_FLOOR, LINK_RATE(1), NULL, {{0}}},
    {"link/48/rate/4", bench_run_link_rate, NO_FLOOR, LINK_RATE(4), NULL, {{0}}},
    {"link/48/rate/64", bench_run_link_rate, NO_FLOOR, LINK_RATE(64), fed, {{0}}},
    {"link/48/lone/nvlink", bench_run_link_lone, NO_FLOOR, ONE(BENCH_48), NULL, {{0}}},
    {"link/48/rate/nvlink/1", bench_run_link_rate, NO_FLOOR, LINK_RATE(1), NULL, {{0}}},
    {"link/48/rate/nvlink/4", bench_run_link_rate, NO_FLOOR, LINK_RATE(4), NULL, {{0}}},
    {"link/48/rate/nvlink/64", bench_run_link_rate, NO_FLOOR, LINK_RATE(64), fed, {{0}}},

    {"timed/48/there", bench_run_timed, NO_FLOOR, ONE(BENCH_48), stamped, {{0}}},
    {"timed/48/inside", bench_run_timed, NO_FLOOR, ONE(BENCH_48), stamped, {{0}}},
    {"timed/48/back", bench_run_timed, NO_FLOOR, ONE(BENCH_48), stamped, {{0}}},
    {"call/48/timed", bench_run_call, NO_FLOOR, ONE(BENCH_48), stamped, {{0}}},
    {"buffer/upload", bench_run_buffer, NO_FLOOR, ONE(BENCH_48), NULL, {{0}}},
    {"buffer/download", bench_run_buffer, NO_FLOOR, ONE(BENCH_48), NULL, {{0}}},
    {"buffer/fill", bench_run_buffer, NO_FLOOR, ONE(BENCH_48), NULL, {{0}}},
    {"buffer/alloc", bench_run_buffer, NO_FLOOR, ONE(BENCH_48), NULL, {{0}}},

    {"collect/all_reduce/nvlink/4KiB", bench_run_collect, NO_FLOOR, COLLECT(4), soon, {{0}}},
    {"collect/all_reduce/nvlink/64MiB", bench_run_collect, NO_FLOOR, COLLECT(65536), soon, {{0}}},
    {"collect/all_reduce/64KiB", bench_run_collect, PLAINLY, COLLECT(64), NULL, {{0}}},
    {"collect/all_reduce/16MiB", bench_run_collect, PLAINLY, COLLECT(16384), NULL, {{0}}},

    {"launch", bench_run_launch, NO_FLOOR, ONE(BENCH_48), NULL, {{"p99", "ns", false, 3e6, 0}}},
    {"terminate", bench_run_terminate, NO_FLOOR, ONE(BENCH_48), NULL, {{"p99", "ns", false, 1e6, 0}}},
    {"deactivate", bench_run_deactivate, NO_FLOOR, ONE(BENCH_48), NULL, {{"p99", "ns", false, 0.2e6, 0}}},
    {"yield", bench_run_wide_yield, NO_FLOOR, ONE(BENCH_48), leaving, {{0}}},
    {"yield/132", bench_run_wide_yield, NO_FLOOR, ONE(BENCH_48), wide_leaving, {{0}}},
    {"isolated/call/48",
     bench_run_call,
     PING_PONG,
     ONE(BENCH_48),
     isolated,
     {{"p50 ratio", "x", false, 1.25, 0}}},
    {"isolated/stream/48",
     bench_run_stream,
     BETTER,
     STREAM_48,
     isolated,
     {{"rate", "msg/s", true, 40e6, 0}, {"ratio", "x", true, 0.6, 0}}},
    {"isolated/against/call/48",
     bench_run_against_call,
     WITHOUT,
     ONE(BENCH_48),
     isolated,
     {{"p50 ratio", "x", false, 1.03, 0}}},
    {"isolated/against/stream/48",
     bench_run_against_stream,
     WITHOUT,
     STREAM_48,
     isolated,
     {{"ratio", "x", true, 0.97, 0}}},
    {"attached/call/48", bench_run_attached_call, INSIDE, ONE(BENCH_48), NULL, {{0}}},
    {"attached/stream/48", bench_run_attached_stream, INSIDE, STREAM_48, NULL, {{0}}},
    {"attached/kept/call/48",
     bench_run_attached_call,
     INSIDE,
     ONE(BENCH_KEEP_48),
     kept_words,
     {{"p50 ratio", "x", false, 4, 0}}},
    {"attached/kept/stream/48",
     bench_run_attached_stream,
     INSIDE,
     KEPT_STREAM_48,
     kept_words,
     {{"ratio", "x", true, 0.4, 0}}},
    {"keyed/48/uniform",
     bench_run_stream,
     NO_FLOOR,
     {BENCH_KEYED_48, 1024, 1024, 256, 1},
     keyed,
     {{"rate", "msg/s", true, 5e6, 0}}},
    {"keyed/48/hot", bench_run_stream, NO_FLOOR, {BENCH_KEYED_HOT, 1024, 1024, 256, 1}, keyed, {{0}}},
    {"keyed/48/pair", bench_run_wide, NO_FLOOR, PAIR_KEYED(BENCH_KEYED_RINGS, 1), routed_one, {{0}}},
    {"keyed/48/six", bench_run_wide, NO_FLOOR, PAIR_KEYED(BENCH_KEYED_RINGS, 6), routed_six, {{0}}},
    {"keyed/48/linked", bench_run_keyed_linked, NO_FLOOR, ONE(BENCH_48), keyed_linked, {{0}}},
    {"keyed/48/hot/pair", bench_run_wide, NO_FLOOR, PAIR_KEYED(BENCH_KEYED_HOT, 1), routed_hot, {{0}}},
    {"recover/fault",
     bench_run_recover_fault,
     NO_FLOOR,
     ONE(BENCH_48),
     fragile,
     {{"p50", "ns", false, 30e6, 0}, {"max", "ns", false, 150e6, 0}}},
    {"recover/loop",
     bench_run_recover_loop,
     NO_FLOOR,
     ONE(BENCH_48),
     impatient,
     {{"p50", "ns", false, 200e6, 0}}},
    {"recover/standby",
     bench_run_recover_standby,
     NO_FLOOR,
     ONE(BENCH_48),
     followed,
     {{"p50", "ns", false, 20e6, 0}}},
    {"checkpoint/1MiB", bench_run_checkpoint, NO_FLOOR, ONE(BENCH_KEEP), keeping, {{0}}},
    {"checkpoint/64MiB", bench_run_checkpoint, NO_FLOOR, ONE(BENCH_KEEP), keeping, {{0}}},
    {"checkpoint/1GiB", bench_run_checkpoint, NO_FLOOR, ONE(BENCH_KEEP), keeping, {{0}}},
    {"checkpoint/stream", bench_run_journal_stream, NO_FLOOR, KEEP_STREAM, kept, {{0}}},
    {"journal/none/stream", bench_run_journal_stream, NO_FLOOR, KEEP_STREAM, NULL, {{0}}},
    {"journal/nosync/stream", bench_run_journal_stream, DISK, KEEP_STREAM, journaled, {{0}}},
    {"journal/fsync/stream", bench_run_journal_stream, DISK_SYNC, KEEP_STREAM, synced, {{0}}},
    {"journal/none/call", bench_run_journal_call, NO_FLOOR, ONE(BENCH_KEEP), NULL, {{0}}},
    {"journal/nosync/call", bench_run_journal_call, DISK, ONE(BENCH_KEEP), journaled, {{0}}},
    {"journal/fsync/call", bench_run_journal_call, DISK_SYNC, ONE(BENCH_KEEP), synced, {{0}}},
    {"compile_cold",
     bench_run_compile_cold,
     NO_FLOOR,
     ONE(BENCH_VECTOR_ADD),
     NULL,
     {{"above floor", "ns", false, 15e6, 0}}},
    {"compile_cached",
     bench_run_compile_cached,
     NO_FLOOR,
     ONE(BENCH_VECTOR_ADD),
     NULL,
     {{"p50", "ns", false, 2e6, 0}}},
    {"idle", bench_run_idle, NO_FLOOR, ONE(BENCH_48), NULL, {{"cpu", "cores", false, 0.02, 0}}},
    {"idle/park", bench_run_idle, NO_FLOOR, ONE(BENCH_48), parked, {{"cpu", "cores", false, 0.005, 0}}},
    {"memory", bench_run_memory, NO_FLOOR, ONE(BENCH_48), NULL, {{"resident", "bytes", false, 12e6, 0}}},
};
const size_t bench_case_count = sizeof bench_cases / sizeof bench_cases[0];
