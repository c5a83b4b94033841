/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport's server that is not there, does not let the user in, or dies: one case a run, `test_server CASE`, below with_nats.sh, whose
 * server lets in the user `u` with the password `p`, or with NATS_PLAIN runs without JetStream.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "members.h"
#include "workers.h"

static char password_file[300];

/* `user` and `more` may be NULL. */
static gyre_status try_open(const char *user, const char *password, const char *more,
                            struct gyre_transport **out)
{
    char user_setting[64], password_setting[400];
    const char *settings[20];
    size_t count = 0;
    struct gyre_config *config = NULL;
    const int file = open(password_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(file >= 0 && write(file, password, strlen(password)) == (ssize_t)strlen(password));
    close(file);
    for (const char *const *given = cluster_settings(more); *given; given++)
        settings[count++] = *given;
    snprintf(user_setting, sizeof user_setting, "cluster.user=%s", user ? user : "");
    snprintf(password_setting, sizeof password_setting, "cluster.password_file=%s",
             user ? password_file : "");
    settings[count++] = user_setting;
    settings[count++] = password_setting;
    settings[count] = NULL;
    const struct gyre_config_desc desc = {.api = settings};
    must(gyre_config_load(&desc, &config));
    const gyre_status status = gyre_transport_open(config, NULL, NULL, soon(), out);
    gyre_config_destroy(config);
    return status;
}

static void refuse(const char *user, const char *password, const char *more, gyre_status expected,
                   const char *sentence)
{
    struct gyre_transport *transport;
    const gyre_status status = try_open(user, password, more, &transport);
    if (status != expected || !strstr(gyre_error_text(), sentence))
        fprintf(stderr, "%s: %s\n", gyre_status_word(status), gyre_error_text());
    require(status == expected && !transport && strstr(gyre_error_text(), sentence));
}

static void a_server_that_is_not_there_is_told(void)
{
    refuse("u", "p\n", "cluster.url=nats://127.0.0.1:1", GYRE_UNAVAILABLE,
           "no NATS server answers at 'nats://127.0.0.1:1'");
}

/* Neither a password nor a token that stands in the address is in a sentence. */
static void a_password_in_the_address_is_not_told(void)
{
    refuse(NULL, "", "cluster.url=nats://u:secret@127.0.0.1:1, token@127.0.0.1:2", GYRE_UNAVAILABLE,
           "'nats://***@127.0.0.1:1, ***@127.0.0.1:2'");
    require(!strstr(gyre_error_text(), "secret") && !strstr(gyre_error_text(), "token"));
}

/* The server is the last of several, behind more bytes than a sentence has. */
static void one_of_several_servers_does(void)
{
    char setting[1024];
    struct gyre_transport *transport;
    int length = snprintf(setting, sizeof setting, "cluster.url=");
    for (int i = 1; i <= 30; i++)
        length += snprintf(setting + length, sizeof setting - (size_t)length, "nats://127.0.0.1:%d, ", i);
    snprintf(setting + length, sizeof setting - (size_t)length, "%s", getenv("CLUSTER_URL"));
    must(try_open("u", "p\n", setting, &transport));
    gyre_transport_close(transport);
    refuse("u", "p\n", "cluster.url=nats://127.0.0.1:1,nats://127.0.0.1:2", GYRE_UNAVAILABLE,
           "'nats://127.0.0.1:1,nats://127.0.0.1:2'");
    refuse("u", "p\n", "cluster.url=,", GYRE_CONFIG, "separated by commas, found ','");
}

static void users_that_the_server_does_not_know_are_told(void)
{
    struct gyre_transport *transport;
    refuse("u", "wrong\n", NULL, GYRE_CONFIG, "does not let this user in");
    refuse(NULL, "", NULL, GYRE_CONFIG, "does not let this user in");
    refuse("u", "p\n", "cluster.credentials=/there/is/none", GYRE_UNAVAILABLE, "/there/is/none");
    must(try_open("u", "p\n", NULL, &transport));
    gyre_transport_close(transport);
}

/* What was acknowledged before is there; what is asked for afterwards fails in time, and says so. */
static void a_server_that_dies_is_told(void)
{
    struct gyre_transport *transport;
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = "x", .byte_count = 1, .expected = GYRE_TRANSPORT_ANY};
    uint64_t number;
    char bytes[8];
    must(try_open("u", "p\n", "cluster.reach_ms=300", &transport));
    must(gyre_transport_append(transport, "in.1", &block, &number));
    require(kill((pid_t)atoi(getenv("CLUSTER_SERVER")), SIGKILL) == 0);
    gyre_status status = GYRE_OK;
    const uint64_t until = soon();
    while (status == GYRE_OK && gyre_now_ns() < until)
        status = gyre_transport_append(transport, "in.1", &block, &number);
    require(status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE);
    require(strstr(gyre_error_text(), "the NATS server at") != NULL);
    status = gyre_transport_read(transport, "in.1", 0, bytes, sizeof bytes, &(size_t){0}, &number);
    require(status == GYRE_UNAVAILABLE);
    require(gyre_transport_record_put(transport, "app", "x", 1, 0, &number) == GYRE_TIMEOUT ||
            gyre_error_status() == GYRE_UNAVAILABLE);
    gyre_transport_close(transport);
}

static void a_server_without_jetstream_is_told(void)
{
    refuse("u", "p\n", NULL, GYRE_UNAVAILABLE, "JetStream");
}

static const named_case cases[] = {
    {"a_server_that_is_not_there_is_told", a_server_that_is_not_there_is_told},
    {"a_password_in_the_address_is_not_told", a_password_in_the_address_is_not_told},
    {"one_of_several_servers_does", one_of_several_servers_does},
    {"users_that_the_server_does_not_know_are_told", users_that_the_server_does_not_know_are_told},
    {"a_server_that_dies_is_told", a_server_that_dies_is_told},
    {"a_server_without_jetstream_is_told", a_server_without_jetstream_is_told},
};

static void begin(void)
{
    begin_cluster();
    snprintf(password_file, sizeof password_file, "%s/password", getenv("CLUSTER_TEST_FOLDER"));
}

int main(int argc, char **argv)
{
    return end_cluster(RUN_NAMED(argc, argv, begin, cases));
}
