/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `few BACKEND FILE [SETTING]`: launches a kernel with no free descriptor, with one, with two and so on, until it works:
 * with an open runtime that launched one before, with one that did not, and opening one each time. Whatever fails before says
 * that there are no descriptors, in its status too: a retry can help. Exit code 77: that backend cannot be used here.
 */
#include <gyre/gyre.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT = 64, FREE_MAX = 40, LEFT_OUT = 77 };

static int taken[LIMIT];
static int count;

static void give(int wanted)
{
    for (int i = 0; i < wanted && count > 0; i++)
        close(taken[--count]);
}

static void leave_free(int wanted)
{
    int descriptor;
    while (count < LIMIT && (descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        taken[count++] = descriptor;
    give(wanted);
}

static gyre_status launch(gyre_runtime *runtime, const char *source)
{
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = {.size = sizeof desc, .source = source};
    const gyre_status status = gyre_launch(runtime, &desc, &kernel);
    gyre_kernel_release(kernel);
    return status;
}

static gyre_status open_and_launch(const gyre_open_desc *desc, const char *source)
{
    gyre_runtime *runtime = NULL;
    gyre_status status = gyre_open(desc, &runtime);
    if (status == GYRE_OK)
        status = launch(runtime, source);
    gyre_close(runtime);
    return status;
}

static int is_wrong(gyre_status status, int free_now)
{
    if (status == GYRE_OK)
        return 0;
    printf("%d free: %s: %s\n", free_now, gyre_status_word(status), gyre_error_text());
    return status != GYRE_EXHAUSTED || !strstr(gyre_error_text(), "Too many open files");
}

/* How many sentences are wrong; `opened` is a runtime, or NULL for one of each try's own. */
static int sweep(const gyre_open_desc *desc, gyre_runtime *opened, const char *source)
{
    int wrong = 0;
    for (int free_now = 0; free_now < FREE_MAX; free_now++) {
        leave_free(free_now);
        const gyre_status status = opened ? launch(opened, source) : open_and_launch(desc, source);
        wrong += is_wrong(status, free_now);
        give(count);
        if (status == GYRE_OK)
            return wrong;
    }
    return wrong + 1;
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {LIMIT, LIMIT};
    char backend[64];
    const char *settings[] = {"gyre.cache_dir=", "gyre.remember_probes=false", backend,
                              argc > 3 ? argv[3] : NULL, NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings};
    gyre_runtime *runtime, *unused;
    if (argc < 3)
        return 2;
    snprintf(backend, sizeof backend, "gyre.backend=%s", argv[1]);
    if (gyre_open(&desc, &runtime) != GYRE_OK || launch(runtime, argv[2]) != GYRE_OK) {
        printf("%s is left out: %s\n", argv[1], gyre_error_text());
        return LEFT_OUT;
    }
    if (gyre_open(&desc, &unused) != GYRE_OK)
        return 2;
    setrlimit(RLIMIT_NOFILE, &limit);
    int wrong = sweep(&desc, runtime, argv[2]);
    gyre_close(runtime);
    wrong += sweep(&desc, unused, argv[2]);
    gyre_close(unused);
    wrong += sweep(&desc, NULL, argv[2]);
    printf("%d wrong\n", wrong);
    return wrong > 0;
}
