/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the driver only one of the machine's GPUs. The driver starts each GPU that it sees, which takes 0.2 s
 * for each GPU of an H200's host. A worker process serves one device, so without this its start would take
 * longer the more GPUs a machine has. Takes no lock: the core opens one device at a time. Where it is not
 * certain which GPU is meant, all GPUs stay visible.
 */
#include "backends/cuda/cuda_device.h"

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

/*
 * Returns the word for CUDA_VISIBLE_DEVICES that stands for device `ordinal` of the setting; NULL when that
 * is not certain.
 */
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
