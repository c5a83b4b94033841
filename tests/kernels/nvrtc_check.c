/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles a kernel file with NVRTC to a cubin for each architecture that this NVRTC knows. Needs no GPU and
 * no driver: libnvrtc is opened at run time. Exits 77 where it is missing.
 *
 * usage: nvrtc_check FILE.gyre.c INCLUDE_DIR [all | ARCH [CUBIN]]      ARCH: 90
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NOT_HERE = 77, NVRTC_OK = 0 };

typedef void *nvrtc_program;
static struct {
    int (*version)(int *major, int *minor);
    int (*arch_count)(int *count);
    int (*archs)(int *archs);
    int (*create)(nvrtc_program *program, const char *source, const char *name, int header_count,
                  const char *const *headers, const char *const *header_names);
    int (*compile)(nvrtc_program program, int option_count, const char *const *options);
    int (*destroy)(nvrtc_program *program);
    int (*log_size)(nvrtc_program program, size_t *size);
    int (*log)(nvrtc_program program, char *log);
    int (*cubin_size)(nvrtc_program program, size_t *size);
    int (*cubin)(nvrtc_program program, char *cubin);
} nvrtc;

static const struct {
    const char *name;
    void *slot;
} symbols[] = {{"nvrtcVersion", &nvrtc.version},
               {"nvrtcGetNumSupportedArchs", &nvrtc.arch_count},
               {"nvrtcGetSupportedArchs", &nvrtc.archs},
               {"nvrtcCreateProgram", &nvrtc.create},
               {"nvrtcCompileProgram", &nvrtc.compile},
               {"nvrtcDestroyProgram", &nvrtc.destroy},
               {"nvrtcGetProgramLogSize", &nvrtc.log_size},
               {"nvrtcGetProgramLog", &nvrtc.log},
               {"nvrtcGetCUBINSize", &nvrtc.cubin_size},
               {"nvrtcGetCUBIN", &nvrtc.cubin}};

static int open_nvrtc(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "skipped: no libnvrtc on this machine: %s\n", dlerror());
        return 0;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address) {
            fprintf(stderr, "skipped: libnvrtc has no %s\n", symbols[i].name);
            return 0;
        }
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    return 1;
}

static void print_log(nvrtc_program program)
{
    size_t size = 0;
    if (nvrtc.log_size(program, &size) != NVRTC_OK || size <= 1)
        return;
    char *log = malloc(size);
    if (log && nvrtc.log(program, log) == NVRTC_OK)
        fprintf(stderr, "%s", log);
    free(log);
}

/* The cubin goes to `path` unless that is NULL; it must look like one in any case. */
static int take_cubin(nvrtc_program program, const char *path)
{
    size_t size = 0;
    if (nvrtc.cubin_size(program, &size) != NVRTC_OK || size < 64)
        return 0;
    char *cubin = malloc(size);
    int good = cubin && nvrtc.cubin(program, cubin) == NVRTC_OK && memcmp(cubin, "\177ELF", 4) == 0;
    FILE *file = good && path ? fopen(path, "wb") : NULL;
    if (file)
        good = fwrite(cubin, 1, size, file) == size;
    if (file && fclose(file) != 0)
        good = 0;
    free(cubin);
    return good && (!path || file);
}

static int compile(const char *path, const char *include, int arch, const char *cubin_path)
{
    char source[4200], arch_option[40], include_option[4200];
    nvrtc_program program = NULL;
    snprintf(source, sizeof source, "#include \"%s\"\n", path);
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=sm_%d", arch);
    snprintf(include_option, sizeof include_option, "--include-path=%s", include);
    const char *options[] = {arch_option, include_option, "--fmad=false", "--std=c++17"};
    int good = nvrtc.create(&program, source, "unit.cu", 0, NULL, NULL) == NVRTC_OK;
    if (good) {
        good = nvrtc.compile(program, 4, options) == NVRTC_OK;
        print_log(program);
        good = good && take_cubin(program, cubin_path);
        nvrtc.destroy(&program);
    }
    printf("%s: sm_%d: %s\n", path, arch, good ? "ok" : "FAILED");
    return good;
}

int main(int count, char **arguments)
{
    int archs[64], arch_count = 0, good = 1;
    if (count < 3) {
        fprintf(stderr, "usage: nvrtc_check FILE.gyre.c INCLUDE_DIR [all | ARCH [CUBIN]]\n");
        return 2;
    }
    if (!open_nvrtc())
        return EXIT_NOT_HERE;
    if (count > 3 && strcmp(arguments[3], "all") != 0) {
        archs[arch_count++] = atoi(arguments[3]);
    } else if (nvrtc.arch_count(&arch_count) != NVRTC_OK || arch_count < 1 || arch_count > 64 ||
               nvrtc.archs(archs) != NVRTC_OK) {
        fprintf(stderr, "libnvrtc does not say which architectures it knows\n");
        return EXIT_FAILURE;
    }
    for (int i = 0; i < arch_count; i++)
        good = compile(arguments[1], arguments[2], archs[i], count > 4 ? arguments[4] : NULL) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
