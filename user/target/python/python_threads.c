// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_threads.h"
#include <errno.h>
#include "common/util.h"
#include "target/python/python_layout.h"

/* more states mean an invalid list, or one that changed while it was read */
#define MAX_STATES 4096

/* A pthread_t of glibc points to a struct pthread, which begins with tcbhead_t. Measured on 2.36.
 * The pointer to itself, and the thread's existence, show whether the layout fits. */
#define DESCRIPTOR_SELF 16
#define DESCRIPTOR_TID	720

int python_threads__id_of(const struct target *t, uint64_t pthread, uint64_t *id)
{
	uint64_t self;
	uint32_t tid;

	if (target__read(t, pthread + DESCRIPTOR_SELF, &self, sizeof(self)) ||
	    target__read(t, pthread + DESCRIPTOR_TID, &tid, sizeof(tid)))
		return -EFAULT;
	if (self != pthread)
		return -ENOTSUP;
	*id = tid;
	return 0;
}

static int state_id(const struct target *t, const struct python_layout *l, uint64_t state,
		    uint64_t *id)
{
	uint64_t pthread;

	if (l->native_id)
		return target__read(t, state + l->native_id, id, sizeof(*id));
	return target__read(t, state + l->thread.id, &pthread, sizeof(pthread))
		       ?: python_threads__id_of(t, pthread, id);
}

/* Reads each thread's own id from the states. 0: they have none. The list is not locked and may
 * change meanwhile. */
static size_t read_states(struct target *t, uint64_t ids[MAX_STATES])
{
	struct python_layout l;
	uint64_t state;
	size_t cnt = 0;

	if (python_layout__of(t, &l) || target__read(t, l.thread.threads_at, &state, sizeof(state)))
		return 0;
	for (; state && cnt < MAX_STATES; cnt++)
		if (state_id(t, &l, state, &ids[cnt]) ||
		    target__read(t, state + l.thread.next, &state, sizeof(state)))
			return 0;
	return state ? 0 : cnt;
}

static bool has(const uint64_t *ids, size_t cnt, pid_t id)
{
	while (cnt && ids[cnt - 1] != (uint64_t)id)
		cnt--;
	return cnt;
}

int python_threads__list(struct target *t, pid_t **tids, size_t *cnt)
{
	auto_free uint64_t *ids = calloc(MAX_STATES, sizeof(*ids));
	auto_free struct target_thread *threads = NULL;
	size_t thread_cnt, state_cnt;
	int err = ids ? target__threads(t, &threads, &thread_cnt) : -ENOMEM;

	if (err)
		return err;
	*tids = calloc(thread_cnt + 1, sizeof(**tids));
	if (!*tids)
		return -ENOMEM;
	state_cnt = read_states(t, ids);
	*cnt = 0;
	for (size_t i = 0; i < thread_cnt; i++) {
		const pid_t tid = threads[i].tid;

		if (has(ids, state_cnt, t->foreign_pid_ns ? proc__innermost_tid(tid) : tid))
			(*tids)[(*cnt)++] = tid;
	}
	if (*cnt && *cnt == state_cnt)
		return 0;
	for (*cnt = 0; *cnt < thread_cnt; (*cnt)++) /* a state belongs to a thread that does not
						       exist */
		(*tids)[*cnt] = threads[*cnt].tid;
	return 0;
}
