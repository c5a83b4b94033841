/* SPDX-License-Identifier: Apache-2.0 */
/* Which sanitizers this build has, as gcc and clang tell it: 0 or 1. Both reserve terabytes of addresses and keep freed memory. */
#ifndef GYRE_TESTS_SANITIZERS_H
#define GYRE_TESTS_SANITIZERS_H

#if defined(__has_feature)
#define SANITIZER_FEATURE_(name) __has_feature(name)
#else
#define SANITIZER_FEATURE_(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZER_FEATURE_(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#else
#define UNDER_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || SANITIZER_FEATURE_(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#else
#define UNDER_THREAD_SANITIZER 0
#endif

#endif
