/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that stores messages back to back, both sides of it, while everything that another process could
 * write is changed at random: lengths, outcomes, places, the words and the bytes of the rings. A message may
 * then fail, or the queue say that the other side wrote nonsense; nobody may touch what is not the queue's.
 *
 * Input: bytes that say what happens next.
 */
#include <stdlib.h>
#include <string.h>

#include "core/queue/life.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/ring/bytes.h"
#include "core/stages/make.h"

#include "gyre/kernel.h" /* behind the library's own words, some of which it takes for the handler's */
#include "tests/sanitizers.h"

#if UNDER_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum { LARGEST = 1200, LEAST = 16, CAPACITY = 8, STEPS_MAX = 400 };

struct run {
    const uint8_t *data;
    size_t left;
    gyre_queue *queue;
    gyre_context context;
    gyre_cpu_bridge bridge;
    uint64_t next; /* the device's */
    unsigned char *message;
    volatile unsigned sum; /* so that reads are made */
};

static unsigned take(struct run *run)
{
    if (run->left == 0)
        return 0;
    run->left--;
    return *run->data++;
}

static unsigned take_two(struct run *run)
{
    const unsigned low = take(run);
    return low | take(run) << 8;
}

static void read_bytes(struct run *run, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run->sum += ((const unsigned char *)bytes)[i];
}

static void send(struct run *run)
{
    uint32_t used = LEAST + take_two(run) % (LARGEST - LEAST + 1);
    memcpy(run->message, &used, sizeof used);
    gyre_send(run->queue, run->message, used, NULL, GYRE_NO_WAIT);
}

static void send_in_place(struct run *run)
{
    void *place = NULL;
    const size_t room = LEAST + take_two(run) % (LARGEST - LEAST + 1);
    uint32_t used = (uint32_t)(LEAST + take_two(run) % (room - LEAST + 1));
    if (gyre_reserve_sized(run->queue, room, &place, GYRE_NO_WAIT) != GYRE_OK)
        return;
    memset(place, 1, room);
    memcpy(place, &used, sizeof used);
    gyre_commit(run->queue, 1);
}

/* Reads the whole request, and writes a reply of any length. */
static int handle(const void *request, void *reply, void *state, void *scratch, const gyre_binding *buffers,
                  gyre_context *context)
{
    struct run *run = context->owner;
    uint32_t used;
    (void)state, (void)scratch, (void)buffers;
    memcpy(&used, request, sizeof used);
    read_bytes(run, request, used <= LARGEST ? used : 0); /* who sent it may have changed it since */
    used = take_two(run) % (LARGEST + 8);
    memset(reply, 2, LARGEST);
    memcpy(reply, &used, sizeof used);
    return GYRE_OUTCOME_REPLY;
}

static void serve(struct run *run)
{
    static const gyre_cpu_sizes sizes = {LARGEST, LEAST, LARGEST, LEAST};
    const gyre_queue *queue = run->queue;
    gyre_u64 command = 1;
    gyre_cpu_run batch = {.requests = gyre_ring_of(queue)->requests,
                          .replies = gyre_ring_of(queue)->replies,
                          .mask = gyre_ring_of(queue)->mask,
                          .first = run->next,
                          .limit = 1 + take(run) % 4,
                          .request_stride = gyre_ring_of(queue)->slots.request_stride,
                          .reply_stride = gyre_ring_of(queue)->slots.reply_stride,
                          .host = &gyre_ring_of(queue)->shared->host,
                          .command = &command,
                          .expected = 1,
                          .context = &run->context,
                          .bridge = &run->bridge};
    run->next += gyre_run_bridged_(&batch, &sizes, handle);
}

static void receive(struct run *run)
{
    const size_t size = 1 + take_two(run) % LARGEST;
    unsigned char *reply = malloc(size);
    gyre_completion completion;
    if (reply && gyre_receive(run->queue, reply, size, &completion, GYRE_NO_WAIT) == GYRE_OK)
        read_bytes(run, reply, completion.outcome == GYRE_REPLIED ? completion.length : 0);
    free(reply);
}

static void look(struct run *run)
{
    gyre_view views[4];
    size_t found = 0;
    if (gyre_peek(run->queue, views, 1 + take(run) % 4, &found, GYRE_NO_WAIT) != GYRE_OK)
        return;
    for (size_t i = 0; i < found; i++)
        read_bytes(run, views[i].reply, views[i].length);
    gyre_release_views(run->queue, found > 0 ? 1 + take(run) % found : 0);
}

/* Slots, but for their sequences, which say whose they are; the words; the rings. */
static void corrupt(struct run *run)
{
    gyre_queue *queue = run->queue;
    const gyre_bridge *layout = gyre_bytes_layout(gyre_ring_of(queue));
    const unsigned what = take(run), place = take_two(run), value = take(run);
    unsigned char *region = gyre_ring_of(queue)->region.address;
    unsigned char *slot = (what & 1 ? gyre_ring_of(queue)->requests : gyre_ring_of(queue)->replies) +
                          place % CAPACITY * GYRE_LINE_SIZE;
    if (what % 8 < 6)
        slot[8 + (place >> 3) % (GYRE_LINE_SIZE - 8)] = (unsigned char)value;
    else if (what % 8 == 6)
        region[layout->words_offset + place % (sizeof(gyre_bridge_words) + sizeof(gyre_bridge_track))] =
            (unsigned char)value;
    else
        region[layout->request_offset + place % (gyre_ring_of(queue)->shared->shape.region_size -
                                                 layout->request_offset)] = (unsigned char)value;
}

/* What a worker does when it takes the queue up: from words that anybody may have written. */
static void take_up(struct run *run)
{
    const gyre_bridge *layout = gyre_bytes_layout(gyre_ring_of(run->queue));
    unsigned char *region = gyre_ring_of(run->queue)->region.address;
    gyre_bridge_words *words = (gyre_bridge_words *)(void *)(region + layout->words_offset);
    const gyre_bridge_track *track = (const gyre_bridge_track *)(const void *)(words + 1);
    run->bridge = (gyre_cpu_bridge){.requests = region + layout->request_offset,
                                    .replies = region + layout->reply_offset,
                                    .spare = region + layout->spare_offset,
                                    .tail = &track->tail,
                                    .received = &words->received,
                                    .head = track->head,
                                    .tail_seen = track->tail,
                                    .request_bytes = layout->request_bytes,
                                    .reply_bytes = layout->reply_bytes};
}

static void step(struct run *run)
{
    switch (take(run) % 8) {
    case 0:
        send(run);
        break;
    case 1:
        send_in_place(run);
        break;
    case 2:
    case 3:
        serve(run);
        break;
    case 4:
        receive(run);
        break;
    case 5:
        look(run);
        break;
    case 6:
        corrupt(run);
        break;
    default:
        if (take(run) % 4 == 0) {
            gyre_queue_resume_bytes(run->queue);
            take_up(run);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gyre_control_region control;
    struct run run = {.data = data, .left = size, .message = calloc(1, LARGEST)};
    const struct gyre_queue_options options = {.name = "fuzz",
                                               .capacity = CAPACITY,
                                               .request_size = LARGEST,
                                               .reply_size = LARGEST,
                                               .request_least = LEAST,
                                               .reply_least = LEAST,
                                               .policy = GYRE_FULL_REJECT,
                                               .idle = GYRE_WAIT_SPIN,
                                               .bridged_requests = true,
                                               .bridged_replies = true,
                                               .bytes = 1,
                                               .tracks = 1,
                                               .control = &control};
    if (!run.message || gyre_queue_create(&options, &run.queue) != GYRE_OK)
        abort();
    unsigned char *region = gyre_ring_of(run.queue)->region.address;
    const size_t used = gyre_ring_of(run.queue)->shared->shape.region_size,
                 mapped = gyre_ring_of(run.queue)->region.size;
    ASAN_POISON_MEMORY_REGION(region + used, mapped - used);
    run.context.owner = &run;
    take_up(&run);
    for (int i = 0; run.left > 0 && i < STEPS_MAX; i++)
        step(&run);
    ASAN_UNPOISON_MEMORY_REGION(region + used, mapped - used);
    gyre_queue_destroy(run.queue);
    free(run.message);
    return 0;
}
