/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs that are read while they grow, blocks of several logs that are under way at once, and states that are read before their shard is taken: one
 * case a run, `test_followed CASE`. The transport is `file`, or what CLUSTER_TRANSPORT names, with the server at CLUSTER_URL.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster/kept.h"
#include "core/cluster/reading.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "checkpoints.h"
#include "members.h"
#include "workers.h"

enum { LOGS = 20, BLOCKS = 600, TABLE = 200000 };

static struct gyre_config *config;
static struct gyre_transport *transport, *other; /* two connections */

static void open_transports(void)
{
    begin_cluster();
    const struct gyre_config_desc desc = {.api = cluster_settings(NULL)};
    must(gyre_config_load(&desc, &config));
    must(gyre_transport_open(config, NULL, NULL, soon(), &transport));
    must(gyre_transport_open(config, NULL, NULL, soon(), &other));
}

static void close_transports(void)
{
    gyre_transport_close(transport);
    gyre_transport_close(other);
    gyre_config_destroy(config);
}

/* ---- several logs ---- */

static void read_text(const char *log, uint64_t number, const char *expected)
{
    char text[GYRE_CLUSTER_NAME_SIZE] = "";
    size_t size = 0;
    uint64_t found = 0;
    must(gyre_transport_read(transport, log, number - 1, text, sizeof text - 1, &size, &found));
    require(found == number && size == strlen(expected) && memcmp(text, expected, size) == 0);
}

static void blocks_for_several_logs_are_kept_each(void)
{
    char logs[LOGS][GYRE_CLUSTER_NAME_SIZE], texts[LOGS][GYRE_CLUSTER_NAME_SIZE];
    gyre_transport_entry entries[LOGS];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < LOGS; i++) {
            gyre_cluster_shard_name(logs[i], "in", (uint32_t)i);
            snprintf(texts[i], sizeof texts[i], "block %d of log %d", round, i);
            entries[i] = (gyre_transport_entry){.log = logs[i],
                                                .block = {.size = sizeof entries[i].block,
                                                          .bytes = texts[i],
                                                          .byte_count = strlen(texts[i]),
                                                          .expected = GYRE_TRANSPORT_ANY}};
        }
        entries[7].block.expected = UINT64_C(1) << 40; /* is never the last one */
        gyre_transport_append_each(transport, entries, LOGS);
        for (int i = 0; i < LOGS; i++) {
            require(entries[i].status == (i == 7 ? GYRE_AGAIN : GYRE_OK));
            if (i != 7)
                read_text(logs[i], entries[i].number, texts[i]);
        }
    }
    uint64_t last = 1;
    must(gyre_transport_last(transport, "in.7", &last));
    require(last == 0);
    gyre_transport_append_each(transport, entries, 0);
}

static void a_block_with_a_wrong_name_keeps_no_other_one_out(void)
{
    gyre_transport_entry entries[3];
    const char *const logs[] = {"in.1", "../in", "in.2"};
    for (int i = 0; i < 3; i++)
        entries[i] = (gyre_transport_entry){.log = logs[i],
                                            .block = {.size = sizeof entries[i].block,
                                                      .bytes = "x",
                                                      .byte_count = 1,
                                                      .expected = GYRE_TRANSPORT_ANY}};
    gyre_transport_append_each(transport, entries, 3);
    require(entries[0].status == GYRE_OK && entries[1].status == GYRE_INVALID &&
            entries[2].status == GYRE_OK);
}

/* ---- one log ---- */

static void *write_many(void *context)
{
    unsigned char bytes[3000];
    (void)context;
    memset(bytes, 0, sizeof bytes);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        memcpy(bytes, &i, sizeof i);
        const gyre_transport_block block = {.size = sizeof block,
                                            .bytes = bytes,
                                            .byte_count = sizeof i + i * 7 % 2900,
                                            .expected = GYRE_TRANSPORT_ANY};
        must(gyre_transport_append(other, "in.1", &block, NULL));
        must(gyre_transport_append(other, "in.2", &block, NULL)); /* a neighbour */
    }
    return NULL;
}

/* Reads the block behind `after`, which is the one that was written so long after the first one. */
static uint64_t read_written(struct gyre_reading *reading, unsigned char *block, uint64_t after,
                             uint32_t expected)
{
    const uint64_t until = soon();
    size_t size = 0;
    uint64_t number = 0;
    uint32_t found;
    gyre_status status = GYRE_AGAIN;
    while (status == GYRE_AGAIN && gyre_now_ns() < until) {
        status = gyre_reading_next(reading, transport, "in.1", after, block, &size, &number);
        if (status == GYRE_AGAIN)
            gyre_transport_wait(transport, "in.1", after, gyre_in_ms(20));
    }
    must(status);
    memcpy(&found, block, sizeof found);
    require(number > after && found == expected && size == sizeof found + expected * 7 % 2900);
    return number;
}

/* In the order of the log, whether the transport brings them or is asked; and again from wherever it is read. */
static void a_log_is_read_while_it_grows(void)
{
    pthread_t thread;
    struct gyre_reading reading = {0};
    unsigned char *block = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    uint64_t numbers[BLOCKS], at = 0;
    require(block != NULL);
    require(gyre_transport_wait(transport, "in.1", 0, gyre_in_ms(1)) != GYRE_UNAVAILABLE);
    require(pthread_create(&thread, NULL, write_many, NULL) == 0);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        at = numbers[i] = read_written(&reading, block, at, i);
        if (i % 50 == 49) /* back, and on from there */
            require(read_written(&reading, block, numbers[i - 20], i - 19) == numbers[i - 19]);
    }
    pthread_join(thread, NULL);
    require(gyre_reading_next(&reading, transport, "in.1", at, block, &(size_t){0}, &(uint64_t){0}) ==
            GYRE_AGAIN);
    require(!gyre_reading_has_next(transport, "in.1", at));
    for (uint32_t i = 1; i < BLOCKS; i++) { /* once more, as another reader */
        struct gyre_reading again = {0};
        require(read_written(&again, block, numbers[i - 1], i) == numbers[i]);
    }
    free(block);
}

/* ---- states ---- */

static void checkpoint(struct gyre_kept *kept, unsigned char *table, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        for (uint32_t k = i % 5 * 1000; k < TABLE; k += i % 3 ? 70000 : 11)
            table[k] = (unsigned char)(i + k);
        must(keep_checkpoint(kept, table, 100 + i));
    }
}

static void begin(struct gyre_kept *kept, uint64_t epoch)
{
    kept->epoch = epoch;
    strcpy(kept->owner, "m");
    must(gyre_kept_begin(kept, soon()));
}

/* Whole checkpoints come in between, and purge what the reader has not read yet. */
static void states_that_were_read_ahead_are_those_of_the_owner(void)
{
    static unsigned char table[TABLE];
    struct gyre_kept first, second;
    must(gyre_kept_init(&first, transport, 7, TABLE));
    begin(&first, 1);
    for (uint32_t i = 0; i < 12; i++) {
        must(gyre_kept_init(&second, other, 7, TABLE));
        const uint32_t from = i * 20;
        checkpoint(&first, table, from, from + 4);
        must(gyre_kept_read_ahead(&second));
        checkpoint(&first, table, from + 4, from + 4 + i);
        if (i % 2)
            must(gyre_kept_read_ahead(&second));
        checkpoint(&first, table, from + 4 + i, from + 6 + i);
        begin(&second, i + 2);
        require(second.checkpoint == first.checkpoint && second.position == first.position);
        require(memcmp(second.table, table, TABLE) == 0);
        table[0]++;
        require(keep_checkpoint(&first, table, 900) == GYRE_LOST);
        gyre_kept_finish(&first);
        first = second;
        first.pending_end = &first.pending;
        first.transport = transport;
    }
    gyre_kept_finish(&first);
}

static const named_case cases[] = {
    {"blocks_for_several_logs_are_kept_each", blocks_for_several_logs_are_kept_each},
    {"a_block_with_a_wrong_name_keeps_no_other_one_out", a_block_with_a_wrong_name_keeps_no_other_one_out},
    {"a_log_is_read_while_it_grows", a_log_is_read_while_it_grows},
    {"states_that_were_read_ahead_are_those_of_the_owner",
     states_that_were_read_ahead_are_those_of_the_owner},
};

int main(int argc, char **argv)
{
    const int code = RUN_NAMED(argc, argv, open_transports, cases);
    close_transports();
    return end_cluster(code);
}
