/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel whose return the driver refuses for a while is away all that time, and its information says so.
 *
 *     driver_absence
 *
 * EMULATOR_FAIL decides how often it is refused. Exit code 0 when one absence of LEAST_MS or more was told.
 */
#include <stdio.h>
#include <time.h>

#include <gyre/gyre.h>

#include "driver.h"
#include "../../../patience.h"

enum {
    LEAST_MS = 40, /* a turn of others takes less than 10 ms */
    PATIENCE_MS = 30000
};

static gyre_status call_once(gyre_kernel *kernel)
{
    const word request = {1};
    word reply;
    return gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                     gyre_in_ms(patiently(PATIENCE_MS)));
}

/* Until it was away for so long. The absence is counted by when the stay behind it ends. */
static gyre_status await_absence(gyre_kernel *kernel)
{
    const uint64_t deadline = gyre_in_ms(patiently(PATIENCE_MS));
    gyre_kernel_info info = {.size = sizeof info};
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && info.longest_absence_ns < UINT64_C(1000000) * LEAST_MS) {
        status = call_once(kernel);
        if (status == GYRE_OK)
            status = gyre_kernel_info_get(kernel, &info);
        if (gyre_now_ns() > deadline)
            break;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    printf("%s: away %llu times, at most %.1f ms, %.1f ms in all\n", gyre_status_word(status),
           (unsigned long long)info.absences, (double)info.longest_absence_ns / 1e6,
           (double)info.absent_ns / 1e6);
    if (status == GYRE_OK && info.longest_absence_ns < UINT64_C(1000000) * LEAST_MS)
        return GYRE_TIMEOUT;
    return status;
}

static void print_log(void *context, int level, const char *text)
{
    (void)context;
    printf("log %d %s\n", level, text);
}

int main(void)
{
    const gyre_open_desc open = {.size = sizeof open, .backend = "cuda", .log = print_log};
    const gyre_launch_desc launch = {.size = sizeof launch, .source = DRIVER_KERNELS ":chain"};
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    gyre_status status = gyre_open(&open, &runtime);
    if (status == GYRE_OK)
        status = gyre_launch(runtime, &launch, &kernel);
    if (status == GYRE_OK)
        status = await_absence(kernel);
    if (status != GYRE_OK)
        printf("%s: %s\n", gyre_status_word(status), gyre_error_text());
    gyre_close(runtime);
    return status != GYRE_OK;
}
