/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Reads CPython's state of the probed thread. */
#ifndef PROFTRACE_PYTHON_THREAD_BPF_H
#define PROFTRACE_PYTHON_THREAD_BPF_H

#include "python_object.bpf.h"
#include "thread.bpf.h"

/* Threads of Python among which one is looked for: so many groups of so many. */
#define PT_PYTHON_GROUPS 16
#define PT_PYTHON_GROUP	 16

/* This state or one behind it, if it is the thread's own; else the one that the interpreter keeps behind
 * these; 0: there is none. */
__weak __noinline __u64 python_thread_from(__u64 state, __u64 self)
{
	const struct pt_python_thread *p = &ctl.layout.python_thread;

	for (int n = 0; n < PT_PYTHON_GROUP && state; n++) {
		if (read_u64(state + p->id) == self)
			return state;
		state = read_u64(state + p->next);
	}
	return state;
}

/* CPython's state of the current thread, 0: there is none. Global functions: the verifier follows
 * the search once, not for each caller. */
__weak __noinline __u64 python_thread(struct pt_thread *t)
{
	const struct pt_python_thread *p = &ctl.layout.python_thread;
	__u64 self = thread_pointer(), state;

	if (!t)
		return 0;
	state = t->python;
	if (state && read_u64(state + p->id) == self)
		return state;
	t->python = 0;
	state = read_u64(p->threads_at);
	for (int i = 0; i < PT_PYTHON_GROUPS && state; i++) {
		state = python_thread_from(state, self);
		if (state && read_u64(state + p->id) == self) {
			t->python = state;
			return state;
		}
	}
	return 0;
}

/* The innermost frame of a thread state. */
static __always_inline __u64 python_frame(__u64 state)
{
	const struct pt_python_thread *p = &ctl.layout.python_thread;
	__u64 at = read_u64(state + p->frame);

	return at && p->cframe ? read_u64(at + p->cframe_frame) : at;
}

/* The running frame of the thread with the interpreter's lock, if it runs this code. Else 0: other
 * code also reads code objects. */
static __always_inline __u64 python_executing(__u64 code)
{
	const struct pt_python *p = &ctl.layout.python;
	__u64 frame = python_frame(read_u64(p->thread_at));

	return frame && read_u64(frame + p->frame_code) == code ? frame : 0;
}

/* The exception that the thread handles. 0: none. */
static __always_inline __u64 python_exception(struct pt_thread *t)
{
	const struct pt_python_thread *p = &ctl.layout.python_thread;
	__u64 state = p->threads_at ? python_thread(t) : 0;
	__u64 handled = state ? read_u64(state + p->handled) : 0;

	return handled ? read_u64(handled + p->exception) : 0;
}

static __always_inline bool python_is_stop(__u64 exception)
{
	__u64 stop = ctl.layout.python_thread.stop_iteration;

	return exception && stop && read_u64(exception + PT_PY_TYPE) == stop;
}

#endif
