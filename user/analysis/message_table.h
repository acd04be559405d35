/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_ANALYSIS_MESSAGE_TABLE_H
#define PROFTRACE_ANALYSIS_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Tables of a report ---- */

#define MESSAGE_TABLE_UNKNOWN_SUGGESTED \
	MESSAGE("analysis.table-unknown-suggested", \
		"unknown table '%.*s'; did you mean %s? known are %s, and %s")
#define MESSAGE_TABLE_UNKNOWN \
	MESSAGE("analysis.table-unknown", "unknown table '%.*s'; known are %s, and %s")
#define MESSAGE_TABLE_NAME_EMPTY \
	MESSAGE("analysis.table-name-empty", \
		"--table '%s': a name is empty; --list-tables of proftrace report shows them")
#define MESSAGE_TABLE_NOT_RECORDED \
	MESSAGE("analysis.table-not-recorded", \
		"--timer-only and --table %s exclude each other: it is not recorded")
#define MESSAGE_SORT_ORDER_FIXED \
	MESSAGE("analysis.sort-order-fixed", "--sorted-by %s: %s has one order")
#define MESSAGE_SORT_ORDER_UNKNOWN \
	MESSAGE("analysis.sort-order-unknown", \
		"--sorted-by: no table to be printed is sorted by '%s'; %s")
#define MESSAGE_SORT_ORDER_UNKNOWN_SUGGESTED \
	MESSAGE("analysis.sort-order-unknown-suggested", \
		"--sorted-by: no table to be printed is sorted by '%s'; did you mean %s? known: " \
		"%s")
#define MESSAGE_SORT_ORDER_OF_OTHER_TABLE \
	MESSAGE("analysis.sort-order-of-other-table", \
		"--sorted-by: no table to be printed is sorted by '%s'; --table %s is; known: %s")
#define MESSAGE_SORT_ORDER_OF_OTHER_TABLE_SUGGESTED \
	MESSAGE("analysis.sort-order-of-other-table-suggested", \
		"--sorted-by: no table to be printed is sorted by '%s'; --table %s is; did you " \
		"mean %s? known: %s")
#define MESSAGE_TABLE_OPTION_WITHOUT_EFFECT \
	MESSAGE("analysis.table-option-without-effect", \
		"--%s has no effect on the tables to be printed; it is for %s (--table)")
#define MESSAGE_STACK_DEPTH_WITHOUT_EFFECT \
	MESSAGE("analysis.stack-depth-without-effect", \
		"--stack-depth has no effect without --group-by stack")
#define MESSAGE_OPERATOR_ONLY_INSIDE_OTHERS \
	MESSAGE("analysis.operator-only-inside-others", \
		"nothing in %s is called '%s', but inside other operators something was: --table " \
		"key_averages has that, too")
#define MESSAGE_OPERATOR_NOT_FOUND_SUGGESTED \
	MESSAGE("analysis.operator-not-found-suggested", \
		"nothing in %s is called '%s'; did you mean '%s'?")
#define MESSAGE_OPERATOR_NOT_FOUND \
	MESSAGE("analysis.operator-not-found", \
		"nothing in %s is called '%s'; a pattern like '*conv*' finds parts of names, and " \
		"--table %s without --op shows them all")
#define MESSAGE_TABLE_NOTE MESSAGE("analysis.table-note", "%s: %s")
#define MESSAGE_RECORDING_INCOMPLETE \
	MESSAGE("analysis.recording-incomplete", "the recording is incomplete: %s")
#define MESSAGE_RANK_GIVEN_TWICE \
	MESSAGE("analysis.rank-given-twice", \
		"%s and %s are one file; name the recording of each rank once")
#define MESSAGE_REPORT_OUT_OF_MEMORY \
	MESSAGE("analysis.report-out-of-memory", "the report: out of memory")
#define MESSAGE_JSON_REPORT_OUT_OF_MEMORY \
	MESSAGE("analysis.json-report-out-of-memory", "the report as JSON: out of memory")

/* ---- Comparison of recordings ---- */

#define MESSAGE_LIMIT_INVALID \
	MESSAGE("analysis.limit-invalid", \
		"'%s' is no limit; say for example step>5%%, backward>10%%, operator:NAME>20%% or " \
		"kernel:NAME>3%%")
#define MESSAGE_LIMIT_NEEDS_OPERATORS \
	MESSAGE("analysis.limit-needs-operators", \
		"limit '%s': a recording of --timer-only has steps and data loader alone; record " \
		"without it")
#define MESSAGE_LIMIT_NOT_COMPARABLE \
	MESSAGE("analysis.limit-not-comparable", "limit '%s': %s; record both alike")
#define MESSAGE_LIMIT_NAME_UNKNOWN \
	MESSAGE("analysis.limit-name-unknown", \
		"limit '%s': neither recording has %s; known are step, run time, dataloader, " \
		"forward, backward, optimization, others, operator:NAME and kernel:NAME")
#define MESSAGE_LIMIT_FEW_STEPS \
	MESSAGE("analysis.limit-few-steps", \
		"limit '%s': a recording has fewer than %d steps, which tells nothing; record more")
#define MESSAGE_LIMIT_NEW MESSAGE("analysis.limit-new", "%s: it is new")
#define MESSAGE_LIMIT_EXCEEDED_BY_CPU_WAIT \
	MESSAGE("analysis.limit-exceeded-by-cpu-wait", \
		"%s: not judged as slower: %.1f %% longer, which the thread's wait for a processor " \
		"may explain")
#define MESSAGE_LIMIT_EXCEEDED_BY_CHANCE \
	MESSAGE("analysis.limit-exceeded-by-chance", \
		"%s: not judged as slower: %.1f %% longer, which may be chance (p %.4f; from %.0f " \
		"%% on it is told)")
#define MESSAGE_LIMIT_EXCEEDED MESSAGE("analysis.limit-exceeded", "%s: %.1f %% slower (p %.4f)")
#define MESSAGE_LIMIT_RECORDING_INCOMPLETE \
	MESSAGE("analysis.limit-recording-incomplete", \
		"%s is %s: no limit can be judged by it; record again")
#define MESSAGE_COMPARED_RECORDING_INCOMPLETE \
	MESSAGE("analysis.compared-recording-incomplete", \
		"%s is %s: what is missing in it counts as gone, and times may be wrong")
#define MESSAGE_COMPARED_STEPS_MISSING \
	MESSAGE("analysis.compared-steps-missing", \
		"%s has no steps, so there is nothing to compare")
#define MESSAGE_RECORDINGS_DIFFER \
	MESSAGE("analysis.recordings-differ", "the recordings differ in more than time: %s")
#define MESSAGE_MACHINE_BUSY \
	MESSAGE("analysis.machine-busy", "the machine was busy while %s was recorded")
#define MESSAGE_COMPARISON_OUT_OF_MEMORY \
	MESSAGE("analysis.comparison-out-of-memory", "the comparison: out of memory")

#endif
