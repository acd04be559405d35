/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of this program. It is /proc/self/exe, except in the tarball and in the wheel. These bring a C library. Their
 * launcher runs its dynamic loader with the program as an argument (packaging/launcher.c), and /proc/self/exe is the
 * loader.
 */
#ifndef PROFTRACE_OWN_PROGRAM_H
#define PROFTRACE_OWN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* A path to open, valid until the process ends. */
const char *own_program__path(void);

/* Writes the directory of the program's file into dir, with the last slash; "" if it is not known. */
void own_program__dir(char *dir, size_t size);

/* Runs the program again in this process, as execv does. Returns only if that fails, with errno set. */
void own_program__exec(char *const argv[]);

/* The kernel names a process after the file that was run: gives it this program's name if that was the loader. */
void own_program__name_process(void);

#endif
