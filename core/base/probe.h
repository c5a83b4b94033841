/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes for tracers of the system (bpftrace, perf, SystemTap, gdb), of the provider `gyre`. A probe is one instruction that does
 * nothing, and a note in the file that says where it is and where its arguments lie. Without <sys/sdt.h> at build time there are
 * none. docs/observation.md lists them all; the test `system/cli_probes` compares that list with what is built.
 *
 * Arguments are evaluated: only what is at hand belongs there. Texts are addresses of NUL-terminated strings.
 */
#ifndef GYRE_CORE_BASE_PROBE_H
#define GYRE_CORE_BASE_PROBE_H

#if GYRE_HAS_SDT
#include <sys/sdt.h>
#if defined(__clang__)
/* The macros of sys/sdt.h leave out arguments that only later versions of C let be left out. They are judged where they are used. */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
#define GYRE_PROBE1(name, a)       DTRACE_PROBE1(gyre, name, a)
#define GYRE_PROBE2(name, a, b)    DTRACE_PROBE2(gyre, name, a, b)
#define GYRE_PROBE3(name, a, b, c) DTRACE_PROBE3(gyre, name, a, b, c)
#else
#define GYRE_PROBE1(name, a)       ((void)(a))
#define GYRE_PROBE2(name, a, b)    ((void)(a), (void)(b))
#define GYRE_PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif
