/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proftrace's end of the memory that it shares with the library in the target
 * (cupti_shim/protocol.h): the file, commands, and what the rings hold. The target may write
 * anything there at any time: nothing that is read from it is believed.
 */
#ifndef PROFTRACE_SHIM_LINK_H
#define PROFTRACE_SHIM_LINK_H

#include "cupti_shim/protocol.h"
#include <sys/types.h>

struct shim_link;

/* Makes the file, empty, readable by its owner alone. 0 or a negative errno with err__set. */
int shim_link__create(struct shim_link **out);
/* Takes over a file that the library has made; fd stays the caller's. 0 or a negative errno with
 * err__set: -EPROTO if it is of another version, or no such file at all. */
int shim_link__adopt(int fd, struct shim_link **out);
/* Tells the library to leave, without waiting, and removes the file. NULL is fine. */
void shim_link__free(struct shim_link *l);
/* What the library is given: proftrace_cupti_attach(path), or $PROFTRACE_SHIM. */
const char *shim_link__path(const struct shim_link *l);
/* The file's name goes once the library has it open; done by shim_link__beat() too. */
void shim_link__unlink(struct shim_link *l);

/* A libcupti to load where the process has none, or (path empty) of which CUDA to look for one, 0:
 * any; before the first command. */
void shim_link__set_cupti(struct shim_link *l, const char *path, unsigned int major);
/* Nothing of CUPTI is wanted, only functions; before the first command. */
void shim_link__set_alone(struct shim_link *l, bool functions_alone);
/* What streams and threads wait for is wanted, too, and records of events; before the first window. */
void shim_link__set_waits(struct shim_link *l, bool waits);
/* No other process shall take the file, though it may know the path: pid as it sees itself. */
void shim_link__set_pid(struct shim_link *l, uint32_t pid);

/* The process's clock, which a time namespace may shift: before the first command. 0 or a negative
 * errno with err__set. */
int shim_link__set_clock(struct shim_link *l, pid_t pid);

/* What the library is to see of functions while it records; texts of the protocol tell how. Before
 * it is told to record. -ENOSPC: these are too many. */
struct shim_functions {
	const struct shim_function *functions;
	size_t function_cnt;
	const struct shim_pointer *pointers; /* of the same page one behind the other */
	size_t pointer_cnt;
	uint32_t node_seq, node_object;
	uint64_t python_node, node_number, python_hash;
	struct shim_named_call named_calls[SHIM_NAMED_CALLS];
	uint64_t named_at;
};
int shim_link__set_functions(struct shim_link *l, const struct shim_functions *f);
/* From the next time it begins to record: this one no more. */
void shim_link__drop_function(struct shim_link *l, size_t index);
/* Pointers that lead to the library's functions now. */
size_t shim_link__pointers_set(const struct shim_link *l);

/* "I live": at least once a second. Without it for five the library leaves by itself. */
void shim_link__beat(struct shim_link *l);
/* Beats from a thread of its own from now on. The library parks at once when this program ends,
 * however that happens, and after five seconds when it is stopped. That thread also keeps the rings
 * of calls from filling up while nobody takes what they hold. */
int shim_link__keep_alive(struct shim_link *l);
/* Activity kinds that another tool has enabled, a bit each, for SHIM_YIELD to leave on. */
void shim_link__keep_kinds(struct shim_link *l, uint64_t kinds);
/* Gives a command and its number, by which it is asked for. */
uint32_t shim_link__command(struct shim_link *l, enum shim_command command);
bool shim_link__is_done(const struct shim_link *l, uint32_t seq);

enum shim_state shim_link__state(const struct shim_link *l);
/* The process cut off the file; what was read since is zeros. Its state is SHIM_LEFT then. */
bool shim_link__is_torn(const struct shim_link *l);
uint32_t shim_link__pid(const struct shim_link *l); /* as the target sees it; 0: nobody yet */
/* Of the last command that failed: a sentence's end, as in "another tool uses CUPTI"; NULL: none.
 */
const char *shim_link__error(struct shim_link *l);

/* Plain facts of the library's side, copied. */
struct shim_facts {
	uint32_t cupti_version;
	bool own_clock, finalized, exited;
	uint32_t stays; /* enum shim_stay, or what the target wrote there */
	struct shim_clock_point clock_begin, clock_end;
	/* losses, by place; rings: calls and activities that found theirs full */
	uint64_t lost_rings, lost_threads, lost_cupti, lost_incomplete, lost_buffers;
	struct shim_failed failed[SHIM_FAILURES];
	uint64_t note_ns; /* of a call of a function */
	uint64_t malformed; /* records that could not be what they say; seen by us */
};
void shim_link__facts(const struct shim_link *l, struct shim_facts *out);
/* CUPTI was left to another tool in the latest window. */
bool shim_link__has_left(const struct shim_link *l);

/* Takes what the rings hold now. A callback's error ends it and is returned; what it was called for
 * counts as read. */
int shim_link__calls(struct shim_link *l,
		     int (*take)(void *ctx, size_t ring, uint32_t tid,
				 const struct shim_call *call),
		     void *ctx);
/* The text of the name whose key a call of a function has; false: none is there. */
bool shim_link__seen_name(const struct shim_link *l, uint64_t key,
			  char text[SHIM_SEEN_NAME_MAX + 1]);
/* The record is whole, and as long as its kind demands. */
int shim_link__activities(struct shim_link *l,
			  int (*take)(void *ctx, const struct shim_record *record), void *ctx);

#endif
