/* SPDX-License-Identifier: Apache-2.0 */
/* See clients.h. */
#include "clients.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/client.h"
#include "double.h"
#include "gyre/cluster.h"
#include "model.h"

enum { BATCH_MAX = 6 };

static enum sim_kind draw_kind(const struct client *client)
{
    static const enum sim_kind rare[] = {SIM_REFUSED, SIM_TARDY, SIM_SILENT, SIM_SILENT};
    if (client->poison && fibers_draw(client->poison) == 0)
        return SIM_POISON;
    return fibers_draw(8) ? SIM_PLAIN : rare[fibers_draw(sizeof rare / sizeof rare[0])];
}

static void rest(const struct client *client)
{
    fiber_sleep(NULL, fibers_now_ns() + 1 + fibers_draw(client->rest_ns));
}

static void check_status(gyre_status status, const char *what)
{
    if (status == GYRE_OK || status == GYRE_AGAIN || status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE)
        return;
    violation(status == GYRE_INCOMPATIBLE ? "lost" : "outcome", "%s: %s", what, gyre_error_text());
}

static void note_sent(struct client *client, uint64_t index, size_t count, size_t sent, gyre_status status)
{
    for (size_t i = 0; i < count; i++) {
        client->states[index + i] = i < sent ? SENT : PERHAPS;
        client->waiting += i < sent;
        if (status == GYRE_OK && !client->goes_ahead)
            model_acknowledged(client->amounts[index + i]);
    }
}

/* All that was sent is kept then, or a sentence says why that is not known. */
static void settle(struct client *client)
{
    const bool is_brief = client->hurries && fibers_draw(2);
    gyre_error_clear();
    const gyre_status status = gyre_cluster_settle(
        client->cluster,
        fibers_now_ns() + fibers_draw(is_brief ? transport_faults.latency_ns : transport_faults.late_ns));
    check_status(status, "a client settles");
    if (status != GYRE_OK && !gyre_error_text()[0])
        violation("text", "a client settles: status %d, and no sentence", (int)status);
    for (uint64_t i = 0; status == GYRE_OK && i < client->sent; i++)
        if (client->states[i] == SENT)
            model_acknowledged(client->amounts[i]);
}

/* Short requests, which the kernel does not take, have a batch of their own. */
static void send_some(struct client *client)
{
    sim_request requests[BATCH_MAX];
    const bool are_short = fibers_draw(24) == 0;
    size_t sent = 0, count = 1 + fibers_draw(BATCH_MAX);
    uint64_t index = 0;
    const size_t size = are_short ? 2 * sizeof requests[0].account : sizeof requests[0];
    for (size_t i = 0; i < count; i++) {
        const uint64_t serial = (*client->next_serial)++;
        const enum sim_kind kind = are_short ? SIM_SHORT : draw_kind(client);
        const sim_request request = {.account = fibers_draw(SIM_ACCOUNTS),
                                     .amount = SIM_AMOUNT(kind, serial)};
        memcpy((unsigned char *)requests + i * size, &request, size);
        client->amounts[client->sent + i] = request.amount;
    }
    const gyre_status status =
        gyre_cluster_send_batch(client->cluster, requests, size, count, &index, &sent,
                                fibers_now_ns() + fibers_draw(transport_faults.late_ns));
    check_status(status, "a client sends");
    if (index != client->sent)
        violation("numbers", "a client's request has index %" PRIu64 ", expected %" PRIu64, index,
                  client->sent);
    note_sent(client, index, count, sent, status);
    client->sent += count;
}

static void receive_one(struct client *client)
{
    sim_reply reply = {0};
    gyre_completion completion = {0};
    const gyre_status status = gyre_cluster_receive(client->cluster, &reply, sizeof reply, &completion,
                                                    fibers_now_ns() + fibers_draw(transport_faults.late_ns));
    if (status == GYRE_INCOMPATIBLE && model_is_given_up(client->cluster->log)) {
        client->is_deaf = true;
        return;
    }
    check_status(status, "a client receives");
    if (status != GYRE_OK)
        return;
    if (completion.index >= client->sent)
        violation("numbers", "a client received a reply to what it did not send");
    if (client->states[completion.index] == COMPLETED)
        violation("doubled", "a client received the reply to request %" PRIu64 " twice",
                  SIM_SERIAL(client->amounts[completion.index]));
    client->waiting -= client->states[completion.index] == SENT;
    client->states[completion.index] = COMPLETED;
    model_received(client->amounts[completion.index], &completion, &reply);
}

static void open_cluster(struct client *client)
{
    const gyre_cluster_desc desc = {.size = sizeof desc,
                                    .request = GYRE_TYPE(sim_request),
                                    .reply = GYRE_TYPE(sim_reply),
                                    .goes_ahead = client->goes_ahead};
    gyre_status status = gyre_cluster_open(client->runtime, &desc, &client->cluster);
    while (status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE) {
        rest(client);
        status = gyre_cluster_open(client->runtime, &desc, &client->cluster);
    }
    check_status(status, "a client opens the cluster");
}

void client_run(void *context)
{
    struct client *client = context;
    fiber_sleep(NULL, client->begin_ns);
    open_cluster(client);
    while (!client->is_deaf && (client->waiting || client->sent < client->quota)) {
        const bool may_send = client->sent < client->quota && client->sent + BATCH_MAX < CLIENT_REQUESTS_MAX;
        if (may_send && (!client->waiting || fibers_draw(client->hurries ? 24 : 3)))
            send_some(client);
        else
            receive_one(client);
        if (client->goes_ahead && fibers_draw(client->hurries ? 64 : 8) == 0)
            settle(client);
        if (fibers_draw(4) == 0)
            rest(client);
    }
    gyre_cluster_close(client->cluster);
    client->is_done = true;
}
