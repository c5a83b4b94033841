/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains why a platform is missing. The ICD loaders drop a platform without a word if its library does not
 * load or is no platform. So this file reads the .icd files once more and says why. No state. Runs in the
 * probe's process only, because it loads libraries.
 */
#include "backends/opencl/platforms/opencl_platforms.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char vendors_folder[] = "/etc/OpenCL/vendors";

/* The folder of the .icd files: ocl-icd and the Khronos loader each have an environment variable for it. */
const char *opencl_vendors_path(void)
{
    static const char *const variables[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *path = getenv(variables[i]);
        if (path && path[0])
            return path;
    }
    return vendors_folder;
}

struct report {
    const gyre_host *host;
    char *text;
    size_t size, used;
};

static void add_file(struct report *report, const char *file, const char *reason)
{
    int length = snprintf(report->text + report->used, report->size - report->used, "%s%s: %s",
                          report->used ? "; " : "dropped by the OpenCL loader: ", file, reason);
    if (length > 0)
        report->used += (size_t)length;
    if (report->used >= report->size)
        report->used = report->size - 1;
}

/* Whether the library is a platform: it then has one of these functions. */
static bool is_platform(const gyre_host *host, void *library)
{
    static const char *const symbols[] = {"clIcdGetPlatformIDsKHR", "clGetExtensionFunctionAddress",
                                          "clGetPlatformInfo"};
    void *address = NULL;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (host->library_symbol(library, symbols[i], &address) == GYRE_OK)
            return true;
    return false;
}

/*
 * Writes a file's name for people. A name may hold anything: characters that a terminal would obey become
 * '?', and a long name is cut.
 */
static void show_name(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s", name);
    for (char *at = out; *at; at++)
        if (iscntrl((unsigned char)*at) || (unsigned char)*at > '~')
            *at = '?';
    if (strlen(name) >= size)
        memcpy(out + size - 4, "...", 4);
}

/*
 * Says why a platform's library does not work. The library stays open, because platforms cannot be unloaded.
 */
static void judge_library(struct report *report, const char *file, const char *name)
{
    char shown[256], reason[384];
    void *library = NULL;
    const gyre_status status = report->host->library_open(name, &library);
    if (status == GYRE_OK) {
        if (!is_platform(report->host, library))
            add_file(report, file, "its library is no OpenCL platform");
        return;
    }
    show_name(name, shown, sizeof shown);
    if (strchr(name, '/') && access(name, F_OK) != 0)
        snprintf(reason, sizeof reason, "there is no file '%s'", shown);
    else if (status == GYRE_EXHAUSTED)
        snprintf(reason, sizeof reason, "'%s' does not load: there is too little memory for it (ulimit -v)",
                 shown);
    else
        snprintf(reason, sizeof reason, "'%s' does not load; `ldd` tells what it lacks", shown);
    add_file(report, file, reason);
}

static void judge_file(struct report *report, const char *folder, const char *file)
{
    char path[4096], library_name[1024] = "";
    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", file);
    FILE *icd = fopen(path, "re");
    if (!icd) {
        add_file(report, file, "it cannot be read");
        return;
    }
    if (!fgets(library_name, sizeof library_name, icd))
        library_name[0] = '\0';
    const bool readable = !ferror(icd);
    fclose(icd);
    library_name[strcspn(library_name, "\r\n")] = '\0';
    if (!readable)
        add_file(report, file, "it cannot be read");
    else if (library_name[0])
        judge_library(report, file, library_name);
    else
        add_file(report, file, "its first line names no library");
}

static int is_icd(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".icd") == 0;
}

void opencl_dropped_platforms(const gyre_host *host, char *text, size_t size)
{
    struct report report = {.host = host, .text = text, .size = size};
    struct dirent **entries = NULL;
    const char *folder = opencl_vendors_path();
    text[0] = '\0';
    int count = scandir(folder, &entries, is_icd, alphasort);
    if (count < 0 && strcmp(folder, vendors_folder) != 0)
        judge_file(&report, "", folder); /* the variable may name a single file */
    for (int i = 0; i < count; i++) {
        judge_file(&report, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}
