/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between the monitor's two processes, over a pair of SEQPACKET sockets. The parent has
 * rights and starts sessions. The exporter has no rights, reads figures and answers HTTP. The
 * parent trusts no number from the exporter: each is bounded where it is used.
 */
#ifndef PROFTRACE_MONITOR_MESSAGES_H
#define PROFTRACE_MONITOR_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "monitor/job_key.h"
#include "monitor/push_message.h"

#define RECORDING_NAME 160 /* bytes of a name in the store, with its NUL */

enum unwatched {
	UNWATCHED_NO_FRAMEWORK, /* its maps contain no library of a framework */
	UNWATCHED_PART_OF_JOB,	/* a launcher whose ranks may be watched, or a worker of a rank */
	UNWATCHED_DENIED,
	UNWATCHED_NOT_ALLOWED,
	UNWATCHED_YOUNG,
	UNWATCHED_BACKOFF, /* an attach failed, or events were lost */
	UNWATCHED_TOO_MANY,
	UNWATCHED_QUEUED, /* only some sessions begin at each scan */
	UNWATCHED_LIMIT,  /* the monitor is at its limit of processors or memory */
	UNWATCHED_CNT,
};
extern const char *const unwatched_names[UNWATCHED_CNT];

enum window_result {
	WINDOW_OK,
	WINDOW_LOST,	   /* events were lost; its times are not exported */
	WINDOW_EMPTY,	   /* no whole step */
	WINDOW_UNREADABLE, /* `report` failed, or its output is impossible */
	WINDOW_TIMEOUT,	   /* its file was not complete in time */
	WINDOW_TOO_LARGE,  /* more steps or operators than we read, or too many bytes */
	WINDOW_RESULT_CNT,
};
extern const char *const window_result_names[WINDOW_RESULT_CNT];

/* The result of a window of all ranks of a job at the same moment. */
enum job_window_result {
	JOB_WINDOW_OK,
	JOB_WINDOW_PARTIAL, /* with some ranks of this host only */
	JOB_WINDOW_FAILED,  /* with fewer than two ranks, or with an unreadable report */
	JOB_WINDOW_RESULT_CNT,
};
extern const char *const job_window_result_names[JOB_WINDOW_RESULT_CNT];

/* Why a rank is missing in such a window. */
enum job_missing {
	JOB_MISSING_NOT_READY, /* the rank is not watched, or its steps are not counted yet */
	JOB_MISSING_LOSS,      /* no window of the rank opens for some time after lost events */
	JOB_MISSING_BUSY,      /* its previous window was open or being read, or windows are held */
	JOB_MISSING_WINDOW,    /* its window gave no figures, or its session ended */
	JOB_MISSING_CNT,
};
extern const char *const job_missing_names[JOB_MISSING_CNT];

enum attach_failure {
	ATTACH_FAILED,	/* the session ended with an error; its message is in the log */
	ATTACH_KILLED,	/* the session was killed by a signal */
	ATTACH_TIMEOUT, /* the session was not ready in time */
	ATTACH_FAILURE_CNT,
};
extern const char *const attach_failure_names[ATTACH_FAILURE_CNT];

enum reload_result { RELOAD_OK, RELOAD_REFUSED, RELOAD_CNT };
extern const char *const reload_names[RELOAD_CNT];

/* Why no window may open. */
enum hold {
	HOLD_NONE,
	HOLD_DISK,     /* the store's file system is nearly full */
	HOLD_CPU,      /* --cpu */
	HOLD_MEMORY,   /* --memory */
	HOLD_PRESSURE, /* --max-pressure: others need the host's processors */
	HOLD_CNT,
};
extern const char *const hold_names[HOLD_CNT];

struct rank_info {
	uint32_t id; /* of a session; never reused */
	pid_t pid;
	int rank; /* -1: not known */
	struct job_key key;
	uid_t uid;
	uint64_t start_ticks;
};

/* Is it the same job of the same user in the same container? The process chooses the name itself, so the name alone
 * does not suffice. */
bool rank_info__is_same_job(const struct rank_info *a, const struct rank_info *b);

enum watch_state {
	WATCH_ATTACHING,
	WATCH_WAITING, /* waits for the next window */
	WATCH_RECORDING,
	WATCH_READING, /* the window's figures are being made */
	WATCH_ENDING,
	WATCH_STATE_CNT,
};
extern const char *const watch_state_names[WATCH_STATE_CNT];

/* Do the rank's windows have device times? */
enum device_times {
	DEVICE_TIMES_OFF, /* without --device-times, or not known yet */
	DEVICE_TIMES_WITHOUT_CUDA,
	DEVICE_TIMES_RECORDED,
	DEVICE_TIMES_REFUSED, /* by our library or the process, see device_why */
	DEVICE_TIMES_CNT,
};
extern const char *const device_times_names[DEVICE_TIMES_CNT];

#define DEVICE_WHY 160 /* bytes of a reason, with its NUL */

struct rank_state {
	uint32_t id;
	enum watch_state state;
	uint64_t steps;	   /* steps since this session began */
	double watched_s;  /* time since the session was ready */
	double learn_s;	   /* the time before that */
	double unread_s;   /* total time of windows without figures */
	double duty;
	double cpus;	   /* processors that its threads use; negative: unknown */
	double growth; /* schedule__growth(); 0: unknown */
	enum device_times device_times;
	char device_why[DEVICE_WHY];
	double lead_s;	   /* so early a window must be asked for, to open at a time that a user chose */
	bool is_asked;	   /* a user has asked for a window, which opens later */
};

/* The window's JSON comes as a descriptor with this message. */
struct window_ready {
	uint32_t id;
	uint32_t job_window; /* the window of all ranks that it is part of; 0: none */
	double seconds; /* how long the window was open */
	char file[RECORDING_NAME];
};

struct rank_end {
	uint32_t id;
	bool lives; /* the process lives, so that another session may begin */
};

struct monitor_counts {
	uint64_t windows[WINDOW_RESULT_CNT], attach_failures[ATTACH_FAILURE_CNT];
	uint64_t job_windows[JOB_WINDOW_RESULT_CNT], job_missing[JOB_MISSING_CNT];
	uint64_t unwatched[UNWATCHED_CNT];
	uint64_t events_lost;
	uint64_t anonymous_bytes, bpf_bytes;
	double cpu_s, start_time_s, budget;
	enum hold hold;
	uint64_t reloads[RELOAD_CNT];
	uint64_t pushes[PUSH_TO_CNT][PUSH_RESULT_CNT];
};

enum page_result {
	PAGE_OK,
	PAGE_GONE,   /* the recording was removed */
	PAGE_FAILED, /* the page could not be made, or is too large */
	PAGE_BUSY,   /* too many requests */
	PAGE_RESULT_CNT,
};

/* A page of a recording, which comes as a descriptor with the message. */
struct page_made {
	enum page_result result;
	char file[RECORDING_NAME];
};

/* Why a recording is kept longer than others. */
enum keep_as {
	KEEP_BASELINE, /* from the first windows of a job, for comparison */
	KEEP_ALARM,    /* made because steps take longer */
	KEEP_CNT,
};

/* A window that was recorded because of an alarm, compared with the baseline by `proftrace diff`. The comparison comes
 * as a descriptor with the message. The files are names in the store. */
struct alarm_made {
	uint32_t id;
	char baseline[RECORDING_NAME], recording[RECORDING_NAME];
};

enum tell_kind {
	TELL_BEGIN,
	TELL_STATE,
	TELL_WINDOW,
	TELL_END,
	TELL_COUNTS,
	TELL_PAGE,
	TELL_METRICS, /* asks the exporter for the metrics as OTLP */
	/* the report of the recordings of a window of all ranks; its JSON comes as a descriptor with the message */
	TELL_JOB_WINDOW,
	TELL_ALARM,
};

struct message {
	enum tell_kind kind;
	union {
		struct rank_info begin;
		struct rank_state state;
		struct window_ready window;
		struct rank_end end;
		struct monitor_counts counts;
		struct page_made page;
		uint32_t job_window;
		struct alarm_made alarm;
	};
};

#define REQUEST_STEPS_MAX 1000		       /* most steps of a requested window */
#define REQUEST_AHEAD_MAX_NS 600000000000ull /* a requested window opens at most so much later */

enum asked {
	ASKED_NOTHING,
	ASKED_WINDOW, /* asks for a window of `steps` steps (0: the usual number) at at_ns (0: now) */
	ASKED_PAGE,   /* asks for the page of `file` */
	ASKED_PUSH,   /* sends metrics to push; they come as a file with the message */
	ASKED_BASELINE, /* `file` is to be kept as the rank's baseline */
	ASKED_ALARM, /* steps take longer than in the baseline `file`: record a window and compare */
};

/* A message of the exporter: the facts of a window for the schedule, a user's request, or a sign of life (the answer to
 * TELL_COUNTS). */
struct window_answer {
	uint32_t id; /* 0: the message is about no rank */
	enum asked asked;
	char file[RECORDING_NAME];
	enum window_result result;
	uint64_t steps, lost;
	uint64_t at_ns; /* since 1970 */
	double overhead; /* time that probes added to the steps, as a fraction; 0: unknown */
	double step_s;	 /* mean step of the window; 0: unknown */
	uint8_t is_counted; /* the exporter has added this cost to the series */
};

#endif
