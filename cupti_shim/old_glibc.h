/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library must load wherever CUDA does, with a C library older than that of the machine it is
 * built on. glibc 2.34 gave what it took over from libpthread and libdl a new version; under the old
 * one the same functions are found in both. Where they moved to another file the file named with a
 * version is not looked at, only the version. Everything else that is used is from before 2.17.
 */
#ifndef PROFTRACE_OLD_GLIBC_H
#define PROFTRACE_OLD_GLIBC_H

#include <features.h> /* which C library it is */

#if defined(__x86_64__) && defined(__GLIBC__)
#define OLD_GLIBC(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
OLD_GLIBC(pthread_create);
OLD_GLIBC(pthread_attr_setstacksize);
OLD_GLIBC(pthread_key_create);
OLD_GLIBC(pthread_setspecific);
OLD_GLIBC(pthread_mutex_timedlock);
OLD_GLIBC(dlopen);
OLD_GLIBC(dlsym);
OLD_GLIBC(dlclose);
#endif

#endif
