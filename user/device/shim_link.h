/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proftrace's end of the memory that it shares with the library in the target
 * (cupti_shim/protocol.h): the file, commands, and the contents of the rings. The target may write
 * anything there at any time, so nothing in it is trusted.
 */
#ifndef PROFTRACE_SHIM_LINK_H
#define PROFTRACE_SHIM_LINK_H

#include "cupti_shim/protocol.h"
#include <sys/types.h>

struct shim_link;

/* Makes an empty file that only its owner can read. 0 or a negative errno with err__set. */
int shim_link__create(struct shim_link **out);
/* Takes over a file that the library made. fd stays the caller's. 0 or a negative errno with
 * err__set; -EPROTO: the file has another version, or is no such file. */
int shim_link__adopt(int fd, struct shim_link **out);
/* Tells the library to leave, without waiting, and removes the file. l may be NULL. */
void shim_link__free(struct shim_link *l);
/* The path for the library: the argument of proftrace_cupti_attach(), or $PROFTRACE_SHIM. */
const char *shim_link__path(const struct shim_link *l);
/* Removes the file's name once the library has opened it. shim_link__beat() does this, too. */
void shim_link__unlink(struct shim_link *l);

/* The libcupti to load if the process has none. path empty: the CUDA version to look for, 0: any.
 * Call it before the first command. */
void shim_link__set_cupti(struct shim_link *l, const char *path, unsigned int major);
/* Only functions are wanted, nothing of CUPTI. Call it before the first command. */
void shim_link__set_alone(struct shim_link *l, bool functions_alone);
/* Waits of streams and threads, and records of events, are wanted, too. Call it before the first
 * window. */
void shim_link__set_waits(struct shim_link *l, bool waits);
/* Only this process may use the file, even if others know the path. pid: its own number in its
 * namespace. */
void shim_link__set_pid(struct shim_link *l, uint32_t pid);

/* Sets the process's clock, which a time namespace may shift. Call it before the first command. 0
 * or a negative errno with err__set. */
int shim_link__set_clock(struct shim_link *l, pid_t pid);

/* The functions that the library sees while it records; see the protocol. Call it before the
 * command to record. -ENOSPC: too many. */
struct shim_functions {
	const struct shim_function *functions;
	size_t function_cnt;
	const struct shim_pointer *pointers; /* pointers of one page are adjacent */
	size_t pointer_cnt;
	uint32_t node_seq, node_object;
	uint64_t python_node, node_number, python_hash;
	struct shim_named_call named_calls[SHIM_NAMED_CALLS];
	uint64_t named_at;
};
int shim_link__set_functions(struct shim_link *l, const struct shim_functions *f);
/* From the next recording on, the library does not see this function. */
void shim_link__drop_function(struct shim_link *l, size_t index);
/* The number of pointers that lead to the library's functions now. */
size_t shim_link__pointers_set(const struct shim_link *l);

/* Sends a heartbeat; needed at least once per second. The library leaves after five seconds without
 * one. */
void shim_link__beat(struct shim_link *l);
/* From now on a thread of its own sends heartbeats. The library stops recording at once when this
 * program ends in any way, and after five seconds when it is stopped. The thread also empties the
 * rings of calls while nobody reads them. */
int shim_link__keep_alive(struct shim_link *l);
/* The activity kinds, a bit each, that another tool has enabled. SHIM_YIELD leaves these on. */
void shim_link__keep_kinds(struct shim_link *l, uint64_t kinds);
/* Sends a command. Returns its number, for shim_link__is_done(). */
uint32_t shim_link__command(struct shim_link *l, enum shim_command command);
bool shim_link__is_done(const struct shim_link *l, uint32_t seq);

enum shim_state shim_link__state(const struct shim_link *l);
/* Did the process truncate the file? What was read since is zeros, and its state is SHIM_LEFT. */
bool shim_link__is_torn(const struct shim_link *l);
uint32_t shim_link__pid(const struct shim_link *l); /* its number as it sees it; 0: no process
						       yet */
/* Why the last command failed, as a clause like "another tool uses CUPTI". NULL: it did not
 * fail. */
const char *shim_link__error(struct shim_link *l);

/* A copy of plain facts of the library. */
struct shim_facts {
	uint32_t cupti_version;
	bool own_clock, finalized, exited;
	uint32_t stays; /* enum shim_stay, or anything that the target wrote */
	struct shim_clock_point clock_begin, clock_end;
	/* losses by place; lost_rings: calls and activities whose ring was full */
	uint64_t lost_rings, lost_threads, lost_cupti, lost_incomplete, lost_buffers;
	struct shim_failed failed[SHIM_FAILURES];
	uint64_t note_ns; /* time to note a call of a function */
	uint64_t malformed; /* invalid records, counted by this side */
};
void shim_link__facts(const struct shim_link *l, struct shim_facts *out);
/* Did the library leave CUPTI to another tool in the latest window? */
bool shim_link__has_left(const struct shim_link *l);

/* Reads what the rings hold now. Stops at a callback's error and returns it. The record of that
 * callback counts as read. */
int shim_link__calls(struct shim_link *l,
		     int (*take)(void *ctx, size_t ring, uint32_t tid,
				 const struct shim_call *call),
		     void *ctx);
/* The text of the name with this key, which a call of a function carries. False: there is none. */
bool shim_link__seen_name(const struct shim_link *l, uint64_t key,
			  char text[SHIM_SEEN_NAME_MAX + 1]);
/* Each record is complete, and as long as its kind demands. */
int shim_link__activities(struct shim_link *l,
			  int (*take)(void *ctx, const struct shim_record *record), void *ctx);

#endif
