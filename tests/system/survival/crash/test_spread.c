/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel on two devices (gyre/spread.h), each in a worker process, of which one dies by a request: its part alone is lost, by its
 * name, or goes on from its checkpoint, and the other one answers meanwhile. `test_spread CASE`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gyre/spread.h>

#include "spread.h"
#include "tests/system/survival/crash/workers.h"

enum { ACCOUNTS = 64, REQUESTS = 2000, CRASH_AT = 700 };

struct outcome {
    unsigned answered, failed, lost;
};

static uint64_t cents[ACCOUNTS];

static gyre_runtime *open_runtime(const char *setting)
{
    const char *const settings[] = {"backend.opencl.isolation=process", "kernel.accounts.device=0, 1",
                                    "kernel.accounts.shard=key", setting, NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .backend = "opencl", .settings = settings};
    gyre_runtime *runtime;
    must(gyre_open(&desc, &runtime));
    return runtime;
}

static gyre_spread *launch(gyre_runtime *runtime)
{
    gyre_spread *spread = NULL;
    const gyre_launch_desc kernel = {.size = sizeof kernel, .source = SPREAD_KERNELS, .name = "accounts"};
    const gyre_spread_desc desc = {.size = sizeof desc, .launch = &kernel};
    const gyre_status status = gyre_spread_launch(runtime, &desc, &spread);
    if (status == GYRE_UNAVAILABLE) {
        printf("no OpenCL here: %s\n", gyre_error_text());
        exit(77);
    }
    must(status);
    require(gyre_spread_count(spread) == 2);
    return spread;
}

/* One request and its completion. Each balance that comes is that of all deposits before it. */
static void deposit_once(gyre_shards *shards, uint64_t number, struct outcome *outcome)
{
    const deposit request = {number * 7 % ACCOUNTS, number, number == CRASH_AT};
    balance reply;
    gyre_completion completion;
    gyre_status status = gyre_shards_send(shards, &request, sizeof request, NULL, soon());
    if (status == GYRE_OK)
        status = gyre_shards_receive(shards, &reply, sizeof reply, NULL, &completion, soon());
    if (status == GYRE_LOST) {
        require(strstr(gyre_error_text(), "accounts#") != NULL);
        outcome->lost++;
        return;
    }
    must(status);
    if (completion.outcome != GYRE_REPLIED) {
        require(number == CRASH_AT);
        outcome->failed++;
        return;
    }
    cents[request.account] += request.cents;
    require(reply.account == request.account && reply.cents == cents[request.account]);
    outcome->answered++;
}

static struct outcome live(const char *setting)
{
    struct outcome outcome = {0};
    gyre_runtime *runtime = open_runtime(setting);
    gyre_spread *spread = launch(runtime);
    for (uint64_t number = 0; number < REQUESTS; number++)
        deposit_once(gyre_spread_shards(spread), number, &outcome);
    gyre_spread_release(spread);
    gyre_close(runtime);
    printf("%u answered, %u failed, %u lost\n", outcome.answered, outcome.failed, outcome.lost);
    return outcome;
}

/* Of the keys, each device has some; the accounts of the device that lives are answered to the end. */
static void a_device_that_dies_takes_its_part_alone(void)
{
    const struct outcome outcome = live(NULL);
    require(outcome.failed == 1);
    require(outcome.lost > 0 && outcome.lost < REQUESTS - CRASH_AT - 1);
    require(outcome.answered + outcome.lost + outcome.failed == REQUESTS);
}

static void a_part_goes_on_from_its_checkpoint(void)
{
    const struct outcome outcome = live("kernel.accounts.checkpoints=true");
    require(outcome.failed == 1 && outcome.lost == 0 && outcome.answered == REQUESTS - 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "a_device_that_dies_takes_its_part_alone") == 0)
        a_device_that_dies_takes_its_part_alone();
    else if (argc > 1 && strcmp(argv[1], "a_part_goes_on_from_its_checkpoint") == 0)
        a_part_goes_on_from_its_checkpoint();
    else
        return 2;
    return 0;
}
