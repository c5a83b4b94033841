/* SPDX-License-Identifier: Apache-2.0 */
/* A client and a member of a cluster, by hand (cluster_call.h). */
#include "cli/cluster/cluster_call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calls/call_outcome.h"
#include "cli/json/message_json.h"
#include "cli/open.h"
#include "core/types/types.h"
#include "gyre/cluster.h"

/* ---- a client ---- */

struct calling {
    gyre_runtime *runtime;
    gyre_kernel *kernel; /* launched for its types, and not active */
    gyre_cluster *cluster;
    gyre_layout *request, *reply;
    void *request_bytes, *reply_bytes;
};

static gyre_status open_layouts(struct calling *calling, const gyre_kernel_info *info)
{
    gyre_status status = gyre_layout_create_message(info->request, GYRE_STATE_MAX, &calling->request);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(info->reply, GYRE_STATE_MAX, &calling->reply);
    if (status != GYRE_OK)
        return status;
    calling->request_bytes = calloc(1, calling->request->size + 1);
    calling->reply_bytes = calloc(1, calling->reply->size + 1);
    return calling->request_bytes && calling->reply_bytes ? GYRE_OK : GYRE_EXHAUSTED;
}

static int open_cluster(const cli_context *cli, struct calling *calling, const char *source)
{
    gyre_kernel_info info = {.size = sizeof info};
    gyre_launch_desc launch = cli_launch(cli, source);
    launch.start_inactive = 1;
    gyre_status status = cli_open(cli, &calling->runtime);
    if (status == GYRE_OK)
        status = gyre_launch(calling->runtime, &launch, &calling->kernel);
    if (status == GYRE_OK)
        status = gyre_kernel_info_get(calling->kernel, &info);
    if (status == GYRE_OK)
        status = open_layouts(calling, &info);
    const gyre_cluster_desc desc = {.size = sizeof desc, .request = info.request, .reply = info.reply};
    if (status == GYRE_OK)
        status = gyre_cluster_open(calling->runtime, &desc, &calling->cluster);
    return cli_fail_unless_ok(status);
}

/* A line for each request, also for one that failed, so that replies stay beside their requests. */
static int print_outcome(const struct calling *calling, const gyre_completion *completion)
{
    const enum call_outcome outcome =
        call_outcome_print(calling->reply, completion, calling->reply_bytes, stdout);
    putchar('\n');
    if (outcome == CALL_FAILURE && completion->outcome == GYRE_HANDLER_FAILED)
        return cli_error(CLI_FAILED, "the handler failed with code %" PRId32 ": %s", completion->failure_code,
                         completion->failure_text);
    return outcome == CALL_FAILURE || outcome == CALL_LOSS ? CLI_FAILED : CLI_OK;
}

static int call_one(const struct calling *calling, const char *text, uint64_t deadline_ns)
{
    gyre_completion completion;
    gyre_status status = message_json_read(calling->request, text, strlen(text), calling->request_bytes);
    if (status == GYRE_OK)
        status = gyre_cluster_call(calling->cluster, calling->request_bytes, calling->request->size,
                                   calling->reply_bytes, calling->reply->size, &completion, deadline_ns);
    return status == GYRE_OK ? print_outcome(calling, &completion) : cli_fail(status);
}

int cluster_call(const cli_context *cli, const char *source, const char *const *requests, size_t count,
                 uint64_t timeout_ms)
{
    struct calling calling = {0};
    int code = open_cluster(cli, &calling, source);
    const uint64_t deadline_ns = gyre_in_ms(timeout_ms);
    for (size_t i = 0; i < count && (code == CLI_OK || code == CLI_FAILED) && calling.cluster; i++) {
        const int one = call_one(&calling, requests[i], deadline_ns);
        code = code == CLI_OK ? one : code;
    }
    gyre_cluster_close(calling.cluster);
    free(calling.request_bytes);
    free(calling.reply_bytes);
    gyre_layout_destroy(calling.request);
    gyre_layout_destroy(calling.reply);
    gyre_close(calling.runtime);
    return code;
}

/* ---- a member ---- */

int cluster_serve(const cli_context *cli, gyre_runtime *runtime, const char *source,
                  void (*await_end)(void *context), void *context)
{
    gyre_member *member = NULL;
    gyre_member_info info = {.size = sizeof info};
    const gyre_launch_desc launch = cli_launch(cli, source);
    const gyre_member_desc desc = {.size = sizeof desc,
                                   .source = launch.source ? launch.source : launch.name,
                                   .kernel = launch.kernel,
                                   .backend = cli->backend};
    const int code = cli_fail_unless_ok(gyre_member_start(runtime, &desc, &member));
    if (code != CLI_OK)
        return code;
    gyre_member_info_get(member, &info);
    printf("member %s of a cluster with %" PRIu32 " shards\n", info.name, info.shards);
    fflush(stdout);
    await_end(context);
    gyre_member_stop(member);
    cli_error(CLI_OK, "member %s has given its shards back", info.name);
    return CLI_OK;
}
