/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_INJECT_MESSAGE_TABLE_H
#define PROFTRACE_INJECT_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Requests ---- */

#define MESSAGE_INJECT_REQUEST_INCOMPLETE \
	MESSAGE("inject.request-incomplete", \
		"a path or an image with a name, and a symbol, are needed")
#define MESSAGE_INJECT_REQUEST_TOO_LONG \
	MESSAGE("inject.request-too-long", "a path, name, symbol or argument is too long")
#define MESSAGE_INJECT_STOPPED MESSAGE("inject.stopped", "stopped")

/* ---- The target process ---- */

#define MESSAGE_INJECT_NOT_SUPPORTED \
	MESSAGE("inject.not-supported", "process %d (%s): nothing can be loaded into it: %s")
#define MESSAGE_INJECT_TARGET_TRACED \
	MESSAGE("inject.target-traced", \
		"process %d is traced by process %d (%s); end that first")
#define MESSAGE_INJECT_SYMBOL_MISSING \
	MESSAGE("inject.symbol-missing", "process %d has a %s that has no %s")
#define MESSAGE_INJECT_TARGET_ENDED MESSAGE("inject.target-ended", "process %d ended")
#define MESSAGE_INJECT_BUSY \
	MESSAGE("inject.busy", "process %d: another proftrace is loading into it; try again")
#define MESSAGE_INJECT_NOT_LOCKED \
	MESSAGE("inject.not-locked", "process %d: cannot lock it: %s")
#define MESSAGE_INJECT_TARGET_STOPPED \
	MESSAGE("inject.target-stopped", \
		"process %d (%s) is stopped; continue it (kill -CONT %d)")
#define MESSAGE_INJECT_THREAD_IN_OLD_CODE \
	MESSAGE("inject.thread-in-old-code", \
		"process %d: a thread may still be in the code of a proftrace that ended before it")
#define MESSAGE_INJECT_MAPS_UNREADABLE \
	MESSAGE("inject.maps-unreadable", "cannot read the memory map of process %d: %s")
#define MESSAGE_INJECT_MAPS_OUT_OF_MEMORY \
	MESSAGE("inject.maps-out-of-memory", "process %d: out of memory")

/* ---- Seccomp ---- */

#define MESSAGE_SECCOMP_READER_NOT_STARTED \
	MESSAGE("inject.seccomp-reader-not-started", \
		"cannot make a process that reads seccomp filters: %s")
#define MESSAGE_SECCOMP_FILTERS_TOO_MANY \
	MESSAGE("inject.seccomp-filters-too-many", "process %d has more than %d seccomp filters")
#define MESSAGE_SECCOMP_FILTER_UNREADABLE \
	MESSAGE("inject.seccomp-filter-unreadable", \
		"process %d has a seccomp filter that cannot be read (%s): not known whether it " \
		"lets a library load")
#define MESSAGE_SECCOMP_FORBIDS_CALL \
	MESSAGE("inject.seccomp-forbids-call", \
		"process %d: its seccomp filter forbids %s (system call %d), which loading into it " \
		"needs")
#define MESSAGE_SECCOMP_STRICT \
	MESSAGE("inject.seccomp-strict", \
		"process %d is under strict seccomp: it may only read and write")

/* ---- Tracee threads ---- */

#define MESSAGE_TRACEE_THREAD_ENDED \
	MESSAGE("inject.tracee-thread-ended", "process %d: thread %d ended meanwhile")
#define MESSAGE_TRACEE_REQUEST_FAILED \
	MESSAGE("inject.tracee-request-failed", "process %d: %s of thread %d: %s")
#define MESSAGE_TRACEE_NOT_PERMITTED \
	MESSAGE("inject.tracee-not-permitted", "process %d: not allowed to trace it: %s")
#define MESSAGE_TRACEE_REGISTERS_LARGE \
	MESSAGE("inject.tracee-registers-large", "vector registers larger than %d bytes")
#define MESSAGE_TRACEE_CODE_FAILED \
	MESSAGE("inject.tracee-code-failed", "process %d: the loaded code failed")

/* ---- Injected calls ---- */

#define MESSAGE_INJECTED_CALL_NO_SAFE_POINT \
	MESSAGE("inject.injected-call-no-safe-point", \
		"process %d: none of its threads came to a point where a call can be injected " \
		"(%s); try again")
#define MESSAGE_INJECTED_CALL_NO_ROOM \
	MESSAGE("inject.injected-call-no-room", \
		"process %d: no library has %zu bytes to spare behind its code")
#define MESSAGE_INJECTED_CALL_NO_CODE_MEMORY \
	MESSAGE("inject.injected-call-no-code-memory", \
		"process %d: it may not map memory for code (%s): a security policy or a memory " \
		"limit")
#define MESSAGE_INJECTED_CALL_NOT_WRITTEN \
	MESSAGE("inject.injected-call-not-written", "process %d: cannot write to its memory: %s")
#define MESSAGE_INJECTED_CALL_TARGET_ENDED \
	MESSAGE("inject.injected-call-target-ended", "process %d ended meanwhile")
#define MESSAGE_INJECTED_CALL_NO_THREAD \
	MESSAGE("inject.injected-call-no-thread", \
		"process %d: it can make no thread (%s): a limit of its memory or threads")
#define MESSAGE_INJECTED_CALL_THREAD_LATE \
	MESSAGE("inject.injected-call-thread-late", \
		"process %d: thread %d was to make a thread and is not done after 3 s (%s); it " \
		"goes on by itself")
#define MESSAGE_INJECTED_CALL_ADDRESS_SPACE_FULL \
	MESSAGE("inject.injected-call-address-space-full", "process %d: its address space is full")
#define MESSAGE_INJECTED_LOAD_TARGET_ENDED \
	MESSAGE("inject.injected-load-target-ended", \
		"process %d ended while the library was loaded")
#define MESSAGE_INJECTED_LOAD_NO_MEMFD \
	MESSAGE("inject.injected-load-no-memfd", "process %d: memfd_create: %s")
#define MESSAGE_INJECTED_LOAD_MEMFD_NOT_FILLED \
	MESSAGE("inject.injected-load-memfd-not-filled", "process %d: cannot fill its memfd: %s")
#define MESSAGE_INJECTED_LOAD_FAILED \
	MESSAGE("inject.injected-load-failed", "process %d cannot load %s: %s")
#define MESSAGE_INJECTED_LOAD_FUNCTION_LATE \
	MESSAGE("inject.injected-load-function-late", \
		"process %d: %s did not return in time; it runs on in its own thread")
#define MESSAGE_INJECTED_LOAD_LATE \
	MESSAGE("inject.injected-load-late", \
		"process %d: its dynamic loader did not load %s in time; it is unloaded when the " \
		"loader is done")

#endif
