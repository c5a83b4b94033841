/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport that fails now and then, while a request takes each owner of its shard down: marks and letters are written all the same, and no
 * owner gives its shard up for it. One case a run, `test_faulty CASE`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/error.h"
#include "core/cluster/letters.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "members.h"
#include "workers.h"

#ifndef TRANSPORT_NATS
#define TRANSPORT_NATS "" /* was not built */
#endif

enum { ACCOUNT = 5000, REQUESTS = 3, DEATHS_MAX = 12 };

static void use_faults(void)
{
    static char setting[600];
    const char *transport = getenv("CLUSTER_TRANSPORT");
    setenv("FAULTY_INNER", transport && strcmp(transport, "nats") == 0 ? TRANSPORT_NATS : TRANSPORT_FILE, 1);
    snprintf(setting, sizeof setting, "cluster.library=%s", FAULTY_TRANSPORT);
    setenv("CLUSTER_MEMBER_SETTING", setting, 1);
}

/* No shard was given up because a write failed. */
static void require_no_fault(int which)
{
    gyre_member_info info = {0};
    if (!read_member(which, &info))
        return;
    if (strstr(info.trouble, "a fault of the test"))
        fprintf(stderr, "member m%d: %s\n", which, info.trouble);
    require(!strstr(info.trouble, "a fault of the test"));
}

static bool has_crashed(int which)
{
    int status;
    if (waitpid(member_process(which), &status, WNOHANG) == 0)
        return false;
    require(WIFSIGNALED(status));
    return true;
}

static bool count_letter(void *context, const struct gyre_letter_view *view)
{
    count_request request;
    require(view->letter.length == sizeof request && view->letter.number == 2);
    require(view->letter.at_ns && view->letter.owner[0] == 'm');
    memcpy(&request, view->bytes, sizeof request);
    require(request.account == ACCOUNT && request.amount == CRASHING_AMOUNT);
    ++*(int *)context;
    return true;
}

/* One letter, though an append of it may have taken place and have been said to have failed. */
static void require_one_letter(void)
{
    struct gyre_config *config = NULL;
    struct gyre_transport *transport = NULL;
    const struct gyre_config_desc desc = {.api = cluster_settings(NULL)};
    int found = 0;
    must(gyre_config_load(&desc, &config));
    must(gyre_transport_open(config, NULL, NULL, soon(), &transport));
    for (uint32_t i = 0; i < SHARDS; i++)
        must(gyre_letters_read(transport, i, count_letter, &found));
    require(found == 1);
    gyre_transport_close(transport);
    gyre_config_destroy(config);
}

static int await_replies(gyre_cluster *cluster)
{
    int which = 0, deaths = 0;
    const uint64_t until = soon();
    for (int received = 0; received < REQUESTS;) {
        count_state reply;
        gyre_completion completion;
        const gyre_status status =
            gyre_cluster_receive(cluster, &reply, sizeof reply, &completion, gyre_in_ms(50));
        require(status == GYRE_OK || status == GYRE_TIMEOUT);
        if (status == GYRE_OK)
            require(completion.outcome == (received == 1 ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        received += status == GYRE_OK;
        require_no_fault(which);
        if (has_crashed(which)) {
            which = (which + 1) % MEMBERS;
            require(++deaths <= DEATHS_MAX);
            start_member(which);
        }
        require(gyre_now_ns() < until);
    }
    return which;
}

static void marks_and_letters_are_written_until_they_are_there(void)
{
    const count_request requests[REQUESTS] = {{ACCOUNT, 5}, {ACCOUNT, CRASHING_AMOUNT}, {ACCOUNT, 6}};
    size_t sent = 0;
    use_faults();
    start_member(0);
    struct client *teller = open_teller(1), *other = open_teller(2);
    send_some(teller, 200);
    receive_some(teller, 200);
    must(
        gyre_cluster_send_batch(other->cluster, requests, sizeof requests[0], REQUESTS, NULL, &sent, soon()));
    send_some(teller, 200);
    const int which = await_replies(other->cluster);
    receive_some(teller, 400);
    await_owned(which, SHARDS);
    require_no_fault(which);
    require_one_letter();
    close_teller(teller);
    close_teller(other);
    end_member(which);
}

static const named_case cases[] = {
    {"marks_and_letters_are_written_until_they_are_there",
     marks_and_letters_are_written_until_they_are_there},
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "member") == 0)
        return run_member(argv[2], argv[3]);
    return end_cluster(RUN_NAMED(argc, argv, begin_cluster, cases));
}
