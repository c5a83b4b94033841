/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that loads well and misbehaves while it is probed. Its parameters choose how:
 *   mood     refuses | silent | strange | deviceless | crashes | hangs | leaves | babbles | works
 *   count    a file to which every probe appends one byte, so that tests can count probes
 *   once     a status, as a number, that the first probe counted answers, whatever the mood
 *   watches  what the probe reports as gyre_probe_info.watch
 */
#include "stub_ops.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *parameter(const gyre_probe_desc *desc, const char *key)
{
    for (size_t i = 0; i < desc->parameter_count; i++)
        if (strcmp(desc->parameters[i].key, key) == 0)
            return desc->parameters[i].value;
    return "";
}

/* How many there were with this one; 0 when they are not counted. */
static off_t count_probe(const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return 0;
    if (write(descriptor, "x", 1) != 1)
        abort();
    const off_t count = lseek(descriptor, 0, SEEK_END);
    close(descriptor);
    return count;
}

static void babble(void)
{
    for (int i = 0; i < 10000; i++)
        printf("a driver that talks to standard output %d\n", i);
    fflush(stdout);
}

static void leave(void)
{
    fprintf(stderr, "fatal: no license\n");
    exit(3);
}

static void hang(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

static gyre_status moody_probe(const gyre_probe_desc *desc, gyre_probe_info *info)
{
    const char *mood = parameter(desc, "mood");
    const int once = atoi(parameter(desc, "once"));
    const off_t count = count_probe(parameter(desc, "count"));
    snprintf(info->watch, sizeof info->watch, "%s", parameter(desc, "watches"));
    stub_probe(desc, info);
    if (once && count == 1)
        return desc->host->error((gyre_status)once, "moody for once");
    if (strcmp(mood, "refuses") == 0)
        return desc->host->error(GYRE_UNAVAILABLE, "no moody device: looked for /dev/moody; plug one in");
    if (strcmp(mood, "silent") == 0)
        return GYRE_UNAVAILABLE;
    if (strcmp(mood, "strange") == 0)
        return (gyre_status)1234;
    if (strcmp(mood, "deviceless") == 0)
        info->device_count = 0;
    if (strcmp(mood, "crashes") == 0)
        raise(SIGABRT);
    if (strcmp(mood, "hangs") == 0)
        hang();
    if (strcmp(mood, "leaves") == 0)
        leave();
    if (strcmp(mood, "babbles") == 0)
        babble();
    info->score = 7;
    snprintf(info->library, sizeof info->library, "libmoody.so.1 1.2.3");
    snprintf(info->summary, sizeof info->summary, "in the mood\nfor two lines");
    snprintf(info->fingerprint, sizeof info->fingerprint, "moody 1.2.3");
    return GYRE_OK;
}

static const gyre_backend_ops moody_ops = {.size = sizeof(gyre_backend_ops), .probe = moody_probe, STUB_OPS};

GYRE_BACKEND_EXPORT const gyre_backend_plugin gyre_plugin = {.magic = GYRE_ABI_MAGIC,
                                                             .abi_major = GYRE_ABI_MAJOR,
                                                             .abi_minor = GYRE_ABI_MINOR,
                                                             .size = sizeof(gyre_backend_plugin),
                                                             .name = "moody",
                                                             .build = "test 1",
                                                             .ops = &moody_ops};
