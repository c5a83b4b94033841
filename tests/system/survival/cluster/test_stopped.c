/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is stopped at any call that it makes within an operation on the file transport, while others go on, and that goes on
 * afterwards: one case a run, `test_stopped CASE`. The plugin calls the functions below, which stop the process.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "gyre/backend.h"
#include "gyre/waiting.h"
#include "members.h"
#include "workers.h"

/* ---- calls at which a process stops ---- */

static unsigned calls_left; /* it stops before this call; 0: never */
static unsigned calls_then; /* and then before so many more */

static void step(void)
{
    if (!calls_left || --calls_left != 0)
        return;
    require(raise(SIGSTOP) == 0);
    calls_left = calls_then;
    calls_then = 0;
}

GYRE_BACKEND_EXPORT ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    step();
    return syscall(SYS_pwrite64, file, bytes, size, at);
}

static unsigned reads_left; /* it stops before this read of a file; 0: never */

GYRE_BACKEND_EXPORT ssize_t pread(int file, void *bytes, size_t size, off_t at)
{
    if (reads_left && --reads_left == 0)
        require(raise(SIGSTOP) == 0);
    return syscall(SYS_pread64, file, bytes, size, at);
}

GYRE_BACKEND_EXPORT int openat(int in, const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    step();
    return (int)syscall(SYS_openat, in, name, flags, mode);
}

GYRE_BACKEND_EXPORT int renameat(int from_in, const char *from, int to_in, const char *to)
{
    step();
    return (int)syscall(SYS_renameat, from_in, from, to_in, to);
}

GYRE_BACKEND_EXPORT int unlinkat(int in, const char *name, int flags)
{
    step();
    return (int)syscall(SYS_unlinkat, in, name, flags);
}

GYRE_BACKEND_EXPORT int ftruncate(int file, off_t size)
{
    step();
    return (int)syscall(SYS_ftruncate, file, size);
}

GYRE_BACKEND_EXPORT int fchmod(int file, mode_t mode)
{
    step();
    return (int)syscall(SYS_fchmod, file, mode);
}

GYRE_BACKEND_EXPORT int faccessat(int in, const char *name, int mode, int flags)
{
    step();
    return (int)syscall(SYS_faccessat, in, name, mode, flags);
}

GYRE_BACKEND_EXPORT int flock(int file, int how)
{
    step();
    return (int)syscall(SYS_flock, file, how);
}

/* ---- a process that works and may be stopped ---- */

enum { TEXTS = 64, BLOCKS_OF_A_SEGMENT = 8 };

static struct gyre_config *config;
static struct gyre_transport *transport;
static char log_name[32];

static void open_own(void)
{
    const struct gyre_config_desc desc = {.api = cluster_settings("cluster.reach_ms=20")};
    must(gyre_config_load(&desc, &config));
    must(gyre_transport_open(config, NULL, NULL, soon(), &transport));
}

static void begin(void)
{
    begin_cluster();
    open_own();
}

static gyre_transport_block block_of(const void *bytes, size_t size)
{
    return (gyre_transport_block){.size = sizeof(gyre_transport_block),
                                  .bytes = bytes,
                                  .byte_count = size,
                                  .expected = GYRE_TRANSPORT_ANY};
}

/* On a busy machine all of reach_ms may pass between two looks at a lock, and nothing is appended then: it is tried again. */
static gyre_status append_block(const void *bytes, size_t size, uint64_t *number)
{
    const gyre_transport_block block = block_of(bytes, size);
    const uint64_t until = soon();
    gyre_status status;
    do
        status = gyre_transport_append(transport, log_name, &block, number);
    while (status == GYRE_UNAVAILABLE && gyre_clock_ns() < until);
    return status;
}

static gyre_status append_text(const char *text, uint64_t *number)
{
    return append_block(text, strlen(text), number);
}

static gyre_status put_child(void)
{
    uint64_t revision;
    return gyre_transport_record_put(transport, log_name, "child", 5, 1, &revision);
}

static gyre_status append_child(void)
{
    const gyre_transport_block block = block_of("child", strlen("child"));
    return gyre_transport_append(transport, log_name, &block, NULL);
}

struct worker {
    pid_t process;
    int result;       /* a pipe */
    gyre_status told; /* to a process that ended without a stop */
};

/* Begins an operation in a process that stops before its call number `call`. False: it has fewer calls, and ended. */
static bool begin_stopped(struct worker *worker, gyre_status (*operation)(void), unsigned call)
{
    int ends[2], state;
    require(pipe(ends) == 0);
    worker->process = fork();
    require(worker->process >= 0);
    if (worker->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        open_own();
        calls_left = call;
        const gyre_status status = operation();
        calls_left = calls_then = reads_left = 0;
        _exit(write(ends[1], &status, sizeof status) == sizeof status ? 0 : 1);
    }
    close(ends[1]);
    worker->result = ends[0];
    require(waitpid(worker->process, &state, WUNTRACED) == worker->process);
    if (WIFSTOPPED(state))
        return true;
    require(read(ends[0], &worker->told, sizeof worker->told) == sizeof worker->told);
    close(ends[0]);
    return false;
}

static gyre_status end_stopped(const struct worker *worker)
{
    gyre_status status;
    int state;
    require(kill(worker->process, SIGCONT) == 0);
    require(read(worker->result, &status, sizeof status) == sizeof status);
    require(waitpid(worker->process, &state, 0) == worker->process && WIFEXITED(state));
    close(worker->result);
    return status;
}

/* ---- what a reader sees ---- */

static char texts[TEXTS][16];
static unsigned text_count;
static uint64_t read_to;

/* Reads on; blocks that are not texts are of the filling. */
static void read_on(void)
{
    static unsigned char bytes[GYRE_TRANSPORT_BLOCK_MAX];
    size_t size;
    uint64_t number;
    gyre_status status;
    while ((status = gyre_transport_read(transport, log_name, read_to, bytes, sizeof bytes, &size,
                                         &number)) == GYRE_OK) {
        read_to = number;
        if (size >= sizeof texts[0])
            continue;
        require(text_count < TEXTS);
        memset(texts[text_count], 0, sizeof texts[0]);
        memcpy(texts[text_count++], bytes, size);
    }
    require(status == GYRE_AGAIN);
}

static void read_anew(void)
{
    gyre_transport_close(transport);
    gyre_config_destroy(config);
    open_own();
    text_count = 0;
    read_to = 0;
    read_on();
}

static unsigned count_of(const char *text)
{
    unsigned count = 0;
    for (unsigned i = 0; i < text_count; i++)
        count += strcmp(texts[i], text) == 0;
    return count;
}

/* A reader from the begin on saw the same as one that reads now, and each text as often as its writer was told. */
static void require_texts(unsigned others, const gyre_status *told, unsigned told_count)
{
    static char seen[TEXTS][16];
    const unsigned seen_count = text_count;
    unsigned least = 0, most = 0;
    memcpy(seen, texts, sizeof seen);
    read_anew();
    if (seen_count != text_count || memcmp(seen, texts, seen_count * sizeof seen[0]) != 0)
        for (unsigned i = 0; i < seen_count || i < text_count; i++)
            fprintf(stderr, "%s: text %u: seen '%s', there '%s'\n", log_name, i,
                    i < seen_count ? seen[i] : "", i < text_count ? texts[i] : "");
    require(seen_count == text_count && memcmp(seen, texts, seen_count * sizeof seen[0]) == 0);
    for (unsigned i = 0; i < told_count; i++) {
        require(told[i] == GYRE_OK || told[i] == GYRE_TIMEOUT || told[i] == GYRE_UNAVAILABLE);
        least += told[i] == GYRE_OK;
        most += told[i] != GYRE_UNAVAILABLE;
    }
    require(count_of("child") >= least && count_of("child") <= most);
    require(text_count == others + count_of("child"));
}

/* ---- cases ---- */

static void begin_log(const char *kind, unsigned number, unsigned filling)
{
    static unsigned char bytes[GYRE_TRANSPORT_BLOCK_MAX];
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = bytes, .byte_count = sizeof bytes, .expected = GYRE_TRANSPORT_ANY};
    snprintf(log_name, sizeof log_name, "%s.%u", kind, number);
    text_count = 0;
    read_to = 0;
    for (unsigned i = 0; i < filling; i++)
        must(gyre_transport_append(transport, log_name, &block, NULL));
}

/* Stops an append at each of its calls. Returns how many took the lock over. */
static void stop_appends(const char *kind, unsigned filling, bool has_text)
{
    unsigned counted = 0, unknown = 0;
    bool stops = true;
    for (unsigned call = 1; stops; call++) {
        struct worker worker;
        uint64_t own = 0, last;
        begin_log(kind, call, filling);
        if (has_text)
            must(append_text("first", NULL));
        read_on();
        stops = begin_stopped(&worker, append_child, call);
        if (!stops)
            break;
        read_on();
        must(append_text("other", &own));
        read_on();
        require(count_of("other") == 1);
        const gyre_status told = end_stopped(&worker);
        read_on();
        must(append_text("after", &last));
        read_on();
        require(last > own && strcmp(texts[text_count - 1], "after") == 0);
        require_texts(has_text ? 3 : 2, &told, 1);
        counted += told == GYRE_OK;
        unknown += told == GYRE_TIMEOUT;
    }
    require(counted > 0 && unknown > 0); /* before it has the lock, and beside the write */
}

static void an_append_that_stops_counts_or_not(void)
{
    stop_appends("in", 0, true);
}

static void a_first_append_that_stops_counts_or_not(void)
{
    stop_appends("first", 0, false);
}

static void an_append_to_a_new_segment_that_stops_counts_or_not(void)
{
    stop_appends("full", BLOCKS_OF_A_SEGMENT, false);
}

static gyre_status append_child_to_open_log(void)
{
    uint64_t last;
    const unsigned call = calls_left;
    calls_left = 0;
    must(gyre_transport_last(transport, log_name, &last));
    calls_left = call;
    return append_child();
}

/* Stops while it looks for the end of the log. */
static gyre_status append_child_and_stop_before_a_read(void)
{
    reads_left = calls_left;
    calls_left = 0;
    return append_child();
}

/* Who takes the lock over is stopped within that, too; the first one goes on before another one takes it over again, or after. */
static bool stop_two(gyre_status (*operation)(void), unsigned first, unsigned call, bool goes_on_first)
{
    struct worker workers[2];
    gyre_status told[2];
    begin_log(operation != append_child_to_open_log ? "reads"
              : goes_on_first                       ? "early"
                                                    : "late",
              first * 1000 + call, 0);
    must(append_text("first", NULL));
    read_on();
    require(begin_stopped(&workers[0], operation, first));
    const bool stops = begin_stopped(&workers[1], append_child, call);
    if (goes_on_first)
        told[0] = end_stopped(&workers[0]);
    read_on();
    must(append_text("other", NULL));
    read_on();
    if (!goes_on_first)
        told[0] = end_stopped(&workers[0]);
    must(append_text("between", NULL));
    read_on();
    told[1] =
        stops ? end_stopped(&workers[1]) : workers[1].told; /* a busy machine may leave it without the lock */
    must(append_text("after", NULL));
    read_on();
    require_texts(4, told, 2);
    return stops;
}

static void who_takes_over_may_stop_too(void)
{
    enum { BEFORE_IT_LOOKS = 2, BEFORE_IT_WRITES = 3 }; /* for a later generation; the block */
    for (unsigned first = BEFORE_IT_LOOKS; first <= BEFORE_IT_WRITES; first++)
        for (unsigned call = 1; stop_two(append_child_to_open_log, first, call, false) &&
                                stop_two(append_child_to_open_log, first, call, true);)
            call++;
}

static void who_takes_over_may_stop_beside_one_who_reads(void)
{
    for (unsigned read = 1; read <= 2; read++)
        for (unsigned call = 1; stop_two(append_child_and_stop_before_a_read, read, call, true);)
            call++;
}

/* Both are killed, and nobody appends: what was acknowledged is read. */
static void a_reader_ends_what_others_began(void)
{
    bool stops = true;
    for (unsigned call = 1; stops; call++) {
        struct worker workers[2];
        begin_log("dead", call, 0);
        must(append_text("first", NULL));
        require(begin_stopped(&workers[0], append_child_to_open_log, 3));
        stops = begin_stopped(&workers[1], append_child, call);
        for (unsigned i = 0; i < 1u + stops; i++) {
            require(kill(workers[i].process, SIGKILL) == 0);
            require(waitpid(workers[i].process, NULL, 0) == workers[i].process);
            close(workers[i].result);
        }
        read_to = 0;
        must(gyre_transport_wait(transport, log_name, 0, soon()));
        read_anew();
        require(count_of("first") == 1 && text_count == 1 + count_of("child"));
    }
}

/* Goes on, and stops once more before so many calls while others append. False: it ended before that. */
static bool stop_again(const struct worker *worker)
{
    int state;
    require(kill(worker->process, SIGCONT) == 0);
    require(waitpid(worker->process, &state, WUNTRACED) == worker->process);
    if (!WIFSTOPPED(state))
        close(worker->result);
    return WIFSTOPPED(state);
}

/* Who lost the lock and goes on beside others who append harms none of them. False: it has fewer calls. */
static bool append_beside_a_loser(const char *kind, unsigned filling, unsigned call, unsigned then)
{
    struct worker worker;
    begin_log(kind, call * 100 + then, filling);
    must(append_text("first", NULL));
    read_on();
    calls_then = then;
    const bool stops = begin_stopped(&worker, append_child, call);
    calls_then = 0;
    must(append_text("other", NULL));
    const bool stops_again = stops && stop_again(&worker);
    must(append_text("mine", NULL));
    read_on();
    const gyre_status told = stops_again ? end_stopped(&worker) : GYRE_TIMEOUT;
    must(append_text("after", NULL));
    read_on();
    require(count_of("mine") == 1 && count_of("other") == 1);
    require_texts(4, &told, 1);
    return stops_again;
}

static void who_lost_the_lock_harms_nobody(void)
{
    enum { CALLS = 24 };
    unsigned stopped = 0;
    for (unsigned call = 1; call < CALLS; call++)
        for (unsigned then = 1; then < CALLS && append_beside_a_loser("beside", 0, call, then); then++)
            stopped++;
    for (unsigned call = 4; call < CALLS; call += 2)
        for (unsigned then = 1;
             then < CALLS && append_beside_a_loser("beside_full", BLOCKS_OF_A_SEGMENT, call, then); then += 2)
            stopped++;
    require(stopped > CALLS);
}

/* Others append and purge meanwhile: whoever lost the lock makes no segment where none is any more. */
static void who_lost_the_lock_leaves_no_segment(void)
{
    static unsigned char bytes[GYRE_TRANSPORT_BLOCK_MAX];
    bool stops = true;
    for (unsigned call = 1; stops; call++) {
        struct worker worker;
        size_t size;
        uint64_t last = 0, first = 0;
        begin_log("left", call, call % 2 ? BLOCKS_OF_A_SEGMENT : 0);
        stops = begin_stopped(&worker, append_child, call);
        for (int i = 0; i < 2 * BLOCKS_OF_A_SEGMENT; i++)
            must(append_block(bytes, sizeof bytes, &last));
        must(gyre_transport_purge(transport, log_name, last));
        if (stops)
            end_stopped(&worker);
        must(gyre_transport_read(transport, log_name, 0, bytes, sizeof bytes, &size, &first));
        read_anew();
    }
}

static void a_record_that_stops_is_kept_or_not(void)
{
    unsigned kept = 0, refused = 0;
    for (unsigned call = 1;; call++) {
        struct worker worker;
        char bytes[16] = "";
        size_t size;
        uint64_t revision, now;
        snprintf(log_name, sizeof log_name, "record.%u", call);
        must(gyre_transport_record_put(transport, log_name, "first", 5, 0, &revision));
        if (!begin_stopped(&worker, put_child, call))
            break;
        const gyre_status other = gyre_transport_record_put(transport, log_name, "other", 5, 1, &revision);
        const gyre_status told = end_stopped(&worker);
        must(gyre_transport_record_get(transport, log_name, bytes, sizeof bytes, &size, &now));
        require(now == 2 && (other == GYRE_OK) + (told == GYRE_OK) == 1);
        require(strcmp(bytes, other == GYRE_OK ? "other" : "child") == 0);
        require(other == GYRE_OK || other == GYRE_AGAIN);
        require(told == GYRE_OK || told == GYRE_AGAIN || told == GYRE_UNAVAILABLE);
        kept += told == GYRE_OK;
        refused += told == GYRE_UNAVAILABLE;
    }
    require(kept > 0 && refused > 0);
}

static const named_case cases[] = {
    {"an_append_that_stops_counts_or_not", an_append_that_stops_counts_or_not},
    {"a_first_append_that_stops_counts_or_not", a_first_append_that_stops_counts_or_not},
    {"an_append_to_a_new_segment_that_stops_counts_or_not",
     an_append_to_a_new_segment_that_stops_counts_or_not},
    {"who_takes_over_may_stop_too", who_takes_over_may_stop_too},
    {"who_takes_over_may_stop_beside_one_who_reads", who_takes_over_may_stop_beside_one_who_reads},
    {"who_lost_the_lock_harms_nobody", who_lost_the_lock_harms_nobody},
    {"who_lost_the_lock_leaves_no_segment", who_lost_the_lock_leaves_no_segment},
    {"a_reader_ends_what_others_began", a_reader_ends_what_others_began},
    {"a_record_that_stops_is_kept_or_not", a_record_that_stops_is_kept_or_not},
};

int main(int argc, char **argv)
{
    const int code = RUN_NAMED(argc, argv, begin, cases);
    gyre_transport_close(transport);
    gyre_config_destroy(config);
    return end_cluster(code);
}
