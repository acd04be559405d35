/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_RECORDING_MESSAGE_TABLE_H
#define PROFTRACE_RECORDING_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Written recordings ---- */

#define MESSAGE_RECORDING_NOT_WRITTEN \
	MESSAGE("recording.not-written", \
		"cannot write recording %s after %llu bytes: %s; what is in the file so far opens")
#define MESSAGE_RECORDING_NOT_BEGUN \
	MESSAGE("recording.not-begun", "cannot write recording %s: %s")
#define MESSAGE_RECORDING_NOT_CREATED \
	MESSAGE("recording.not-created", "cannot create recording %s: %s")
#define MESSAGE_RECORDING_DISK_FULL \
	MESSAGE("recording.disk-full", "%s; free some space or write to another disk")
#define MESSAGE_RECORDING_TOO_LARGE \
	MESSAGE("recording.too-large", "%s; raise the file size limit (ulimit -f)")
#define MESSAGE_RECORDING_PLACE_FORBIDDEN \
	MESSAGE("recording.place-forbidden", "%s; choose a place that you may write to")
#define MESSAGE_RECORDING_DIRECTORY_MISSING \
	MESSAGE("recording.directory-missing", \
		"%s; choose a directory that is there and takes files")
#define MESSAGE_RECORDING_IS_DIRECTORY \
	MESSAGE("recording.is-directory", "%s; name a file, not a directory")
#define MESSAGE_RECORDING_LACKS_MEMORY \
	MESSAGE("recording.lacks-memory", "%s; free some memory")
#define MESSAGE_RECORDING_NAME_TOO_LONG \
	MESSAGE("recording.name-too-long", "%s; choose a shorter name")
#define MESSAGE_RECORDING_CONTENT_INVALID \
	MESSAGE("recording.content-invalid", \
		"%s: an event or a name that the format cannot hold")
#define MESSAGE_RECORDING_DISK_FAULTY \
	MESSAGE("recording.disk-faulty", "%s; look at the disk (dmesg)")
#define MESSAGE_RECORDING_WOULD_REPLACE_FILE \
	MESSAGE("recording.would-replace-file", \
		"cannot create recording %s: a file is there that is no recording; choose another " \
		"place with -o, or remove it")
#define MESSAGE_RECORDING_CREATE_OUT_OF_MEMORY \
	MESSAGE("recording.create-out-of-memory", \
		"cannot create recording %s: out of memory")
#define MESSAGE_EARLIER_RECORDING_KEPT \
	MESSAGE("recording.earlier-recording-kept", "kept the earlier recording as %s")
#define MESSAGE_NAMES_TOO_MANY \
	MESSAGE("recording.names-too-many", \
		"the process has too many different names: names beyond %u MiB of them share a row " \
		"of tables, %s")

/* ---- Read recordings ---- */

#define MESSAGE_RECORDING_NOT_OPENED \
	MESSAGE("recording.not-opened", \
		"cannot open recording %s: %s; check the path and its permissions")
#define MESSAGE_RECORDING_OPEN_OUT_OF_MEMORY \
	MESSAGE("recording.open-out-of-memory", "cannot open recording %s: out of memory")
#define MESSAGE_RECORDING_UNREADABLE \
	MESSAGE("recording.unreadable", \
		"cannot read recording %s: %s; look at the disk (dmesg)")
#define MESSAGE_RECORDING_READ_OUT_OF_MEMORY \
	MESSAGE("recording.read-out-of-memory", "cannot read recording %s: out of memory")
#define MESSAGE_RECORDING_CHUNK_UNREADABLE \
	MESSAGE("recording.chunk-unreadable", \
		"cannot read recording %s: chunk at byte %llu: %s; %s")
#define MESSAGE_RECORDING_IS_NO_FILE \
	MESSAGE("recording.is-no-file", \
		"%s: not a recording: not a regular file; copy it to a file first")
#define MESSAGE_RECORDING_EMPTY \
	MESSAGE("recording.empty", \
		"%s: nothing of it can be read: cut off or damaged before the end of its first " \
		"part; record again")
#define MESSAGE_RECORDING_TOO_SHORT \
	MESSAGE("recording.too-short", \
		"%s: not a recording: only %zd bytes; was it written by proftrace, and copied " \
		"whole?")
#define MESSAGE_RECORDING_INVALID \
	MESSAGE("recording.invalid", \
		"%s: not a recording; give the file that proftrace wrote")
#define MESSAGE_RECORDING_VERSION_UNKNOWN \
	MESSAGE("recording.version-unknown", \
		"%s: recording of format %u.%u, this proftrace reads up to %u; use a newer " \
		"proftrace")

#endif
