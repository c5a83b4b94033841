/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the keys of [backend.opencl]. The plugin's drop-in file of configuration declares the keys; their
 * ranges are checked here only.
 */
#include "backends/opencl/opencl_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_DEFAULT = 65536,
    BATCH_MAX = 1 << 20,
    EPOCHS_DEFAULT = 4,
    TARGET_DEFAULT_US = 250,
    TARGET_MAX_US = 1000000,
    INDEX_MAX = 4096
};

static gyre_status refuse_setting(const gyre_host *host, const gyre_parameter *parameter,
                                  const char *expected)
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
        return refuse_setting(host, parameter, expected);
    *out = (uint32_t)value;
    return GYRE_OK;
}

static gyre_status read_pattern(const gyre_host *host, const gyre_parameter *parameter, char *out,
                                size_t size)
{
    if (!parameter->value[0] || strlen(parameter->value) >= size)
        return refuse_setting(host, parameter,
                              "a name, shorter than 128 bytes, in which * and ? stand for others");
    snprintf(out, size, "%s", parameter->value);
    return GYRE_OK;
}

/* Reads a word, and stores its place in the list `words`. */
static gyre_status read_word(const gyre_host *host, const gyre_parameter *parameter, const char *expected,
                             const char *const *words, uint32_t *out)
{
    for (uint32_t i = 0; words[i]; i++)
        if (!strcmp(parameter->value, words[i])) {
            *out = i;
            return GYRE_OK;
        }
    return refuse_setting(host, parameter, expected);
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

/* A key whose value is a word: the settings hold the word's place in the list. */
struct choice {
    const char *key, *expected;
    const char *words[4]; /* ends with NULL */
    size_t member;        /* offset of a member of the settings, as large as a uint32_t */
};
_Static_assert(sizeof(enum opencl_switch) == sizeof(uint32_t) &&
                   sizeof(enum opencl_transfer) == sizeof(uint32_t),
               "choices are stored as numbers of that size");
#define MEMBER(name) offsetof(struct opencl_settings, name)
static const struct choice choices[] = {
    {"transfer", "auto, direct or staged", {"auto", "direct", "staged"}, MEMBER(transfer)},
    {"mode", "epochs or resident", {"epochs", "resident"}, MEMBER(stay)},
    {"pin", "auto, yes or no", {"no", "yes", "auto"}, MEMBER(pin)},
    {"optimize_blocks", "auto, yes or no", {"no", "yes", "auto"}, MEMBER(optimize_blocks)},
    {"profile", "yes or no", {"no", "yes"}, MEMBER(profile)},
};

static const struct choice *find_choice(const char *key)
{
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (!strcmp(key, choices[i].key))
            return &choices[i];
    return NULL;
}

static gyre_status read_choice(const gyre_host *host, const gyre_parameter *parameter,
                               const struct choice *choice, struct opencl_settings *settings)
{
    uint32_t place = 0;
    gyre_status status = read_word(host, parameter, choice->expected, choice->words, &place);
    memcpy((char *)settings + choice->member, &place, sizeof place);
    return status;
}

static gyre_status read_one(const gyre_host *host, const gyre_parameter *parameter,
                            struct opencl_settings *settings)
{
    const char *key = parameter->key;
    const struct choice *choice = find_choice(key);
    if (choice)
        return read_choice(host, parameter, choice, settings);
    if (!strcmp(key, "platform"))
        return read_pattern(host, parameter, settings->platform, sizeof settings->platform);
    if (!strcmp(key, "device"))
        return read_pattern(host, parameter, settings->device, sizeof settings->device);
    if (!strcmp(key, "type"))
        return read_type(host, parameter, &settings->type);
    if (!strcmp(key, "index"))
        return read_index(host, parameter, &settings->index);
    if (!strcmp(key, "batch"))
        return read_number(host, parameter, 1, BATCH_MAX, &settings->batch);
    if (!strcmp(key, "epochs"))
        return read_number(host, parameter, 1, OPENCL_EPOCHS_MAX, &settings->epochs);
    if (!strcmp(key, "target_us"))
        return read_number(host, parameter, 1, TARGET_MAX_US, &settings->target_us);
    return GYRE_OK; /* the core reads the other keys */
}

gyre_status opencl_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                                 struct opencl_settings *settings)
{
    *settings = (struct opencl_settings){.platform = "*",
                                         .device = "*",
                                         .type = CL_DEVICE_TYPE_ALL,
                                         .index = -1,
                                         .pin = OPENCL_AUTO,
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
