/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed actors against a model that handles one message after the other. */
#include "conformance.h"
#include "kernels/keyed.h"
#include "link_keys.h"

#include <gyre/keyed.h>
#include <gyre/pipeline.h>
#include <gyre/ring_layout.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 4095, MESSAGES = 24576, BATCH = 64, FEW_KEYS = 16 };

/* ---- numbers by chance, the same for the same seed ---- */

static uint64_t random_begin(uint64_t seed)
{
    return seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static uint64_t random_below(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(0x2545f4914f6cdd1d) >> 32) % below;
}

/* ---- a model ---- */

struct model {
    marks keys[KEYS];
    marks expected[BATCH];
};

static marks model_handle(struct model *model, const mark *request)
{
    marks *state = &model->keys[request->key];
    const marks before = *state;
    state->count++;
    state->trace = state->trace * 31 + request->number;
    const marks now = *state;
    if (request->what == MARK_FORGETS || (request->what == MARK_FAILS && before.count == 0))
        *state = (marks){0};
    return now;
}

static uint64_t uniform(uint64_t *chance)
{
    return random_below(chance, KEYS);
}

/* As Zipf with the exponent 1: each octave is as likely as any other. */
static uint64_t zipf(uint64_t *chance)
{
    const uint64_t octave = random_below(chance, 12);
    return (UINT64_C(1) << octave) - 1 + random_below(chance, UINT64_C(1) << octave);
}

static uint64_t only_one(uint64_t *chance)
{
    (void)chance;
    return 7;
}

static uint32_t what_of(uint64_t *chance)
{
    const uint64_t number = random_below(chance, 50);
    return number == 0 ? MARK_FAILS : number == 1 ? MARK_FORGETS : MARK_ADDS;
}

static void require_reply(const mark *request, const marks *expected, const gyre_completion *completion,
                          const marks *reply)
{
    if (request->what == MARK_FAILS) {
        require(completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == 7);
        return;
    }
    require(completion->outcome == GYRE_REPLIED);
    require(reply->count == expected->count && reply->trace == expected->trace);
}

static void exchange(gyre_queue *queue, struct model *model, const mark *requests, size_t count)
{
    size_t sent = 0;
    must(gyre_send_batch(queue, requests, sizeof *requests, count, &sent, soon()));
    for (size_t i = 0; i < count; i++) {
        marks reply;
        gyre_completion completion;
        const gyre_status status = gyre_receive(queue, &reply, sizeof reply, &completion, soon());
        require(status == GYRE_OK || (status == GYRE_FAILED && requests[i].what == MARK_FAILS));
        const marks expected = model_handle(model, &requests[i]);
        require_reply(&requests[i], &expected, &completion, &reply);
    }
}

static void require_states(gyre_kernel *kernel, const struct model *model)
{
    for (uint64_t key = 0; key < KEYS; key += key < 64 ? 1 : 97) {
        marks state;
        const gyre_status status = gyre_kernel_key_read(kernel, &key, sizeof key, &state, sizeof state);
        require(status == (model->keys[key].count ? GYRE_OK : GYRE_NOT_FOUND));
        if (status == GYRE_OK)
            require(state.count == model->keys[key].count && state.trace == model->keys[key].trace);
    }
}

static gyre_kernel *launch_from(struct conformance *test, const char *file, const char *kernel,
                                const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, file, kernel);
    desc.name = name;
    desc.blocks = blocks;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static gyre_kernel *launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    return launch_from(test, "keyed.gyre.c", kernel, name, blocks);
}

/* As a stage of a pipeline. */
static gyre_kernel *launch_stage(struct conformance *test, const char *name, uint32_t blocks)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "keyed.gyre.c", "keyed_marks");
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = 1;
    must(gyre_launch(test->runtime, &desc, &kernel));
    return kernel;
}

static gyre_kernel *launch_marks(struct conformance *test, uint32_t blocks)
{
    char name[32];
    snprintf(name, sizeof name, "marks_%u", blocks);
    return launch_as(test, "keyed_marks", name, blocks);
}

/* The queue leads to the kernel, in the end. */
static void follow_model_with(gyre_kernel *kernel, gyre_queue *queue, uint64_t (*choose)(uint64_t *chance),
                              uint64_t seed)
{
    static struct model model;
    uint64_t chance = random_begin(seed);
    memset(&model, 0, sizeof model);
    for (uint64_t sent = 0; sent < MESSAGES; sent += BATCH) {
        mark requests[BATCH];
        for (uint64_t i = 0; i < BATCH; i++)
            requests[i] = (mark){choose(&chance), sent + i, what_of(&chance)};
        exchange(queue, &model, requests, BATCH);
    }
    require_states(kernel, &model);
}

static void follow_model(struct conformance *test, uint64_t (*choose)(uint64_t *chance))
{
    for (uint32_t blocks = 1; blocks <= 3; blocks++) {
        gyre_kernel *kernel = launch_marks(test, blocks);
        follow_model_with(kernel, gyre_kernel_queue(kernel), choose, blocks);
        gyre_kernel_release(kernel);
    }
}

static void keyed_actors_do_as_one_after_the_other(struct conformance *test)
{
    follow_model(test, uniform);
}

static void keyed_actors_have_some_keys_often(struct conformance *test)
{
    follow_model(test, zipf);
}

static void keyed_actors_have_one_key_alone(struct conformance *test)
{
    follow_model(test, only_one);
}

/* A device that other kernels come to, and leave, may take this one away for a moment. */
static void keyed_actors_go_on_beside_kernels_that_come_and_go(struct conformance *test)
{
    static struct model model;
    gyre_kernel *kernel = launch_marks(test, 3);
    uint64_t chance = random_begin(3);
    memset(&model, 0, sizeof model);
    for (uint64_t round = 0; round < 4; round++) {
        gyre_kernel *other = launch(test, "words.gyre.c", "words_of_1");
        for (uint64_t sent = 0; sent < 4 * BATCH; sent += BATCH) {
            mark requests[BATCH];
            for (uint64_t i = 0; i < BATCH; i++)
                requests[i] = (mark){zipf(&chance), round * 4 * BATCH + sent + i, what_of(&chance)};
            exchange(gyre_kernel_queue(kernel), &model, requests, BATCH);
        }
        gyre_kernel_release(other);
    }
    require_states(kernel, &model);
}

/* ---- several senders ---- */

struct keyed_sender {
    pthread_t thread;
    gyre_queue *queue;
    uint64_t seed, messages;
    uint64_t last[FEW_KEYS]; /* the count of each key that the sender saw last */
};

static void *send_marks(void *argument)
{
    struct keyed_sender *sender = argument;
    uint64_t chance = random_begin(sender->seed);
    for (uint64_t sent = 0; sent < sender->messages; sent += BATCH) {
        mark requests[BATCH];
        size_t accepted = 0;
        for (uint64_t i = 0; i < BATCH; i++)
            requests[i] = (mark){random_below(&chance, FEW_KEYS), 1, MARK_ADDS};
        must(gyre_send_batch(sender->queue, requests, sizeof *requests, BATCH, &accepted, soon()));
        for (uint64_t i = 0; i < BATCH; i++) {
            marks reply;
            must(gyre_receive(sender->queue, &reply, sizeof reply, NULL, soon()));
            require(reply.count > sender->last[requests[i].key]);
            sender->last[requests[i].key] = reply.count;
        }
    }
    return NULL;
}

/* How many messages the keys' states have seen, and by which blocks. */
static uint64_t sum_states(gyre_kernel *kernel, uint64_t *blocks)
{
    uint64_t sum = 0;
    for (uint64_t key = 0; key < FEW_KEYS; key++) {
        marks state;
        must(gyre_kernel_key_read(kernel, &key, sizeof key, &state, sizeof state));
        sum += state.count;
        *blocks |= UINT64_C(1) << state.block;
    }
    return sum;
}

static void keyed_actors_see_each_sender_in_order(struct conformance *test)
{
    static struct keyed_sender senders[3];
    gyre_kernel *kernel = launch_marks(test, 2);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < 3; i++) {
        gyre_queue_desc desc = {.size = sizeof desc};
        senders[i] = (struct keyed_sender){.seed = i + 1, .messages = MESSAGES / 4};
        must(gyre_queue_open(kernel, &desc, &senders[i].queue));
        require(pthread_create(&senders[i].thread, NULL, send_marks, &senders[i]) == 0);
    }
    for (uint32_t i = 0; i < 3; i++)
        pthread_join(senders[i].thread, NULL);
    require(sum_states(kernel, &blocks) == MESSAGES / 4 * 3);
    require(blocks == 3);
}

/* A GPU routes messages to the owners of their keys then: who routes and who owns changes with each queue that comes or goes. */
static void keyed_actors_of_many_blocks_are_stopped_and_shared_out_anew(struct conformance *test)
{
    enum { ROUNDS_OF_ORDERS = 3, SENT = 8 * BATCH };
    static struct keyed_sender all_the_time, now_and_then;
    gyre_kernel *kernel = launch_marks(test, 8);
    uint64_t blocks = 0;
    all_the_time = (struct keyed_sender){.queue = gyre_kernel_queue(kernel), .seed = 1, .messages = SENT};
    now_and_then = (struct keyed_sender){.seed = 2, .messages = BATCH};
    require(pthread_create(&all_the_time.thread, NULL, send_marks, &all_the_time) == 0);
    for (int round = 0; round < ROUNDS_OF_ORDERS; round++) {
        const gyre_queue_desc desc = {.size = sizeof desc};
        must(gyre_queue_open(kernel, &desc, &now_and_then.queue));
        send_marks(&now_and_then);
        must(gyre_kernel_deactivate(kernel, soon()));
        must(gyre_kernel_activate(kernel, soon()));
        gyre_queue_close(now_and_then.queue);
    }
    pthread_join(all_the_time.thread, NULL);
    require(sum_states(kernel, &blocks) == SENT + ROUNDS_OF_ORDERS * BATCH);
}

/* ---- keys that come and go ---- */

static gyre_runtime *open_small(const struct conformance *test)
{
    const char *const settings[] = {"kernel.keyed_guests.keys=8", "kernel.keyed_marks.keys=8", NULL};
    return open_with(test, settings);
}

static gyre_status visit_as(gyre_queue *queue, uint64_t number, uint32_t what, stay *reply)
{
    visit request;
    gyre_begin(&request);
    memcpy(&request.who.id, &number, sizeof number);
    request.what = what;
    must(gyre_put_text(&request, &request.note, "a text behind the key"));
    return gyre_call(queue, &request, sizeof request, reply, sizeof *reply, NULL, soon());
}

static void a_full_table_refuses_keys(struct conformance *test)
{
    gyre_runtime *runtime = open_small(test);
    gyre_kernel *kernel = launch_in(runtime, "keyed.gyre.c", "keyed_marks");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    marks reply;
    for (uint64_t key = 0; key < 8; key++)
        must(gyre_call(queue, &(mark){key, 0, MARK_ADDS}, sizeof(mark), &reply, sizeof reply, NULL, soon()));
    require(gyre_call(queue, &(mark){8, 0, MARK_ADDS}, sizeof(mark), &reply, sizeof reply, NULL, soon()) ==
            GYRE_FAILED);
    require_sentence("no room for another key");
    must(gyre_call(queue, &(mark){3, 0, MARK_FORGETS}, sizeof(mark), &reply, sizeof reply, NULL, soon()));
    require(reply.count == 2);
    must(gyre_call(queue, &(mark){8, 0, MARK_ADDS}, sizeof(mark), &reply, sizeof reply, NULL, soon()));
    require(reply.count == 1);
    gyre_close(runtime);
}

static void keys_that_were_not_used_for_long_leave(struct conformance *test)
{
    gyre_runtime *runtime = open_small(test);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "keyed.gyre.c", "keyed_guests"));
    stay reply;
    for (uint64_t number = 0; number < 8; number++)
        must(visit_as(queue, number, 100 + (uint32_t)number, &reply));
    must(visit_as(queue, 0, 0, &reply)); /* now 1 is the one that was not used for longest */
    require(reply.visits == 2 && reply.born_with == 100);
    must(visit_as(queue, 8, 108, &reply));
    require(reply.visits == 1 && reply.born_with == 108);
    for (uint64_t number = 2; number < 9; number++) {
        must(visit_as(queue, number, 0, &reply));
        require(reply.visits == 2 && reply.born_with == 100 + number);
    }
    /* all that are left were there twice, and stay */
    require(visit_as(queue, 1, 101, &reply) == GYRE_FAILED);
    require_sentence("no room for another key");
    gyre_close(runtime);
}

/* ---- keys that leave while messages of theirs are under way ---- */

enum { ROOMS = 8, ROUNDS = 10, GUESTS_SENT = 48, GUESTS_KNOWN = 20 };

struct room {
    uint64_t number, used, visits, born_with; /* of the guest */
};

struct house {
    struct room rooms[ROOMS];
    uint64_t clock;
    uint32_t taken;
};

/* The room of a new guest; NULL: all stay. */
static struct room *house_free(struct house *house)
{
    if (house->taken < ROOMS)
        return &house->rooms[house->taken++];
    for (int looks = 0; looks < 16; looks++) {
        struct room *oldest = house->rooms;
        for (uint32_t i = 1; i < ROOMS; i++)
            if (house->rooms[i].used < oldest->used)
                oldest = &house->rooms[i];
        if (oldest->visits == 1)
            return oldest;
        oldest->used = ++house->clock;
    }
    return NULL;
}

/* What one message after the other does. Returns the guest's room; NULL: the message fails. */
static const struct room *house_visit(struct house *house, uint64_t number, uint32_t what)
{
    struct room *room = NULL;
    for (uint32_t i = 0; i < house->taken; i++)
        if (house->rooms[i].number == number)
            room = &house->rooms[i];
    if (!room) {
        room = house_free(house);
        if (!room)
            return NULL;
        *room = (struct room){.number = number, .born_with = what};
    }
    room->used = ++house->clock;
    room->visits++;
    return room;
}

/* Sends visits together, the guests by chance, or (chance 0) each of the first `count`. */
static void visit_together(gyre_queue *queue, struct house *house, uint64_t *chance, uint32_t count)
{
    static unsigned char requests[GUESTS_SENT * sizeof(visit)];
    uint64_t guests[GUESTS_SENT];
    size_t sent = 0, size = 0;
    for (uint32_t i = 0; i < count; i++) {
        visit request;
        gyre_begin(&request);
        guests[i] = chance ? random_below(chance, GUESTS_KNOWN) : i;
        memcpy(&request.who.id, &guests[i], sizeof guests[i]);
        request.what = i + 1;
        size = request.gyre_used;
        memcpy(requests + i * size, &request, size);
    }
    must(gyre_send_batch(queue, requests, size, count, &sent, soon()));
    require(sent == count);
    for (uint32_t i = 0; i < count; i++) {
        stay reply;
        gyre_completion completion;
        const struct room *room = house_visit(house, guests[i], i + 1);
        const gyre_status status = gyre_receive(queue, &reply, sizeof reply, &completion, soon());
        require(status == GYRE_OK || (status == GYRE_FAILED && !room));
        require(completion.outcome == (room ? GYRE_REPLIED : GYRE_HANDLER_FAILED));
        require(!room || (reply.visits == room->visits && reply.born_with == room->born_with));
    }
}

static void keys_leave_while_their_messages_wait(struct conformance *test)
{
    uint64_t chance = random_begin(9);
    for (int round = 0; round < ROUNDS; round++) {
        gyre_runtime *runtime = open_small(test);
        gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "keyed.gyre.c", "keyed_guests"));
        struct house house = {0};
        visit_together(queue, &house, NULL, ROOMS);
        visit_together(queue, &house, &chance, GUESTS_SENT);
        gyre_close(runtime);
    }
}

static void states_are_read_by_key(struct conformance *test)
{
    gyre_kernel *kernel = launch_marks(test, 2);
    gyre_kernel *without = launch(test, "words.gyre.c", "words_of_1");
    marks state;
    const uint64_t key = 5;
    require(gyre_kernel_state_read(kernel, &state, sizeof state) == GYRE_INVALID);
    require_sentence("keeps a state for each 'key'");
    require(gyre_kernel_key_read(kernel, &key, sizeof key, &state, sizeof state) == GYRE_NOT_FOUND);
    require_sentence("has no state for this key");
    require(gyre_kernel_key_read(kernel, &key, 4, &state, sizeof state) == GYRE_INVALID);
    require_sentence("has 8 bytes, found 4");
    require(gyre_kernel_key_read(kernel, &key, sizeof key, &state, 4) == GYRE_INVALID);
    require(gyre_kernel_key_read(without, &key, sizeof key, &state, sizeof state) == GYRE_INVALID);
    require_sentence("has no keys");
}

/* As `gyre state --key` and Python have it. */
static void states_are_read_by_a_key_that_is_a_text(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch_marks(test, 1));
    gyre_kernel *kernel = gyre_kernel_find(test->runtime, "marks_1");
    marks state;
    must(gyre_call(queue, &(mark){12, 1, MARK_ADDS}, sizeof(mark), &state, sizeof state, NULL, soon()));
    must(gyre_kernel_key_read_text(kernel, "12", &state, sizeof state));
    require(state.count == 1);
    require(gyre_kernel_key_read_text(kernel, "13", &state, sizeof state) == GYRE_NOT_FOUND);
    require(gyre_kernel_key_read_text(kernel, "twelve", &state, sizeof state) == GYRE_INVALID);
    require_sentence("the key 'key': expected a whole number of 64 bits, without a sign, found 'twelve'");
    require(gyre_kernel_key_read_text(kernel, NULL, &state, sizeof state) == GYRE_INVALID);
    require_sentence("key");
}

/* New keys begin with the state that the launch was given. */
static void keys_begin_with_the_initial_state(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "keyed.gyre.c", "keyed_marks");
    const marks initial = {.count = 40, .trace = 2};
    marks reply;
    desc.state = &initial;
    desc.state_size = sizeof initial;
    must(gyre_launch(test->runtime, &desc, &kernel));
    for (uint64_t key = 0; key < 3; key++) {
        must(gyre_call(gyre_kernel_queue(kernel), &(mark){key, 1, MARK_ADDS}, sizeof(mark), &reply,
                       sizeof reply, NULL, soon()));
        require(reply.count == 41 && reply.trace == 63);
    }
}

/* ---- layouts of queues, and requests that come too late ---- */

/* In each layout, blocks take requests whose notes have all lengths for theirs, each once. */
static void visit_all(gyre_runtime *runtime, const char *section)
{
    enum { VISITS = 3000, GUESTS = 50 };
    uint64_t seen[GUESTS] = {0}, chance = random_begin(5);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = kernel_path("keyed.gyre.c"), .kernel = "keyed_guests", .blocks = 3};
    desc.name = section;
    must(gyre_launch(runtime, &desc, &kernel));
    static const char note[501] = "";
    for (int i = 0; i < VISITS; i++) {
        const uint64_t number = random_below(&chance, GUESTS);
        visit request;
        stay reply;
        gyre_begin(&request);
        memcpy(&request.who.id, &number, sizeof number);
        request.what = 1;
        must(gyre_put(&request, &request.note, note, (uint32_t)random_below(&chance, sizeof note)));
        must(gyre_call(gyre_kernel_queue(kernel), &request, request.gyre_used, &reply, sizeof reply, NULL,
                       soon()));
        require(reply.visits == ++seen[number] && reply.born_with == 1);
    }
}

static void keyed_actors_take_messages_of_every_layout(struct conformance *test)
{
    const char *const settings[] = {"queue.bridged.layout=bridged", "queue.slots.layout=slots", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    visit_all(runtime, "bridged");
    visit_all(runtime, "slots");
    gyre_close(runtime);
}

/* A request that was taken back may be nobody's: the blocks that passed over it fail it together. */
static void late_messages_to_keyed_actors_expire(struct conformance *test)
{
    enum { LATE = 40 };
    const char *const settings[] = {"kernel.default.blocks=3", "queue.default.ttl_ms=3600000",
                                    "queue.default.layout=bridged", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "keyed.gyre.c", "keyed_guests");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_completion completion;
    stay reply;
    must(gyre_kernel_deactivate(kernel, soon()));
    for (uint64_t number = 0; number < LATE; number++) {
        const gyre_header late = {.deadline_ns = gyre_in_ms(20)};
        visit request;
        gyre_begin(&request);
        memcpy(&request.who.id, &number, sizeof number);
        must(gyre_put_text(&request, &request.note,
                           "a note that makes the request longer than what fits a line"));
        must(gyre_send_with(queue, &request, request.gyre_used, &late, NULL, soon()));
    }
    sleep_ms(100);
    must(gyre_kernel_activate(kernel, soon()));
    for (uint64_t number = 0; number < LATE; number++) {
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require_expired(&completion);
    }
    must(visit_as(queue, 0, 3, &reply));
    require(reply.visits == 1 && reply.born_with == 3);
    gyre_close(runtime);
}

/* ---- headers, seals and times ---- */

enum { LETTERS = 12, LETTERS_OF_A_KEY = 6, DAMAGED = 8, FIRST_LETTER = 100 };

/* Of a message that is built in place, its sender keeps the address: one is damaged behind its seal. */
static void send_letters(gyre_kernel *kernel, gyre_queue *queue)
{
    void *places;
    size_t stride, count = LETTERS;
    must(gyre_kernel_deactivate(kernel, soon())); /* until all are there, so that one run has them all */
    must(gyre_reserve(queue, &places, &stride, &count, soon()));
    require(count == LETTERS);
    for (size_t i = 0; i < LETTERS; i++) {
        *(mark *)(void *)((char *)places + i * stride) = (mark){i / LETTERS_OF_A_KEY, i, MARK_ADDS};
        must(gyre_reserve_header(queue, i, &(gyre_header){.correlation = FIRST_LETTER + i}));
    }
    must(gyre_commit(queue, count));
    ((mark *)(void *)((char *)places + DAMAGED * stride))->number ^= 1;
    must(gyre_kernel_activate(kernel, soon()));
}

static void require_times(const gyre_message_info *info)
{
    require(info->started_ns != 0 && info->started_ns <= info->finished_ns);
}

static void receive_letters(gyre_queue *queue)
{
    for (uint64_t i = 0; i < LETTERS; i++) {
        const uint64_t born = i - i % LETTERS_OF_A_KEY;
        marks reply;
        gyre_completion completion;
        gyre_message_info info = {.size = sizeof info};
        const gyre_status status = gyre_receive_with(queue, &reply, sizeof reply, &completion, &info, soon());
        require_times(&info);
        if (i == DAMAGED) {
            require(completion.outcome == GYRE_HANDLER_FAILED &&
                    completion.failure_code == GYRE_FAILURE_SEAL);
            continue;
        }
        must(status);
        require(reply.trace == FIRST_LETTER + born && reply.block == FIRST_LETTER + i);
        require(reply.count == i - born + (born < DAMAGED && DAMAGED < i ? 0 : 1));
    }
}

static gyre_status write_letter(gyre_queue *queue, uint64_t key, uint64_t correlation, marks *reply)
{
    const mark request = {key, 0, MARK_ADDS};
    const gyre_header header = {.correlation = correlation};
    gyre_message_info info = {.size = sizeof info};
    const gyre_status status =
        gyre_call_with(queue, &request, sizeof request, &header, reply, sizeof *reply, NULL, &info, soon());
    require_times(&info);
    return status;
}

/* The seal and the hooks see the header of the message that the handler gets; one that is refused has its times too. */
static void keyed_actors_see_headers_seals_and_times(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.header=correlation started finished",
                                           "queue.default.seal=crc32c", "kernel.letters_1.keys=2", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    marks reply;
    for (uint32_t blocks = 1; blocks <= 3; blocks += 2) {
        gyre_kernel *kernel = NULL;
        gyre_launch_desc desc = {
            .size = sizeof desc, .source = kernel_path("keyed.gyre.c"), .blocks = blocks};
        desc.kernel = "keyed_letters";
        desc.name = blocks == 1 ? "letters_1" : "letters_3";
        must(gyre_launch(runtime, &desc, &kernel));
        gyre_queue *queue = gyre_kernel_queue(kernel);
        send_letters(kernel, queue);
        receive_letters(queue);
        if (blocks > 1)
            continue;
        require(write_letter(queue, 2, 7, &reply) == GYRE_FAILED);
        require_sentence("no room for another key");
        must(write_letter(queue, 2, LETTER_CLEARS, &reply));
        require(reply.trace == LETTER_CLEARS && reply.count == 1);
    }
    gyre_close(runtime);
}

/* ---- links by key ---- */

static void keyed_actors_end_pipelines(struct conformance *test)
{
    static const char *const entry = "feed";
    for (uint32_t blocks = 1; blocks <= 3; blocks++) {
        char to[32];
        snprintf(to, sizeof to, "marks_%u", blocks);
        const gyre_link_desc link = {.size = sizeof link, .from = "feed.out", .to = to};
        gyre_kernel *kernel = launch_stage(test, to, blocks);
        gyre_kernel *feed = link_keys_launch(test, "keyed_feed", "feed", 1);
        gyre_pipeline *pipeline = link_keys_join(test, &entry, to, &link, 1);
        link_keys_require(pipeline, "key");
        follow_model_with(kernel, gyre_pipeline_queue(pipeline), zipf, blocks);
        must(gyre_pipeline_close(pipeline, soon()));
        gyre_kernel_release(feed);
        gyre_kernel_release(kernel);
    }
}

static void keyed_actors_are_entries_of_pipelines(struct conformance *test)
{
    const char *const name = "marks_3";
    gyre_kernel *kernel = launch_stage(test, name, 3);
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "alone",
                                     .entries = &name,
                                     .entry_count = 1,
                                     .answers = &name,
                                     .answer_count = 1};
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    follow_model_with(kernel, gyre_pipeline_queue(pipeline), uniform, 9);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* ---- mistakes in links by key ---- */

static gyre_status open_refused(struct conformance *test, const char *from, const char *to, gyre_share share,
                                const char *key)
{
    char entry[32];
    gyre_pipeline *pipeline = NULL;
    const char *name = entry;
    const gyre_link_desc link = {.size = sizeof link, .from = from, .to = to, .share = share, .key = key};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "refused",
                                     .entries = &name,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1,
                                     .quota = 1};
    snprintf(entry, sizeof entry, "%.*s", (int)strcspn(from, "."), from);
    return gyre_pipeline_open(test->runtime, &desc, &pipeline);
}

static void require_refused(struct conformance *test, const char *from, const char *to, gyre_share share,
                            const char *key, const char *sentence)
{
    require(open_refused(test, from, to, share, key) == GYRE_INVALID);
    require_sentence(sentence);
}

static void wrong_keys_of_links_are_told(struct conformance *test)
{
    link_keys_launch(test, "keyed_feed", "feed", 2);
    launch_as(test, "keyed_marks", "marks", 2);
    link_keys_launch(test, "keyed_priced", "priced", 2);
    require_refused(test, "feed.out", "feed", GYRE_SHARE_KEY, "kex",
                    "the key 'kex': 'mark' has no field 'kex'; did you mean 'key'?");
    require_refused(test, "feed.out", "feed", GYRE_SHARE_KEY, NULL,
                    "is no keyed actor, so it has no key: name a field of 'mark' with key = FIELD");
    require_refused(test, "feed.out", "feed", GYRE_SHARE_ANY, "key",
                    "key = key decides nothing without share = key");
    require_refused(test, "feed.out", "nowhere", GYRE_SHARE_KEY, "key", "expected a link to a kernel");
    require_refused(test, "feed.out", "feed", (gyre_share)2, NULL, "share: expected a gyre_share, found 2");
    require_refused(test, "feed.out", "marks", GYRE_SHARE_KEY, "number",
                    "keyed actor 'marks' keeps a state for each 'key': name that key, or none");
    if (strcmp(test->backend, "cuda") == 0) { /* elsewhere such cycles are there (keyed_ports.c) */
        require(open_refused(test, "feed.out", "feed", GYRE_SHARE_KEY, "key") == GYRE_UNIMPLEMENTED);
        require_sentence(
            "part of a cycle, and shares its messages by key among the 2 blocks of kernel 'feed', which "
            "backend 'cuda' does not have yet");
    }
    require_refused(test, "priced.out", "priced", GYRE_SHARE_KEY, "price", "the key 'price' is a float");
    require_refused(test, "priced.out", "priced", GYRE_SHARE_KEY, "much",
                    "the key 'much' has 65 bytes, and the key of a keyed actor or a link 64 at most");
    require_refused(test, "priced.out", "priced", GYRE_SHARE_KEY, "note",
                    "the key 'note' is a text or a span, whose size changes");
    require_refused(test, "priced.out", "priced", GYRE_SHARE_KEY, "who", "name a field inside it");
}

/* Names of kernels are the user's, as those of types are (names.c). */
static void keyed_actors_may_have_any_name(struct conformance *test)
{
    static const char *const names[] = {"table", "hash"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        gyre_kernel *kernel = launch(test, "names_keyed.gyre.c", names[i]);
        const mark request = {.key = 3};
        marks reply = {0};
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        require(reply.count == 1);
        gyre_kernel_release(kernel);
    }
}

const struct conformance_case keyed_cases[] = {
    {"keyed_actors_may_have_any_name", keyed_actors_may_have_any_name},
    {"keyed_actors_end_pipelines", keyed_actors_end_pipelines},
    {"keyed_actors_are_entries_of_pipelines", keyed_actors_are_entries_of_pipelines},
    {"wrong_keys_of_links_are_told", wrong_keys_of_links_are_told},
    {"keyed_actors_do_as_one_after_the_other", keyed_actors_do_as_one_after_the_other},
    {"keyed_actors_have_some_keys_often", keyed_actors_have_some_keys_often},
    {"keyed_actors_have_one_key_alone", keyed_actors_have_one_key_alone},
    {"keyed_actors_go_on_beside_kernels_that_come_and_go",
     keyed_actors_go_on_beside_kernels_that_come_and_go},
    {"keyed_actors_see_each_sender_in_order", keyed_actors_see_each_sender_in_order},
    {"keyed_actors_of_many_blocks_are_stopped_and_shared_out_anew",
     keyed_actors_of_many_blocks_are_stopped_and_shared_out_anew},
    {"a_full_table_refuses_keys", a_full_table_refuses_keys},
    {"keys_that_were_not_used_for_long_leave", keys_that_were_not_used_for_long_leave},
    {"keys_leave_while_their_messages_wait", keys_leave_while_their_messages_wait},
    {"keyed_actors_take_messages_of_every_layout", keyed_actors_take_messages_of_every_layout},
    {"late_messages_to_keyed_actors_expire", late_messages_to_keyed_actors_expire},
    {"keyed_actors_see_headers_seals_and_times", keyed_actors_see_headers_seals_and_times},
    {"states_are_read_by_key", states_are_read_by_key},
    {"states_are_read_by_a_key_that_is_a_text", states_are_read_by_a_key_that_is_a_text},
    {"keys_begin_with_the_initial_state", keys_begin_with_the_initial_state},
    {NULL, NULL},
};
