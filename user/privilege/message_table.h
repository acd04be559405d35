/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_PRIVILEGE_MESSAGE_TABLE_H
#define PROFTRACE_PRIVILEGE_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Processes with fewer rights ---- */

#define MESSAGE_FILE_PROCESS_NOT_MADE \
	MESSAGE("privilege.file-process-not-made", "cannot make a process that opens files: %s")
#define MESSAGE_OUTPUT_PRIVILEGES_KEPT \
	MESSAGE("privilege.output-privileges-kept", \
		"cannot give up privileges for the output: %s; no output is made")
#define MESSAGE_OUTPUT_UNPROTECTED \
	MESSAGE("privilege.output-unprotected", \
		"the output is made without %s: this kernel lacks it")
#define MESSAGE_OUTPUT_PROCESS_STOPPED \
	MESSAGE("privilege.output-process-stopped", \
		"the process that makes the output was stopped for more than %d s by another " \
		"process, and was ended; `proftrace report %s` makes the output")
#define MESSAGE_OUTPUT_PROCESS_KILLED \
	MESSAGE("privilege.output-process-killed", \
		"the process that makes the output was ended by signal %d (%s)")
#define MESSAGE_OUTPUT_PROCESS_NOT_MADE \
	MESSAGE("privilege.output-process-not-made", \
		"cannot make %s for the output: %s; no output is made")
#define MESSAGE_OUTPUT_FAILED MESSAGE("privilege.output-failed", "no output is made: %s")

/* ---- Rights of this process ---- */

#define MESSAGE_CAPABILITIES_KEPT \
	MESSAGE("privilege.capabilities-kept", "cannot give up capabilities: %s")
#define MESSAGE_ROOT_KEPT MESSAGE("privilege.root-kept", "cannot give up root: %s")
#define MESSAGE_PRIVILEGES_KEPT \
	MESSAGE("privilege.privileges-kept", "cannot give up privileges: %s")
#define MESSAGE_READER_UNPROTECTED \
	MESSAGE("privilege.reader-unprotected", "looks on without %s: this kernel lacks it")
#define MESSAGE_PROCESS_UNPROTECTED \
	MESSAGE("privilege.process-unprotected", "goes on without %s: this kernel lacks it")
#define MESSAGE_PTRACE_RIGHT_KEPT \
	MESSAGE("privilege.ptrace-right-kept", \
		"keeps the right to trace processes: cannot add a seccomp filter: %s")

#endif
