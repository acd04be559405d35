// SPDX-License-Identifier: BSD-2-Clause
#include "cli/clock_time.h"
#include "cli/record_options.h"
#include "cli/owner.h"
#include "cli/percent.h"
#include "capture/user_probes/functions.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include <string.h>

static const char *const details[] = {"phase", "operator", "inner", NULL};
static const char *const step_units[] = {"iteration", "request", NULL}; /* enum step_unit */
static const char *const methods[] = {"auto", "multi", "perf", NULL};

/* ---- parsing ---- */

static int parse_number(const char *text, const char **end, __u64 *out)
{
	char *rest;

	errno = 0;
	*out = strtoull(text, &rest, 10);
	if (rest == text || errno || *text == '-')
		return -EINVAL;
	*end = rest;
	return 0;
}

static int one_range_only(void)
{
	return err__set(-EINVAL, MESSAGE_STEPS_CHOSEN_TWICE);
}

static int parse_range(const char *value, void *dest)
{
	struct record_range *range = dest;
	__u64 a, b;
	const char *end;

	if (parse_number(value, &end, &a) || *end != ':' || parse_number(end + 1, &end, &b) || *end)
		return err__set(-EINVAL, MESSAGE_RECORD_RANGE_INVALID, value);
	if (range->set)
		return one_range_only();
	if (b <= a)
		return err__set(-EINVAL, MESSAGE_RECORD_RANGE_EMPTY, value);
	range->set = true;
	range->schedule = (struct pt_schedule){.skip_first = a, .record = b - a, .repeat = 1};
	return 0;
}

static __u64 *schedule_field(struct pt_schedule *s, const char *key, size_t len)
{
	const struct {
		const char *key;
		__u64 *field;
	} keys[] = {
		{"skip_first", &s->skip_first}, {"closed", &s->closed}, {"wait", &s->closed},
		{"ready", &s->ready},		{"warmup", &s->ready},	{"record", &s->record},
		{"active", &s->record},		{"repeat", &s->repeat},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strlen(keys[i].key) == len && !strncmp(keys[i].key, key, len))
			return keys[i].field;
	return NULL;
}

static int parse_schedule(const char *value, void *dest)
{
	struct record_range *range = dest;
	const char *p = value;
	unsigned int given = 0;

	if (range->set)
		return one_range_only();
	range->schedule = (struct pt_schedule){0};
	while (*p) {
		const char *key = p;
		size_t len = strcspn(p, "=");
		__u64 *field = schedule_field(&range->schedule, p, len);
		unsigned int bit;

		if (!field || p[len] != '=' || parse_number(p + len + 1, &p, field) ||
		    (*p && *p != ','))
			return err__set(-EINVAL, MESSAGE_SCHEDULE_INVALID, value);
		bit = 1u << (field - &range->schedule.skip_first);
		if (given & bit)
			return err__set(-EINVAL, MESSAGE_SCHEDULE_KEY_GIVEN_TWICE, value, (int)len,
					key);
		given |= bit;
		p += *p == ',';
	}
	if (!range->schedule.record)
		return err__set(-EINVAL, MESSAGE_SCHEDULE_WITHOUT_RECORD, value);
	if (range->schedule.repeat != 1 && !range->schedule.closed && !range->schedule.ready)
		log__warn(MESSAGE_SCHEDULE_SPANS_JOINED, value);
	range->set = true;
	return 0;
}

static int parse_framework(const char *value, void *dest)
{
	const struct framework **framework = dest;

	*framework = frameworks__find(value);
	return *framework ? 0 : err__set(-EINVAL, MESSAGE_FRAMEWORK_UNKNOWN, value);
}

static int parse_max_overhead(const char *value, void *dest)
{
	return percent__parse("max-overhead", value, dest);
}

/* The option may be given several times. */
static int parse_start_at(const char *value, void *dest)
{
	return clock_time__parse(value, time(NULL), dest);
}

static int parse_text(const char *value, void *dest)
{
	struct text_list *list = dest;

	return ARRAY_PUSH(list->items, list->cnt, list->cap, value);
}

/* "LIB:GLOB". A wrong value is refused before anything is attached. */
static int parse_op(const char *value, void *dest)
{
	char lib[256];
	const char *glob;
	int err = function_spec__split("--op", value, lib, sizeof(lib), &glob);

	return err ? err : parse_text(value, dest);
}

static int parse_usdt(const char *value, void *dest)
{
	if (!strchr(value, ':'))
		return err__set(-EINVAL, MESSAGE_USDT_OPTION_INVALID, value);
	return parse_text(value, dest);
}

/* ---- the table ---- */

#define CAPTURE(field) offsetof(struct record_options, capture.field)
#define RECORD(field)  offsetof(struct record_options, field)

const struct opt record_opts[] = {
	{OPT_GROUP, "Window"},
	{OPT_CUSTOM, "record", 0, "A:B",
	 "Record the steps [A,B). A few first steps show what a step is and what probes cost; step "
	 "0 is the first whole step after them.",
	 RECORD(range), .parse = parse_range},
	{OPT_CUSTOM, "schedule", 0, "KEY=N,...",
	 "One recording per window. Keys: skip_first, closed (wait), ready (warmup), record "
	 "(active), repeat (without it, until stopped).",
	 RECORD(range), .parse = parse_schedule},
	{OPT_DURATION, "duration", 'd', "TIME",
	 "Record for this long. With --record or --schedule: stop after this long, whatever was "
	 "recorded.",
	 CAPTURE(duration_ns), .min = 1},
	{OPT_DURATION, "start-after", 0, "TIME",
	 "Leave the process alone for this long before attaching; `proftrace ctl PID start` begins "
	 "at once.",
	 CAPTURE(start_after_ns), .min = 1},
	{OPT_CUSTOM, "start-at", 0, "TIME",
	 "Begin to record at this time: 14:30, 2026-01-31T14:30:00 (UTC with a Z), @SECONDS since "
	 "1970. Until 30 s before, the process is left alone; then proftrace looks at its steps. "
	 "Give the same time on several hosts to record at one time.",
	 CAPTURE(start_at_ns), .parse = parse_start_at},
	{OPT_FLAG, "paused", 0, NULL,
	 "Attach, but record nothing before `proftrace ctl PID start`.", CAPTURE(paused)},
	{OPT_DURATION, "dump-every", 0, "TIME",
	 "Complete the recording at the first step after this long. The next recording begins one "
	 "step later.",
	 CAPTURE(dump_every_ns), .min = 1},
	{OPT_STRING, "step-probe", 0, "[LIB:]FUNCTION",
	 "A step opens at each entry of this function, on the first thread that enters it. LIB is "
	 "a library's name, or exe for the program itself. Give an operator of PyTorch by its "
	 "name: aten::argmax, aten::add.Tensor.",
	 CAPTURE(step_probe)},
	{OPT_STRING, "step-range", 0, "NAME", "A step opens at the user range with this name.",
	 CAPTURE(step_range)},
	{OPT_CHOICE, "step-unit", 0, "UNIT",
	 "What a step is if a program answers a request by several passes over a model, as "
	 "generate() does. iteration: each pass, such as a token. request: all passes of a request "
	 "(default iteration). For programs without data loader, optimizer and backward pass.",
	 CAPTURE(step_unit), .choices = step_units},
	{OPT_DURATION, "step-timeout", 0, "TIME",
	 "Give up if no step is seen for this long (default 60s). --duration alone needs no step: "
	 "it waits for one as long as it records, at least 2.5s, or 10s if the job shows signs of "
	 "steps.",
	 CAPTURE(step_timeout_ns), .min = 1},
	{OPT_FLAG, "no-steps", 0, NULL,
	 "Do not look for steps: record by time, as soon as the probes are attached. For a program "
	 "that ends within seconds, or for what a job does before it trains. `run` freezes the "
	 "program until the probes are attached.",
	 CAPTURE(no_steps)},
	{OPT_GROUP, "What is recorded"},
	{OPT_CUSTOM, "framework", 0, "NAME",
	 "Show steps, phases and operators of this framework: pytorch, paddle, mxnet or mindspore "
	 "(default: the first of these that the process has loaded).",
	 CAPTURE(framework), .parse = parse_framework},
	{OPT_CHOICE, "detail", 0, "LEVEL",
	 "phase: steps and phases, about ten probe hits a step. operator: also what Python calls, "
	 "and backward nodes. inner: every dispatch (default operator).",
	 RECORD(detail), .choices = details},
	{OPT_FLAG, "timer-only", 0, NULL,
	 "Record only steps, throughput and the wait for data, by as few probes as possible "
	 "(PyTorch: 6 to 8 hits a step; --step-probe: its probe alone). No phases, operators, "
	 "devices, scheduler and trace. Prints the Perf Summary; `proftrace report` also lists the "
	 "steps.",
	 CAPTURE(timer_only)},
	{OPT_FLAG, "record-shapes", 0, NULL,
	 "Record shapes and dtypes of tensors, and other arguments.", CAPTURE(record_shapes)},
	{OPT_FLAG, "with-stack", 0, NULL,
	 "Record the Python stack that called each operator (CPython 3.10 to 3.15): files, lines, "
	 "functions.",
	 CAPTURE(with_stack)},
	{OPT_FLAG, "profile-memory", 0, NULL, "Record allocations and frees.",
	 CAPTURE(profile_memory)},
	{OPT_FLAG, "syscalls", 0, NULL,
	 "Record how often and how long each thread is in each system call, by step. Meanwhile the "
	 "system calls of all processes of the machine take longer.",
	 CAPTURE(syscalls)},
	{OPT_FLAG, "page-faults", 0, NULL,
	 "Record how often and how long each thread handles page faults: of anonymous memory, of "
	 "files, read from disk.",
	 CAPTURE(page_faults)},
	{OPT_CUSTOM, "max-overhead", 0, "PERCENT",
	 "Remove probes of functions that are called often, are short and launch nothing, until "
	 "the "
	 "estimated cost of the others is at most this part of a step (default 1%).",
	 CAPTURE(max_overhead), .parse = parse_max_overhead},
	{OPT_FLAG, "no-prune", 0, NULL, "Keep the probes of all functions.", CAPTURE(no_prune),
	 .old_name = "keep-all"},
	{OPT_FLAG, "count-each-step", 0, NULL,
	 "Always count steps by a probe. By default proftrace counts a steady job's steps without "
	 "probes, by its backward passes, while the window is far away.",
	 CAPTURE(count_each)},
	{OPT_FLAG, "no-inject", 0, NULL,
	 "Load no library into the process. Then there are no device times, only calls of CUDA. By "
	 "default proftrace loads a library into a process that uses CUDA; it stays there and does "
	 "nothing between recordings.",
	 CAPTURE(no_inject)},
	{OPT_FLAG, "inject", 0, NULL,
	 "Load proftrace's library also into a process that does not use CUDA, if the probes of "
	 "operators would add more than --max-overhead. The library sees operators that are called "
	 "through pointers, at a fraction of the cost (see --no-pointers). Loading stops the "
	 "process for a moment. The library stays there and does nothing between recordings.",
	 CAPTURE(inject)},
	{OPT_FLAG, "no-pointers", 0, NULL,
	 "See operators only by probes. By default, a loaded library replaces pointers in the "
	 "process's data if probes of operators would add more than --max-overhead. It then sees "
	 "the operators that are called through these pointers (methods of Python, backward "
	 "nodes), and puts the pointers back after recording.",
	 CAPTURE(no_pointers)},
	{OPT_FLAG, "sync-events", 0, NULL,
	 "Record what streams and threads wait for on the device, as torch.profiler's "
	 "enable_cuda_sync_events does. The trace has a row for these waits. Launches take longer: "
	 "on an H200, a step that only launches took a fifth longer.",
	 CAPTURE(sync_events)},
	{OPT_STRING, "cupti", 0, "PATH",
	 "The libcupti to use if the process has none; a path as the process sees it (default: one "
	 "beside its framework or its CUDA libraries).",
	 CAPTURE(cupti), .file_arg = true},
	{OPT_FLAG, "no-follow", 0, NULL, "Do not follow forked children (data-loader workers).",
	 CAPTURE(no_follow)},
	{OPT_CUSTOM, "op", 0, "LIB:GLOB",
	 "Show these functions as operators; may be repeated. LIB is a library's name or pattern, "
	 "or exe for the program itself. GLOB matches readable or mangled names, as in "
	 "'exe:Server::*'.",
	 CAPTURE(ops), .parse = parse_op},
	{OPT_CUSTOM, "op-returns", 0, "LIB:GLOB",
	 "Like --op, but with return probes, which see every end. Unsafe with C++ exceptions or "
	 "fibers (swapcontext, coroutines with stacks, greenlets): if an exception leaves such a "
	 "function, or the function switches stacks, the target dies. --op is safe: it ends a "
	 "function "
	 "at its return instructions or at the thread's next event.",
	 CAPTURE(ops_returning), .parse = parse_op},
	{OPT_CUSTOM, "usdt", 0, "PROVIDER:NAME",
	 "Show these USDT probes as marks; may be repeated, and * matches any text. Probes of "
	 "proftrace.h are shown without this option, as ranges, counters and marks.",
	 CAPTURE(usdt), .parse = parse_usdt},
	{OPT_STRING, "allow-return-probe", 0, "SYMBOL,...",
	 "Allow return probes on these functions. Unsafe with C++ exceptions or fibers: if an "
	 "exception leaves such a function, or the function switches stacks, the target dies.",
	 CAPTURE(return_probes), .old_name = "vouch"},
	{OPT_CHOICE, "attach-method", 0, "NAME", "How probes are attached (default auto).",
	 RECORD(method), .choices = methods},
	{OPT_UINT, "ring-size", 0, "BYTES",
	 "Largest buffer between kernel and recorder (default 64M).", CAPTURE(ring_bytes),
	 .min = 4096, .max = 1u << 31, .unit = "bytes"},
	{OPT_GROUP, "Output"},
	{OPT_STRING, "output", 'o', "PATH",
	 "Recording, or a directory for it (default HOST_PID.ptrec). Later windows get x.1.ptrec "
	 "and so on.",
	 CAPTURE(output), .file_arg = true},
	{OPT_FLAG, "in-memory", 0, NULL,
	 "Keep the recording in memory until the tables are printed. Only --trace, --html and "
	 "--report-file write files.",
	 CAPTURE(in_memory)},
	OWNER_OPT,
	{OPT_STRING, "trace", 0, "PATH",
	 "Trace, or a directory for it (default HOST_PID.pt.trace.json.gz). Later windows get a "
	 "number, as their recordings do: x.1.json.gz for x.json.gz.",
	 RECORD(trace), .file_arg = true},
	{OPT_UINT, "limit-size", 0, "BYTES",
	 "End the trace before its uncompressed text exceeds this (500M, say; default: no limit). "
	 "The trace and a message then say which steps are whole.",
	 RECORD(limit_bytes), .min = 1u << 20, .unit = "bytes"},
	{OPT_STRING, "html", 0, "FILE",
	 "Also write the page of `proftrace report --html`: FILE, or a directory for one per "
	 "recording (HOST_PID.html).",
	 RECORD(html), .file_arg = true},
	{OPT_STRING, "report-file", 0, "FILE",
	 "Print the tables into FILE (default: standard output; with `run`, standard error, since "
	 "the program prints to standard output).",
	 RECORD(tables.path), .file_arg = true},
	{OPT_FLAG, "no-trace", 0, NULL, "Write no trace.", RECORD(no_trace)},
	{OPT_FLAG, "no-report", 0, NULL, "Print no tables.", RECORD(no_report)},
	{OPT_FLAG, "no-progress", 0, NULL, "No live progress line.", RECORD(no_progress)},
	{OPT_INCLUDE, .include = report_arg_opts, .offset = RECORD(report)},
	{OPT_END},
};

void record_options__init_report(struct report_args *args)
{
	report_args__init(args);
	args->usual_rows = RECORD_ROW_LIMIT;
}

void record_options__init(struct record_options *o, char **argv)
{
	memset(o, 0, sizeof(*o));
	o->detail = DETAIL_UNCHOSEN;
	o->capture.max_overhead = OVERHEAD_UNCHOSEN;
	o->capture.ring_bytes = 64 << 20;
	o->capture.command = (const char *const *)argv;
	record_options__init_report(&o->report);
}
