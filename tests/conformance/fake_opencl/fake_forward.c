/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of the OpenCL loader that the backend uses, passed on to the real one by a jump, whatever
 * its parameters. Weak: what fake_loader.c defines takes the place. No state but the addresses.
 */
#include "fake_loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define JUMP_(name) "jmp *fake_real_" name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP_(name) "adrp x16, fake_real_" name "\nldr x16, [x16, :lo12:fake_real_" name "]\nbr x16\n"
#else
/* cppcheck-suppress preprocessorErrorDirective */
#error "the fake loader knows no jump of this processor"
#endif

#define PLACE_(name) __attribute__((used)) void *fake_real_##name;
#define FORWARD_(name)                                                                                       \
    __asm__(".text\n.weak " #name "\n.type " #name ", %function\n" #name ":\n" JUMP_(#name));
OPENCL_FUNCTIONS(PLACE_)
OPENCL_OPTIONAL_FUNCTIONS(PLACE_)
FAKE_FUNCTIONS(PLACE_)
OPENCL_FUNCTIONS(FORWARD_)
OPENCL_OPTIONAL_FUNCTIONS(FORWARD_)

__attribute__((constructor)) static void find_real(void)
{
    void *library = dlopen(FAKE_REAL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "fake loader: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
#define FIND_(name) fake_real_##name = dlsym(library, #name);
    OPENCL_FUNCTIONS(FIND_)
    OPENCL_OPTIONAL_FUNCTIONS(FIND_)
    FAKE_FUNCTIONS(FIND_)
}
