/* SPDX-License-Identifier: Apache-2.0 */
/* A request whose handler takes each owner of its shard down. One case a run, `test_poison CASE`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/error.h"
#include "core/cluster/format.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "members.h"
#include "workers.h"

enum { ACCOUNT = 5000, REQUESTS = 3, DEATHS_MAX = 12 };

/* Whether the member's process has ended; by a signal, as only a handler ends it here. */
static bool has_crashed(int which)
{
    int status;
    if (waitpid(member_process(which), &status, WNOHANG) == 0)
        return false;
    require(WIFSIGNALED(status));
    return true;
}

static struct gyre_transport *open_transport(void)
{
    struct gyre_config *config = NULL;
    struct gyre_transport *transport = NULL;
    const struct gyre_config_desc desc = {.api = cluster_settings(NULL)};
    must(gyre_config_load(&desc, &config));
    must(gyre_transport_open(config, NULL, NULL, soon(), &transport));
    gyre_config_destroy(config);
    return transport;
}

/* Exactly one shard has a letter, with the bytes of the request. */
static void require_letter(uint64_t deaths)
{
    struct gyre_transport *transport = open_transport();
    int found = 0;
    for (uint32_t i = 0; i < SHARDS; i++) {
        char log[GYRE_CLUSTER_NAME_SIZE];
        unsigned char bytes[1024];
        struct gyre_cluster_letter letter;
        count_request request;
        const unsigned char *contents;
        size_t size;
        uint64_t number = 0;
        gyre_cluster_shard_name(log, "dead", i);
        while (gyre_transport_read(transport, log, number, bytes, sizeof bytes, &size, &number) == GYRE_OK) {
            must(gyre_cluster_letter_open(bytes, size, log, &letter, &contents));
            require(letter.length == sizeof request && letter.number == 2 && letter.deaths <= deaths);
            memcpy(&request, contents, sizeof request);
            require(request.account == ACCOUNT && request.amount == CRASHING_AMOUNT);
            found++;
        }
    }
    gyre_transport_close(transport);
    require(found == 1);
}

static void require_replies(const gyre_completion *completions, const count_state *replies)
{
    require(completions[0].outcome == GYRE_REPLIED && replies[0].count == 1 &&
            replies[0].trace == COUNTED(0, 5));
    require(completions[1].outcome == GYRE_HANDLER_FAILED &&
            completions[1].failure_code == GYRE_FAILURE_CRASH &&
            strstr(completions[1].failure_text, "its handler took each owner down"));
    require(completions[2].outcome == GYRE_REPLIED && replies[2].count == 2 &&
            replies[2].trace == COUNTED(COUNTED(0, 5), 6));
}

/* Members follow each other until all three are answered; returns how many died. `*which` is the living one. */
static uint64_t await_replies(gyre_cluster *cluster, int *which, gyre_completion *completions,
                              count_state *replies)
{
    uint64_t deaths = 0;
    const uint64_t until = soon();
    for (int received = 0; received < REQUESTS;) {
        const gyre_status status = gyre_cluster_receive(cluster, &replies[received], sizeof replies[0],
                                                        &completions[received], gyre_in_ms(50));
        require(status == GYRE_OK || status == GYRE_TIMEOUT);
        received += status == GYRE_OK;
        if (has_crashed(*which)) {
            *which = (*which + 1) % MEMBERS;
            require(++deaths <= DEATHS_MAX);
            start_member(*which);
        }
        require(gyre_now_ns() < until);
    }
    return deaths;
}

static void a_request_that_takes_each_owner_down_is_given_up(void)
{
    const count_request requests[REQUESTS] = {{ACCOUNT, 5}, {ACCOUNT, CRASHING_AMOUNT}, {ACCOUNT, 6}};
    gyre_completion completions[REQUESTS];
    count_state replies[REQUESTS] = {{0}};
    int which = 0;
    size_t sent = 0;
    start_member(which);
    struct client *teller = open_teller(1), *other = open_teller(2);
    send_some(teller, 200);
    receive_some(teller, 200);
    must(
        gyre_cluster_send_batch(other->cluster, requests, sizeof requests[0], REQUESTS, NULL, &sent, soon()));
    send_some(teller, 200);
    const uint64_t deaths = await_replies(other->cluster, &which, completions, replies);
    require_replies(completions, replies);
    require(deaths >= 3); /* poison_limit */
    require_letter(deaths);
    receive_some(teller, 400);
    send_some(teller, 100); /* the shard goes on */
    receive_some(teller, 500);
    close_teller(teller);
    close_teller(other);
    end_member(which);
}

static const named_case cases[] = {
    {"a_request_that_takes_each_owner_down_is_given_up", a_request_that_takes_each_owner_down_is_given_up},
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "member") == 0)
        return run_member(argv[2], argv[3]);
    return end_cluster(RUN_NAMED(argc, argv, begin_cluster, cases));
}
