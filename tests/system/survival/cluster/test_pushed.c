/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How blocks of a NATS server come to who waits for them: one case a run, `test_pushed CASE`, below with_nats.sh. The cases speak to the server
 * themselves, in its text protocol: what it was told, and what somebody else publishes.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "members.h"
#include "workers.h"

static struct gyre_config *config;
static struct gyre_transport *transport;
static const char *app;
static FILE *from_server, *to_server;

/* ---- the server's own protocol ---- */

static void speak_to_server(void)
{
    const char *url = getenv("CLUSTER_URL");
    require(url);
    const char *port = strrchr(url, ':');
    char line[4096];
    require(port);
    const struct sockaddr_in place = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)atoi(port + 1)),
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int file = socket(AF_INET, SOCK_STREAM, 0);
    require(file >= 0 && connect(file, (const struct sockaddr *)&place, sizeof place) == 0);
    require((from_server = fdopen(file, "re")) && (to_server = fdopen(dup(file), "we")) &&
            fgets(line, sizeof line, from_server));
    setvbuf(to_server, NULL, _IONBF, 0);
    fprintf(to_server, "CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB answers 1\r\n");
}

/* Asks the server, and returns its answer. */
static const char *ask(const char *what, const char *words)
{
    static char line[16384];
    fprintf(to_server, "PUB $JS.API.STREAM.%s.GYRE_%s answers %zu\r\n%s\r\n", what, app, strlen(words),
            words);
    while (fgets(line, sizeof line, from_server) && strncmp(line, "MSG answers", 11) != 0)
        if (strncmp(line, "PING", 4) == 0)
            fprintf(to_server, "PONG\r\n");
    require(fgets(line, sizeof line, from_server));
    return line;
}

static int count_consumers(void)
{
    const char *count = strstr(ask("INFO", ""), "\"consumer_count\":");
    require(count);
    return atoi(count + strlen("\"consumer_count\":"));
}

/* Publishes to where the stream's blocks come, as a member that reads the stream's settings could. */
static void publish_like_the_server(const char *log, const char *headers, const char *text)
{
    char subject[256];
    const char *at = strstr(ask("INFO", ""), "\"dest\":\"");
    require(at);
    at += strlen("\"dest\":\"");
    const int length = (int)strcspn(at, ">\\"); /* the server writes it with a backslash */
    snprintf(subject, sizeof subject, "%.*s%s", length, at, log);
    fprintf(to_server, "HPUB %s %zu %zu\r\n%s%s\r\n", subject, strlen(headers),
            strlen(headers) + strlen(text), headers, text);
    ask("INFO", ""); /* it has it now */
}

/* ---- blocks ---- */

static void open_transport(void)
{
    const struct gyre_config_desc desc = {.api = cluster_settings(NULL)};
    must(gyre_config_load(&desc, &config));
    must(gyre_transport_open(config, NULL, NULL, soon(), &transport));
}

static void append_number(int value)
{
    char text[32];
    uint64_t number;
    snprintf(text, sizeof text, "block %d", value);
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = text, .byte_count = strlen(text), .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "in.1", &block, &number));
}

/* Waits for a block, reads it and compares it. Returns its number. */
static uint64_t expect_number(int value, uint64_t after)
{
    char text[32] = "", expected[32];
    size_t size = 0;
    uint64_t number = 0;
    const uint64_t until = soon();
    gyre_status status = GYRE_AGAIN;
    while (status == GYRE_AGAIN && gyre_now_ns() < until) {
        gyre_transport_wait(transport, "in.1", after, gyre_in_ms(20));
        status = gyre_transport_read(transport, "in.1", after, text, sizeof text - 1, &size, &number);
    }
    must(status);
    snprintf(expected, sizeof expected, "block %d", value);
    require(size == strlen(expected) && memcmp(text, expected, size) == 0 && number > after);
    return number;
}

/* Blocks from `first` to before `end`, each of which is waited for. */
static uint64_t pass_numbers(int first, int end, uint64_t after)
{
    for (int i = first; i < end; i++) {
        append_number(i);
        after = expect_number(i, after);
    }
    return after;
}

/* ---- cases ---- */

static void logs_are_followed_without_consumers(void)
{
    open_transport();
    const uint64_t last = pass_numbers(0, 50, 0);
    require(count_consumers() == 0);
    pass_numbers(50, 60, last);
    require(count_consumers() == 0);
}

/* As a member of an earlier version makes it. */
static void streams_of_before_are_followed_by_consumers(void)
{
    char words[512];
    snprintf(
        words, sizeof words,
        "{\"name\":\"GYRE_%s\",\"subjects\":[\"GYRE.%s.log.>\"],\"retention\":\"limits\",\"storage\":\"file\","
        "\"num_replicas\":1,\"max_msgs_per_subject\":-1,\"allow_direct\":true}",
        app, app);
    require(!strstr(ask("CREATE", words), "\"error\""));
    open_transport();
    pass_numbers(0, 50, 0);
    require(count_consumers() == 1);
}

/* Who has many blocks to read makes a consumer, and none is lost or doubled where one way ends and the other one begins. */
static void a_reader_far_behind_has_a_consumer(void)
{
    uint64_t after = 0;
    open_transport();
    for (int i = 0; i < 200; i++)
        append_number(i);
    for (int i = 0; i < 100; i++)
        after = expect_number(i, after);
    require(count_consumers() == 1);
    for (int i = 100; i < 200; i++)
        after = expect_number(i, after);
    pass_numbers(200, 250, after);
}

/* A block without numbers, and one whose predecessor never comes: neither is read, and consumers are made instead. */
static void what_others_publish_is_not_read(void)
{
    open_transport();
    uint64_t after = pass_numbers(0, 10, 0);
    publish_like_the_server("in.1", "NATS/1.0\r\n\r\n", "not a block");
    after = pass_numbers(10, 20, after);
    require(count_consumers() == 1);
}

static void a_block_without_the_one_before_it_is_not_read(void)
{
    open_transport();
    const uint64_t after = pass_numbers(0, 10, 0), until = soon();
    publish_like_the_server(
        "in.1", "NATS/1.0\r\nNats-Sequence: 1000000\r\nNats-Last-Sequence: 999999\r\n\r\n", "not a block");
    char text[32];
    uint64_t number = 0;
    while (count_consumers() == 0 && gyre_now_ns() < until) {
        gyre_transport_wait(transport, "in.1", after, gyre_in_ms(20));
        require(gyre_transport_read(transport, "in.1", after, text, sizeof text, &(size_t){0}, &number) ==
                GYRE_AGAIN);
    }
    require(count_consumers() == 1);
    pass_numbers(10, 20, after);
}

static const named_case cases[] = {
    {"logs_are_followed_without_consumers", logs_are_followed_without_consumers},
    {"streams_of_before_are_followed_by_consumers", streams_of_before_are_followed_by_consumers},
    {"a_reader_far_behind_has_a_consumer", a_reader_far_behind_has_a_consumer},
    {"what_others_publish_is_not_read", what_others_publish_is_not_read},
    {"a_block_without_the_one_before_it_is_not_read", a_block_without_the_one_before_it_is_not_read},
};

static void begin(void)
{
    begin_cluster();
    app = getenv("CLUSTER_TEST_APP");
    speak_to_server();
}

int main(int argc, char **argv)
{
    const int code = RUN_NAMED(argc, argv, begin, cases);
    gyre_transport_close(transport);
    gyre_config_destroy(config);
    fclose(to_server);
    fclose(from_server);
    return end_cluster(code);
}
