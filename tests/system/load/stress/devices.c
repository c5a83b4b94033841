/* SPDX-License-Identifier: Apache-2.0 */
/* Every device of the backend at once, from one runtime: a kernel on each, all under load. */
#include "stress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16, BUFFER_SIZE = 1 << 20 };

struct one_device {
    pthread_t thread;
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    gyre_buffer *buffer;
    uint32_t ordinal;
    uint64_t count, spent_ns;
};

/* False when there is no such device. */
static bool launch_on(struct stress *stress, struct one_device *device, uint32_t ordinal)
{
    char name[32];
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = stress_kernels(),
                             .kernel = "stamper",
                             .name = name,
                             .device = ordinal};
    snprintf(name, sizeof name, "on_device_%u", ordinal);
    gyre_status status = gyre_launch(stress->runtime, &desc, &device->kernel);
    require(status == GYRE_OK || (status == GYRE_INVALID && ordinal > 0));
    if (status != GYRE_OK)
        return false;
    device->runtime = stress->runtime;
    device->ordinal = ordinal;
    must(gyre_buffer_alloc(stress->runtime, NULL, ordinal, BUFFER_SIZE, &device->buffer));
    return true;
}

/* Messages and transfers, all checked; the pattern tells the devices apart. */
static void *load_device(void *argument)
{
    enum { SLICE = 20000 };
    struct one_device *device = argument;
    unsigned char *there = malloc(BUFFER_SIZE), *back = malloc(BUFFER_SIZE);
    require(there && back);
    const uint64_t start = gyre_now_ns();
    for (uint64_t done = 0; done < device->count; done += SLICE) {
        stream(gyre_kernel_queue(device->kernel), device->ordinal, done, done + SLICE);
        memset(there, (int)(device->ordinal * 16 + done / SLICE % 16), BUFFER_SIZE);
        must(gyre_buffer_upload(device->buffer, 0, there, BUFFER_SIZE));
        must(gyre_buffer_download(device->buffer, 0, back, BUFFER_SIZE));
        require(memcmp(there, back, BUFFER_SIZE) == 0);
    }
    device->spent_ns = gyre_now_ns() - start;
    free(there);
    free(back);
    return NULL;
}

static void print_device(const struct one_device *device)
{
    while (info_of(device->kernel).handled < device->count) /* counts may come a little after the replies */
        sleep_ms(1);
    const gyre_kernel_info info = info_of(device->kernel);
    require(info.failed == 0);
    printf("  device %u, %s: %.2f M messages/s\n", device->ordinal, info.device,
           (double)device->count * 1e3 / (double)device->spent_ns);
}

static void every_device(struct stress *stress)
{
    static struct one_device devices[DEVICES_MAX];
    uint32_t count = 0;
    while (count < DEVICES_MAX && launch_on(stress, &devices[count], count))
        count++;
    for (uint32_t i = 0; i < count; i++) {
        devices[i].count = scaled(stress, 100000, 20000000);
        start_thread(&devices[i].thread, load_device, &devices[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(devices[i].thread, NULL);
    for (uint32_t i = 0; i < count; i++)
        print_device(&devices[i]);
    gyre_kernel_release(devices[0].kernel); /* the others go on without it */
    for (uint32_t i = 1; i < count; i++)
        stream(gyre_kernel_queue(devices[i].kernel), i, devices[i].count, devices[i].count + 1000);
}

const struct stress_mode device_modes[] = {
    {"devices", "a kernel on every device of the backend, all under load", every_device},
    {NULL, NULL, NULL},
};
