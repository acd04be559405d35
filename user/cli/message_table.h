/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_CLI_MESSAGE_TABLE_H
#define PROFTRACE_CLI_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Commands ---- */

#define MESSAGE_COMMAND_IS_PID \
	MESSAGE("cli.command-is-pid", \
		"unknown command '%s'; to attach to a process say proftrace -p %s")
#define MESSAGE_COMMAND_IS_RANGE \
	MESSAGE("cli.command-is-range", \
		"unknown command '%s'; to record say proftrace record -p PID --record 2:10")
#define MESSAGE_COMMAND_IS_FILE \
	MESSAGE("cli.command-is-file", \
		"unknown command '%s'; to print its tables say proftrace report %s")
#define MESSAGE_COMMAND_UNKNOWN_SUGGESTED \
	MESSAGE("cli.command-unknown-suggested", "unknown command '%s'; did you mean %s?")
#define MESSAGE_COMMAND_UNKNOWN \
	MESSAGE("cli.command-unknown", "unknown command '%s'; see proftrace --help")
#define MESSAGE_COMPLETION_SHELL_MISSING \
	MESSAGE("cli.completion-shell-missing", "completion needs one shell: bash, zsh or fish")
#define MESSAGE_COMPLETION_SHELL_UNKNOWN \
	MESSAGE("cli.completion-shell-unknown", \
		"no completion for '%s'; there is one for bash, zsh and fish")

/* ---- Options ---- */

#define MESSAGE_OPTION_UNKNOWN_SUGGESTED \
	MESSAGE("cli.option-unknown-suggested", "unknown option --%.*s; did you mean --%s?")
#define MESSAGE_OPTION_UNKNOWN MESSAGE("cli.option-unknown", "unknown option --%.*s; %s")
#define MESSAGE_OPTION_LETTER_UNKNOWN MESSAGE("cli.option-letter-unknown", "unknown option -%c; %s")
#define MESSAGE_OPTION_LETTER_WITH_EQUALS \
	MESSAGE("cli.option-letter-with-equals", "-%c%s: give -%c %s or --%s%s")
#define MESSAGE_OPTION_NEEDS_VALUE MESSAGE("cli.option-needs-value", "--%s needs a value (%s); %s")
#define MESSAGE_OPTION_TAKES_NO_VALUE \
	MESSAGE("cli.option-takes-no-value", "--%s takes no value, but was given '%s'")
#define MESSAGE_OPTION_VALUE_EMPTY \
	MESSAGE("cli.option-value-empty", "--%s: its value is empty; give %s")
#define MESSAGE_OPTION_VALUE_INVALID MESSAGE("cli.option-value-invalid", "--%s: '%s' is not %s")
#define MESSAGE_OPTION_GIVEN_TWICE MESSAGE("cli.option-given-twice", "--%s %s: give %s only")
#define MESSAGE_OPTION_VALUE_SMALL \
	MESSAGE("cli.option-value-small", "--%s: %s is less than %llu, the least allowed")
#define MESSAGE_OPTION_VALUE_SMALL_BUT_ZERO \
	MESSAGE("cli.option-value-small-but-zero", \
		"--%s: %s is less than %llu, the least allowed; 0 is %s")
#define MESSAGE_OPTION_VALUE_LARGE \
	MESSAGE("cli.option-value-large", "--%s: %s is more than %llu, the most allowed")
#define MESSAGE_OPTION_DURATION_ZERO \
	MESSAGE("cli.option-duration-zero", "--%s: must be longer than 0")
#define MESSAGE_OPTION_CHOICE_UNKNOWN_SUGGESTED \
	MESSAGE("cli.option-choice-unknown-suggested", \
		"--%s: '%s' is not one of %s; did you mean %s?")
#define MESSAGE_OPTION_CHOICE_UNKNOWN \
	MESSAGE("cli.option-choice-unknown", "--%s: '%s' is not one of %s")
#define MESSAGE_OPTION_WITHOUT_TYPE \
	MESSAGE("cli.option-without-type", "--%s: its row in the option table has no value type")
#define MESSAGE_OPTION_PERCENT_INVALID \
	MESSAGE("cli.option-percent-invalid", "--%s wants a percentage like 2%%, not '%s'")
#define MESSAGE_PROCESS_NUMBER_INVALID \
	MESSAGE("cli.process-number-invalid", "'%s' is no process number")
#define MESSAGE_PLACE_DIRECTORY_MISSING \
	MESSAGE("cli.place-directory-missing", \
		"cannot write the %s to %.*s%s: %s; create its directory first, as `mkdir -p` does")
#define MESSAGE_PLACE_IN_FILE \
	MESSAGE("cli.place-in-file", \
		"cannot write the %s to %.*s%s: %s; only a directory can have files in it")
#define MESSAGE_PLACE_NAME_TOO_LONG \
	MESSAGE("cli.place-name-too-long", \
		"cannot write the %s to %.*s%s: %s; choose a shorter name")
#define MESSAGE_PLACE_NOT_WRITABLE \
	MESSAGE("cli.place-not-writable", \
		"cannot write the %s to %.*s%s: %s; choose a place that you may write to")
#define MESSAGE_PLACE_NOT_READABLE \
	MESSAGE("cli.place-not-readable", \
		"%s %s: it is neither a file nor a directory, and the %s is read again; name one")
#define MESSAGE_OWNER_NEEDS_ROOT \
	MESSAGE("cli.owner-needs-root", "--owner %s: only root can give files away; run with sudo")
#define MESSAGE_OWNER_USER_UNKNOWN \
	MESSAGE("cli.owner-user-unknown", "--owner %s: this system has no user %s")
#define MESSAGE_OWNER_GROUP_UNKNOWN \
	MESSAGE("cli.owner-group-unknown", "--owner %s: this system has no group %s")

/* ---- Times ---- */

#define MESSAGE_START_AT_SECONDS_INVALID \
	MESSAGE("cli.start-at-seconds-invalid", \
		"--start-at %s: give seconds since 1970, as `date +%%s` prints them, of a time " \
		"before 2262")
#define MESSAGE_START_AT_DAY_INVALID \
	MESSAGE("cli.start-at-day-invalid", "--start-at %s: that month has no day %d")
#define MESSAGE_START_AT_TOO_FAR \
	MESSAGE("cli.start-at-too-far", "--start-at %s: give a time before 2262")
#define MESSAGE_START_AT_DATE_MISSING \
	MESSAGE("cli.start-at-date-missing", \
		"--start-at %s: a Z needs the date, too, as in 2026-01-31T14:30:00Z; without one " \
		"it is local time")
#define MESSAGE_START_AT_PAST \
	MESSAGE("cli.start-at-past", "--start-at %s: that was %s ago; it is %s (local time, @%lld)")
#define MESSAGE_START_AT_INVALID \
	MESSAGE("cli.start-at-invalid", \
		"--start-at %s: give a time to come, as in 14:30 or 2026-01-31T14:30:00 (local " \
		"time), 2026-01-31T14:30:00Z (UTC), @1769869800 (seconds since 1970)")

/* ---- proftrace record ---- */

#define MESSAGE_PID_INVALID \
	MESSAGE("cli.pid-invalid", "--pid %s: give a process, or several, as in -p 4242,4243")
#define MESSAGE_PID_GIVEN_TWICE MESSAGE("cli.pid-given-twice", "--pid %s: %ld is given twice")
#define MESSAGE_PID_EXCLUDES_JOB \
	MESSAGE("cli.pid-excludes-job", \
		"-p and --job exclude each other: --job finds the processes")
#define MESSAGE_PID_MISSING \
	MESSAGE("cli.pid-missing", \
		"which process? Give -p PID, as in: sudo proftrace -p 4242 --record 2:10")
#define MESSAGE_ARGUMENT_UNEXPECTED \
	MESSAGE("cli.argument-unexpected", \
		"unexpected argument %s; see `proftrace --help`, or start a program with " \
		"`proftrace run -- %s`")
#define MESSAGE_STEPS_CHOSEN_TWICE \
	MESSAGE("cli.steps-chosen-twice", \
		"give --record or --schedule, once: the steps are chosen already")
#define MESSAGE_RECORD_RANGE_INVALID \
	MESSAGE("cli.record-range-invalid", \
		"--record %s: give two step numbers that fit in 64 bits, as in --record 2:10")
#define MESSAGE_RECORD_RANGE_EMPTY \
	MESSAGE("cli.record-range-empty", \
		"--record %s: the end must be greater than the begin; [A,B) leaves B out")
#define MESSAGE_SCHEDULE_INVALID \
	MESSAGE("cli.schedule-invalid", \
		"--schedule %s: give KEY=N pairs of skip_first, closed (wait), ready (warmup), " \
		"record (active), repeat")
#define MESSAGE_SCHEDULE_KEY_GIVEN_TWICE \
	MESSAGE("cli.schedule-key-given-twice", "--schedule %s: %.*s is given twice")
#define MESSAGE_SCHEDULE_WITHOUT_RECORD \
	MESSAGE("cli.schedule-without-record", \
		"--schedule %s: needs record=N (or active=N), at least 1")
#define MESSAGE_SCHEDULE_SPANS_JOINED \
	MESSAGE("cli.schedule-spans-joined", \
		"--schedule %s: with no closed or ready step between them, spans are one " \
		"recording; ready=1 makes one of each")
#define MESSAGE_FRAMEWORK_UNKNOWN \
	MESSAGE("cli.framework-unknown", "--framework %s: give pytorch, paddle, mxnet or mindspore")
#define MESSAGE_USDT_OPTION_INVALID \
	MESSAGE("cli.usdt-option-invalid", \
		"--usdt %s: give a provider and a probe, as in --usdt 'python:gc__*'")
#define MESSAGE_TIMER_ONLY_EXCLUDES \
	MESSAGE("cli.timer-only-excludes", "--timer-only and %s exclude each other")
#define MESSAGE_NO_REPORT_EXCLUDES_REPORT_FILE \
	MESSAGE("cli.no-report-excludes-report-file", \
		"--no-report and --report-file exclude each other: no table is printed")
#define MESSAGE_NO_REPORT_EXCLUDES \
	MESSAGE("cli.no-report-excludes", \
		"--no-report and --%s exclude each other: no table is printed")
#define MESSAGE_NO_PRUNE_EXCLUDES_MAX_OVERHEAD \
	MESSAGE("cli.no-prune-excludes-max-overhead", \
		"--no-prune and --max-overhead exclude each other: the latter leaves functions " \
		"out")
#define MESSAGE_IN_MEMORY_EXCLUDES_JOB \
	MESSAGE("cli.in-memory-excludes-job", \
		"--in-memory and --job exclude each other: the ranks' recordings are read together " \
		"from files")
#define MESSAGE_IN_MEMORY_EXCLUDES_OUTPUT \
	MESSAGE("cli.in-memory-excludes-output", \
		"--in-memory and --output exclude each other: no recording is left")
#define MESSAGE_IN_MEMORY_WITHOUT_RESULT \
	MESSAGE("cli.in-memory-without-result", \
		"--in-memory and --no-report: nothing would be made of the recording; add --trace or " \
		"--html")
#define MESSAGE_NO_STEPS_EXCLUDES \
	MESSAGE("cli.no-steps-excludes", "--no-steps and %s exclude each other")
#define MESSAGE_STEP_UNIT_EXCLUDES \
	MESSAGE("cli.step-unit-excludes", "--step-unit and %s exclude each other")
#define MESSAGE_NO_TRACE_EXCLUDES_TRACE \
	MESSAGE("cli.no-trace-excludes-trace", "--no-trace and --trace exclude each other")
#define MESSAGE_NO_TRACE_EXCLUDES_LIMIT_SIZE \
	MESSAGE("cli.no-trace-excludes-limit-size", \
		"--no-trace and --limit-size exclude each other: it is the trace that is limited")
#define MESSAGE_DETAIL_PHASE_EXCLUDES_OP_DETAIL \
	MESSAGE("cli.detail-phase-excludes-op-detail", \
		"--detail phase and --op-detail exclude each other: operators are recorded at " \
		"--detail operator or inner")
#define MESSAGE_INJECT_EXCLUDES_NO_INJECT \
	MESSAGE("cli.inject-excludes-no-inject", "--inject and --no-inject exclude each other")
#define MESSAGE_INJECT_EXCLUDES_NO_POINTERS \
	MESSAGE("cli.inject-excludes-no-pointers", \
		"--inject and --no-pointers exclude each other: without CUDA the library only " \
		"replaces pointers")
#define MESSAGE_SYNC_EVENTS_EXCLUDES_NO_INJECT \
	MESSAGE("cli.sync-events-excludes-no-inject", \
		"--sync-events and --no-inject exclude each other: without the library proftrace " \
		"cannot see the device's waits")
#define MESSAGE_CUPTI_EXCLUDES_NO_INJECT \
	MESSAGE("cli.cupti-excludes-no-inject", \
		"--cupti and --no-inject exclude each other: without the library nothing uses CUPTI")
#define MESSAGE_CUPTI_PATH_RELATIVE \
	MESSAGE("cli.cupti-path-relative", \
		"--cupti %s: give the whole path, which begins with /: the process itself opens it")
#define MESSAGE_START_AFTER_EXCLUDES_START_AT \
	MESSAGE("cli.start-after-excludes-start-at", \
		"--start-after and --start-at exclude each other")
#define MESSAGE_REPORT_FILE_IS_RECORDING \
	MESSAGE("cli.report-file-is-recording", \
		"--report-file %s is the recording or the trace; give the report a name of its own")
#define MESSAGE_TRACE_IS_OUTPUT \
	MESSAGE("cli.trace-is-output", \
		"--output and --trace are both %s; give the trace a name of its own")
#define MESSAGE_TIME_NAMESPACE_UNKNOWN \
	MESSAGE("cli.time-namespace-unknown", \
		"proftrace runs in a time namespace of unknown offset: /proc/self/timens_offsets " \
		"is that of its children, and its clock is not the machine's; start it outside of " \
		"that namespace")
#define MESSAGE_READER_KEEPS_RIGHTS \
	MESSAGE("cli.reader-keeps-rights", \
		"reads the process with the right to write files: no seccomp filter " \
		"(CONFIG_SECCOMP_FILTER): %s")
#define MESSAGE_TRACE_WRITTEN \
	MESSAGE("cli.trace-written", "trace: %s (open it in ui.perfetto.dev or chrome://tracing)")
#define MESSAGE_RECORDING_WRITTEN MESSAGE("cli.recording-written", "recording: %s")
#define MESSAGE_PAGE_OFFERED \
	MESSAGE("cli.page-offered", "as a page for a browser: proftrace report --html page.html %s")
#define MESSAGE_TARGET_ENDED MESSAGE("cli.target-ended", "the target ended, and the window with it")
#define MESSAGE_TARGET_ENDED_AT MESSAGE("cli.target-ended-at", "%s (%s)")
#define MESSAGE_TARGET_ENDED_BEFORE_LAST_WINDOW \
	MESSAGE("cli.target-ended-before-last-window", \
		"%s before the last window was complete (%s): %zu of %llu recordings were begun " \
		"and are kept")
#define MESSAGE_TARGET_ENDED_IN_WINDOW \
	MESSAGE("cli.target-ended-in-window", \
		"%s before the window was complete (%s); what was seen is kept")
#define MESSAGE_RECORDING_ABORTED MESSAGE("cli.recording-aborted", "aborted; %s is left")
#define MESSAGE_TRACE_READ_IN_PART_BY_HTA \
	MESSAGE("cli.trace-read-in-part-by-hta", \
		"HTA reads no more than steps and call graph of this dialect; the trace for it: " \
		"proftrace export %s")
#define MESSAGE_TRACE_TIMES_ROUNDED_BY_HTA \
	MESSAGE("cli.trace-times-rounded-by-hta", \
		"HTA rounds %s of the device to -1 us, unless its environment has " \
		"HTA_DISABLE_NS_ROUNDING=1")
#define MESSAGE_TRACE_SHOWN_WITHOUT_DEVICE_TIME \
	MESSAGE("cli.trace-shown-without-device-time", \
		"torch_tb_profiler 0.4 shows no device time of operators in this trace; the one " \
		"for it: proftrace export --dialect tb %s")
#define MESSAGE_STOPPED_EARLY \
	MESSAGE("cli.stopped-early", "stopped before the window opened; nothing was recorded")

/* ---- proftrace record --job ---- */

#define MESSAGE_JOB_RANKS_AWAITED \
	MESSAGE("cli.job-ranks-awaited", \
		"--job: for %d s at most, until process %s has loaded a framework and joined the " \
		"others")
#define MESSAGE_JOB_PROCESS_LEFT_OUT \
	MESSAGE("cli.job-process-left-out", \
		"process %s is left out: no rank of the job so far; when it trains, run again, or " \
		"give all with -p PID,PID")
#define MESSAGE_JOB_SERVER_LEFT_OUT \
	MESSAGE("cli.job-server-left-out", \
		"--job leaves out process %s: it is a server or scheduler of the job (DMLC_ROLE, " \
		"MS_ROLE); -p PID --no-steps records it")
#define MESSAGE_PID_IS_LAUNCHER \
	MESSAGE("cli.pid-is-launcher", \
		"process %d is no rank, but started %zu (%d, ...), which -p mixes in one report; " \
		"--job %d tells them apart")
#define MESSAGE_PID_IS_LAUNCHER_OF_ONE \
	MESSAGE("cli.pid-is-launcher-of-one", \
		"process %d is no rank, but started 1 (%d), which -p mixes in one report; --job " \
		"%d tells them apart")
#define MESSAGE_FILE_PROCESS_NOT_REACHED \
	MESSAGE("cli.file-process-not-reached", "cannot reach the process that opens files: %s")
#define MESSAGE_CAPTURE_KILLED \
	MESSAGE("cli.capture-killed", "the capture of process %d was killed by signal %d")
#define MESSAGE_RANK_REPORTS_OFFERED \
	MESSAGE("cli.rank-reports-offered", \
		"of each rank: proftrace report FILE, or --table NAME here")
#define MESSAGE_RANKS_TOO_MANY MESSAGE("cli.ranks-too-many", "%zu processes: at most %d at once")
#define MESSAGE_JOB_OUTPUT_NO_DIRECTORY \
	MESSAGE("cli.job-output-no-directory", \
		"--output %s: each rank gets a recording of its own; name a directory that exists")
#define MESSAGE_JOB_TRACE_NO_DIRECTORY \
	MESSAGE("cli.job-trace-no-directory", \
		"--trace %s: each rank gets a trace of its own; name a directory that exists")
#define MESSAGE_JOB_PAGE_NO_DIRECTORY \
	MESSAGE("cli.job-page-no-directory", \
		"--html %s: each rank gets a page of its own; name a directory that exists")
#define MESSAGE_SHARED_MEMORY_NOT_MADE \
	MESSAGE("cli.shared-memory-not-made", "cannot share memory: %s")
#define MESSAGE_SUCCESSOR_STARTED \
	MESSAGE("cli.successor-started", \
		"process %s was started in its place: proftrace -p %s records it")
#define MESSAGE_SUCCESSORS_STARTED \
	MESSAGE("cli.successors-started", \
		"%zu processes were started in the places of those that ended: proftrace -p %s " \
		"records them")
#define MESSAGE_LAUNCHER_RUNS \
	MESSAGE("cli.launcher-runs", \
		"the launcher, process %d, still runs: if it starts its ranks again, proftrace " \
		"--job %d records them")
#define MESSAGE_LAUNCHER_OF_RANK_RUNS \
	MESSAGE("cli.launcher-of-rank-runs", \
		"the launcher, process %d, still runs: if it starts the rank again, proftrace " \
		"--job %d records it")

/* ---- proftrace run ---- */

#define MESSAGE_INJECTION_VARIABLE_SET \
	MESSAGE("cli.injection-variable-set", "no device times: %s is set, another tool uses it")
#define MESSAGE_PROGRAM_NOT_STARTED MESSAGE("cli.program-not-started", "cannot start %s: %s")
#define MESSAGE_PROGRAM_NOT_FOUND \
	MESSAGE("cli.program-not-found", "cannot start %s: %s; is the name right?")
#define MESSAGE_PROGRAM_NOT_PERMITTED \
	MESSAGE("cli.program-not-permitted", \
		"cannot start %s: %s; is it a program, and may you run it (chmod +x)?")
#define MESSAGE_PROGRAM_MISSING \
	MESSAGE("cli.program-missing", \
		"which program? As in: proftrace run --record 2:10 -- python train.py")
#define MESSAGE_PROGRAM_FAILED MESSAGE("cli.program-failed", "the program ended with status %d")

/* ---- proftrace report ---- */

#define MESSAGE_REPORT_RECORDING_MISSING \
	MESSAGE("cli.report-recording-missing", \
		"report: no recording given; say proftrace report FILE")
#define MESSAGE_OP_NEEDS_TABLES \
	MESSAGE("cli.op-needs-tables", \
		"--op is for the tables of one recording as text, JSON or CSV")
#define MESSAGE_STEP_NEEDS_PAGE \
	MESSAGE("cli.step-needs-page", "--step is for --html; `--table steps` has all of them")
#define MESSAGE_TIME_UNIT_WITHOUT_EFFECT \
	MESSAGE("cli.time-unit-without-effect", \
		"--time-unit is for text: columns of %s are in nanoseconds, as their names say")
#define MESSAGE_WIDTH_WITHOUT_EFFECT \
	MESSAGE("cli.width-without-effect", \
		"--width is for text: %s has all columns and whole names")
#define MESSAGE_NAME_WIDTH_WITHOUT_EFFECT \
	MESSAGE("cli.name-width-without-effect", "--name-width is for text: %s has whole names")
#define MESSAGE_SORT_ORDER_OF_JOB \
	MESSAGE("cli.sort-order-of-job", \
		"--sorted-by has no effect on the tables of a job; name those of its ranks by " \
		"--table")
#define MESSAGE_REPORT_FILE_IS_DIRECTORY \
	MESSAGE("cli.report-file-is-directory", \
		"--report-file %s is a directory; name a file in it")
#define MESSAGE_REPORT_FILE_IS_KEPT_RECORDING \
	MESSAGE("cli.report-file-is-kept-recording", \
		"--report-file %s is the recording %s, which was kept; `proftrace report` prints " \
		"its tables")
#define MESSAGE_MEMORY_LIMIT_REACHED \
	MESSAGE("cli.memory-limit-reached", \
		"%zu MiB are the limit for recordings of this size: made up or damaged, or this " \
		"machine has less")

/* ---- The page ---- */

#define MESSAGE_PAGE_EXCLUDES_FORMAT \
	MESSAGE("cli.page-excludes-format", \
		"--html and --format exclude each other: the page is HTML, and no table is printed " \
		"beside it")
#define MESSAGE_PAGE_IS_RECORDING \
	MESSAGE("cli.page-is-recording", \
		"--html %s is the recording itself; give the page a name of its own")
#define MESSAGE_PAGE_OF_SEVERAL \
	MESSAGE("cli.page-of-several", "--html: a page is of one recording; give one FILE")
#define MESSAGE_PAGE_WRITTEN MESSAGE("cli.page-written", "wrote %s (%s)")
#define MESSAGE_PAGE_TO_STANDARD_OUTPUT \
	MESSAGE("cli.page-to-standard-output", \
		"--html -: a capture prints its tables to standard output; name a file, or make " \
		"the page by `proftrace report --html -`")
#define MESSAGE_PAGE_IS_OUTPUT \
	MESSAGE("cli.page-is-output", \
		"--html %s is the recording, the trace or the report; give the page a name of its " \
		"own")
#define MESSAGE_PAGE_NO_DIRECTORY \
	MESSAGE("cli.page-no-directory", \
		"--html %s: each recording gets a page of its own; name a directory that exists")
#define MESSAGE_PAGE_PATH_TOO_LONG MESSAGE("cli.page-path-too-long", "--html %s: too long")
#define MESSAGE_WINDOW_PATH_TOO_LONG MESSAGE("cli.window-path-too-long", "%s: too long")

/* ---- proftrace export ---- */

#define MESSAGE_EXPORT_FORMAT_UNKNOWN \
	MESSAGE("cli.export-format-unknown", "unknown format '%s'; known: %s")
#define MESSAGE_EXPORT_CONFIG_UNREADABLE \
	MESSAGE("cli.export-config-unreadable", "--config-file: cannot read %s: %s")
#define MESSAGE_EXPORT_RECORDING_CUT_OFF \
	MESSAGE("cli.export-recording-cut-off", "%s was cut off; exporting what is whole")
#define MESSAGE_EXPORT_RECORDING_DAMAGED \
	MESSAGE("cli.export-recording-damaged", "%s: left out %s (about %s)")
#define MESSAGE_EXPORT_WRITTEN MESSAGE("cli.export-written", "wrote %s (%s, %s)")
#define MESSAGE_EXPORT_CLOCK_CORRECTED \
	MESSAGE("cli.export-clock-corrected", \
		"the clock of %s is %.3f ms %s that of %s, with an uncertainty of %.3f ms, by the " \
		"ends of %s; the trace corrects it")
#define MESSAGE_EXPORT_CLOCK_OF_ALIKE_STEPS \
	MESSAGE("cli.export-clock-of-alike-steps", \
		"the offset of the clock of %s may also be whole steps more or less, because the " \
		"steps are alike")
#define MESSAGE_EXPORT_CLOCK_SAME \
	MESSAGE("cli.export-clock-same", "%s and %s are of one host and have one clock")
#define MESSAGE_EXPORT_CLOCK_UNKNOWN \
	MESSAGE("cli.export-clock-unknown", \
		"the clock of %s is used as it is: the ends of collectives do not tell its offset " \
		"from that of %s")
#define MESSAGE_EXPORT_IS_RECORDING \
	MESSAGE("cli.export-is-recording", \
		"--output %s is the recording itself; give the trace a name of its own")
#define MESSAGE_EXPORT_CONFIG_WITHOUT_EFFECT \
	MESSAGE("cli.export-config-without-effect", \
		"--config: %s has no options; cuda-profiler has")
#define MESSAGE_EXPORT_TO_TERMINAL \
	MESSAGE("cli.export-to-terminal", "%s is binary, not for a terminal; give a file with -o")
#define MESSAGE_EXPORT_NOT_LIMITED \
	MESSAGE("cli.export-not-limited", "--limit-size: %s is written whole; chrome can be cut")
#define MESSAGE_EXPORT_RECORDING_MISSING \
	MESSAGE("cli.export-recording-missing", \
		"export needs one recording; try proftrace export FILE.ptrec")

/* ---- proftrace diff ---- */

#define MESSAGE_LIMITS_TOO_MANY MESSAGE("cli.limits-too-many", "--fail-if: at most %d limits")
#define MESSAGE_DIFF_RECORDINGS_MISSING \
	MESSAGE("cli.diff-recordings-missing", \
		"diff: two recordings are compared; say proftrace diff BEFORE AFTER")

/* ---- proftrace ctl ---- */

#define MESSAGE_CTL_VERB_UNKNOWN \
	MESSAGE("cli.ctl-verb-unknown", \
		"unknown verb '%s': status, start, resume, pause, dump, reset or stop")
#define MESSAGE_CTL_VERB_UNKNOWN_SUGGESTED \
	MESSAGE("cli.ctl-verb-unknown-suggested", \
		"unknown verb '%s': status, start, resume, pause, dump, reset or stop; did you " \
		"mean %s?")
#define MESSAGE_CTL_ARGUMENTS_MISSING \
	MESSAGE("cli.ctl-arguments-missing", \
		"give a process and a verb, as in proftrace ctl 4242 status")

/* ---- proftrace cpu ---- */

#define MESSAGE_CPU_BPF_NOT_OPENED \
	MESSAGE("cli.cpu-bpf-not-opened", "cannot open the BPF programs: %s")
#define MESSAGE_CPU_NOT_PERMITTED MESSAGE("cli.cpu-not-permitted", "cannot watch the scheduler: %s")
#define MESSAGE_CPU_BPF_NOT_LOADED \
	MESSAGE("cli.cpu-bpf-not-loaded", \
		"cannot load the scheduler programs: %s; proftrace doctor says what this kernel " \
		"can do")
#define MESSAGE_CPU_KERNEL_TOO_OLD \
	MESSAGE("cli.cpu-kernel-too-old", \
		"cannot load the scheduler programs: %s (it is older than Linux %d.%d, which " \
		"proftrace needs); proftrace doctor says what this kernel can do")
#define MESSAGE_CPU_ARGUMENT_UNEXPECTED \
	MESSAGE("cli.cpu-argument-unexpected", "cpu takes no arguments, but got '%s'")

/* ---- proftrace doctor ---- */

#define MESSAGE_DOCTOR_LIST_CUT_OFF \
	MESSAGE("cli.doctor-list-cut-off", \
		"the list of single-stepped probes is cut off: out of memory")
#define MESSAGE_DOCTOR_DETAIL_NOT_PLANNED \
	MESSAGE("cli.doctor-detail-not-planned", "%s: cannot plan detail %s: %s")
#define MESSAGE_DOCTOR_COST_NOT_MEASURED \
	MESSAGE("cli.doctor-cost-not-measured", "cannot measure what a probe costs here: %s")
#define MESSAGE_DOCTOR_ARGUMENT_UNEXPECTED \
	MESSAGE("cli.doctor-argument-unexpected", \
		"doctor takes no argument '%s'; try proftrace doctor -p PID")

/* ---- proftrace monitor ---- */

#define MESSAGE_MONITOR_CPU_INVALID \
	MESSAGE("cli.monitor-cpu-invalid", "--cpu: '%s' is no number of processors, as 0.1")
#define MESSAGE_MONITOR_BUDGET_ZERO \
	MESSAGE("cli.monitor-budget-zero", "--budget: nothing is recorded for 0 %%")
#define MESSAGE_MONITOR_DUTY_INVALID \
	MESSAGE("cli.monitor-duty-invalid", "--max-duty: give more than 0 %% and at most 100 %%")
#define MESSAGE_MONITOR_ARGUMENT_UNEXPECTED \
	MESSAGE("cli.monitor-argument-unexpected", \
		"monitor takes no argument '%s': it finds jobs by itself; --allow and --deny " \
		"choose among them")
#define MESSAGE_MONITOR_LISTEN_NEEDS_RESTART \
	MESSAGE("cli.monitor-listen-needs-restart", "--listen needs a restart of the monitor")
#define MESSAGE_MONITOR_STORE_NEEDS_RESTART \
	MESSAGE("cli.monitor-store-needs-restart", "--store needs a restart of the monitor")
#define MESSAGE_MONITOR_TOKEN_NEEDS_RESTART \
	MESSAGE("cli.monitor-token-needs-restart", \
		"another --token-file needs a restart of the monitor")
#define MESSAGE_MONITOR_SERIES_NEEDS_RESTART \
	MESSAGE("cli.monitor-series-needs-restart", "--max-series needs a restart of the monitor")
#define MESSAGE_MONITOR_WITHOUT_CONFIG \
	MESSAGE("cli.monitor-without-config", "it was started without --config")
#define MESSAGE_CONFIG_OPTION_UNKNOWN MESSAGE("cli.config-option-unknown", "unknown option %.*s")
#define MESSAGE_CONFIG_OPTION_UNKNOWN_SUGGESTED \
	MESSAGE("cli.config-option-unknown-suggested", "unknown option %.*s; did you mean %s?")
#define MESSAGE_CONFIG_VALUE_QUOTED \
	MESSAGE("cli.config-value-quoted", "%s: write the value without quotes")
#define MESSAGE_CONFIG_COMMENT_BEHIND_VALUE \
	MESSAGE("cli.config-comment-behind-value", "%s: a comment needs a line of its own")
#define MESSAGE_CONFIG_LINE_INVALID \
	MESSAGE("cli.config-line-invalid", "give a line NAME = VALUE, not %.*s ...")
#define MESSAGE_CONFIG_SECTION_UNKNOWN \
	MESSAGE("cli.config-section-unknown", "no section but [%s] is known, not [%.*s]")
#define MESSAGE_CONFIG_UNREADABLE MESSAGE("cli.config-unreadable", "--config %s: %s")
#define MESSAGE_CONFIG_WRITABLE_BY_OTHERS \
	MESSAGE("cli.config-writable-by-others", \
		"--config %s: another user owns it or can write to it; give it to root (chown " \
		"root, chmod 644)")
#define MESSAGE_CONFIG_TOO_LARGE \
	MESSAGE("cli.config-too-large", "--config %s: it has more than 1 MiB")
#define MESSAGE_CONFIG_BINARY \
	MESSAGE("cli.config-binary", "--config %s: it has a NUL byte: no text, or damaged")
#define MESSAGE_CONFIG_LINE MESSAGE("cli.config-line", "%s, line %d: %s")
#define MESSAGE_TOKEN_UNREADABLE MESSAGE("cli.token-unreadable", "cannot read --token-file %s: %s")
#define MESSAGE_TOKEN_INVALID \
	MESSAGE("cli.token-invalid", \
		"--token-file %s: its first line is no token: give printable ASCII without blanks, " \
		"and a file of at most %d bytes")
#define MESSAGE_TOKEN_READABLE_BY_OTHERS \
	MESSAGE("cli.token-readable-by-others", \
		"--token-file %s: other users own it or can read it, and could ask for windows; " \
		"chown root and chmod 600")

/* ---- proftrace top ---- */

#define MESSAGE_TOP_PID_INVALID \
	MESSAGE("cli.top-pid-invalid", "--pid %s: give process numbers, as 4242,4243")
#define MESSAGE_TOP_PIDS_TOO_MANY MESSAGE("cli.top-pids-too-many", "--pid: at most %d processes")
#define MESSAGE_TOP_PROCESS_MISSING \
	MESSAGE("cli.top-process-missing", "--%s %lu: there is no such process")
#define MESSAGE_TOP_ARGUMENT_UNEXPECTED \
	MESSAGE("cli.top-argument-unexpected", \
		"top takes no argument '%s': it shows the monitor's jobs; for one process say " \
		"proftrace top -p PID")
#define MESSAGE_TOP_INTERVAL_SMALL \
	MESSAGE("cli.top-interval-small", "--interval: 100ms is the least allowed")
#define MESSAGE_TOP_PID_EXCLUDES \
	MESSAGE("cli.top-pid-excludes", "--pid and --job exclude --socket, --address and --once")
#define MESSAGE_TOP_SOCKET_EXCLUDES_ADDRESS \
	MESSAGE("cli.top-socket-excludes-address", "--socket and --address exclude each other")
#define MESSAGE_TOP_OPTIONS_NEED_ONCE \
	MESSAGE("cli.top-options-need-once", "--format, --width and --raw-csv go with --once")
#define MESSAGE_TOP_DEVICE_TIMES_NEED_PID \
	MESSAGE("cli.top-device-times-need-pid", \
		"--device-times goes with -p or --job; a running monitor has its own option")
#define MESSAGE_TOP_SOCKET_WITHOUT_SLASH \
	MESSAGE("cli.top-socket-without-slash", "--socket %s: give a path with a slash, as ./%s")
#define MESSAGE_TOP_ADDRESS_IS_PATH \
	MESSAGE("cli.top-address-is-path", "--address %s is a path: use --socket")
#define MESSAGE_TOP_NEEDS_TERMINAL \
	MESSAGE("cli.top-needs-terminal", \
		"top needs a terminal; without one: proftrace top --once, or curl " \
		"http://127.0.0.1:9477/jobs")
#define MESSAGE_OWN_MONITOR_WITHOUT_CONFIG \
	MESSAGE("cli.own-monitor-without-config", \
		"this monitor belongs to top: it has no --config to read again")
#define MESSAGE_OWN_MONITOR_TOKEN_NOT_MADE \
	MESSAGE("cli.own-monitor-token-not-made", "cannot make a token: %s")
#define MESSAGE_OWN_MONITOR_DIRECTORY_NOT_MADE \
	MESSAGE("cli.own-monitor-directory-not-made", "cannot make a directory in /tmp: %s")
#define MESSAGE_MONITOR_PAGES_INVALID \
	MESSAGE("cli.monitor-pages-invalid", \
		"--pages: give owner or all, not '%s'")
#define MESSAGE_MONITOR_PAGES_NEEDS_RESTART \
	MESSAGE("cli.monitor-pages-needs-restart", \
		"--pages needs a restart of the monitor")
#define MESSAGE_MONITOR_RECEIVERS_NEED_RESTART \
	MESSAGE("cli.monitor-receivers-need-restart", \
		"--otlp, --otlp-interval and --pprof need a restart of the monitor")

#endif
