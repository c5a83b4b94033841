/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a device for people: its link, its driver, and its limits. Keeps no state. Asks the driver for
 * attributes and reads a few files; makes no context.
 */
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/cuda_device.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void read_first_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    line[0] = '\0';
    if (!file)
        return;
    if (!fgets(line, size, file))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    fclose(file);
}

/*
 * Reads the driver's release: the first word that begins with a digit and has a point. It is "580.159.03" in
 * "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue ..." and in "... UNIX Open Kernel Module
 * for x86_64  580.159.03  Release ...".
 */
void cuda_driver_release(char *release, size_t size)
{
    char line[256];
    read_first_line("/proc/driver/nvidia/version", line, sizeof line);
    release[0] = '\0';
    for (const char *word = line; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        if (isdigit((unsigned char)*word) && memchr(word, '.', length)) {
            snprintf(release, size, "%.*s", (int)length, word);
            return;
        }
    }
}

/* Reads the device's address on the bus, in small letters as in /sys; "" when the driver does not tell. */
static void read_bus(const gyre_device *device, char bus[32])
{
    bus[0] = '\0';
    if (!device->driver->cuDeviceGetPCIBusId ||
        device->driver->cuDeviceGetPCIBusId(bus, 32, device->handle) != CUDA_SUCCESS)
        bus[0] = '\0';
    for (char *c = bus; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

static void read_link(const char *bus, const char *which, char *line, int size)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", bus, which);
    read_first_line(path, line, size);
}

void cuda_describe_link(const gyre_device *device, char *text, size_t size)
{
    char bus[32], speed[64], width[32];
    text[0] = '\0';
    read_bus(device, bus);
    if (!bus[0])
        return;
    read_link(bus, "current_link_speed", speed, sizeof speed);
    read_link(bus, "current_link_width", width, sizeof width);
    if (speed[0] && width[0])
        snprintf(text, size, "PCIe %.*s GT/s x%s", (int)strcspn(speed, " "), speed, width);
}

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    if (used + 3 >= size)
        return;
    snprintf(text + used, size - used, "%s", used ? "; " : "");
    va_start(args, format);
    vsnprintf(text + used + (used ? 2 : 0), size - used - (used ? 2 : 0), format, args);
    va_end(args);
}

void cuda_describe_details(const gyre_device *device, char *text, size_t size)
{
    char bus[32], link[128], release[64];
    read_bus(device, bus);
    cuda_describe_link(device, link, sizeof link);
    cuda_driver_release(release, sizeof release);
    text[0] = '\0';
    add(text, size, "compute capability %d.%d", device->major, device->minor);
    if (link[0])
        add(text, size, "%s at %s", link, bus);
    add(text, size, "driver %s for CUDA %d.%d", release[0] ? release : "of unknown release",
        device->driver->version / 1000, device->driver->version % 1000 / 10);
    add(text, size, "%u KiB of shared memory for a block", device->shared_size_max / 1024);
    if (device->uuid[0])
        add(text, size, "%s", device->uuid);
}

/*
 * Adds the present link beside the best link that both ends support: a slot that is too narrow halves the
 * speed of transfers.
 */
static void add_link_limit(const gyre_device *device, char *text, size_t size)
{
    char bus[32], now[32], best[32];
    read_bus(device, bus);
    if (!bus[0])
        return;
    read_link(bus, "current_link_width", now, sizeof now);
    read_link(bus, "max_link_width", best, sizeof best);
    if (now[0] && best[0] && strcmp(now, best) != 0)
        add(text, size, "its PCIe link has %s of %s lanes: messages move that much slower", now, best);
}

void cuda_describe_limits(const gyre_device *device, char *text, size_t size)
{
    enum { EXCLUSIVE = 3 };
    text[0] = '\0';
    if (device->watchdog)
        add(text, size, "it drives a display, whose watchdog ends kernels that stay: %s",
            device->residency_ms ? "kernels leave in time (residency_ms)"
                                 : "residency_ms = 0 lets it; set it to auto");
    if (device->wsl)
        add(text, size, "under WSL2 Windows ends kernels that stay: %s",
            device->residency_ms ? "kernels leave in time (residency_ms)"
                                 : "residency_ms = 0 lets it; set it to auto");
    if (device->residency_ms)
        add(text, size, "kernels leave and come back every %u ms", device->residency_ms);
    if (strstr(device->name, "MIG"))
        add(text, size, "it is a part (MIG) of a GPU: its SMs, memory and bandwidth are that part's");
    if (device->sm_count < device->sm_total)
        add(text, size, "Gyre may use %u of %u SMs (backend.cuda.sms)", device->sm_count, device->sm_total);
    if (device->compute_mode == EXCLUSIVE)
        add(text, size, "one process at a time may use it (exclusive compute mode)");
    if (!device->native_atomics)
        add(text, size, "no atomics on host memory: what several producers share is settled on the host");
    if (!device->pools)
        add(text, size, "no memory pools: it cannot allocate buffers");
    add_link_limit(device, text, size);
}
