/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session reads data of strangers, and writes files. So another process, which reads nothing of
 * the target, opens files for it. The session then gives up the right to open files
 * (privilege/session_filter.h).
 */
#ifndef PROFTRACE_FILE_PROCESS_H
#define PROFTRACE_FILE_PROCESS_H

#include "privilege/file_broker.h"

/* Forks that process. It gets places (borrowed until then), and only the rights to open files. From
 * here on out_file.h and in_file__open ask it. 0, or a negative errno with err__set. It ends when
 * all processes that ask it have ended. */
int file_process__start(struct file_places *places);
/* Call it before a fork: the child passes the result to file_process__join. A socket or a negative
 * errno. */
int file_process__invite(void);
/* Call it in the child: takes over the socket. */
void file_process__join(int socket);
/* Stops using that process. The process that started it waits for its end. */
void file_process__leave(void);

#endif
