/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_CAPTURE_MESSAGE_TABLE_H
#define PROFTRACE_CAPTURE_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- The target process ---- */

#define MESSAGE_TARGET_ENDED_EARLY \
	MESSAGE("capture.target-ended-early", \
		"process %d ended while it was looked at; start it again, or run it by `proftrace " \
		"run`")
#define MESSAGE_TARGET_HELD_BY_TRACER \
	MESSAGE("capture.target-held-by-tracer", \
		"process %d is held by process %d, which traces it (a debugger?): no step can be " \
		"seen until that process continues it")
#define MESSAGE_TARGET_STOPPED \
	MESSAGE("capture.target-stopped", \
		"process %d is stopped (state T): no step will be seen before it goes on; `kill " \
		"-CONT %d`")
#define MESSAGE_TARGET_IS_KERNEL_THREAD \
	MESSAGE("capture.target-is-kernel-thread", \
		"process %d is a kernel thread: CPU and scheduler tables only")
#define MESSAGE_TARGET_IS_32_BIT \
	MESSAGE("capture.target-is-32-bit", \
		"process %d is a 32-bit program: CPU and scheduler tables only")
#define MESSAGE_FRAMEWORK_MISSING \
	MESSAGE("capture.framework-missing", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables " \
		"only; add functions with --op 'exe:GLOB', steps with --step-probe")
#define MESSAGE_FRAMEWORK_MISSING_STEPS_GIVEN \
	MESSAGE("capture.framework-missing-steps-given", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables " \
		"only, and steps by --step-probe; add functions with --op 'exe:GLOB'")
#define MESSAGE_FRAMEWORK_MISSING_FUNCTIONS_GIVEN \
	MESSAGE("capture.framework-missing-functions-given", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables, " \
		"and the functions of --op")
#define MESSAGE_FRAMEWORK_MISSING_FUNCTIONS_AND_STEPS_GIVEN \
	MESSAGE("capture.framework-missing-functions-and-steps-given", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables, " \
		"and the functions of --op, and steps by --step-probe")
#define MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND \
	MESSAGE("capture.framework-missing-marks-found", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables, " \
		"and what proftrace.h marks")
#define MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND_STEPS_GIVEN \
	MESSAGE("capture.framework-missing-marks-found-steps-given", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables, " \
		"and what proftrace.h marks, and steps by --step-probe")
#define MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND_FUNCTIONS_GIVEN \
	MESSAGE("capture.framework-missing-marks-found-functions-given", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables, " \
		"and the functions of --op, and what proftrace.h marks")
#define MESSAGE_FRAMEWORK_MISSING_MARKS_FOUND_FUNCTIONS_AND_STEPS_GIVEN \
	MESSAGE("capture.framework-missing-marks-found-functions-and-steps-given", \
		"process %d runs no framework that I know: CPU, scheduler and CUDA call tables, " \
		"and the functions of --op, and what proftrace.h marks, and steps by --step-probe")
#define MESSAGE_FRAMEWORKS_SEVERAL \
	MESSAGE("capture.frameworks-several", \
		"process %d has loaded %s, too: steps, phases and operators are those of %s; " \
		"--framework chooses")
#define MESSAGE_FRAMEWORK_NOT_LOADED \
	MESSAGE("capture.framework-not-loaded", \
		"--framework %s: process %d has not loaded it; leave the option out")
#define MESSAGE_FRAMEWORK_NOT_LOADED_BUT_OTHERS \
	MESSAGE("capture.framework-not-loaded-but-others", \
		"--framework %s: process %d has not loaded it, but %s; leave the option out")
#define MESSAGE_FRAMEWORK_FOUND MESSAGE("capture.framework-found", "%s %s: %s")
#define MESSAGE_FRAMEWORK_WITHOUT_VERSION_FOUND \
	MESSAGE("capture.framework-without-version-found", "%s: %s")
#define MESSAGE_CODE_ANONYMOUS \
	MESSAGE("capture.code-anonymous", \
		"process %d runs the code of %s from anonymous memory, not from its file: probes " \
		"on that code never hit")
#define MESSAGE_CODE_OF_SEVERAL_ANONYMOUS \
	MESSAGE("capture.code-of-several-anonymous", \
		"process %d runs the code of %s (and that of %zu more) from anonymous memory, " \
		"not from its file: probes on that code never hit")
#define MESSAGE_LIBRARIES_UNREADABLE \
	MESSAGE("capture.libraries-unreadable", \
		"process %d: may not read its libraries (%s), so its framework, if any, is not " \
		"recognised: %s")
#define MESSAGE_FRAMEWORK_IMPORT_AWAITED \
	MESSAGE("capture.framework-import-awaited", \
		"process %d has not imported all of %s yet; waiting until it has, or is %s old")
#define MESSAGE_FRAMEWORK_OF_NEW_PROCESS_AWAITED \
	MESSAGE("capture.framework-of-new-process-awaited", \
		"process %d has just begun and has no framework loaded yet; waiting for one until " \
		"it is %s old")
#define MESSAGE_FRAMEWORK_AWAITED \
	MESSAGE("capture.framework-awaited", \
		"process %d has no framework loaded yet; waiting for one (for a program without " \
		"one pass --duration 5s or --step-probe)")
#define MESSAGE_FRAMEWORK_NEVER_LOADED \
	MESSAGE("capture.framework-never-loaded", \
		"process %d ended before a framework was loaded; if a process that it started does " \
		"the work (a shell, torchrun), name that one with -p PID, or all descendants of a " \
		"launcher with --job")
#define MESSAGE_DESCENDANT_HAS_FRAMEWORK \
	MESSAGE("capture.descendant-has-framework", \
		"process %d (%s), a descendant of process %d, has %s loaded: it is profiled with " \
		"proftrace -p %d")
#define MESSAGE_DESCENDANT_RANK_HAS_FRAMEWORK \
	MESSAGE("capture.descendant-rank-has-framework", \
		"process %d (%s), a descendant of process %d, has %s loaded: it is profiled with " \
		"proftrace -p %d, all ranks of its job with --job %d")
#define MESSAGE_DESCENDANT_HAS_FRAMEWORK_TOO \
	MESSAGE("capture.descendant-has-framework-too", \
		"process %d (%s), a descendant of process %d, has %s loaded, too")
#define MESSAGE_FORKS_NOT_FOLLOWED \
	MESSAGE("capture.forks-not-followed", "cannot follow process %d: %s")

/* ---- Begin of a window ---- */

#define MESSAGE_START_AWAITED MESSAGE("capture.start-awaited", "process %d is left alone for %s")
#define MESSAGE_START_STOPPED \
	MESSAGE("capture.start-stopped", "stopped before it was time; nothing was recorded")
#define MESSAGE_START_TARGET_ENDED \
	MESSAGE("capture.start-target-ended", "process %d ended before it was time")
#define MESSAGE_START_LATE \
	MESSAGE("capture.start-late", \
		"ready %.1f s after --start-at: other recordings may have begun")
#define MESSAGE_RANK_LATE \
	MESSAGE("capture.rank-late", \
		"ready %.1f s after the other ranks: its window may show later steps")
#define MESSAGE_WINDOW_STOPPED \
	MESSAGE("capture.window-stopped", \
		"stopped before the window opened (%s); nothing was recorded")
#define MESSAGE_WINDOW_TARGET_ENDED \
	MESSAGE("capture.window-target-ended", \
		"process %d ended before the window opened (%s); nothing was recorded")
#define MESSAGE_WINDOW_TARGET_ENDED_SOON \
	MESSAGE("capture.window-target-ended-soon", \
		"process %d ended before the window opened (%s); nothing was recorded: " \
		"--no-steps records from the first moment, by time")
#define MESSAGE_WINDOW_TARGET_EXECED \
	MESSAGE("capture.window-target-execed", \
		"process %d replaced its program (exec) before the window opened (%s); nothing " \
		"was recorded")
#define MESSAGE_WINDOW_TIMED_OUT \
	MESSAGE("capture.window-timed-out", \
		"the window did not open within --duration; nothing was recorded")
#define MESSAGE_WINDOW_LATE \
	MESSAGE("capture.window-late", "the window opens %s later than asked: %s")
#define MESSAGE_MEMORY_RECORDING_NOT_MADE \
	MESSAGE("capture.memory-recording-not-made", "cannot make a recording in memory: %s")
#define MESSAGE_ABORTED MESSAGE("capture.aborted", "aborted")
#define MESSAGE_ABORTED_RECORDING_LEFT \
	MESSAGE("capture.aborted-recording-left", "aborted; %s is left as far as it was written")

/* ---- Steps ---- */

#define MESSAGE_STEP_RANGE_TOO_LONG \
	MESSAGE("capture.step-range-too-long", "--step-range: a name of more than %zu bytes")
#define MESSAGE_STEP_UNIT_WITHOUT_EFFECT \
	MESSAGE("capture.step-unit-without-effect", \
		"--step-unit changes nothing: steps are told by %s")
#define MESSAGE_STEPS_OF_RULE_MISSING \
	MESSAGE("capture.steps-of-rule-missing", \
		"no step was seen in %.0f s by %s: wait longer with --step-timeout, or record by " \
		"time with --duration 5s")
#define MESSAGE_STEPS_OF_PROBE_MISSING \
	MESSAGE("capture.steps-of-probe-missing", \
		"no step was seen in %.0f s by %s %s: wait longer with --step-timeout, or record " \
		"by time with --duration 5s")
#define MESSAGE_STEPS_OF_OVERLOADED_MISSING \
	MESSAGE("capture.steps-of-overloaded-missing", \
		"no step was seen in %.0f s by %s %s (it has overloads: %s): wait longer with " \
		"--step-timeout, or record by time with --duration 5s")
#define MESSAGE_STEPS_OF_NAMESAKE_MISSING \
	MESSAGE("capture.steps-of-namesake-missing", \
		"no step was seen in %.0f s by %s %s (there is %s, too): wait longer with " \
		"--step-timeout, or record by time with --duration 5s")
#define MESSAGE_STEPS_NO_REQUEST \
	MESSAGE("capture.steps-no-request", \
		"no request was seen in %.0f s: no operator came once for each; name a function " \
		"that does with --step-probe, or make each pass over the model a step with " \
		"--step-unit iteration")
#define MESSAGE_STEPS_NO_OVERHEAD_LEFT \
	MESSAGE("capture.steps-no-overhead-left", \
		"no step was seen in %.0f s: only operators could show steps, and --max-overhead 0 " \
		"leaves no room to probe them; raise it, choose a step with --step-probe or " \
		"--step-range, or record by time with --duration 5s")
#define MESSAGE_STEPS_IRREGULAR_SUGGESTED \
	MESSAGE("capture.steps-irregular-suggested", \
		"no step was seen in %.0f s: operators were, but in no order that repeats " \
		"(requests of several kinds?); %s, which comes after the longest pauses, may " \
		"open each step; or record by time with --duration 5s")
#define MESSAGE_STEPS_IRREGULAR_SUGGESTED_LOOKED_LITTLE \
	MESSAGE("capture.steps-irregular-suggested-looked-little", \
		"no step was seen in %.0f s: operators were, but in no order that repeats " \
		"(requests of several kinds?); %s, which comes after the longest pauses, may " \
		"open each step; or record by time with --duration 5s; --max-overhead left no " \
		"room to look at them for longer, a larger one does")
#define MESSAGE_STEPS_IRREGULAR \
	MESSAGE("capture.steps-irregular", \
		"no step was seen in %.0f s: operators were, but in no order that repeats " \
		"(requests of several kinds?); choose a step with --step-probe or --step-range, " \
		"or record by time with --duration 5s")
#define MESSAGE_STEPS_IRREGULAR_LOOKED_LITTLE \
	MESSAGE("capture.steps-irregular-looked-little", \
		"no step was seen in %.0f s: operators were, but in no order that repeats " \
		"(requests of several kinds?); choose a step with --step-probe or --step-range, " \
		"or record by time with --duration 5s; --max-overhead left no room to look at " \
		"them for longer, a larger one does")
#define MESSAGE_STEPS_PROCESS_IDLE \
	MESSAGE("capture.steps-process-idle", \
		"no step was seen in %.0f s, in which process %d hardly ran; --duration 5s --table " \
		"sched shows what its threads wait for, --step-timeout waits longer")
#define MESSAGE_STEPS_MISSING \
	MESSAGE("capture.steps-missing", \
		"no step was seen in %.0f s: is process %d at work? Give --step-probe or " \
		"--step-range, wait longer with --step-timeout, or record by time with --duration " \
		"5s")
#define MESSAGE_STEPS_MISSING_BY_TIME \
	MESSAGE("capture.steps-missing-by-time", \
		"no steps were seen: recording by time (--step-timeout says how long to wait for " \
		"one)")
#define MESSAGE_STEPS_MISSING_BY_TIME_AGAIN \
	MESSAGE("capture.steps-missing-by-time-again", "no steps were seen: recording by time")
#define MESSAGE_STEPS_CANNOT_BE_CHOSEN \
	MESSAGE("capture.steps-cannot-be-chosen", \
		"process %d shows no steps, so --record cannot choose any; name a function that " \
		"runs once per step with --step-probe exe:FUNCTION, or record by time with " \
		"--duration 5s")
#define MESSAGE_STEP_NUMBER_UNCERTAIN \
	MESSAGE("capture.step-number-uncertain", \
		"%s: the number of step %llu may be wrong; from here on each is seen " \
		"(--count-each-step: from the start)")
#define MESSAGE_OPTIMIZER_STEP_SILENT \
	MESSAGE("capture.optimizer-step-silent", \
		"the optimizer's step was not called in %d backward passes: from now on the " \
		"operators that update parameters mark it")

/* ---- Probes ---- */

#define MESSAGE_PROBES_WITHOUT_TRACEFS \
	MESSAGE("capture.probes-without-tracefs", \
		"%zu probes are attached one by one, since tracefs is not to be had, and taking " \
		"them out will take minutes; --detail phase needs about 20")
#define MESSAGE_ALLOWED_PROBE_NOT_PLANNED \
	MESSAGE("capture.allowed-probe-not-planned", \
		"--allow-return-probe %s: no return probe is planned on it, so this changes " \
		"nothing; --op-returns 'LIB:FUNCTION' adds one")
#define MESSAGE_RETURN_SITES_NOT_WATCHED \
	MESSAGE("capture.return-sites-not-watched", "cannot tell where calls end: %s")
#define MESSAGE_PROBE_TABLE_NOT_FILLED \
	MESSAGE("capture.probe-table-not-filled", "cannot fill the probe table: %s")
#define MESSAGE_BPF_REFUSED \
	MESSAGE("capture.bpf-refused", \
		"the kernel refused the BPF programs: %s; run `proftrace doctor` to see what is " \
		"missing")
#define MESSAGE_KERNEL_TOO_OLD \
	MESSAGE("capture.kernel-too-old", \
		"the kernel refused the BPF programs: %s (it is older than Linux %d.%d, which " \
		"proftrace needs); run `proftrace doctor` to see what is missing")
#define MESSAGE_BPF_LACKS_DESCRIPTORS \
	MESSAGE("capture.bpf-lacks-descriptors", "cannot load the BPF programs: %s")
#define MESSAGE_BPF_NOT_OPENED MESSAGE("capture.bpf-not-opened", "cannot open the BPF object: %s")
#define MESSAGE_PYTHON_FUNCTIONS_MISSING \
	MESSAGE("capture.python-functions-missing", \
		"functions written in Python are not shown, and an optimizer's step only by its " \
		"operators: %s")

/* ---- Functions that the user names ---- */

#define MESSAGE_FUNCTION_OPTION_INVALID \
	MESSAGE("capture.function-option-invalid", \
		"%s %s: give a library and a function, as in %s 'libserver.so:Server::handle*', or " \
		"%s 'exe:main' for the program itself")
#define MESSAGE_FUNCTION_NOT_FOUND_SUGGESTED \
	MESSAGE("capture.function-not-found-suggested", \
		"%s %s: no function of that name; did you mean %s? (give the readable or the " \
		"mangled name, with * for what may vary)")
#define MESSAGE_FUNCTION_NOT_FOUND_LISTED \
	MESSAGE("capture.function-not-found-listed", \
		"%s %s: no function of that name; there are: %s")
#define MESSAGE_FUNCTION_LIBRARY_STRIPPED \
	MESSAGE("capture.function-library-stripped", \
		"%s %s: %s has symbols of %s (it was stripped); use a build that was not, or a " \
		"function that it exports")
#define MESSAGE_FUNCTION_NOT_FOUND \
	MESSAGE("capture.function-not-found", \
		"%s %s: none of %zu functions has that name; `nm -C` lists them, with * for what " \
		"may vary")
#define MESSAGE_FUNCTIONS_TOO_MANY \
	MESSAGE("capture.functions-too-many", \
		"%s %s: matches %zu functions, more than the %zu that may be probed; narrow it " \
		"(%s, ...)")
#define MESSAGE_FUNCTION_OF_32_BIT_PROCESS \
	MESSAGE("capture.function-of-32-bit-process", \
		"%s %s: process %d is a 32-bit program, in which no function is probed")
#define MESSAGE_FUNCTION_CODE_ANONYMOUS \
	MESSAGE("capture.function-code-anonymous", \
		"%s %s: process %d runs the code of %s from anonymous memory, which probes do not " \
		"reach")
#define MESSAGE_FUNCTION_LIBRARY_MISSING_SUGGESTED \
	MESSAGE("capture.function-library-missing-suggested", \
		"%s %s: process %d maps no library %s; did you mean %s?")
#define MESSAGE_FUNCTION_LIBRARY_MISSING \
	MESSAGE("capture.function-library-missing", \
		"%s %s: process %d maps no library %s; it maps %s; `exe` is the program itself")
#define MESSAGE_FUNCTION_LIBRARY_MISSING_AMONG_MANY \
	MESSAGE("capture.function-library-missing-among-many", \
		"%s %s: process %d maps no library %s; it maps %s, ...; `exe` is the program " \
		"itself")
#define MESSAGE_FUNCTION_OF_GO \
	MESSAGE("capture.function-of-go", \
		"--op-returns: %s is of a Go program, which a return probe kills; --op shows that " \
		"it is called")
#define MESSAGE_FUNCTIONS_FOUND MESSAGE("capture.functions-found", "%s %s: %s")
#define MESSAGE_FUNCTION_SHOWN_ALREADY \
	MESSAGE("capture.function-shown-already", "%s %s: 1 of them is shown without it")
#define MESSAGE_FUNCTIONS_SHOWN_ALREADY \
	MESSAGE("capture.functions-shown-already", "%s %s: %zu of them are shown without it")
#define MESSAGE_STEP_PROBE_AMBIGUOUS \
	MESSAGE("capture.step-probe-ambiguous", \
		"--step-probe %s: matches %zu functions, such as %s and %s; name one, with its " \
		"parameters or mangled")
#define MESSAGE_USDT_PROBES_MISSING \
	MESSAGE("capture.usdt-probes-missing", \
		"--usdt %s: neither the program nor its libraries have USDT probes (`readelf -n " \
		"FILE` shows them)")
#define MESSAGE_USDT_PROBE_NOT_FOUND \
	MESSAGE("capture.usdt-probe-not-found", "--usdt %s: no such probe; there are %s")
#define MESSAGE_USDT_PROBE_NOT_FOUND_AMONG_MANY \
	MESSAGE("capture.usdt-probe-not-found-among-many", \
		"--usdt %s: no such probe; there are %s, ...")
#define MESSAGE_USDT_OWN_PROBES_FOUND \
	MESSAGE("capture.usdt-own-probes-found", "%s of proftrace.h: ranges, counters and markers")
#define MESSAGE_USDT_SEMAPHORES_NOT_SET \
	MESSAGE("capture.usdt-semaphores-not-set", \
		"%zu of the probes of --usdt have a semaphore, which proftrace does not set: they " \
		"show only while another tool listens to them")

/* ---- Device times and the library in the target ---- */

#define MESSAGE_DEVICE_CALL_WARNING MESSAGE("capture.device-call-warning", "process %d %s")
#define MESSAGE_LIBRARY_NOT_LOADED \
	MESSAGE("capture.library-not-loaded", "operators are seen by probes alone: %s")
#define MESSAGE_CUPTI_OPTION_UNUSED \
	MESSAGE("capture.cupti-option-unused", \
		"--cupti %s is not used: process %d has a libcupti already")
#define MESSAGE_LIBRARY_LOADED \
	MESSAGE("capture.library-loaded", \
		"device times by CUPTI: our library went into process %d, stopped for %.1f ms")
#define MESSAGE_LIBRARY_LOADED_FOR_OPERATORS \
	MESSAGE("capture.library-loaded-for-operators", \
		"operators without probes: our library went into process %d, stopped for %.1f ms")
#define MESSAGE_LIBRARY_FOUND_AGAIN \
	MESSAGE("capture.library-found-again", \
		"device times by CUPTI: our library was still in process %d, stopped for %.1f ms")
#define MESSAGE_LIBRARY_FOUND_AGAIN_FOR_OPERATORS \
	MESSAGE("capture.library-found-again-for-operators", \
		"operators without probes: our library was still in process %d, stopped for " \
		"%.1f ms")
#define MESSAGE_LIBRARY_STAYS_OUT \
	MESSAGE("capture.library-stays-out", "--inject: our library stays out of process %d: %s")
#define MESSAGE_DEVICE_TIMES_END MESSAGE("capture.device-times-end", "device times end here: %s")
#define MESSAGE_DEVICE_TIMES_NOT_BEGUN \
	MESSAGE("capture.device-times-not-begun", "this window opens, and %s")

/* ---- proftrace ctl ---- */

#define MESSAGE_PAUSED_NOT_REACHABLE \
	MESSAGE("capture.paused-not-reachable", \
		"--paused: `proftrace ctl %d start` would not reach this session: %s")
#define MESSAGE_CONTROL_NOT_REACHABLE \
	MESSAGE("capture.control-not-reachable", \
		"`proftrace ctl %d` does not reach this session: %s")
#define MESSAGE_CONTROL_OBEYED MESSAGE("capture.control-obeyed", "ctl %s: %s")
#define MESSAGE_SESSION_OF_OTHER_USER \
	MESSAGE("capture.session-of-other-user", \
		"the session that records process %d belongs to another user; run with sudo")
#define MESSAGE_SESSION_MISSING \
	MESSAGE("capture.session-missing", \
		"no proftrace records process %d; begin with proftrace -p %d")
#define MESSAGE_SESSION_NOT_REACHED \
	MESSAGE("capture.session-not-reached", \
		"cannot reach the session that records process %d: %s")
#define MESSAGE_SESSION_BUSY \
	MESSAGE("capture.session-busy", \
		"the session that records process %d (proftrace with process id %d) is attaching " \
		"or completing a file; waiting for its answer, %d s at most")
#define MESSAGE_SESSION_SOCKET_TAKEN \
	MESSAGE("capture.session-socket-taken", \
		"the session that records process %d has ended, and another process has its socket")
#define MESSAGE_SESSION_PEER_UNTRUSTED \
	MESSAGE("capture.session-peer-untrusted", \
		"who answers for process %d is neither root nor you")
#define MESSAGE_CONTROL_SOCKET_NOT_MADE \
	MESSAGE("capture.control-socket-not-made", "cannot make a socket: %s")
#define MESSAGE_SESSION_JUST_ENDED \
	MESSAGE("capture.session-just-ended", "the session that records process %d has just ended")
#define MESSAGE_SESSION_SILENT \
	MESSAGE("capture.session-silent", \
		"the session that records process %d did not answer in %d s; is it stopped? " \
		"Ctrl-C, or kill -INT, ends it")
#define MESSAGE_SESSION_REFUSED \
	MESSAGE("capture.session-refused", "the session of process %d refuses: %s")

/* ---- Events ---- */

#define MESSAGE_RING_NOT_MADE \
	MESSAGE("capture.ring-not-made", "cannot make the buffer between kernel and recorder: %s")
#define MESSAGE_RING_SMALL \
	MESSAGE("capture.ring-small", \
		"no memory for a buffer of %llu MiB between kernel and recorder: it has %llu KiB. " \
		"Events may be lost; free memory, or raise the limit of the container")
#define MESSAGE_RING_UNREADABLE MESSAGE("capture.ring-unreadable", "reading events failed: %s")

/* ---- Scheduler and page faults ---- */

#define MESSAGE_PAGE_FAULTS_NOT_PROBED \
	MESSAGE("capture.page-faults-not-probed", \
		"--page-faults: this kernel lets no program look at its function handle_mm_fault " \
		"(%s); leave the option out")
#define MESSAGE_SCHED_BTF_UNREADABLE \
	MESSAGE("capture.sched-btf-unreadable", \
		"scheduler times: cannot read the kernel's types (/sys/kernel/btf/vmlinux): %s")
#define MESSAGE_SCHED_MAP_NOT_SIZED \
	MESSAGE("capture.sched-map-not-sized", "scheduler times: cannot size a map for %d CPUs")
#define MESSAGE_SCHED_CPU_LIST_MISSING \
	MESSAGE("capture.sched-cpu-list-missing", "/sys/devices/system/cpu/online: no list of CPUs")
#define MESSAGE_SCHED_THREADS_UNREADABLE \
	MESSAGE("capture.sched-threads-unreadable", \
		"scheduler times: cannot look at the running threads: %s")
#define MESSAGE_SCHED_RING_NOT_MADE \
	MESSAGE("capture.sched-ring-not-made", "scheduler times: cannot make a ring: %s")
#define MESSAGE_SCHED_PROGRAM_NOT_ATTACHED \
	MESSAGE("capture.sched-program-not-attached", "scheduler times: cannot attach to %s: %s")
#define MESSAGE_SCHED_TABLES_NOT_MAPPED \
	MESSAGE("capture.sched-tables-not-mapped", "scheduler times: cannot map their tables: %s")
#define MESSAGE_TASKS_PROGRAM_NOT_ATTACHED \
	MESSAGE("capture.tasks-program-not-attached", \
		"threads and forks of the target: cannot attach to %s: %s")

#endif
