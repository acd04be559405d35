/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_EXPORTERS_MESSAGE_TABLE_H
#define PROFTRACE_EXPORTERS_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Options ---- */

#define MESSAGE_CHROME_DIALECT_UNKNOWN \
	MESSAGE("exporters.chrome-dialect-unknown", \
		"unknown dialect '%s'; chrome has kineto and tb")
#define MESSAGE_CUDA_PROFILER_DIALECT_UNKNOWN \
	MESSAGE("exporters.cuda-profiler-dialect-unknown", \
		"unknown dialect '%s'; cuda-profiler has kvp and csv")
#define MESSAGE_FOLDED_DIALECT_UNKNOWN \
	MESSAGE("exporters.folded-dialect-unknown", \
		"unknown dialect '%s'; folded has cpu and device")
#define MESSAGE_DIALECT_UNKNOWN \
	MESSAGE("exporters.dialect-unknown", "unknown dialect '%s'; %s has only one")
#define MESSAGE_DIALECT_CONTRADICTS_CONFIG \
	MESSAGE("exporters.dialect-contradicts-config", \
		"--dialect %s, but the configuration's profilelogformat is the other; give one of " \
		"them")
#define MESSAGE_CUDA_LOG_OPTION_UNKNOWN \
	MESSAGE("exporters.cuda-log-option-unknown", \
		"--config: cuda-profiler has no option '%s' (hardware counters are not " \
		"recorded); known: %s")
#define MESSAGE_CUDA_LOG_OPTION_UNKNOWN_SUGGESTED \
	MESSAGE("exporters.cuda-log-option-unknown-suggested", \
		"--config: cuda-profiler has no option '%s'; did you mean %s? (hardware counters " \
		"are not recorded); known: %s")
#define MESSAGE_CUDA_LOG_OPTION_TAKES_NO_VALUE \
	MESSAGE("exporters.cuda-log-option-takes-no-value", "--config: %s takes no value, not '%s'")
#define MESSAGE_CUDA_LOG_OPTION_NEEDS_VALUE \
	MESSAGE("exporters.cuda-log-option-needs-value", "--config: %s needs %s")
#define MESSAGE_CUDA_LOG_OPTION_VALUE_INVALID \
	MESSAGE("exporters.cuda-log-option-value-invalid", "--config: %s needs %s, not '%s'")
#define MESSAGE_CUDA_LOG_DEVICE_IDLE \
	MESSAGE("exporters.cuda-log-device-idle", \
		"--config: nothing ran on device %d in this recording; something did on: %s")
#define MESSAGE_CUDA_LOG_DEVICE_AMBIGUOUS \
	MESSAGE("exporters.cuda-log-device-ambiguous", \
		"a log of cuda-profiler is of one device and this recording has %s; choose by " \
		"--config 'cudadevice N'")
#define MESSAGE_GZIP_NAME_EXPECTED \
	MESSAGE("exporters.gzip-name-expected", "%s: with --gzip-level %d its name must end in .gz")
#define MESSAGE_GZIP_NAME_UNEXPECTED \
	MESSAGE("exporters.gzip-name-unexpected", \
		"%s: with --gzip-level 0 its name must not end in .gz")
#define MESSAGE_GZIP_TO_TERMINAL \
	MESSAGE("exporters.gzip-to-terminal", \
		"compressed text is not written to a terminal; give a file with -o, or " \
		"--gzip-level 0")
#define MESSAGE_DATABASE_TO_TERMINAL \
	MESSAGE("exporters.database-to-terminal", \
		"%s: a database is written to a file, uncompressed; give one with -o FILE.sqlite")
#define MESSAGE_DEFAULT_NAME_TOO_LONG \
	MESSAGE("exporters.default-name-too-long", \
		"the trace's default name is too long; give one with -o")
#define MESSAGE_OUTPUT_PATH_TOO_LONG MESSAGE("exporters.output-path-too-long", "%s: path too long")

/* ---- What a format leaves out ---- */

#define MESSAGE_TRACE_LIMITED \
	MESSAGE("exporters.trace-limited", \
		"the trace ends at --limit-size, %.3f ms after its begin: %s are in it, %llu are " \
		"not; %s")
#define MESSAGE_TRACE_LIMIT_EXCEEDED \
	MESSAGE("exporters.trace-limit-exceeded", \
		"the trace is larger than --limit-size all the same: its head alone, names of " \
		"threads and devices, has %llu bytes")
#define MESSAGE_COLUMNS_EMPTY \
	MESSAGE("exporters.columns-empty", "left empty, as the recording does not know it: %s")
#define MESSAGE_CUDA_LOG_EMPTY \
	MESSAGE("exporters.cuda-log-empty", \
		"no kernel, copy or set of a device is in the recording, and no row in the log")
#define MESSAGE_CUDA_LOG_LOSS_LEFT_OUT \
	MESSAGE("exporters.cuda-log-loss-left-out", \
		"the log has no place for it: the recording is %s")
#define MESSAGE_FOLDED_EMPTY \
	MESSAGE("exporters.folded-empty", \
		"no time of a thread is in the recording, and no line in the file: `proftrace " \
		"report` says what was recorded")
#define MESSAGE_FOLDED_DEVICE_EMPTY \
	MESSAGE("exporters.folded-device-empty", \
		"the recording has no kernel, copy or set of a device, so the file is empty; " \
		"--dialect cpu has the host's threads; `proftrace doctor -p PID` says what device " \
		"times need")
#define MESSAGE_STACKS_LIMITED \
	MESSAGE("exporters.stacks-limited", \
		"too many different stacks: the time of %s is the caller's")
#define MESSAGE_GPU_MEMORY_SCOPES_MISSING \
	MESSAGE("exporters.gpu-memory-scopes-missing", \
		"the recording has no GPU memory by profiler scope; MXNet 2 has scopes, and record " \
		"--profile-memory records them")
#define MESSAGE_GPU_MEMORY_SIZES_MISSING \
	MESSAGE("exporters.gpu-memory-sizes-missing", \
		"left empty: Actual Size of %s that the driver gave before the window")
#define MESSAGE_GPU_MEMORY_LOSS_LEFT_OUT \
	MESSAGE("exporters.gpu-memory-loss-left-out", \
		"the file has no place for it: the recording is %s")
#define MESSAGE_PADDLE_EVENTS_LEFT_OUT \
	MESSAGE("exporters.paddle-events-left-out", \
		"the format has no place for %s: waits on devices, counters, marks, what the " \
		"driver gave to allocators")
#define MESSAGE_PADDLE_FREES_LEFT_OUT \
	MESSAGE("exporters.paddle-frees-left-out", \
		"%s left out: of what was allocated before the window")
#define MESSAGE_PADDLE_ALLOCATIONS_LEFT_OUT \
	MESSAGE("exporters.paddle-allocations-left-out", "%s left out: too many lived at once")
#define MESSAGE_PADDLE_LOSS_LEFT_OUT \
	MESSAGE("exporters.paddle-loss-left-out", \
		"the format has no place for it: the recording is %s")
#define MESSAGE_OPERATORS_UNPROBED_IN_STEP \
	MESSAGE("exporters.operators-unprobed-in-step", \
		"not recorded: %s without a probe, about %.3f ms of a step: their time is in " \
		"what is around or before them")
#define MESSAGE_OPERATORS_UNPROBED_IN_WINDOW \
	MESSAGE("exporters.operators-unprobed-in-window", \
		"not recorded: %s without a probe, about %.3f ms of the window: their time is in " \
		"what is around or before them")

/* ---- Files ---- */

#define MESSAGE_TEMPORARY_FILE_NOT_CREATED \
	MESSAGE("exporters.temporary-file-not-created", \
		"no temporary file in the output's directory or %s: %s; set TMPDIR")
#define MESSAGE_TEMPORARY_FILE_NOT_WRITTEN \
	MESSAGE("exporters.temporary-file-not-written", \
		"the temporary file: %s; free some space or set TMPDIR")
#define MESSAGE_TEMPORARY_FILE_BESIDE_OUTPUT_NOT_WRITTEN \
	MESSAGE("exporters.temporary-file-beside-output-not-written", \
		"the temporary file beside the output: %s; free some space or give another disk " \
		"(--output)")
#define MESSAGE_OUTPUT_DISK_FULL \
	MESSAGE("exporters.output-disk-full", \
		"%s: no space left on its disk; nothing was kept, free some or give another path")
#define MESSAGE_OUTPUT_FILE_TOO_LARGE \
	MESSAGE("exporters.output-file-too-large", \
		"%s: larger than a file may be here; nothing was kept, raise the limit (ulimit -f)")
#define MESSAGE_OUTPUT_DIRECTORY_MISSING \
	MESSAGE("exporters.output-directory-missing", \
		"%s: its directory does not exist; create it, as `mkdir -p` does, or give another " \
		"path")
#define MESSAGE_OUTPUT_OUT_OF_MEMORY \
	MESSAGE("exporters.output-out-of-memory", "cannot write %s: out of memory")
#define MESSAGE_FILE_NOT_WRITTEN \
	MESSAGE("exporters.file-not-written", "cannot write %s: %s; give another path")
#define MESSAGE_EVENT_WINDOW_OUT_OF_MEMORY \
	MESSAGE("exporters.event-window-out-of-memory", "no memory for the event window")
#define MESSAGE_DATABASE_DISK_FULL \
	MESSAGE("exporters.database-disk-full", \
		"%s: no space left on its disk, or in SQLITE_TMPDIR; nothing was kept, free some " \
		"or give another path")
#define MESSAGE_DATABASE_NOT_OPENED \
	MESSAGE("exporters.database-not-opened", "cannot write %s: %s; does its directory exist?")
#define MESSAGE_DATABASE_NOT_WRITTEN \
	MESSAGE("exporters.database-not-written", "%s: %s; give another path")
#define MESSAGE_DATABASE_DIRECTORY_MISSING \
	MESSAGE("exporters.database-directory-missing", \
		"cannot write %s: does its directory exist?")
#define MESSAGE_DATABASE_NOT_CREATED \
	MESSAGE("exporters.database-not-created", "cannot write %s: %s; give another path")
#define MESSAGE_DATABASE_PLACE_REFUSED \
	MESSAGE("exporters.database-place-refused", "cannot write %s: %s")

#endif
