/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_DEVICE_MESSAGE_TABLE_H
#define PROFTRACE_DEVICE_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- CUPTI ---- */

#define MESSAGE_CUPTI_FILE_INVALID \
	MESSAGE("device.cupti-file-invalid", \
		"--cupti %s: not a libcupti: it has no function cuptiSubscribe; give the " \
		"libcupti.so.* of the process's CUDA, or leave out --cupti, and it is looked for")
#define MESSAGE_CUPTI_FILE_MISSING \
	MESSAGE("device.cupti-file-missing", \
		"--cupti %s: process %d does not see such a file; give a path that begins with / " \
		"and is there in its own file system")
#define MESSAGE_CUPTI_OF_CUDA_NOT_FOUND \
	MESSAGE("device.cupti-of-cuda-not-found", \
		"no libcupti of CUDA %u was found for process %d; install the wheel " \
		"nvidia-cuda-cupti beside its framework, or give --cupti PATH")
#define MESSAGE_CUPTI_NOT_FOUND \
	MESSAGE("device.cupti-not-found", "no libcupti was found for process %d; give --cupti PATH")

/* ---- The library in the target ---- */

#define MESSAGE_NO_DEVICE_TIMES MESSAGE("device.no-device-times", "no device times: %s")
#define MESSAGE_SHARED_MEMORY_CUT_OFF \
	MESSAGE("device.shared-memory-cut-off", \
		"the process cut off the memory that it shares with proftrace ($PROFTRACE_SHIM)")
#define MESSAGE_CUDA_NOT_INITIALISED \
	MESSAGE("device.cuda-not-initialised", "the process has not initialised CUDA")
#define MESSAGE_LIBRARY_GAVE_UP \
	MESSAGE("device.library-gave-up", \
		"the library in the process gave up: proftrace did not answer for too long")
#define MESSAGE_CUPTI_LATE MESSAGE("device.cupti-late", "CUPTI did not start in time")
#define MESSAGE_CUPTI_OF_OTHER_TOOL \
	MESSAGE("device.cupti-of-other-tool", \
		"another tool began to use CUPTI in it (torch.profiler?)")
#define MESSAGE_SECCOMP_FILTER_ADDED \
	MESSAGE("device.seccomp-filter-added", \
		"the process has had a seccomp filter put on since our library went in")
#define MESSAGE_RECORDS_LOST_BY_EXEC \
	MESSAGE("device.records-lost-by-exec", \
		"the process replaced its program (exec), and with it went what CUPTI had not " \
		"handed over yet")
#define MESSAGE_RECORDS_LOST_BY_END \
	MESSAGE("device.records-lost-by-end", \
		"the process ended, and with it what CUPTI had not handed over yet")
#define MESSAGE_SHIM_LIBRARY_MISSING \
	MESSAGE("device.shim-library-missing", \
		"%s is neither in %s nor in %s%s; build or install it")
#define MESSAGE_SHIM_LIBRARY_UNREADABLE \
	MESSAGE("device.shim-library-unreadable", "cannot read %s: %s")
#define MESSAGE_SHIM_IN_USE \
	MESSAGE("device.shim-in-use", \
		"process %d (%s): another proftrace uses the library in it; wait for its end")
#define MESSAGE_SHIM_OF_OTHER_VERSION \
	MESSAGE("device.shim-of-other-version", \
		"process %d (%s) has the library of another version of proftrace in it; use that " \
		"version, or restart the process")
#define MESSAGE_SHIM_NOT_STARTED \
	MESSAGE("device.shim-not-started", "process %d (%s): the library in it cannot start: %s")
#define MESSAGE_SHIM_MEMORY_NOT_OPENED \
	MESSAGE("device.shim-memory-not-opened", \
		"cannot open the library's memory in process %d: %s")
#define MESSAGE_SHIM_MEMORY_NOT_MADE \
	MESSAGE("device.shim-memory-not-made", \
		"cannot make shared memory %s for device times: %s; %s, or go without them " \
		"(--no-inject)")
#define MESSAGE_SHIM_MEMORY_UNUSABLE \
	MESSAGE("device.shim-memory-unusable", \
		"the memory that the library in the process made cannot be used: %s")
#define MESSAGE_TARGET_TIME_NAMESPACE_UNKNOWN \
	MESSAGE("device.target-time-namespace-unknown", \
		"process %d is in a time namespace whose offset is not known: its times cannot be " \
		"told from the machine's")

#endif
