/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of NATS: libnats alone. Blocks are published asynchronously, with acknowledgements of the stream, and come by ordered consumers,
 * which the server pushes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nats/nats.h>

#include "bench_cluster.h"

static natsConnection *connection;
static jsCtx *jetstream;
static natsSubscription *subscription;
static char out[64], in[64], stream[64];
static bool echoes;
static int refused; /* atomic */

static void must(natsStatus status, const char *what)
{
    if (status == NATS_OK)
        return;
    fprintf(stderr, "bench_cluster: the floor cannot %s: %s\n", what, natsStatus_GetText(status));
    exit(1);
}

static void hear_refusal(jsCtx *context, jsPubAckErr *error, void *closure)
{
    (void)context;
    (void)error;
    (void)closure;
    __atomic_store_n(&refused, 1, __ATOMIC_RELAXED);
}

static void make_stream(size_t size)
{
    char subjects[64];
    const char *list[] = {subjects}, *replicas = getenv("CLUSTER_REPLICAS");
    jsStreamConfig config;
    jsErrCode error = 0;
    snprintf(subjects, sizeof subjects, "FLOOR.%zu.*", size);
    jsStreamConfig_Init(&config);
    config.Name = stream;
    config.Subjects = list;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    config.Replicas = replicas ? strtol(replicas, NULL, 10) : 1;
    must(js_AddStream(NULL, jetstream, &config, NULL, &error), "make its stream");
}

static void open_floor(bool is_echo, size_t size)
{
    jsSubOptions options;
    jsOptions asynchronous;
    jsErrCode error = 0;
    must(natsConnection_ConnectTo(&connection, getenv("CLUSTER_URL")), "connect");
    jsOptions_Init(&asynchronous);
    asynchronous.PublishAsync.ErrHandler = hear_refusal;
    must(natsConnection_JetStream(&jetstream, connection, &asynchronous), "use JetStream");
    snprintf(stream, sizeof stream, "FLOOR_%zu", size);
    snprintf(out, sizeof out, "FLOOR.%zu.%s", size, is_echo ? "back" : "there");
    snprintf(in, sizeof in, "FLOOR.%zu.%s", size, is_echo ? "there" : "back");
    make_stream(size);
    jsSubOptions_Init(&options);
    options.Ordered = true;
    options.Config.DeliverPolicy = js_DeliverNew;
    must(js_SubscribeSync(&subscription, jetstream, in, NULL, &options, &error), "subscribe");
    echoes = is_echo;
}

static void send_block(const void *block, size_t size, bool one_by_one)
{
    jsErrCode error = 0;
    if (one_by_one)
        must(js_Publish(NULL, jetstream, out, block, (int)size, NULL, &error), "publish");
    else
        must(js_PublishAsync(jetstream, out, block, (int)size, NULL), "publish");
}

static size_t receive_block(void *block, size_t room)
{
    natsMsg *message = NULL;
    const natsStatus status = natsSubscription_NextMsg(&message, subscription, 100);
    if (status == NATS_TIMEOUT)
        return 0;
    must(status, "receive");
    const size_t size = (size_t)natsMsg_GetDataLength(message);
    bench_require(size <= room, "the floor received a block that nobody sent");
    memcpy(block, natsMsg_GetData(message), size);
    natsMsg_Destroy(message);
    return size;
}

static void settle(void)
{
    must(js_PublishAsyncComplete(jetstream, NULL), "see its blocks acknowledged");
    bench_require(!__atomic_load_n(&refused, __ATOMIC_RELAXED), "the floor's blocks were refused");
    if (!echoes) /* nothing is under way */
        js_PurgeStream(jetstream, stream, NULL, NULL);
}

static void close_floor(void)
{
    natsSubscription_Destroy(subscription);
    if (!echoes)
        js_DeleteStream(jetstream, stream, NULL, NULL);
    jsCtx_Destroy(jetstream);
    natsConnection_Destroy(connection);
    subscription = NULL;
    jetstream = NULL;
    connection = NULL;
}

const struct bench_floor_ops bench_floor_nats = {"libnats: asynchronous publish, ordered consumer",
                                                 open_floor,
                                                 send_block,
                                                 receive_block,
                                                 settle,
                                                 close_floor};
