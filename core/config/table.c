/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists all rows of the table of keys (table.h). Constant data, no state. The words of a choice stand in the
 * order of the public enum that they become: policy and queue idle count from 1 as in gyre.h, kernel idle from 0 as in
 * backend.h, log_level from 1. Of keys that a single backend has, only the keys of the core's own backend stand here; other
 * backends introduce their keys in their drop-ins.
 */
#include "core/config/table.h"

#include <stddef.h>
#include <sys/un.h>

#define CACHE_MAX (INT64_C(64) << 40)
enum { SOCKET_PATH_MAX = sizeof((struct sockaddr_un *)NULL)->sun_path - 1 };

static const struct gyre_config_row rows[] = {
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_NAME,
     .key = "backend",
     .preset = "auto",
     .doc = "The backend that runs kernels. `auto` takes the enabled "
            "backend with the highest priority, then the highest score, "
            "among those that can start on this machine. A backend chosen by name must start."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_PATHS,
     .key = "plugin_dir",
     .preset = "@plugins",
     .doc = "Folders that hold backend plugins (`gyre-<name>.so`); the first that has a library wins."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_PATHS,
     .key = "dropin_dir",
     .preset = "@dropins",
     .doc = "Folders that hold drop-ins (`*.ini`). A file of a later "
            "folder replaces the file of the same name in an earlier one. "
            "A folder that is named here must exist. Has no effect inside a drop-in."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_BOOL,
     .key = "strict",
     .preset = "false",
     .doc = "Makes every warning about the configuration (an unknown key or section) an error."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_PATH,
     .key = "cache_dir",
     .preset = "@cache",
     .doc = "Where compiled kernels and remembered probe verdicts are kept. Empty: nothing is kept."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_SIZE,
     .key = "cache_size",
     .min = 0,
     .max = CACHE_MAX,
     .preset = "256 MiB",
     .doc =
         "The most the cache may hold; what was used longest ago leaves first. 0 keeps no compiled kernel."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_BOOL,
     .key = "peers",
     .preset = "true",
     .doc =
         "Whether bytes, and messages of links, go from one device straight to another where these can (`gyre backends --peers`). "
         "`false`: they go through the host, which is slower and works everywhere."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_CHOICE,
     .key = "log_level",
     .choices = {"error", "warning", "info", "debug"},
     .preset = "warning",
     .doc = "The least important lines that reach the log of the application."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_PATH,
     .key = "socket",
     .max = SOCKET_PATH_MAX,
     .preset = "",
     .doc = "Where `gyre serve` and gyre_serve let other programs attach, and `gyre call --attach` "
            "looks for them. Empty: `gyre.sock` in `$XDG_RUNTIME_DIR`, else in `/tmp/gyre-UID`."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_CHOICE,
     .key = "socket_access",
     .choices = {"owner", "group", "everyone"},
     .preset = "owner",
     .doc = "Who may attach: the socket's file mode 0600, 0660 or 0666."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_BOOL,
     .key = "trusted",
     .preset = "false",
     .doc =
         "Messages of other programs are handled where those programs can still write them: a little faster, "
         "and whoever may attach can make handlers read and write any memory of this program."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_INT,
     .key = "clients_max",
     .min = 1,
     .max = 4096,
     .preset = "32",
     .doc = "The most queues of other programs that are attached at a time."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_POWER,
     .key = "client_capacity_max",
     .min = 1,
     .max = 1 << 24,
     .preset = "65536",
     .doc = "The most slots that another program may ask for in its queue."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_MS,
     .key = "client_return_ms",
     .min = 0,
     .max = 86400000,
     .preset = "5000",
     .doc = "How long a queue that keeps what is sent (`checkpoints`, `durability`) holds completions for a "
            "client with a name that is gone, and their places with them."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_MS,
     .key = "probe_timeout_ms",
     .min = 1,
     .max = 600000,
     .preset = "10000",
     .doc = "How long a plugin may take to say whether its backend can start; its process is ended then."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_BOOL,
     .key = "remember_probes",
     .preset = "true",
     .doc = "Keeps the verdict on a backend until its plugin, its parameters or the driver change."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_CHOICE,
     .key = "check",
     .choices = {"auto", "on", "off"},
     .preset = "auto",
     .doc =
         "The check of a kernel's source against the rules of the dialect. `auto` skips it, saying so, where "
         "the checker is not installed; `on` makes that an error; `off` never checks."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_MS,
     .key = "compile_timeout_ms",
     .min = 1,
     .max = 3600000,
     .preset = "60000",
     .doc = "How long one compiler run may take; it is ended then."},
    {.kind = GYRE_SECTION_GYRE,
     .type = GYRE_VALUE_PATH,
     .key = "journal_dir",
     .preset = "",
     .doc = "The folder for the journals of queues with `durability "
            "= journal`; it is made when it is not there."},

    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .key = "library",
     .preset = "",
     .doc = "The plugin: an absolute path, or a path relative to "
            "a folder of `plugin_dir`. Empty: `gyre-<name>.so`."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_INT,
     .key = "priority",
     .min = -1000000,
     .max = 1000000,
     .preset = "0",
     .doc = "Orders the candidates of `auto` before their score does; higher wins."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_BOOL,
     .key = "enabled",
     .preset = "true",
     .doc = "Whether the backend may be used. A disabled backend is listed but never loaded."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .key = "not_built",
     .preset = "",
     .doc =
         "Why there is no plugin, of a backend that could not be built: the build writes it into the backend's "
         "drop-in. It counts while the library does not exist."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .key = "drives",
     .preset = "",
     .doc =
         "Words for the devices that the backend drives, separated by spaces: who gives one of them as a backend is "
         "told of this one."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_CHOICE,
     .key = "isolation",
     .choices = {"none", "process"},
     .preset = "none",
     .doc = "Where the backend and the handlers run: in the program itself, or in a worker process for each "
            "device, whose crash the program survives. Messages are as fast either way."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_BOOL,
     .key = "standby",
     .needs = "isolation = process",
     .preset = "false",
     .doc =
         "With `isolation = process`: whether a second worker is kept for each device, with the device opened "
         "and the kernels loaded, so that it takes over at once when the first one dies."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_MS,
     .key = "worker_timeout_ms",
     .needs = "isolation = process",
     .min = 10,
     .max = 3600000,
     .preset = "20000",
     .doc =
         "With `isolation = process`: how long the worker may take for an operation that has no deadline of "
         "its own. It is ended then, as if it had crashed."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_INT,
     .key = "restart_limit",
     .needs = "isolation = process",
     .min = 0,
     .max = 1000000,
     .preset = "10",
     .doc = "With `isolation = process`: how many workers in a row may die "
            "without a request having been answered between; then the device is "
            "given up and its kernels are lost. 0: a worker is never replaced."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_MS,
     .key = "restart_backoff_ms",
     .needs = "isolation = process",
     .min = 0,
     .max = 60000,
     .preset = "10",
     .doc = "With `isolation = process`: how long the second such restart waits; "
            "each further one waits twice as long, at most a second. The first one never waits."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .key = "options",
     .preset = "",
     .doc = "Further compiler options for every kernel compiled for this backend, "
            "separated by spaces. -D, -U and -I hold for the check too."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_INT,
     .backend = "cpu",
     .key = "threads",
     .min = 0,
     .max = 1024,
     .preset = "0",
     .doc = "Worker threads, one a block, of launches that do not say how many blocks. 0: one."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_INT,
     .backend = "cpu",
     .key = "lane_stack",
     .min = 16384,
     .max = 1 << 30,
     .preset = "65536",
     .doc = "Bytes of stack of each lane of a block handler; other handlers have 1 MiB more."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_CPUS,
     .backend = "cpu",
     .key = "pin",
     .preset = "none",
     .doc = "The CPUs that worker threads are pinned to, in order and then around again; at most 1024. "
            "`spread` takes those that the process may use, in an order that "
            "shares packages, caches and cores as late as possible (with hwloc). A thread whose CPU the "
            "process may not use runs where it may, with a line in the log."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_CHOICE,
     .backend = "cpu",
     .key = "follow",
     .preset = "auto",
     .choices = {"auto", "always", "never"},
     .doc =
         "Whether a thread that sent a message to a sleeping stage of a pipeline runs that stage itself, in place of "
         "waking the stage's thread. `auto`: where another thread would find no processor. A stage whose handler "
         "takes more than a few microseconds is woken in any case."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .backend = "cpu",
     .key = "compiler",
     .preset = "cc",
     .doc = "The C compiler: a path, or a name that is looked up in PATH."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .backend = "cpu",
     .key = "compiler_options",
     .preset = "-O3 -march=native",
     .doc = "Options for the compiler, separated by spaces; those of `options` come after them."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .backend = "cpu",
     .key = "sanitize",
     .preset = "",
     .doc = "Sanitizers to compile kernels with, as in `-fsanitize=`: `address,undefined`, `thread`."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_BOOL,
     .backend = "cpu",
     .key = "checked",
     .preset = "false",
     .doc =
         "An index out of range, of an array, a buffer or a part of a message, fails its message with a "
         "sentence, and nothing is read or written there. For debugging: handlers run 6 to 20 times slower."},
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_TEXT,
     .backend = "cpu",
     .key = "check",
     .preset = "none",
     .doc =
         "Checks of handlers while they run, separated by commas: `races` (two lanes or messages that may run at "
         "once touch the same bytes, and nothing orders them), `memory` (reads of scratch and reply bytes that "
         "were never written), `deadlock` (where lanes do not meet at one barrier, or handlers wait for each other, the line of each), "
         "`schedule` (the lanes of a block run in the orders of `seeds`, and the results are compared; blocks and stages take turns by `seed`), `order` (they take turns, too: `gyre call` compares the answers), `crash` (`gyre call` ends the worker process, and compares the answers), `traffic` (counts for `gyre estimate`, alone). Any of them "
         "also does what `checked` does. A finding fails its message, with both lines where there are two, and the "
         "log has the sentence."},
#include "core/config/table_turns.h"
    {.kind = GYRE_SECTION_BACKEND,
     .type = GYRE_VALUE_BOOL,
     .backend = "cpu",
     .key = "keep_source",
     .preset = "false",
     .doc = "Keeps the generated translation unit beside the compiled kernel, for a debugger."},

    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_PATH,
     .key = "source",
     .preset = "",
     .doc =
         "What is launched when the program gives only this name: `FILE.gyre.c`, `FILE.gyre.c:KERNEL`, or a "
         "file that `gyre compile -o` wrote."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_NAME,
     .key = "backend",
     .preset = "",
     .doc = "The backend that runs this kernel. Empty: as `backend` of [gyre] says."},

#include "core/config/table_devices.h"
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_TEXT,
     .key = "options",
     .preset = "",
     .doc = "Further compiler options for this kernel, "
            "separated by spaces. -D, -U and -I hold for the check too."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_INT,
     .key = "lanes",
     .min = 0,
     .max = 1048576,
     .preset = "0",
     .doc = "Lanes of a block. 0: the backend's choice. The device says how many it allows."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_INT,
     .key = "blocks",
     .min = 0,
     .max = 65536,
     .preset = "0",
     .doc = "Blocks. 0: the backend's choice. The device says how many it allows."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_INT,
     .key = "keys",
     .min = 1,
     .max = 1000000000,
     .preset = "65536",
     .doc =
         "Of a keyed actor: for how many keys its table has room, and memory. A message of one more key fails, or, "
         "where the kernel has `GYRE_PASSIVE`, a key that was not used for long leaves."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_BOOL,
     .key = "active",
     .preset = "true",
     .doc = "Whether it serves its queues from the launch on, or only once it is activated."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_CHOICE,
     .key = "idle",
     .choices = {"adaptive", "spin", "yield", "park"},
     .preset = "adaptive",
     .doc =
         "How the device waits for messages: `spin` is quickest and keeps a core busy, "
         "`park` sleeps at once, `adaptive` spins, then yields, then sleeps. Unless it is set, shards of a cluster that has "
         "more than 64 of them for each processor park; one whose own thread handles its requests parks in any case."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_INT,
     .key = "spin_turns",
     .min = 0,
     .max = 1000000000,
     .preset = "2000",
     .doc = "How often an `adaptive` wait of the device looks again before it yields."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_BOOL,
     .key = "timing",
     .preset = "false",
     .doc =
         "Notes for each message when it was sent, when its handler began and ended, and when it was "
         "received (`gyre_timing_get`; `gyre stat` has percentiles). The kernel is compiled for it; without it nothing "
         "of it is there."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_POWER,
     .key = "timing_every",
     .min = 1,
     .max = 65536,
     .preset = "1",
     .doc =
         "With `timing`: one message of so many is timed, by the program and by the device, so that it costs less. 1: each, as "
         "also where headers carry times (`header`). From 64 on, no more than about one in 50 us is timed, "
         "which counts for those between."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_MS,
     .key = "launch_timeout_ms",
     .min = 1,
     .max = 3600000,
     .preset = "10000",
     .doc =
         "How long a launched kernel may take to report that it runs, and a migration of its state to return. So long, "
         "too, blocks that are inside no handler are waited for."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_MS,
     .key = "stop_timeout_ms",
     .min = 1,
     .max = 3600000,
     .preset = "1000",
     .doc = "How long a handler may take to come back once its kernel is to stop."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_MS,
     .key = "handler_budget_ms",
     .min = 0,
     .max = 86400000,
     .preset = "0",
     .doc = "How long a handler may work on a message before its kernel counts as stalled; "
            "it is noticed within a quarter more. 0: as long as it likes, but see `stall_told_ms`."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_MS,
     .key = "stall_told_ms",
     .min = 0,
     .max = 86400000,
     .preset = "5000",
     .doc = "After how long at the same messages a kernel whose `handler_budget_ms` is 0 counts as stalled. "
            "That is told (log, health) and nothing else is done: a handler that takes longer goes on. "
            "0: never."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_CHOICE,
     .key = "on_stall",
     .choices = {"report", "restart", "stop"},
     .preset = "restart",
     .doc = "What is done about a stalled kernel: a line in the log and its health, "
            "or, with `isolation = process`, its worker is ended besides, "
            "and the kernel is brought back (`restart`) or given up (`stop`)."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_CHOICE,
     .key = "on_loss",
     .choices = {"leave", "one", "all", "rest"},
     .preset = "leave",
     .doc = "What is done when the kernel is lost, which is told in any case: nothing, "
            "or it is launched again, with its initial state: it alone (`one`), "
            "together with every kernel of its `group` (`all`), or with those of its "
            "group that were launched after it (`rest`). The others are terminated first."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_CHOICE,
     .key = "on_change",
     .choices = {"refuse", "replay", "discard"},
     .preset = "refuse",
     .doc =
         "With a journal: what is done when another handler than this one answered requests that its last "
         "checkpoint does not cover, as after a kill and an edit. The launch is refused; or this handler handles them "
         "again, though their replies may have been others (`replay`); or the state goes on from the checkpoint, as if "
         "those whose replies were received had never come (`discard`)."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_TEXT,
     .key = "group",
     .preset = "",
     .doc =
         "A name that kernels share which `on_loss` treats together. Empty: every kernel without a group."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_INT,
     .key = "loss_limit",
     .needs = "on_loss",
     .min = 0,
     .max = 1000000,
     .preset = "5",
     .doc = "When the kernel is lost more often than this within `loss_period_ms`, it is left as it is."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_MS,
     .key = "loss_period_ms",
     .needs = "on_loss",
     .min = 1,
     .max = 86400000,
     .preset = "60000",
     .doc = "See `loss_limit`."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_INT,
     .key = "poison_limit",
     .min = 1,
     .max = 1000,
     .preset = "3",
     .doc =
         "With `isolation = process`: a request whose handler took its worker "
         "down this often is completed as a failure, and the next one proceeds. Deaths count at which no other "
         "request was unanswered; until it is known which one it is, handlers run more often than that, and one "
         "that was never alone is failed after four times as many."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_BOOL,
     .key = "checkpoints",
     .preset = "false",
     .doc = "Keeps copies of what a handler keeps between messages, and the requests since "
            "the last one, so that the kernel goes on as if nothing had happened when "
            "its worker dies (`isolation = process`). The handler must be deterministic."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_MS,
     .key = "checkpoint_ms",
     .needs = "checkpoints = true",
     .min = 0,
     .max = 86400000,
     .preset = "100",
     .doc = "With `checkpoints`: how old the last one may be "
            "while requests are handled. 0: as old as it likes."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_INT,
     .key = "checkpoint_messages",
     .needs = "checkpoints = true",
     .min = 0,
     .max = INT64_MAX,
     .preset = "0",
     .doc =
         "With `checkpoints`: how many requests of a queue may be handled until another one is taken. 0: as "
         "many as fit into half of the replay log."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_BOOL,
     .key = "checkpoint_buffers",
     .needs = "checkpoints = true",
     .preset = "true",
     .doc = "With `checkpoints`: whether `inout` buffers belong to what is kept. Those that do not have the "
            "contents that the program gave them, after a crash."},
    {.kind = GYRE_SECTION_KERNEL,
     .type = GYRE_VALUE_SIZE,
     .key = "replay_log",
     .needs = "checkpoints = true",
     .min = 1,
     .max = CACHE_MAX,
     .preset = "16 MiB",
     .doc =
         "With `checkpoints`: the memory for each queue's requests since the last one, beyond those that are "
         "in the queue still. When it is full, senders wait for a checkpoint."},

    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_POWER,
     .key = "capacity",
     .min = 0,
     .max = 1 << 30,
     .preset = "0",
     .doc =
         "How many requests may be sent and not yet received. 0: 1,024; more of small ones where the device "
         "gets copies of them (512 KiB of requests: 8,192 of up to 48 bytes)."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "layout",
     .choices = {"auto", "slots", "bridged"},
     .preset = "auto",
     .doc =
         "How messages with tails are stored: each in a slot of the largest size, or back to back "
         "(`bridged`), so that each takes what it is long. `auto`: back to back when the largest is longer "
         "than 1,024 bytes. Messages without tails lie in slots."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "bytes",
     .min = 0,
     .max = 1 << 30,
     .preset = "0",
     .doc = "Of a bridged queue: bytes for requests that were sent and not yet received, "
            "and as many for replies; at least room for two of the largest. "
            "0: 256 for each of `capacity`, and room for 32 of the largest."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_SIZE,
     .key = "span_handles",
     .min = 0,
     .max = INT64_C(1) << 40,
     .preset = "0",
     .doc = "Spans and texts of requests that have more bytes than this travel in memory of the device, with "
            "their name in the message; handlers see the same spans. 0: they lie in the message. Not with a "
            "journal, checkpoints, a wire form, or other programs' queues."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_SIZE,
     .key = "span_memory",
     .needs = "span_handles",
     .min = 65536,
     .max = INT64_C(1) << 40,
     .preset = "16 MiB",
     .doc = "With `span_handles`: the memory of the device that the spans of messages under way share, in "
            "pieces of 4 KiB. What finds no room there travels in its message."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "policy",
     .choices = {"block", "reject", "drop_oldest", "drop_newest"},
     .preset = "block",
     .doc =
         "What a send does when the queue is full: wait for room until its deadline, in the order of "
         "waiting, refuse at once, discard the oldest message, or discard this one. Each drop is counted. The oldest message, if no "
         "handler took it up yet, is discarded by the device, for which the send waits until its deadline, as for "
         "a handler that is at it. One that does not wait discards completions alone, and one whose deadline "
         "passes nothing: it takes its order back, and a message that the device discards all the same, because "
         "it had read the order, leaves its place to the next send."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "idle",
     .choices = {"spin", "yield", "adaptive", "park"},
     .preset = "adaptive",
     .doc = "How the program waits for room and for replies; the words are those of [kernel] `idle`."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "spin_turns",
     .min = 0,
     .max = 1000000000,
     .preset = "2000",
     .doc = "How often an `adaptive` wait of the program looks again before it yields."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "threads",
     .choices = {"many", "one"},
     .preset = "many",
     .doc =
         "`one` promises that one thread at a time sends and one receives, and that no other thread ends "
         "the kernel or the queue meanwhile; this saves the locks. The kernel of such a queue is neither swapped nor "
         "moved while it runs. Debug builds of Gyre close a queue that "
         "two threads use at once all the same. Ignored with `policy = drop_oldest`, whose senders receive "
         "what they drop, and with `isolation = process`, where a worker's keeper touches the queue."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_TEXT,
     .key = "header",
     .preset = "none",
     .doc =
         "What every message carries besides its payload: `none`, the bytes of a header (16, 32, 48 or 64), "
         "or the fields that it has to hold, of `type priority id` (16 bytes) `correlation deadline` (32) "
         "`sent sender receiver` (48) `trace` (64). `started` and `finished` let the handler's times be "
         "noted, as `timing` of its kernel does."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "wire",
     .choices = {"none", "memorypack", "memorypack_framed"},
     .preset = "none",
     .doc =
         "In which form messages are sent and received: as the structs of their declaration, as the bytes of "
         "MemoryPack that `GYRE_WIRE` describes, or as these behind a header of 256 bytes each. The kernel "
         "converts, and is compiled for it; all queues of a kernel agree."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_PATH,
     .key = "record",
     .preset = "",
     .doc =
         "A case file to which each request is written with its answer, as the program receives the answers "
         "(docs/testing.md). It begins anew when the queue is opened. Requests of attached programs are not in it."},
#include "core/config/table_recording.h"
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_MS,
     .key = "ttl_ms",
     .min = 0,
     .max = 86400000,
     .preset = "0",
     .doc = "How long after its send a message may wait for its handler. "
            "One that waits longer is completed as a failure (code -11) and "
            "becomes a dead letter. A header may name another deadline. 0: any time."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "dead_letters",
     .min = 0,
     .max = 1 << 20,
     .preset = "1024",
     .doc =
         "How many dead letters are kept until somebody takes them (`gyre_dead_letter_take`, `gyre call "
         "--dead-letters`): messages that expired, that crashed their handler's process each time, or whose "
         "checksum is wrong. The oldest leaves when there are more; it is counted."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "durability",
     .choices = {"none", "journal"},
     .preset = "none",
     .doc = "`journal` writes accepted requests, and the checkpoints of its kernel, "
            "to a file in `journal_dir`, so that they outlive the program: "
            "when it is started again, the queue goes on where it ended."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "fsync",
     .needs = "durability = journal",
     .choices = {"never", "group", "interval"},
     .preset = "group",
     .doc =
         "With a journal: when what was written is forced to the disk, which makes it durable. `group`: with "
         "everything that came since the last time; `interval`: every `fsync_ms`; `never`: it outlives the "
         "program but not a loss of power."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_MS,
     .key = "fsync_ms",
     .needs = "fsync = interval",
     .min = 1,
     .max = 3600000,
     .preset = "10",
     .doc = "With `fsync = interval`: how often."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_SIZE,
     .key = "journal_size",
     .needs = "durability = journal",
     .min = 65536,
     .max = CACHE_MAX,
     .preset = "64 MiB",
     .doc =
         "With a journal: it begins anew, with what is still needed, when it is larger than this. Its disk needs "
         "room for three times as much, and for two states of the kernel."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "dedup",
     .min = 0,
     .max = 1 << 20,
     .preset = "0",
     .doc =
         "How many ids of messages are remembered: a message whose header names one of them is "
         "not sent again (`GYRE_DROPPED`, counted). Messages that name no id are not looked at. An id counts "
         "from its send on, whatever becomes of the message: who sends a failed one again gives it another. Each queue "
         "remembers what was sent into it since it was opened: not what other programs sent, nor, with a "
         "journal, what an earlier run did."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "levels",
     .min = 1,
     .max = 16,
     .preset = "1",
     .doc = "Levels of priority. With more than one, messages wait in front of the "
            "ring and enter it highest level first, by the priority in their headers; "
            "`capacity` of them may wait besides those in the ring. Not with a journal, nor with "
            "`policy = drop_oldest`."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_MS,
     .key = "age_ms",
     .needs = "levels",
     .min = 1,
     .max = 86400000,
     .preset = "100",
     .doc = "With `levels`: a message that waits this long counts as one "
            "of the next level, and so on, so that none waits for ever."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "window",
     .needs = "levels",
     .min = 1,
     .max = 1 << 30,
     .preset = "64",
     .doc =
         "With `levels`: how many messages are in the ring at once, where their order is fixed. Fewer obey "
         "priorities more closely, more keep the device busier."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "order",
     .choices = {"sent", "any"},
     .preset = "sent",
     .doc = "The order in which receivers get completions: that of the sends, or whichever is there first."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "seal",
     .choices = {"none", "crc32c"},
     .preset = "none",
     .doc = "`crc32c` gives each request, with its header, and each reply a checksum, "
            "which the other end looks at: the device before the handler, the program before the receiver. "
            "One that is wrong is a failure (code -12) and a dead letter."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "first_sequence",
     .min = 0,
     .max = INT64_MAX,
     .preset = "0",
     .doc = "The number of the first message; for tests that start near a wrap."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_INT,
     .key = "rings",
     .min = 1,
     .max = 64,
     .preset = "1",
     .doc = "Rings of this name, each as configured here, for programs that open it with `gyre_shards_open`. "
            "As many blocks give each ring one of its own."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_CHOICE,
     .key = "shard",
     .choices = {"producer", "key", "round_robin"},
     .preset = "producer",
     .doc =
         "Which of the rings a message goes to: its thread's, the one of its key (equal keys, equal ring, so "
         "their order is kept), or the next one."},
    {.kind = GYRE_SECTION_QUEUE,
     .type = GYRE_VALUE_TEXT,
     .key = "key",
     .preset = "",
     .doc = "The field of the request that `shard = key` goes by: `account`, or `order.account`."},

#include "core/config/table_pipelines.h"
#include "core/config/table_cluster.h"
};

const struct gyre_config_row *gyre_config_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
