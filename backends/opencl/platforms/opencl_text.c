/* SPDX-License-Identifier: Apache-2.0 */
/* Reads texts of platforms and devices, without the blanks around them that some have. */
#include "backends/opencl/platforms/opencl_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void tidy_text(char *text)
{
    size_t length = strlen(text), start = strspn(text, " ");
    while (length > start && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    memmove(text, text + start, length - start + 1);
}

void opencl_platform_text(const struct opencl_loader *cl, cl_platform_id platform, cl_platform_info what,
                          char *text, size_t size)
{
    char whole[1024] = "";
    if (cl->clGetPlatformInfo(platform, what, sizeof whole - 1, whole, NULL) != CL_SUCCESS)
        whole[0] = '\0';
    tidy_text(whole);
    snprintf(text, size, "%s", whole);
}

void opencl_device_text(const struct opencl_loader *cl, cl_device_id device, cl_device_info what, char *text,
                        size_t size)
{
    char whole[1024] = "";
    if (cl->clGetDeviceInfo(device, what, sizeof whole - 1, whole, NULL) != CL_SUCCESS)
        whole[0] = '\0';
    tidy_text(whole);
    snprintf(text, size, "%s", whole);
}
