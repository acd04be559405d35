/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_COMMON_MESSAGE_TABLE_H
#define PROFTRACE_COMMON_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Resources of the system ---- */

#define MESSAGE_OUT_OF_MEMORY MESSAGE("common.out-of-memory", "out of memory")
#define MESSAGE_OUT_OF_MEMORY_FOR MESSAGE("common.out-of-memory-for", "%s: out of memory")
#define MESSAGE_THREAD_NOT_STARTED MESSAGE("common.thread-not-started", "cannot start a thread: %s")
#define MESSAGE_PROCESS_NOT_STARTED \
	MESSAGE("common.process-not-started", "cannot start a process: %s")
#define MESSAGE_MEMORY_FILE_NOT_MADE \
	MESSAGE("common.memory-file-not-made", "cannot make a file in memory: %s")
#define MESSAGE_SOCKETS_NOT_MADE \
	MESSAGE("common.sockets-not-made", "cannot make a pair of sockets: %s")
#define MESSAGE_SYSTEM_ERROR MESSAGE("common.system-error", "%s")
#define MESSAGE_PASSED_ON MESSAGE("common.passed-on", "%s")

/* ---- Files ---- */

#define MESSAGE_NOT_WRITTEN MESSAGE("common.not-written", "cannot write %s: %s")
#define MESSAGE_LINK_REFUSED MESSAGE("common.link-refused", "%s")
#define MESSAGE_LINK_OF_OTHERS \
	MESSAGE("common.link-of-others", \
		"a symbolic link is there, and proftrace does not write through links of others; " \
		"name the file itself")
#define MESSAGE_FILE_OF_OTHER_USER \
	MESSAGE("common.file-of-other-user", \
		"a file of another user is there; choose another place")
#define MESSAGE_FILE_HAS_OTHER_NAMES \
	MESSAGE("common.file-has-other-names", \
		"the file has other names, too, and would be emptied under them; choose another " \
		"place")
#define MESSAGE_FILE_REPLACED \
	MESSAGE("common.file-replaced", \
		"another file took its place while it was opened; choose another place")
#define MESSAGE_TEMPORARY_FILES_HELD \
	MESSAGE("common.temporary-files-held", \
		"another process holds each temporary file that is made there; choose another " \
		"place")
#define MESSAGE_FILE_PROCESS_ENDED \
	MESSAGE("common.file-process-ended", \
		"the process of proftrace that opens its files has ended; run it again")
#define MESSAGE_DIRECTORY_NOT_MADE \
	MESSAGE("common.directory-not-made", "cannot make the directory %s: %s")
#define MESSAGE_DIRECTORY_PARENT_MISSING \
	MESSAGE("common.directory-parent-missing", \
		"cannot make the directory %s: %s; this does: mkdir -p %s")
#define MESSAGE_PROC_NOT_MOUNTED \
	MESSAGE("common.proc-not-mounted", "%s is not mounted: mount -t proc proc %s")
#define MESSAGE_PROC_OF_OTHER_NAMESPACE \
	MESSAGE("common.proc-of-other-namespace", \
		"%s is of another pid namespace: proftrace is process %d here, and %s there; mount " \
		"%s anew (unshare --mount-proc), or start proftrace in that namespace")
#define MESSAGE_STREAM_NOT_WRITTEN MESSAGE("common.stream-not-written", "cannot write %s: %s")
#define MESSAGE_STREAM_LACKS_SPACE \
	MESSAGE("common.stream-lacks-space", \
		"cannot write %s: %s; free some, or send it to another disk")
#define MESSAGE_STREAM_TOO_LARGE \
	MESSAGE("common.stream-too-large", "cannot write %s: %s; raise the limit (ulimit -f)")

/* ---- Capabilities ---- */

#define MESSAGE_CAPABILITY_MISSING MESSAGE("common.capability-missing", "needs %s; run with sudo")
#define MESSAGE_CAPABILITY_MISSING_TO_ROOT \
	MESSAGE("common.capability-missing-to-root", \
		"needs %s, which this root lacks; add it to the container (--cap-add), or run on " \
		"the host")
#define MESSAGE_CAPABILITIES_OF_NAMESPACE \
	MESSAGE("common.capabilities-of-namespace", \
		"proftrace runs in a user namespace, whose capabilities do not count outside of " \
		"it; run as root of the host")
#define MESSAGE_REFUSED_DESPITE_CAPABILITIES \
	MESSAGE("common.refused-despite-capabilities", \
		"proftrace has the capabilities for it, the cause is unknown; see the kernel's " \
		"log (dmesg) for a security module or a lockdown")

/* ---- Texts of other processes ---- */

#define MESSAGE_PROCESS_TEXTS_CUT_OFF \
	MESSAGE("common.process-texts-cut-off", \
		"texts of other processes were longer than %u KiB %zu times; only their begin was " \
		"read")
#define MESSAGE_PROCESS_TEXT_CUT_OFF \
	MESSAGE("common.process-text-cut-off", \
		"process %d: its %s is longer than %u KiB; only its begin is read")

#endif
