/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session reads what strangers wrote, and writes files. So a process of its own opens them, which
 * reads nothing of the target; the session then gives up the right (privilege/session_filter.h).
 */
#ifndef PROFTRACE_FILE_PROCESS_H
#define PROFTRACE_FILE_PROCESS_H

#include "privilege/file_broker.h"

/* Forks that process, which has places (the caller's until then) and rights to open files alone.
 * From here on out_file.h and in_file__open ask it. 0, or a negative errno with err__set. It ends
 * when all who ask it have ended. */
int file_process__start(struct file_places *places);
/* Before a fork: how the child asks it by file_process__join. A socket or a negative errno. */
int file_process__invite(void);
/* In the child: takes the socket. */
void file_process__join(int socket);
/* Lets go of it and, if this is the process that started it, waits for its end. */
void file_process__leave(void);

#endif
