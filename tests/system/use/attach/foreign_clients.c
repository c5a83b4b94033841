/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clients of foreign_clients.h. An attacker has a thread, the flipper, that writes into the ring while its requests are
 * handled.
 */
#include "foreign_clients.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gyre/ring_layout.h>

#include "foreign_scene.h"

enum { LEAKED = 3, CHANGED = 4 };

/* ---- messages ---- */

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

void call_honestly(const party *self)
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
    SHORT_MOST_MS = 2000 /* where other programs keep the processors */
};

static volatile uint64_t *handled; /* requests of attackers; all processes of a case share it */
static volatile uint64_t turns;
static volatile int stopped; /* the flipper is to come back; a volatile bool is read once alone under UBSan */
static const gyre_queue_shape *shape;
static size_t region_size;
static bool thorough; /* writes anything anywhere, not parts alone */

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

void attack(const party *self)
{
    party_say(self, 'r');
    for (;;)
        attack_one_queue();
}

void attack_thoroughly(const party *self)
{
    thorough = true;
    attack(self);
}

void begin_attack(void)
{
    handled = mmap(NULL, sizeof *handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(handled != MAP_FAILED);
}

void wait_for_the_attack(void)
{
    const long least = attack_ms(SHORT_MS), most = attack_ms(SHORT_MOST_MS);
    for (long ms = 0; ms < least || (ms < most && *handled < ENOUGH); ms += PAUSE_MS)
        usleep(PAUSE_MS * 1000);
}

void end_attacker(const party *attacker)
{
    kill(attacker->process, SIGKILL);
    const int code = party_end(attacker);
    if (code != 128 + SIGKILL)
        fprintf(stderr, "the attacker ended by itself, with code %d\n", code);
    require(code == 128 + SIGKILL);
}
