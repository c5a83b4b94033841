/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that write into what they share with a server while it is handled: parts of requests and replies that are
 * turned, between a look and the next, into parts that lie at an address of the client's choice; lengths, headers,
 * seals, sequences. The server's memory stays as it is, nothing of it reaches a client, and a neighbour is served.
 *
 * One case a run: `test_attach_foreign CASE`. ATTACH_ATTACK_S: for so many seconds; without it for 400 ms, and up to two
 * seconds until enough requests of attackers were handled; ATTACH_BACKEND: elsewhere than on the CPU. The addresses are those of this
 * program: server and clients are forked from it.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <gyre/ring_layout.h>

#include "foreign.h"
#include "parties.h"

#define SECRET         UINT64_C(0x5ec4e75ec4e70000)
#define CANARY         UINT64_C(0xca4a47ca4a470000)
#define ATTACH_KERNELS KERNELS "/system/use/attach/"

enum { GUARDED = 64, SLOTS = 8, REGIONS_MAX = 64, LEAKED = 3, CHANGED = 4, SKIPPED = 77, SETTINGS = 4 };

/* Written by the server alone, and only there other than 0. */
static volatile uint64_t canaries[GUARDED], secrets[GUARDED];

enum kind { ASKS, LITTLES, BOTHS };

static struct {
    const char *file, *kernel;
    enum kind kind;
    bool isolated;
    const char *settings[SETTINGS];
    size_t header; /* bytes */
} scene;

/* ---- the server ---- */

static void check_guarded(void)
{
    for (uint64_t i = 0; i < GUARDED; i++) {
        require(canaries[i] == (CANARY | i));
        require(secrets[i] == (SECRET | i));
    }
}

/* A worker that dies is one that could be made to. */
static void hear_log(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    require(!strstr(text, "died"));
}

static gyre_runtime *open_scene(void)
{
    const char *settings[SETTINGS + 3] = {"gyre.check=off", "log_level=info",
                                          scene.isolated ? "backend.cpu.isolation=process"
                                                         : "backend.cpu.isolation=none"};
    const char *backend = getenv("ATTACH_BACKEND");
    gyre_runtime *runtime = NULL;
    for (size_t i = 0; i < SETTINGS - 1; i++)
        settings[3 + i] = scene.settings[i];
    gyre_open_desc open = {
        .size = sizeof open, .settings = settings, .backend = backend ? backend : "cpu", .log = hear_log};
    if (gyre_open(&open, &runtime) == GYRE_UNAVAILABLE && backend)
        _Exit(SKIPPED); /* not on this machine */
    require(runtime != NULL);
    return runtime;
}

static void serve(const party *self)
{
    for (uint64_t i = 0; i < GUARDED; i++) {
        canaries[i] = CANARY | i;
        secrets[i] = SECRET | i;
    }
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_scene();
    gyre_launch_desc desc = {.size = sizeof desc, .source = scene.file, .kernel = scene.kernel};
    must(gyre_launch(runtime, &desc, &kernel));
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    for (struct pollfd told = {.fd = self->told, .events = POLLIN}; poll(&told, 1, 1) == 0;)
        check_guarded();
    gyre_server_close(server);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    check_guarded();
    gyre_close(runtime);
}

/* ---- messages ---- */

static gyre_queue *attach_scene(uint64_t capacity)
{
    gyre_queue *queue = NULL;
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .capacity = capacity};
    must(gyre_attach(scene.kernel, &desc, &queue));
    return queue;
}

/* `word`: of all its items. */
static gyre_status send_ask(gyre_queue *queue, uint64_t number, uint64_t word, uint64_t deadline)
{
    uint64_t words[FOREIGN_WORDS];
    foreign_ask ask;
    foreign_little little;
    gyre_begin(&ask);
    gyre_begin(&little);
    for (uint64_t i = 0; i < FOREIGN_WORDS; i++)
        words[i] = word;
    ask.number = number;
    little.number = (uint32_t)number;
    if (scene.kind == LITTLES) {
        must(gyre_put(&little, &little.words, words, 3));
        return gyre_send(queue, &little, sizeof little, NULL, deadline);
    }
    must(gyre_put(&ask, &ask.words, words, FOREIGN_WORDS));
    must(gyre_put_text(&ask, &ask.text, "who steals my purse steals trash"));
    return scene.kind == BOTHS ? gyre_send_as(queue, GYRE_TYPE(foreign_ask), &ask, sizeof ask, NULL, deadline)
                               : gyre_send(queue, &ask, sizeof ask, NULL, deadline);
}

union told {
    foreign_told told;
    foreign_little little;
    uint64_t words[(sizeof(foreign_told) + 64) / 8];
};

/* Honest: each reply is what was asked. */
static void call_honestly(const party *self)
{
    gyre_queue *queue = attach_scene(0);
    uint64_t sent = 0, received = 0;
    party_say(self, 'r');
    for (struct pollfd told = {.fd = self->told, .events = POLLIN}; poll(&told, 1, 0) == 0;) {
        union told reply;
        const void *message = &reply;
        for (; sent - received < 20; sent++)
            must(send_ask(queue, sent, mixed(sent), soon()));
        memset(&reply, 0, sizeof reply);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        if (scene.kind == BOTHS)
            message = (const unsigned char *)&reply + GYRE_CHOICE_FRONT;
        const foreign_told *told_all = message;
        const uint64_t *words = scene.kind == LITTLES
                                    ? gyre_items(uint64_t, &reply.little, reply.little.words)
                                    : gyre_items(uint64_t, told_all, told_all->words);
        require(words && words[0] == mixed(received) && words[2] == mixed(received));
        require((scene.kind == LITTLES ? reply.little.number : told_all->number) == received);
        received++;
    }
    gyre_queue_close(queue);
}

/* ---- attackers ---- */

enum {
    STUCK = 300,   /* tries in vain after which an attacker takes another queue */
    ENOUGH = 2000, /* requests of attackers that were handled, in a short attack */
    PAUSE_MS = 20,
    SHORT_MS = 400,
    SHORT_MOST_MS = 2000 /* where other programs keep the processors */
};

/* How long an attack lasts: as the environment says. */
static long attack_ms(long otherwise)
{
    const char *seconds = getenv("ATTACH_ATTACK_S");
    return seconds ? atol(seconds) * 1000 : otherwise;
}

static volatile uint64_t *handled; /* requests of attackers; all processes of a case share it */
static volatile uint64_t turns;
static volatile int stopped; /* the flipper is to come back; a volatile bool is read once alone under UBSan */
static const gyre_queue_shape *shape;
static size_t region_size;
static bool thorough; /* writes anything anywhere, not parts alone */

static size_t writable_regions(struct iovec *out, size_t most)
{
    char line[512];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && count < most && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char mode[8];
        if (strstr(line, "memfd:gyre") && sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 &&
            mode[1] == 'w')
            out[count++] = (struct iovec){(void *)begin, end - begin};
    }
    if (maps)
        fclose(maps);
    return count;
}

static bool is_secret(uint64_t word)
{
    return (word & ~UINT64_C(0xffff)) == SECRET;
}

static void look_for_secrets(const volatile uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_secret(words[i]))
            _exit(LEAKED);
}

/* Where a message's part is, and its tail: of requests and replies alike but for little ones. */
static size_t part_at(void)
{
    return scene.kind == LITTLES ? offsetof(foreign_little, words)
           : scene.kind == ASKS  ? offsetof(foreign_ask, words)
                                 : GYRE_CHOICE_FRONT + offsetof(foreign_ask, words);
}

static size_t tail_at(void)
{
    return scene.kind == LITTLES ? offsetof(foreign_little, gyre_tail) : offsetof(foreign_ask, gyre_tail);
}

/* A part of that message becomes a far one, at the address that its own items say, and one without end. */
static void flip_part(unsigned char *payload, bool reply)
{
    volatile uint32_t *part = (volatile uint32_t *)(void *)(payload + part_at());
    const uint32_t good = (uint32_t)tail_at(), count = scene.kind == LITTLES ? 3 : FOREIGN_WORDS;
    const size_t front = scene.kind == BOTHS ? GYRE_CHOICE_FRONT : 0;
    volatile uint64_t *address =
        (volatile uint64_t *)(void *)(payload + front + good + offsetof(gyre_far, address));
    if (reply || scene.kind == LITTLES)
        *address = (uint64_t)(uintptr_t)(reply ? canaries : secrets);
    part[0] = GYRE_PART_FAR | good;
    for (uint32_t i = turns % 32; i; i--)
        turns++;
    part[0] = good;
    part[1] = 0xfffffff0u;
    for (uint32_t i = turns % 16; i; i--)
        turns++;
    part[1] = count;
    turns += 7;
}

/* A slot's length is another one for a moment. */
static void flip_length(unsigned char *slot)
{
    volatile uint32_t *length = (volatile uint32_t *)(void *)(slot + offsetof(gyre_slot, length));
    const uint32_t before = *length;
    *length = turns & 1 ? 0xfffffff0u : 0x7ffffff0u;
    for (uint32_t i = turns % 64; i; i--)
        turns++;
    *length = before;
}

/* Headers lie behind the reply slots (layout.c): type and id of each. */
static void flip_headers(unsigned char *base, const gyre_queue_shape *at)
{
    const uint64_t slots_end = at->reply_offset + SLOTS * at->reply_stride;
    unsigned char *headers = base + (slots_end + GYRE_LINE_SIZE - 1) / GYRE_LINE_SIZE * GYRE_LINE_SIZE;
    for (size_t i = 0; i < SLOTS * scene.header / 8; i += scene.header / 8) {
        ((volatile uint64_t *)(void *)headers)[i]++;
        ((volatile uint64_t *)(void *)headers)[i + 1]++;
    }
}

static void scribble(uint64_t *seed)
{
    static const uint64_t nasty[] = {0, 1, UINT64_MAX, 1u << 31, UINT64_C(1) << 63, 4096, 0xffffffff, 65536};
    volatile uint64_t *words = (volatile uint64_t *)(uintptr_t)shape;
    *seed = mixed(*seed + 1);
    const uint64_t word = *seed % (region_size / 8), value = *seed >> 40;
    words[word] = value & 1 ? nasty[value >> 1 & 7] : (value >> 1 & 0xff) + 1;
}

static void *flip(void *argument)
{
    unsigned char *base = (unsigned char *)(uintptr_t)shape;
    const gyre_queue_shape at = *shape;
    uint64_t seed = (uint64_t)getpid();
    (void)argument;
    for (uint64_t round = 0; !stopped; round++) {
        for (uint64_t slot = 0; slot < SLOTS; slot++) {
            unsigned char *const request = base + at.request_offset + slot * at.request_stride;
            unsigned char *const reply = base + at.reply_offset + slot * at.reply_stride;
            flip_part(request + sizeof(gyre_slot), false);
            flip_part(reply + sizeof(gyre_slot), true);
            if (thorough) {
                flip_length(request);
                flip_length(reply);
            }
            if (scene.header)
                flip_headers(base, &at);
        }
        if (round % 64 == 0)
            look_for_secrets((const volatile uint64_t *)(const void *)(base + at.reply_offset),
                             SLOTS * at.reply_stride / 8);
        if (thorough && round % 256 == 0)
            scribble(&seed);
    }
    return NULL;
}

/* Until nothing comes back any more, because of what was written where. */
static void attack_one_queue(void)
{
    struct iovec regions[REGIONS_MAX];
    pthread_t flipper;
    gyre_queue *queue = attach_scene(SLOTS);
    require(writable_regions(regions, REGIONS_MAX) == 1);
    shape = regions[0].iov_base;
    region_size = regions[0].iov_len;
    stopped = false;
    require(pthread_create(&flipper, NULL, flip, NULL) == 0);
    for (uint64_t i = 0, vain = 0; vain < STUCK; i++) {
        union told reply = {.words = {0}};
        const volatile uint64_t *target = i % 2 ? secrets : canaries;
        send_ask(queue, i, (uint64_t)(uintptr_t)target, gyre_in_ms(1));
        gyre_completion completion = {0};
        const gyre_status status =
            gyre_receive(queue, &reply, sizeof reply, &completion, i % 4 ? GYRE_NO_WAIT : gyre_in_ms(1));
        if (completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == FOREIGN_CHANGED)
            _exit(CHANGED);
        vain = status == GYRE_OK ? 0 : vain + 1;
        if (status == GYRE_OK)
            __atomic_fetch_add(handled, 1, __ATOMIC_RELAXED);
        look_for_secrets(reply.words, sizeof reply.words / 8);
    }
    stopped = true;
    require(pthread_join(flipper, NULL) == 0);
    gyre_queue_close(queue);
}

static void attack(const party *self)
{
    party_say(self, 'r');
    for (;;)
        attack_one_queue();
}

static void attack_thoroughly(const party *self)
{
    thorough = true;
    attack(self);
}

/* ---- the cases ---- */

static void end_attacker(const party *attacker)
{
    kill(attacker->process, SIGKILL);
    require(party_end(attacker) ==
            128 + SIGKILL); /* or it has read what it should not, or was told nonsense */
}

/* It is forked first, and has no client's memory; clients have none of the server's. */
static party start_server(void)
{
    char word = 0;
    party server = party_start(serve);
    if (read(server.said, &word, 1) != 1)
        exit(party_end(&server) == SKIPPED ? SKIPPED : EXIT_FAILURE);
    return server;
}

static void wait_for_the_attack(void)
{
    const long least = attack_ms(SHORT_MS), most = attack_ms(SHORT_MOST_MS);
    for (long ms = 0; ms < least || (ms < most && *handled < ENOUGH); ms += PAUSE_MS)
        usleep(PAUSE_MS * 1000);
}

static void play_in(const char *file, const char *kernel)
{
    scene.file = file;
    scene.kernel = kernel;
    handled = mmap(NULL, sizeof *handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(handled != MAP_FAILED);
    party server = start_server();
    party neighbour = party_start(call_honestly);
    require(party_hear(&neighbour) == 'r');
    party first = party_start(attack), second = party_start(attack_thoroughly);
    require(party_hear(&first) == 'r' && party_hear(&second) == 'r');
    wait_for_the_attack();
    end_attacker(&first);
    end_attacker(&second);
    party_tell(&neighbour, 'e');
    require(party_end(&neighbour) == 0);
    party_tell(&server, 'e');
    require(party_end(&server) == 0);
}

static void play_lane(void)
{
    play_in(ATTACH_KERNELS "foreign.gyre.c", "foreign_lane");
}

static void play_form(const char *kernel)
{
    play_in(ATTACH_KERNELS "foreign_forms.gyre.c", kernel);
}

static void clients_write_into_what_a_lane_handles(void)
{
    play_lane();
}

static void clients_write_into_what_a_block_handles(void)
{
    play_form("foreign_block");
}

static void clients_write_into_what_an_actor_handles(void)
{
    play_form("foreign_actor");
}

static void clients_write_into_what_a_line_holds(void)
{
    scene.kind = LITTLES;
    play_form("foreign_line");
}

static void clients_write_into_messages_of_a_protocol(void)
{
    scene.kind = BOTHS;
    play_form("foreign_both");
}

static void clients_write_into_headers(void)
{
    scene.header = 16;
    scene.settings[0] = "queue.default.header=16";
    play_lane();
}

static void clients_write_into_headers_and_seals(void)
{
    scene.header = 64;
    scene.settings[0] = "queue.default.header=64";
    scene.settings[1] = "queue.default.seal=crc32c";
    play_lane();
}

static void clients_write_into_what_a_worker_handles(void)
{
    scene.isolated = true;
    play_lane();
}

static void clients_write_into_what_is_relayed(void)
{
    char journals[128];
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", getenv("CRASH_FOLDER"));
    scene.settings[0] = "queue.default.durability=journal";
    scene.settings[1] = journals;
    scene.settings[2] = "kernel.default.checkpoints=true";
    play_form("foreign_actor");
}

/* ---- what handlers leave out ---- */

/* Bytes [from, size) of a reply's slot, as the client finds them in the memory that it shares. */
static void require_zeros(const void *bytes, size_t from, size_t size)
{
    for (size_t i = from; i < size; i++)
        require(((const unsigned char *)bytes)[i] == 0);
}

/* Whole slots: also what is behind a reply, or in the padding of one. */
static void require_zero_slots(size_t length)
{
    struct iovec regions[REGIONS_MAX];
    require(writable_regions(regions, REGIONS_MAX) == 1);
    const gyre_queue_shape *const its = regions[0].iov_base;
    const unsigned char *replies = (const unsigned char *)its + its->reply_offset;
    for (uint64_t slot = 0; slot < its->capacity; slot++) {
        const unsigned char *const reply = replies + slot * its->reply_stride + sizeof(gyre_slot);
        require_zeros(reply, length, its->reply_stride - sizeof(gyre_slot));
    }
}

static void ask_for_nothing(const party *self)
{
    unsigned char reply[sizeof(foreign_large)];
    gyre_queue *queue = attach_scene(SLOTS);
    for (uint64_t i = 0; i < 3 * (uint64_t)SLOTS; i++) {
        gyre_completion completion = {0};
        memset(reply, 0xff, sizeof reply);
        must(gyre_call(queue, &i, sizeof i, reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && completion.length > 0);
        require_zeros(reply, 0, completion.length);
    }
    require_zero_slots(0);
    gyre_queue_close(queue);
    party_wait(self);
}

/* Every other request fills what it makes. */
static void ask_for_empty_tails(const party *self)
{
    gyre_queue *queue = attach_scene(SLOTS);
    for (uint64_t i = 0; i < 3 * (uint64_t)SLOTS; i++) {
        foreign_tail reply;
        must(gyre_call(queue, &i, sizeof i, &reply, sizeof reply, NULL, soon()));
        require(reply.words.count == 20 && reply.text.count == 60);
        if (i % 2 == 0)
            require_zeros(&reply, reply.words.offset, reply.gyre_used);
    }
    gyre_queue_close(queue);
    party_wait(self);
}

static void ask_for_nothing_of_a_protocol(const party *self)
{
    gyre_queue *queue = attach_scene(SLOTS);
    for (uint64_t i = 0; i < 3 * (uint64_t)SLOTS; i++) {
        const foreign_poke poke = {.number = i};
        foreign_large full, large;
        foreign_holes holes;
        memset(&full, 0xff, sizeof full);
        memset(&holes, 0xff, sizeof holes);
        must(gyre_call_as(queue, GYRE_TYPE(foreign_large), &full, GYRE_TYPE(foreign_large), &large, NULL,
                          soon()));
        require(memcmp(&full, &large, sizeof full) == 0);
        must(gyre_call_as(queue, GYRE_TYPE(foreign_poke), &poke, GYRE_TYPE(foreign_holes), &holes, NULL,
                          soon()));
        require_zeros(&holes, 0, sizeof holes);
        full.one = 0;
        must(gyre_call_as(queue, GYRE_TYPE(foreign_large), &full, GYRE_TYPE(foreign_large), &large, NULL,
                          soon()));
        require_zeros(&large, 0, sizeof large);
    }
    gyre_queue_close(queue);
    party_wait(self);
}

static void serve_one(const char *kernel, void (*client)(const party *self))
{
    scene.file = ATTACH_KERNELS "nothing.gyre.c";
    scene.kernel = kernel;
    party server = start_server();
    party asking = party_start(client);
    party_tell(&asking, 'e');
    require(party_end(&asking) == 0);
    party_tell(&server, 'e');
    require(party_end(&server) == 0);
}

static void replies_hold_nothing_of_the_server(void)
{
    static const char *const kernels[] = {"nothing_small", "nothing_large", "nothing_block", "nothing_actor"};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        serve_one(kernels[i], ask_for_nothing);
    serve_one("nothing_tail", ask_for_empty_tails);
    serve_one("foreign_left_out", ask_for_nothing_of_a_protocol);
}

static void replies_that_are_relayed_hold_nothing_of_the_server(void)
{
    char journals[128];
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", getenv("CRASH_FOLDER"));
    scene.settings[0] = "queue.default.durability=journal";
    scene.settings[1] = journals;
    scene.settings[2] = "kernel.default.checkpoints=true";
    replies_hold_nothing_of_the_server();
}

/* ---- what a client believes ---- */

/* The reply's type, as a program has it that was compiled before `text` was appended. */
#define EARLIER_TAIL(FIELD) FIELD(u64, number) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(earlier_tail, EARLIER_TAIL, 400)

static void *flip_replies(void *argument)
{
    unsigned char *base = (unsigned char *)(uintptr_t)shape;
    const gyre_queue_shape at = *shape;
    (void)argument;
    for (uint64_t slot = 0; !stopped; slot = (slot + 1) % SLOTS) {
        unsigned char *const reply = base + at.reply_offset + slot * at.reply_stride + sizeof(gyre_slot);
        volatile gyre_part *words = (volatile gyre_part *)(void *)(reply + offsetof(foreign_tail, words));
        const uint32_t offset = words->offset;
        words->offset = 0x7ffffff0u;
        for (uint32_t i = turns % 32; i; i--)
            turns++;
        words->offset = offset;
        turns += 5;
    }
    return NULL;
}

/* By a thread of its own, as a server could: the reply changes while it is turned into the earlier type. */
static void call_of_an_earlier_type(const party *self)
{
    struct iovec regions[REGIONS_MAX];
    gyre_type earlier = *GYRE_TYPE(earlier_tail);
    pthread_t flipper;
    gyre_queue *queue = NULL;
    earlier.name = "foreign_tail";
    gyre_attach_desc desc = {.size = sizeof desc,
                             .path = meeting_place(),
                             .capacity = SLOTS,
                             .request = GYRE_TYPE(foreign_count),
                             .reply = &earlier};
    must(gyre_attach(scene.kernel, &desc, &queue));
    require(writable_regions(regions, REGIONS_MAX) == 1);
    shape = regions[0].iov_base;
    require(pthread_create(&flipper, NULL, flip_replies, NULL) == 0);
    const uint64_t end = gyre_in_ms((uint64_t)attack_ms(SHORT_MS));
    for (uint64_t i = 0; gyre_now_ns() < end; i++) {
        earlier_tail reply;
        const gyre_status status = gyre_call(queue, &i, sizeof i, &reply, sizeof reply, NULL, soon());
        require(status == GYRE_OK || status == GYRE_INTERNAL);
        require(status != GYRE_OK || reply.gyre_used <= sizeof reply);
    }
    stopped = true;
    require(pthread_join(flipper, NULL) == 0);
    gyre_queue_close(queue);
    party_wait(self);
}

static void a_reply_that_changes_under_a_clients_hands_is_copied_first(void)
{
    serve_one("nothing_tail", call_of_an_earlier_type);
}

static const named_case cases[] = {
    {"clients_write_into_what_a_lane_handles", clients_write_into_what_a_lane_handles},
    {"clients_write_into_what_a_block_handles", clients_write_into_what_a_block_handles},
    {"clients_write_into_what_an_actor_handles", clients_write_into_what_an_actor_handles},
    {"clients_write_into_what_a_line_holds", clients_write_into_what_a_line_holds},
    {"clients_write_into_messages_of_a_protocol", clients_write_into_messages_of_a_protocol},
    {"clients_write_into_headers", clients_write_into_headers},
    {"clients_write_into_headers_and_seals", clients_write_into_headers_and_seals},
    {"clients_write_into_what_a_worker_handles", clients_write_into_what_a_worker_handles},
    {"clients_write_into_what_is_relayed", clients_write_into_what_is_relayed},
    {"replies_hold_nothing_of_the_server", replies_hold_nothing_of_the_server},
    {"a_reply_that_changes_under_a_clients_hands_is_copied_first",
     a_reply_that_changes_under_a_clients_hands_is_copied_first},
    {"replies_that_are_relayed_hold_nothing_of_the_server",
     replies_that_are_relayed_hold_nothing_of_the_server},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
