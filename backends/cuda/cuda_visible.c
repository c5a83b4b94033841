/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the driver only one of the machine's devices. The driver starts each device that it sees, 0.2 s for one of an
 * H200's host, so a worker process, which serves one device, would start the later the more GPUs a machine has. No locks:
 * the core serialises opening. Must not guess: where it is not sure which device is meant, all stay visible.
 */
#include "cuda_device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char variable[] = "CUDA_VISIBLE_DEVICES";

const char *cuda_devices_word(const char *list, uint32_t place, size_t *length)
{
    for (; place > 0; place--) {
        list += strcspn(list, ",");
        if (!*list)
            return NULL;
        list++;
    }
    *length = strcspn(list, ",");
    return *length > 0 ? list : NULL;
}

/* The word of the variable that stands for the device of the setting; NULL where that is not sure. */
static const char *word_of(const struct cuda_settings *settings, uint32_t ordinal, char number[16],
                           size_t *length)
{
    const char *visible = getenv(variable);
    const char *word = number;
    snprintf(number, 16, "%u", ordinal);
    *length = strlen(number);
    if (settings->devices[0])
        word = cuda_devices_word(settings->devices, ordinal, length);
    if (!word || !visible)
        return word;
    return isdigit((unsigned char)*word) ? cuda_devices_word(visible, (uint32_t)atoi(word), length) : NULL;
}

bool cuda_show_one(const struct cuda_settings *settings, uint32_t ordinal)
{
    char number[16], shown[64];
    size_t length;
    const char *word = word_of(settings, ordinal, number, &length);
    if (!word || length >= sizeof shown)
        return false;
    memcpy(shown, word, length);
    shown[length] = '\0';
    return setenv(variable, shown, 1) == 0;
}
