/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every transport promises (gyre/transport.h), and what a shard keeps in one: one case a run, `test_transport CASE`. The transport is
 * `file`, or what CLUSTER_TRANSPORT names, with the server at CLUSTER_URL.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/cluster/kept.h"
#include "core/cluster/member.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "checkpoints.h"
#include "members.h"
#include "workers.h"

static struct gyre_config *config;
static struct gyre_transport *transport;

static gyre_status try_open(const char *more)
{
    const struct gyre_config_desc desc = {.api = cluster_settings(more)};
    gyre_config_destroy(config);
    must(gyre_config_load(&desc, &config));
    return gyre_transport_open(config, NULL, NULL, soon(), &transport);
}

static void open_transport(void)
{
    begin_cluster();
    must(try_open(NULL));
}

static void close_transport(void)
{
    gyre_transport_close(transport);
    gyre_config_destroy(config);
}

static gyre_status append_text(const char *log, const char *text, uint64_t expected, uint64_t *number)
{
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = text, .byte_count = strlen(text), .expected = expected};
    return gyre_transport_append(transport, log, &block, number);
}

/* Reads a text behind `after`, waiting for it; returns its number. */
static uint64_t read_text(const char *log, uint64_t after, char text[256])
{
    size_t size = 0;
    uint64_t number = 0;
    const uint64_t until = soon();
    gyre_status status = GYRE_AGAIN;
    while (status == GYRE_AGAIN && gyre_now_ns() < until) {
        status = gyre_transport_read(transport, log, after, text, 255, &size, &number);
        if (status == GYRE_AGAIN)
            gyre_transport_wait(transport, log, after, gyre_in_ms(20));
    }
    must(status);
    text[size] = '\0';
    return number;
}

/* ---- every transport ---- */

static void blocks_come_back_in_order(void)
{
    char text[256], expected[32];
    uint64_t number = 0, last = 0, at = 0;
    must(gyre_transport_last(transport, "in.1", &last));
    require(last == 0);
    require(gyre_transport_read(transport, "in.1", 0, text, sizeof text, &(size_t){0}, &number) ==
            GYRE_AGAIN);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "block %d", i);
        must(append_text("in.1", text, GYRE_TRANSPORT_ANY, &number));
        require(number > last);
        last = number;
    }
    must(append_text("in.10", "of another log", GYRE_TRANSPORT_ANY, NULL));
    for (int i = 0; i < 100; i++) {
        at = read_text("in.1", at, text);
        snprintf(expected, sizeof expected, "block %d", i);
        require(strcmp(text, expected) == 0);
    }
    must(gyre_transport_last(transport, "in.1", &number));
    require(at == last && number == last);
    require(gyre_transport_read(transport, "in.1", at, text, sizeof text, &(size_t){0}, &number) ==
            GYRE_AGAIN);
}

static void large_and_empty_blocks_are_kept(void)
{
    unsigned char *large = malloc(GYRE_TRANSPORT_BLOCK_MAX), *back = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    size_t size = 1;
    uint64_t first = 0, number = 0;
    require(large && back);
    for (size_t i = 0; i < GYRE_TRANSPORT_BLOCK_MAX; i++)
        large[i] = (unsigned char)(i * 7 >> 3);
    const gyre_transport_block empty = {.size = sizeof empty, .bytes = "", .expected = GYRE_TRANSPORT_ANY},
                               block = {.size = sizeof block,
                                        .bytes = large,
                                        .byte_count = GYRE_TRANSPORT_BLOCK_MAX,
                                        .expected = GYRE_TRANSPORT_ANY},
                               longer = {.size = sizeof longer,
                                         .bytes = large,
                                         .byte_count = GYRE_TRANSPORT_BLOCK_MAX + 1,
                                         .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "in.2", &empty, &first));
    for (int i = 0; i < 12; i++) /* more than a segment of the file transport */
        must(gyre_transport_append(transport, "in.2", &block, &number));
    require(gyre_transport_append(transport, "in.2", &longer, &number) == GYRE_INVALID);
    must(gyre_transport_read(transport, "in.2", 0, back, GYRE_TRANSPORT_BLOCK_MAX, &size, &number));
    require(size == 0 && number == first);
    for (int i = 0; i < 12; i++) {
        must(gyre_transport_read(transport, "in.2", number, back, GYRE_TRANSPORT_BLOCK_MAX, &size, &number));
        require(size == GYRE_TRANSPORT_BLOCK_MAX && memcmp(back, large, size) == 0);
    }
    require(gyre_transport_read(transport, "in.2", first, back, 100, &size, &number) == GYRE_INVALID);
    free(large);
    free(back);
}

/* Of two that expect the same end the first one is taken; one that nobody asks for disturbs nobody. */
static void expect_of_those_under_way(uint64_t last)
{
    gyre_transport_ticket *tickets[2], *dropped = NULL;
    gyre_transport_entry entries[2], other;
    char text[256];
    for (int i = 0; i < 2; i++)
        entries[i] = (gyre_transport_entry){
            .log = "state.1",
            .block = {
                .size = sizeof other.block, .bytes = i ? "no" : "ok", .byte_count = 2, .expected = last}};
    other = entries[0];
    other.log = "state.3";
    other.block.expected = GYRE_TRANSPORT_ANY;
    must(gyre_transport_begin(transport, &other, 1, &dropped));
    gyre_transport_drop(transport, dropped);
    for (int i = 0; i < 2; i++)
        must(gyre_transport_begin(transport, &entries[i], 1, &tickets[i]));
    for (int i = 0; i < 2; i++)
        must(gyre_transport_finish(transport, tickets[i], soon()));
    require(entries[0].status == GYRE_OK && entries[0].number > last);
    require(entries[1].status == GYRE_AGAIN && entries[1].number == 0);
    require(read_text("state.1", last, text) == entries[0].number && strcmp(text, "ok") == 0);
    read_text("state.3", 0, text);
}

static void a_writer_that_expects_another_end_is_refused(void)
{
    uint64_t first = 0, second = 0, number = 0;
    char text[256];
    require(append_text("state.1", "never", 5, &number) == GYRE_AGAIN);
    must(append_text("state.1", "one", 0, &first));
    require(append_text("state.1", "never", 0, &number) == GYRE_AGAIN);
    must(append_text("state.2", "of another log", GYRE_TRANSPORT_ANY, NULL));
    must(append_text("state.1", "two", first, &second));
    require(append_text("state.1", "never", first, &number) == GYRE_AGAIN);
    require(read_text("state.1", 0, text) == first && strcmp(text, "one") == 0);
    require(read_text("state.1", first, text) == second && strcmp(text, "two") == 0);
    must(gyre_transport_last(transport, "state.1", &number));
    require(number == second);
    if (gyre_transport_can_begin(transport))
        expect_of_those_under_way(second);
}

/* A block that is under way, and a copy of what it points to, which goes when it was begun. */
struct begun {
    gyre_transport_entry entry;
    gyre_transport_ticket *ticket;
};

static void begin_text(struct begun *begun, const char *log, const char *text)
{
    char *copy = strdup(text);
    require(copy != NULL);
    begun->entry = (gyre_transport_entry){.log = log,
                                          .block = {.size = sizeof begun->entry.block,
                                                    .bytes = copy,
                                                    .byte_count = strlen(copy),
                                                    .expected = GYRE_TRANSPORT_ANY}};
    must(gyre_transport_begin(transport, &begun->entry, 1, &begun->ticket));
    memset(copy, '?', strlen(text));
    free(copy);
}

static void finish_text(struct begun *begun)
{
    gyre_status status = GYRE_AGAIN;
    while (status == GYRE_AGAIN)
        status = gyre_transport_finish(transport, begun->ticket, gyre_in_ms(1));
    must(status);
    must(begun->entry.status);
    require(begun->entry.number > 0);
}

/* As write_many, with several blocks under way. */
static void *write_many_at_once(void *context)
{
    enum { AT_ONCE = 8 };
    struct begun begun[AT_ONCE];
    char text[32];
    for (int i = 0; i < 100 + AT_ONCE; i++) {
        if (i >= AT_ONCE)
            finish_text(&begun[i % AT_ONCE]);
        snprintf(text, sizeof text, "%d %d", *(int *)context, i);
        if (i < 100)
            begin_text(&begun[i % AT_ONCE], "in.3", text);
    }
    return NULL;
}

static void *write_many(void *context)
{
    char text[32];
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "%d %d", *(int *)context, i);
        must(append_text("in.3", text, GYRE_TRANSPORT_ANY, NULL));
    }
    return NULL;
}

static void writers_lose_nothing_of_each_other(void)
{
    enum { WRITERS = 4 };
    pthread_t threads[WRITERS];
    int numbers[WRITERS], next[WRITERS] = {0};
    uint64_t at = 0;
    char text[256];
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        const bool at_once = i % 2 && gyre_transport_can_begin(transport);
        require(pthread_create(&threads[i], NULL, at_once ? write_many_at_once : write_many, &numbers[i]) ==
                0);
    }
    for (int i = 0; i < 100 * WRITERS; i++) {
        int writer = -1, number = -1;
        at = read_text("in.3", at, text);
        require(sscanf(text, "%d %d", &writer, &number) == 2 && writer >= 0 && writer < WRITERS);
        require(number == next[writer]++);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
}

static void *write_later(void *context)
{
    (void)context;
    usleep(30000);
    must(append_text("out.1", "late", GYRE_TRANSPORT_ANY, NULL));
    return NULL;
}

static void a_wait_ends_with_a_block(void)
{
    pthread_t thread;
    char text[256];
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK || status == GYRE_AGAIN) /* a server that is slow has no follower yet */
        status = gyre_transport_wait(transport, "out.1", 0, gyre_in_ms(30));
    require(status == GYRE_TIMEOUT);
    require(pthread_create(&thread, NULL, write_later, NULL) == 0);
    for (uint64_t last = 0; !last;) { /* OK may come before a block does */
        status = gyre_transport_wait(transport, "out.1", 0, soon());
        require(status == GYRE_OK || status == GYRE_AGAIN);
        must(gyre_transport_last(transport, "out.1", &last));
    }
    read_text("out.1", 0, text);
    require(strcmp(text, "late") == 0);
    pthread_join(thread, NULL);
}

static void purged_blocks_go_and_numbers_go_on(void)
{
    static unsigned char bytes[GYRE_TRANSPORT_BLOCK_MAX];
    uint64_t numbers[40], number = 0;
    size_t size;
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = bytes, .byte_count = sizeof bytes, .expected = GYRE_TRANSPORT_ANY};
    for (int i = 0; i < 40; i++)
        must(gyre_transport_append(transport, "state.4", &block, &numbers[i]));
    must(gyre_transport_purge(transport, "state.4", numbers[30]));
    must(gyre_transport_read(transport, "state.4", 0, bytes, sizeof bytes, &size, &number));
    require(number > numbers[0] && number <= numbers[30]); /* a transport may keep some */
    must(gyre_transport_purge(transport, "state.4", numbers[39] + 1));
    must(gyre_transport_last(transport, "state.4", &number));
    require(number == numbers[39]);
    must(gyre_transport_append(transport, "state.4", &block, &number));
    require(number > numbers[39]);
    must(gyre_transport_read(transport, "state.4", numbers[39], bytes, sizeof bytes, &size, &number));
}

static int count_name(void *context, const char *name)
{
    require(strncmp(name, "member.", 7) == 0);
    ++*(int *)context;
    return 1;
}

static void records_are_replaced_by_compare_and_set(void)
{
    char bytes[64];
    size_t size;
    uint64_t first = 0, second = 0, revision = 0;
    int count = 0;
    require(gyre_transport_record_get(transport, "place.1", bytes, sizeof bytes, &size, &revision) ==
            GYRE_NOT_FOUND);
    require(gyre_transport_record_put(transport, "place.1", "x", 1, 3, &revision) == GYRE_AGAIN);
    must(gyre_transport_record_put(transport, "place.1", "one", 3, 0, &first));
    require(gyre_transport_record_put(transport, "place.1", "x", 1, 0, &revision) == GYRE_AGAIN);
    must(gyre_transport_record_put(transport, "place.1", "two!", 4, first, &second));
    require(second > first);
    require(gyre_transport_record_put(transport, "place.1", "x", 1, first, &revision) == GYRE_AGAIN);
    must(gyre_transport_record_get(transport, "place.1", bytes, sizeof bytes, &size, &revision));
    require(size == 4 && memcmp(bytes, "two!", 4) == 0 && revision == second);
    must(gyre_transport_record_put(transport, "place.1", "any!", 4, GYRE_TRANSPORT_ANY, &revision));
    require(revision > second);
    must(gyre_transport_record_put(transport, "place.2", "any!", 4, GYRE_TRANSPORT_ANY, &revision));
    require(gyre_transport_record_get(transport, "place.1", bytes, 3, &size, &revision) == GYRE_INVALID);
    must(gyre_transport_record_put(transport, "member.a", "a", 1, 0, &revision));
    must(gyre_transport_record_put(transport, "member.b.c", "b", 1, 0, &revision));
    must(gyre_transport_record_list(transport, "member.", count_name, &count));
    require(count == 2);
    require(gyre_transport_record_put(transport, "../escape", "x", 1, 0, &revision) == GYRE_INVALID);
}

/* ---- members ---- */

static void write_record(const char *name, uint64_t *revision)
{
    struct gyre_cluster_member record = {.incarnation = 5, .weight = 100, .state = GYRE_MEMBER_HERE};
    snprintf(record.name, sizeof record.name, "%s", name);
    must(gyre_roster_write(transport, &record, revision));
}

/* More records of members that died than a table has room for: the one that lives gets its shards, and keeps them. */
static void a_member_is_found_among_many_that_died(void)
{
    enum { DEAD = GYRE_MEMBERS_MAX + 40 };
    static struct gyre_roster roster;
    uint64_t now = 0, revision = 0, found = 0;
    roster.lease_ns = (uint64_t)patiently(1500) * 1000000; /* far more than a look takes */
    for (int i = 0; i < DEAD; i++) {
        char name[16];
        snprintf(name, sizeof name, "dead%d", i);
        write_record(name, &(uint64_t){0});
    }
    const uint64_t until = gyre_in_ms(patiently(60000));
    for (int looks = 0; found <= 20; looks++) {
        if (looks >= 5)
            write_record("living", &revision);
        now =
            gyre_clock_ns(); /* before the look: a process that stands still behind it finds the member alive */
        require(now < until);
        must(gyre_roster_look(&roster, transport));
        const char *owner = gyre_roster_choose(&roster, 3, NULL, now);
        require(!found || (owner && strcmp(owner, "living") == 0));
        found += owner && strcmp(owner, "living") == 0;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    require(gyre_roster_is_alive(&roster, "living", 5, now));
    require(!gyre_roster_choose(&roster, 3, "living", now));
}

/* A lease that ran out and is renewed is that of shards that are taken from then on, and not of those from before. */
static void a_lease_that_ran_out_is_not_that_of_before(void)
{
    static struct gyre_member member = {.record = {.incarnation = 5, .name = "one"}};
    struct gyre_site *site = &member.site;
    site->transport = transport;
    site->lease_ns = UINT64_C(3600000000000);
    must(gyre_member_beat(&member, GYRE_MEMBER_HERE));
    const uint64_t lapses = site->lapses;
    must(gyre_member_beat(&member, GYRE_MEMBER_HERE));
    require(gyre_site_kept_lease(site, lapses, gyre_now_ns()));
    site->lease_until_ns = gyre_now_ns() - 1;
    require(!gyre_site_kept_lease(site, lapses, gyre_now_ns()));
    must(gyre_member_beat(&member, GYRE_MEMBER_HERE));
    require(gyre_site_has_lease(site, gyre_now_ns()));
    require(!gyre_site_kept_lease(site, lapses, gyre_now_ns()));
    require(gyre_site_kept_lease(site, site->lapses, gyre_now_ns()));
}

/* ---- what a shard keeps ---- */

enum { TABLE = 200000 };

static void begin_kept(struct gyre_kept *kept, uint64_t epoch)
{
    must(gyre_kept_init(kept, transport, 7, TABLE));
    kept->epoch = epoch;
    strcpy(kept->owner, "m");
    must(gyre_kept_begin(kept, soon()));
}

static void fill(unsigned char *table, unsigned seed)
{
    for (size_t i = 0; i < TABLE; i++)
        table[i] = i / 70000 % 2 ? (unsigned char)(i * seed >> 5) : 0;
}

static void a_checkpoint_comes_back_and_an_earlier_owner_is_refused(void)
{
    static unsigned char table[TABLE];
    const unsigned char id[GYRE_CLIENT_ID_SIZE] = {1, 2, 3};
    struct gyre_kept first, second, third;
    begin_kept(&first, 1);
    require(first.checkpoint == 0);
    for (unsigned i = 1; i <= 40; i++) { /* some are whole, some have what changed */
        fill(table, i % 3 ? i : 2);
        gyre_callers_note(&first.callers, id, i)->number = 10 * i;
        must(keep_checkpoint(&first, table, 100 + i));
    }
    begin_kept(&second, 2);
    require(second.checkpoint == 40 && second.position == 140 && memcmp(second.table, table, TABLE) == 0);
    require(second.callers.count == 1 && second.callers.list[0].number == 400);
    table[0] = 9;
    require(keep_checkpoint(&first, table, 200) == GYRE_LOST); /* a zombie */
    require(strstr(gyre_error_text(), "was refused") != NULL);
    must(keep_checkpoint(&second, table, 150));
    require(keep_checkpoint(&first, table, 200) == GYRE_LOST);
    begin_kept(&third, 3);
    require(third.position == 150 && third.table[0] == 9);
    gyre_kept_finish(&first);
    must(gyre_kept_init(&first, transport, 7, TABLE));
    first.epoch = 2;
    require(gyre_kept_begin(&first, soon()) == GYRE_LOST); /* a later epoch was here */
    gyre_kept_finish(&first);
    gyre_kept_finish(&second);
    gyre_kept_finish(&third);
}

/* Half a checkpoint counts for nothing. */
static void a_checkpoint_without_its_end_is_passed_over(void)
{
    static unsigned char table[TABLE];
    struct gyre_kept kept;
    begin_kept(&kept, 1);
    fill(table, 3);
    must(keep_checkpoint(&kept, table, 5));
    struct gyre_cluster_piece *piece = calloc(1, sizeof *piece + 64);
    *piece = (struct gyre_cluster_piece){.epoch = 1, .checkpoint = 2, .length = 64};
    gyre_block_seal(piece, sizeof *piece + 64, GYRE_BLOCK_BYTES);
    const gyre_transport_block block = {.size = sizeof block,
                                        .bytes = piece,
                                        .byte_count = sizeof *piece + 64,
                                        .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "state.7", &block, NULL));
    free(piece);
    gyre_kept_finish(&kept);
    begin_kept(&kept, 2);
    require(kept.checkpoint == 1 && kept.position == 5 && memcmp(kept.table, table, TABLE) == 0);
    gyre_kept_finish(&kept);
}

static void refuse_state(const void *bytes, size_t size, const char *sentence)
{
    struct gyre_kept kept;
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = bytes, .byte_count = size, .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "state.8", &block, NULL));
    must(gyre_kept_init(&kept, transport, 8, TABLE));
    kept.epoch = 9;
    const gyre_status status = gyre_kept_begin(&kept, soon());
    if (status != GYRE_INCOMPATIBLE || !strstr(gyre_error_text(), sentence))
        fprintf(stderr, "%s\n", gyre_error_text());
    require(status == GYRE_INCOMPATIBLE && strstr(gyre_error_text(), sentence) != NULL);
    gyre_kept_finish(&kept);
}

static void states_of_another_table_are_refused(void)
{
    struct gyre_cluster_commit commit = {
        .epoch = 1, .checkpoint = 1, .table_size = TABLE + 1, .pieces = 0, .is_whole = 1};
    gyre_block_seal(&commit, sizeof commit, GYRE_BLOCK_COMMIT);
    refuse_state(&commit, sizeof commit, "states for a table of 200001 bytes");
}

static void pieces_outside_of_the_table_are_refused(void)
{
    struct {
        struct gyre_cluster_piece piece;
        unsigned char bytes[64];
    } piece = {.piece = {.epoch = 1, .checkpoint = 1, .offset = TABLE - 10, .length = 64}};
    gyre_block_seal(&piece, sizeof piece, GYRE_BLOCK_BYTES);
    refuse_state(&piece, sizeof piece, "lies outside of the table");
}

static void bytes_that_are_no_block_are_refused(void)
{
    refuse_state("hello, this is no block of Gyre at all", 30, "expected a block of Gyre");
}

static void a_block_that_changed_is_refused(void)
{
    struct gyre_cluster_fence fence = {.epoch = 1};
    gyre_block_seal(&fence, sizeof fence, GYRE_BLOCK_FENCE);
    fence.owner[3] ^= 1;
    refuse_state(&fence, sizeof fence, "its checksum is not that of its");
}

/* ---- clients that send a block again ---- */

static size_t make_requests(unsigned char *block, uint64_t first, uint32_t count)
{
    struct gyre_cluster_requests head = {.client = {7}, .first = first, .count = count};
    const struct gyre_cluster_message message = {.length = sizeof(count_request)};
    size_t at = sizeof head;
    memcpy(block, &head, sizeof head);
    for (uint32_t i = 0; i < count; i++) {
        const count_request request = {.account = 3, .amount = first + i};
        at = gyre_cluster_message_add(block, at, &message, &request);
    }
    gyre_block_seal(block, at, GYRE_BLOCK_REQUESTS);
    return at;
}

static void append_requests(uint64_t first, uint32_t count)
{
    unsigned char bytes[1024];
    const gyre_transport_block block = {.size = sizeof block,
                                        .bytes = bytes,
                                        .byte_count = make_requests(bytes, first, count),
                                        .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "in.2", &block, NULL));
}

/* Requires the next reply of the client's log to be that of a request, the `count`th of its key. */
static void expect_reply(uint64_t *at, struct gyre_cluster_walk *walk, unsigned char *bytes, uint64_t number)
{
    struct gyre_cluster_replies head;
    count_state state;
    size_t size;
    const char *log = "out.07000000000000000000000000000000";
    const uint64_t until = soon();
    while (!gyre_cluster_walk_next(walk)) {
        uint64_t read = 0;
        const gyre_status status =
            gyre_transport_read(transport, log, *at, bytes, GYRE_TRANSPORT_BLOCK_MAX, &size, &read);
        *at = status == GYRE_OK ? read : *at;
        require((status == GYRE_OK || status == GYRE_AGAIN) && gyre_now_ns() < until);
        if (status == GYRE_OK)
            must(gyre_cluster_replies_open(bytes, size, log, &head, walk));
        else
            gyre_transport_wait(transport, log, *at, gyre_in_ms(20));
    }
    if (walk->message.number != number || walk->message.length != sizeof state)
        fprintf(stderr, "reply %llu of %u bytes, expected %llu: %.44s\n",
                (unsigned long long)walk->message.number, walk->message.length, (unsigned long long)number,
                (const char *)walk->contents);
    require(walk->message.number == number && walk->message.length == sizeof state);
    memcpy(&state, walk->contents, sizeof state);
    require(state.count == number);
}

static void a_request_that_comes_twice_is_handled_once(void)
{
    unsigned char *bytes = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    struct gyre_cluster_walk walk = {0};
    uint64_t at = 0, next = 1;
    require(bytes != NULL);
    start_member(0);
    append_requests(1, 3);
    append_requests(1, 3); /* again as a whole, */
    must(append_text("in.2", "what is no block is passed over", GYRE_TRANSPORT_ANY, NULL));
    append_requests(2, 4); /* and in part */
    for (; next <= 5; next++)
        expect_reply(&at, &walk, bytes, next);
    append_requests(6, 1);
    expect_reply(&at, &walk, bytes, 6);
    end_member(0); /* with a checkpoint: the next owner handles nothing again, and knows what came before */
    append_requests(1, 6);
    append_requests(6, 2);
    start_member(1);
    expect_reply(&at, &walk, bytes, 7);
    gyre_member_info info = {0};
    const uint64_t until = soon();
    while (!read_member(1, &info) || info.duplicates < 7)
        require(gyre_now_ns() < until);
    require(info.handled == 1);
    end_member(1);
    free(bytes);
}

static const named_case cases[] = {
    {"blocks_come_back_in_order", blocks_come_back_in_order},
    {"large_and_empty_blocks_are_kept", large_and_empty_blocks_are_kept},
    {"a_writer_that_expects_another_end_is_refused", a_writer_that_expects_another_end_is_refused},
    {"writers_lose_nothing_of_each_other", writers_lose_nothing_of_each_other},
    {"a_wait_ends_with_a_block", a_wait_ends_with_a_block},
    {"purged_blocks_go_and_numbers_go_on", purged_blocks_go_and_numbers_go_on},
    {"records_are_replaced_by_compare_and_set", records_are_replaced_by_compare_and_set},
    {"a_member_is_found_among_many_that_died", a_member_is_found_among_many_that_died},
    {"a_lease_that_ran_out_is_not_that_of_before", a_lease_that_ran_out_is_not_that_of_before},
    {"a_checkpoint_comes_back_and_an_earlier_owner_is_refused",
     a_checkpoint_comes_back_and_an_earlier_owner_is_refused},
    {"a_checkpoint_without_its_end_is_passed_over", a_checkpoint_without_its_end_is_passed_over},
    {"states_of_another_table_are_refused", states_of_another_table_are_refused},
    {"pieces_outside_of_the_table_are_refused", pieces_outside_of_the_table_are_refused},
    {"bytes_that_are_no_block_are_refused", bytes_that_are_no_block_are_refused},
    {"a_block_that_changed_is_refused", a_block_that_changed_is_refused},
    {"a_request_that_comes_twice_is_handled_once", a_request_that_comes_twice_is_handled_once},
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "member") == 0)
        return run_member(argv[2], argv[3]);
    const int code = RUN_NAMED(argc, argv, open_transport, cases);
    close_transport();
    return end_cluster(code);
}
