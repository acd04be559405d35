/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library must load wherever CUDA does, also with an older C library than the build machine's.
 * glibc 2.34 moved functions from libpthread and libdl into libc, with new versions. Under the old
 * version the same functions exist in both. The loader does not check in which file the old version
 * was, only the version. All other functions that are used are from before 2.17.
 */
#ifndef PROFTRACE_OLD_GLIBC_H
#define PROFTRACE_OLD_GLIBC_H

#include <features.h> /* shows which C library it is */

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
