/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_ATTACH_MESSAGE_TABLE_H
#define PROFTRACE_ATTACH_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Return probes ---- */

#define MESSAGE_RETURN_PROBE_NAME_INVALID \
	MESSAGE("attach.return-probe-name-invalid", \
		"%s: not a function's name; allow return probes one by one, by mangled name")
#define MESSAGE_RETURN_PROBE_REFUSED \
	MESSAGE("attach.return-probe-refused", \
		"%s: refused a return probe: an exception that passes it would kill the target; " \
		"allow it with --allow-return-probe if it catches all")

/* ---- Probes ---- */

#define MESSAGE_PROBES_NOT_ATTACHED \
	MESSAGE("attach.probes-not-attached", "cannot attach %s probes to process %d: %s")
#define MESSAGE_PROBES_LACK_DESCRIPTORS \
	MESSAGE("attach.probes-lack-descriptors", \
		"cannot attach %s probes to process %d: %s, or choose less with --detail")
#define MESSAGE_PROBES_PROCESS_ENDED \
	MESSAGE("attach.probes-process-ended", "cannot attach %s probes: process %d is gone")
#define MESSAGE_WATCHPOINT_NOT_SET \
	MESSAGE("attach.watchpoint-not-set", "cannot watch an address of the process: %s")
#define MESSAGE_BPF_NOT_PERMITTED \
	MESSAGE("attach.bpf-not-permitted", "may not load BPF programs: %s")

/* ---- Calibration ---- */

#define MESSAGE_CALIBRATION_SOCKETS_NOT_MADE \
	MESSAGE("attach.calibration-sockets-not-made", "calibration: no socket pair: %s")
#define MESSAGE_CALIBRATION_NOT_FORKED \
	MESSAGE("attach.calibration-not-forked", "calibration: cannot fork: %s")
#define MESSAGE_CALIBRATION_CHILD_DIED \
	MESSAGE("attach.calibration-child-died", "calibration: the child died")
#define MESSAGE_CALIBRATION_OUT_OF_MEMORY \
	MESSAGE("attach.calibration-out-of-memory", "calibration: out of memory")
#define MESSAGE_CALIBRATION_LACKS_DESCRIPTORS \
	MESSAGE("attach.calibration-lacks-descriptors", "cannot load the calibration programs: %s")
#define MESSAGE_CALIBRATION_NOT_LOADED \
	MESSAGE("attach.calibration-not-loaded", "cannot load the calibration programs: %s")
#define MESSAGE_CALIBRATION_NOT_PERMITTED \
	MESSAGE("attach.calibration-not-permitted", "cannot load the calibration programs: %s; %s")

#endif
