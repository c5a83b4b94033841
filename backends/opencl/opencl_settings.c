/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of [backend.opencl], which its drop-in introduces: ranges are checked here only. */
#include "opencl_backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_DEFAULT = 65536,
    BATCH_MAX = 1 << 20,
    EPOCHS_DEFAULT = 4,
    EPOCHS_MAX = 8,
    TARGET_DEFAULT_US = 250,
    TARGET_MAX_US = 1000000,
    INDEX_MAX = 4096
};

static gyre_status refuse(const gyre_host *host, const gyre_parameter *parameter, const char *expected)
{
    return host->error(GYRE_CONFIG, "%s: backend.opencl %s must be %s, found '%s'", parameter->origin,
                       parameter->key, expected, parameter->value);
}

static gyre_status read_number(const gyre_host *host, const gyre_parameter *parameter, uint32_t least,
                               uint32_t most, uint32_t *out)
{
    char *end, expected[64];
    errno = 0;
    unsigned long long value = strtoull(parameter->value, &end, 10);
    snprintf(expected, sizeof expected, "a number from %u to %u", least, most);
    if (errno || end == parameter->value || *end || parameter->value[0] == '-' || value > most ||
        value < least)
        return refuse(host, parameter, expected);
    *out = (uint32_t)value;
    return GYRE_OK;
}

static gyre_status read_pattern(const gyre_host *host, const gyre_parameter *parameter, char *out,
                                size_t size)
{
    if (!parameter->value[0] || strlen(parameter->value) >= size)
        return refuse(host, parameter, "a name, shorter than 128 bytes, in which * and ? stand for others");
    snprintf(out, size, "%s", parameter->value);
    return GYRE_OK;
}

/* One of `words`; its place in the list. */
static gyre_status read_word(const gyre_host *host, const gyre_parameter *parameter, const char *expected,
                             const char *const *words, uint32_t *out)
{
    for (uint32_t i = 0; words[i]; i++)
        if (!strcmp(parameter->value, words[i])) {
            *out = i;
            return GYRE_OK;
        }
    return refuse(host, parameter, expected);
}

static gyre_status read_type(const gyre_host *host, const gyre_parameter *parameter, cl_device_type *out)
{
    static const char *const words[] = {"all", "cpu", "gpu", "accelerator", NULL};
    static const cl_device_type types[] = {CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
                                           CL_DEVICE_TYPE_ACCELERATOR};
    uint32_t choice = 0;
    gyre_status status = read_word(host, parameter, "all, cpu, gpu or accelerator", words, &choice);
    *out = types[choice];
    return status;
}

static gyre_status read_index(const gyre_host *host, const gyre_parameter *parameter, int32_t *out)
{
    uint32_t index = 0;
    *out = -1;
    if (!strcmp(parameter->value, "all"))
        return GYRE_OK;
    gyre_status status = read_number(host, parameter, 0, INDEX_MAX, &index);
    *out = (int32_t)index;
    return status;
}

static gyre_status read_transfer(const gyre_host *host, const gyre_parameter *parameter,
                                 enum opencl_transfer *out)
{
    static const char *const words[] = {"auto", "direct", "staged", NULL};
    uint32_t choice = 0;
    gyre_status status = read_word(host, parameter, "auto, direct or staged", words, &choice);
    *out = (enum opencl_transfer)choice;
    return status;
}

static gyre_status read_switch(const gyre_host *host, const gyre_parameter *parameter, bool *out)
{
    static const char *const words[] = {"no", "yes", NULL};
    uint32_t choice = 0;
    gyre_status status = read_word(host, parameter, "yes or no", words, &choice);
    *out = choice == 1;
    return status;
}

static gyre_status read_choice(const gyre_host *host, const gyre_parameter *parameter,
                               enum opencl_switch *out)
{
    static const char *const words[] = {"no", "yes", "auto", NULL};
    uint32_t choice = 0;
    gyre_status status = read_word(host, parameter, "auto, yes or no", words, &choice);
    *out = (enum opencl_switch)choice;
    return status;
}

static gyre_status read_mode(const gyre_host *host, const gyre_parameter *parameter, bool *stay)
{
    static const char *const words[] = {"epochs", "resident", NULL};
    uint32_t choice = 0;
    gyre_status status = read_word(host, parameter, "epochs or resident", words, &choice);
    *stay = choice == 1;
    return status;
}

static gyre_status read_one(const gyre_host *host, const gyre_parameter *parameter,
                            struct opencl_settings *settings)
{
    const char *key = parameter->key;
    if (!strcmp(key, "platform"))
        return read_pattern(host, parameter, settings->platform, sizeof settings->platform);
    if (!strcmp(key, "device"))
        return read_pattern(host, parameter, settings->device, sizeof settings->device);
    if (!strcmp(key, "type"))
        return read_type(host, parameter, &settings->type);
    if (!strcmp(key, "index"))
        return read_index(host, parameter, &settings->index);
    if (!strcmp(key, "transfer"))
        return read_transfer(host, parameter, &settings->transfer);
    if (!strcmp(key, "batch"))
        return read_number(host, parameter, 1, BATCH_MAX, &settings->batch);
    if (!strcmp(key, "epochs"))
        return read_number(host, parameter, 1, EPOCHS_MAX, &settings->epochs);
    if (!strcmp(key, "target_us"))
        return read_number(host, parameter, 1, TARGET_MAX_US, &settings->target_us);
    if (!strcmp(key, "mode"))
        return read_mode(host, parameter, &settings->stay);
    if (!strcmp(key, "pin"))
        return read_choice(host, parameter, &settings->pin);
    if (!strcmp(key, "courier"))
        return read_choice(host, parameter, &settings->courier);
    if (!strcmp(key, "optimize_blocks"))
        return read_choice(host, parameter, &settings->optimize_blocks);
    if (!strcmp(key, "profile"))
        return read_switch(host, parameter, &settings->profile);
    return GYRE_OK; /* other keys are the core's */
}

gyre_status opencl_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                                 struct opencl_settings *settings)
{
    *settings = (struct opencl_settings){.platform = "*",
                                         .device = "*",
                                         .type = CL_DEVICE_TYPE_ALL,
                                         .index = -1,
                                         .pin = OPENCL_AUTO,
                                         .courier = OPENCL_AUTO,
                                         .optimize_blocks = OPENCL_AUTO,
                                         .batch = BATCH_DEFAULT,
                                         .epochs = EPOCHS_DEFAULT,
                                         .target_us = TARGET_DEFAULT_US};
    for (size_t i = 0; i < count; i++) {
        gyre_status status = read_one(host, &parameters[i], settings);
        if (status != GYRE_OK)
            return status;
    }
    return GYRE_OK;
}
