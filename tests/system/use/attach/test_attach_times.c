/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only clients of attached queues know, the times of their messages and what was refused: their server shows it, and what a client
 * makes up spoils the figures of its own queue alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/observed/times.h"
#include "core/observation/observed.h"
#include "core/ring/told_times.h"
#include "doubles.h"
#include "parties.h"

enum { MESSAGES = 3000, EVERY = 8, OWN = 40, LAST = GYRE_OBSERVE_BUCKETS - 1, REFUSED = 6 };

static char folder[64];

/* What the client says, in memory that both have. */
static struct exact {
    uint64_t count;
    uint64_t trips_ns[MESSAGES]; /* as gyre_timing_get told each of them */
} * exact;

/* ---- the server ---- */

static void remove_folder(void)
{
    if (folder[0])
        rmdir(folder);
}

/* A runtime that is observed in a folder of its own. */
static gyre_runtime *open_observed(const char *every)
{
    char setting[96];
    snprintf(folder, sizeof folder, "/tmp/gyre-times-XXXXXX");
    require(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    snprintf(setting, sizeof setting, "observe.folder=%s", folder);
    return open_plain(
        (const char *const[]){setting, "observe.every_ms=10", "kernel.default.timing=true", every, NULL});
}

/* Reads the one file in the folder. */
static bool look(struct gyre_observed *seen)
{
    struct gyre_observed_file *files = NULL;
    enum gyre_observed_life life;
    size_t count = 0;
    must(gyre_observed_find(folder, &files, &count));
    const bool read = count == 1 && gyre_observed_read(files[0].path, seen, &life) == GYRE_OK;
    gyre_observed_files_free(files, count);
    return read;
}

/* The histogram of the first record of that kind, of a queue that is lent or not. False: there is none now. */
static bool find_times(uint32_t kind, bool is_lent, enum gyre_observe_time time, gyre_observe_histogram *out)
{
    struct gyre_observed seen;
    gyre_observe_record record;
    bool found = false;
    if (!look(&seen))
        return false;
    for (uint32_t at = 1; at < gyre_observed_records(&seen) && !found; at++)
        found = gyre_observed_record(&seen, at, &record) && record.kind == kind &&
                (kind != GYRE_OBSERVE_QUEUE || is_lent == (record.detail[0] != '\0')) &&
                gyre_observed_histogram(&seen, at, time, out);
    gyre_observed_finish(&seen);
    return found;
}

/* Waits until the histogram has `count` messages. */
static void await_times(uint32_t kind, bool is_lent, enum gyre_observe_time time, uint64_t count,
                        gyre_observe_histogram *out)
{
    const uint64_t until = soon();
    while (!find_times(kind, is_lent, time, out) || times_count(out) < count) {
        require(gyre_in_ms(0) < until);
        usleep(2000);
    }
}

/* A client stores a message's bucket before the sum, and may be interrupted between them. */
static void await_sum(gyre_observe_histogram *times, uint64_t sum_ns)
{
    const uint64_t until = soon();
    while (times->sum_ns != sum_ns) {
        require(gyre_in_ms(0) < until);
        usleep(2000);
        await_times(GYRE_OBSERVE_QUEUE, true, GYRE_OBSERVE_ROUND_TRIP, exact->count, times);
        require(times_count(times) == exact->count);
    }
}

/* ---- clients ---- */

static void note_trip(gyre_queue *queue, uint64_t index)
{
    gyre_timing timing = {.size = sizeof timing};
    if (index % EVERY != 0)
        return;
    must(gyre_timing_get(queue, index, &timing));
    exact->trips_ns[exact->count++] = timing.received_ns - timing.sent_ns;
}

/* Calls, and streams, whose messages wait for each other. */
static void send_and_note(const party *self)
{
    enum { BATCH = 64 };
    party_wait(self);
    gyre_queue *queue = attach_fragile();
    uint64_t index = 0;
    for (; index < MESSAGES / 2; index++) {
        call_right(queue, index);
        note_trip(queue, index);
    }
    for (uint64_t end = index; index < MESSAGES;) {
        end = end + BATCH < MESSAGES ? end + BATCH : MESSAGES;
        stream_right(queue, index, end - index);
        for (; index < end; index++)
            note_trip(queue, index);
    }
    party_say(self, 'd');
    party_wait(self);
    gyre_queue_close(queue);
}

/* Overwrites what the queue tells, which lies at the end of its memory. The queue of this program is the newest. */
static void make_times_up(const struct iovec *region, int byte)
{
    const size_t room = (sizeof(struct gyre_told_times) + 63) / 64 * 64;
    memset((char *)region->iov_base + region->iov_len - room, byte, room);
}

static bool was_there(const struct iovec *regions, size_t count, const struct iovec *region)
{
    for (size_t i = 0; i < count; i++)
        if (regions[i].iov_base == region->iov_base)
            return true;
    return false;
}

static void lie(const party *self)
{
    struct iovec before[16], after[16];
    party_wait(self);
    const size_t had = writable_regions(before, 16);
    gyre_queue *queue = attach_fragile();
    const size_t has = writable_regions(after, 16);
    call_right(queue, 1);
    size_t written = 0;
    for (size_t i = 0; i < has; i++)
        if (!was_there(before, had, &after[i])) {
            make_times_up(&after[i], 0xff);
            written++;
        }
    require(written == 1);
    party_say(self, 'd');
    party_wait(self);
    for (size_t i = 0; i < has; i++)
        if (!was_there(before, had, &after[i]))
            make_times_up(&after[i], 0);
    call_right(queue, 2);
    party_say(self, 'd');
    party_wait(self);
    gyre_queue_close(queue);
}

/* Has sends refused, at once and when their deadline passes, and leaves then; in between it claims that more were. */
static void be_refused(const party *self)
{
    struct iovec before[16], after[16];
    const crash_request request = {.number = 1};
    party_wait(self);
    const size_t had = writable_regions(before, 16);
    gyre_queue *queue = attach_fragile();
    const size_t has = writable_regions(after, 16);
    while (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK)
        continue;
    for (int i = 1; i < REFUSED - 1; i++)
        require(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    require(gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(1)) == GYRE_TIMEOUT);
    party_say(self, 'd');
    party_wait(self);
    for (size_t i = 0; i < has; i++)
        if (!was_there(before, had, &after[i]))
            ((gyre_queue_region *)after[i].iov_base)->device.told_refused = UINT64_MAX;
    party_say(self, 'd');
    party_wait(self);
    gyre_queue_close(queue);
}

/* ---- cases ---- */

static int compare_ns(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

/* The time that `share` of the noted messages did not exceed. */
static double exact_percentile(double share)
{
    const double wanted = share * (double)exact->count;
    uint64_t at = (uint64_t)wanted;
    at = (double)at < wanted ? at + 1 : at;
    return (double)exact->trips_ns[at - 1] / 1e9;
}

static void check_percentile(const gyre_observe_histogram *times, double share)
{
    const double told = times_percentile(times, share), wanted = exact_percentile(share);
    const double most = wanted * 0.0625 > 4e-9 ? wanted * 0.0625 : 4e-9; /* below 64 ns: buckets of 8 ns */
    if (told - wanted > most || wanted - told > most)
        fprintf(stderr, "percentile %g: expected %g s within 6.25 %%, found %g s\n", share, wanted, told);
    require(told - wanted <= most && wanted - told <= most);
}

static void round_trips_of_a_client_are_those_that_it_had(void)
{
    gyre_observe_histogram times;
    exact = mmap(NULL, sizeof *exact, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(exact != MAP_FAILED);
    meeting_place();
    party client = party_start(send_and_note);
    gyre_runtime *runtime = open_observed("kernel.default.timing_every=8");
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    party_tell(&client, 'a');
    require(party_hear(&client) == 'd');
    require(exact->count == MESSAGES / EVERY);
    await_times(GYRE_OBSERVE_QUEUE, true, GYRE_OBSERVE_ROUND_TRIP, exact->count, &times);
    require(times_count(&times) == exact->count);
    uint64_t sum_ns = 0;
    for (uint64_t i = 0; i < exact->count; i++)
        sum_ns += exact->trips_ns[i];
    await_sum(&times, sum_ns);
    qsort(exact->trips_ns, exact->count, sizeof exact->trips_ns[0], compare_ns);
    check_percentile(&times, 0.5);
    check_percentile(&times, 0.99);
    await_times(GYRE_OBSERVE_QUEUE, true, GYRE_OBSERVE_WAITED, exact->count, &times);
    party_tell(&client, 'g');
    require(party_end(&client) == 0);
    gyre_server_close(server);
    gyre_close(runtime);
    munmap(exact, sizeof *exact);
}

static void a_client_that_makes_times_up_spoils_its_own(void)
{
    gyre_observe_histogram times;
    meeting_place();
    party client = party_start(lie);
    gyre_runtime *runtime = open_observed(NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1));
    gyre_server *server = serve_at_place(runtime);
    party_tell(&client, 'a');
    require(party_hear(&client) == 'd');
    await_times(GYRE_OBSERVE_QUEUE, true, GYRE_OBSERVE_HANDLED, UINT64_C(1) << 48, &times);
    for (uint64_t i = 0; i < OWN; i++)
        call_right(queue, i);
    await_times(GYRE_OBSERVE_KERNEL, false, GYRE_OBSERVE_HANDLED, OWN, &times);
    require(times_count(&times) == OWN); /* nothing of what the client says, nor of what was its */
    await_times(GYRE_OBSERVE_QUEUE, false, GYRE_OBSERVE_ROUND_TRIP, OWN, &times);
    require(times_count(&times) == OWN);
    party_tell(&client, 'g');
    require(party_hear(&client) == 'd');
    require(find_times(GYRE_OBSERVE_QUEUE, true, GYRE_OBSERVE_HANDLED, &times));
    require(times.buckets[LAST] == UINT64_C(1) << 48); /* what was shown does not fall */
    party_tell(&client, 'g');
    require(party_end(&client) == 0);
    call_right(queue, 3);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* A value of the first record of that kind, of a queue that is lent; 0: there is none now. */
static uint64_t value_of(uint32_t kind, uint32_t word)
{
    struct gyre_observed seen;
    gyre_observe_record record;
    uint64_t value = 0;
    if (!look(&seen))
        return 0;
    for (uint32_t at = 1; at < gyre_observed_records(&seen) && !value; at++)
        if (gyre_observed_record(&seen, at, &record) && record.kind == kind &&
            (kind != GYRE_OBSERVE_QUEUE || record.detail[0]))
            value = gyre_observed_value(&seen, at, word);
    gyre_observed_finish(&seen);
    return value;
}

static void await_value(uint32_t kind, uint32_t word, uint64_t value)
{
    const uint64_t until = soon();
    while (value_of(kind, word) != value) {
        require(gyre_in_ms(0) < until);
        usleep(2000);
    }
}

/* Waits until the queue's record is written once more. */
static void await_look(void)
{
    const uint64_t until = soon();
    uint64_t first = 0, now = 0;
    while (!now || now == first) {
        require(gyre_in_ms(0) < until);
        usleep(2000);
        now = value_of(GYRE_OBSERVE_QUEUE, 0);
        first = first ? first : now;
    }
}

/* Also when the client has left. */
static void what_a_client_is_refused_is_seen_by_its_server(void)
{
    meeting_place();
    party client = party_start(be_refused);
    gyre_runtime *runtime = open_observed(NULL);
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    party_tell(&client, 'a');
    require(party_hear(&client) == 'd');
    await_value(GYRE_OBSERVE_QUEUE, GYRE_OBSERVE_QUEUE_REJECTED, REFUSED);
    require(value_of(GYRE_OBSERVE_QUEUE, GYRE_OBSERVE_QUEUE_REFUSED_LAST_NS) > 0);
    party_tell(&client, 'g');
    require(party_hear(&client) == 'd');
    for (int looks = 0; looks < 2; looks++) /* the first one may have begun before the claim */
        await_look();
    require(value_of(GYRE_OBSERVE_QUEUE, GYRE_OBSERVE_QUEUE_REJECTED) ==
            REFUSED); /* no such number is believed */
    party_tell(&client, 'g');
    require(party_end(&client) == 0);
    await_value(GYRE_OBSERVE_KERNEL, GYRE_OBSERVE_KERNEL_CLOSED_REFUSED, REFUSED);
    require(value_of(GYRE_OBSERVE_KERNEL, GYRE_OBSERVE_KERNEL_CLOSED_LAST_NS) > 0);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void ask_doubles(const char *kernel)
{
    gyre_queue *queue = NULL;
    const gyre_attach_desc desc = {.size = sizeof desc,
                                   .path = meeting_place(),
                                   .request = GYRE_TYPE(doubles),
                                   .reply = GYRE_TYPE(doubles)};
    must(gyre_attach(kernel, &desc, &queue));
    for (uint32_t number = 1; number < 100; number++) {
        const doubles request = {.number = number};
        doubles reply = {0};
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.number == number * 2 && reply.other == 1);
    }
    gyre_queue_close(queue);
}

static void ask_for_doubles(const party *self)
{
    party_wait(self);
    ask_doubles("doubles_lane");
    ask_doubles("doubles_actor");
}

/* A copy of a request is made before its handler reads it, whatever a compiler thinks of their types. */
static void timed_requests_are_those_that_were_sent(void)
{
    meeting_place();
    party client = party_start(ask_for_doubles);
    gyre_runtime *runtime = open_plain(
        (const char *const[]){"kernel.default.timing=true", "kernel.default.timing_every=1", NULL});
    for (int i = 0; i < 2; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {
            .size = sizeof desc, .source = DOUBLES_KERNELS, .kernel = i ? "doubles_actor" : "doubles_lane"};
        must(gyre_launch(runtime, &desc, &kernel));
    }
    gyre_server *server = serve_at_place(runtime);
    party_tell(&client, 'a');
    require(party_end(&client) == 0);
    gyre_server_close(server);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"timed_requests_are_those_that_were_sent", timed_requests_are_those_that_were_sent},
    {"round_trips_of_a_client_are_those_that_it_had", round_trips_of_a_client_are_those_that_it_had},
    {"a_client_that_makes_times_up_spoils_its_own", a_client_that_makes_times_up_spoils_its_own},
    {"what_a_client_is_refused_is_seen_by_its_server", what_a_client_is_refused_is_seen_by_its_server},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
