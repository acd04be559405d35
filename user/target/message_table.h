/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_TARGET_MESSAGE_TABLE_H
#define PROFTRACE_TARGET_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Programs and libraries ---- */

#define MESSAGE_ELF_INVALID MESSAGE("target.elf-invalid", "%s: not an ELF file")
#define MESSAGE_ELF_OF_OTHER_MACHINE \
	MESSAGE("target.elf-of-other-machine", "%s: not a 64-bit x86-64 program or library")
#define MESSAGE_ELF_NOT_OPENED MESSAGE("target.elf-not-opened", "%s: cannot open: %s")
#define MESSAGE_ELF_NOT_MAPPED MESSAGE("target.elf-not-mapped", "%s: cannot map: %s")
#define MESSAGE_ELF_CUT_OFF MESSAGE("target.elf-cut-off", "%s: was cut off while it was read")
#define MESSAGE_LIBRARY_NOT_INSPECTED \
	MESSAGE("target.library-not-inspected", "process %d: cannot look into its library %s: %s")
#define MESSAGE_MAPS_UNREADABLE \
	MESSAGE("target.maps-unreadable", \
		"cannot read the memory map of process %d (%s, user %u): %s")
#define MESSAGE_LIBRARIES_TOO_MANY \
	MESSAGE("target.libraries-too-many", "process %d: cannot list its libraries: more than %d")

/* ---- Processes ---- */

#define MESSAGE_PROCESS_MISSING \
	MESSAGE("target.process-missing", "no process %d: it has exited or never was; see `ps -e`")
#define MESSAGE_PROCESS_STATUS_OUT_OF_MEMORY \
	MESSAGE("target.process-status-out-of-memory", \
		"process %d: cannot read its status: out of memory")
#define MESSAGE_PROCESS_STATUS_UNREADABLE \
	MESSAGE("target.process-status-unreadable", "process %d: cannot read its status: %s")
#define MESSAGE_PROCESS_HIDDEN \
	MESSAGE("target.process-hidden", \
		"process %d exists, but /proc hides it (its mount option hidepid); run with sudo")
#define MESSAGE_PROCESS_IS_THREAD \
	MESSAGE("target.process-is-thread", "%d is a thread (%s) of process %d; use -p %d")
#define MESSAGE_PROCESS_ENDED_EARLY \
	MESSAGE("target.process-ended-early", \
		"process %d (%s) has ended already: too soon to be profiled; does another process " \
		"do its work?")
#define MESSAGE_PROCESS_IS_ZOMBIE \
	MESSAGE("target.process-is-zombie", \
		"process %d (%s) is a zombie: it has exited, its parent has not collected it; " \
		"there is nothing left to profile")
#define MESSAGE_PROCESS_NOT_PERMITTED \
	MESSAGE("target.process-not-permitted", "cannot inspect process %d (%s, user %u): %s")
#define MESSAGE_THREADS_UNREADABLE \
	MESSAGE("target.threads-unreadable", "process %d: cannot list its threads: %s")

/* ---- Ranks ---- */

#define MESSAGE_RANKS_WITHOUT_FRAMEWORK \
	MESSAGE("target.ranks-without-framework", \
		"no rank among the descendants of process %d: no framework is loaded in the %zu " \
		"processes that were given a rank; wait until they train, or name the ranks with " \
		"-p PID,PID")
#define MESSAGE_RANKS_MISSING_SUGGESTED \
	MESSAGE("target.ranks-missing-suggested", \
		"no rank among the descendants of process %d: none of %zu processes was started " \
		"with RANK or the like. A framework is loaded in %s: name those that do the work " \
		"with -p PID or -p PID,PID")
#define MESSAGE_RANKS_MISSING \
	MESSAGE("target.ranks-missing", \
		"no rank among the descendants of process %d: none of %zu processes was started " \
		"with RANK or the like; give the ranks themselves with -p PID,PID")

#endif
