/* SPDX-License-Identifier: BSD-2-Clause */
/* All points between two of our actions on the target, so that a test can kill proftrace at
 * each. */
#ifndef PROFTRACE_INJECT_STEPS_H
#define PROFTRACE_INJECT_STEPS_H

#define INJECT_STEPS(X)                                                                            \
	X(SEIZED)                                                                                  \
	X(STOPPED)                                                                                 \
	X(CHECKED)                                                                                 \
	X(STUB_WRITTEN)                                                                            \
	X(REGS_SET)                                                                                \
	X(MASK_SET)                                                                                \
	X(STUB_RUNS)                                                                               \
	X(STUB_HELD)                                                                               \
	X(MAIN_WRITTEN)                                                                            \
	X(MAIN_SET)                                                                                \
	X(MAIN_RUNS)                                                                               \
	X(MAIN_HELD)                                                                               \
	X(STUB_CLEARED)                                                                            \
	X(VECTORS_BACK)                                                                            \
	X(MASK_BACK)                                                                               \
	X(REGS_BACK)                                                                               \
	X(DETACHED)                                                                                \
	X(GO)                                                                                      \
	X(FD_READY)                                                                                \
	X(FILLED)                                                                                  \
	X(ENDED)                                                                                   \
	X(RELEASED)

#define INJECT_STEP_ID(name) INJECT_STEP_##name,
enum inject_step { INJECT_STEPS(INJECT_STEP_ID) INJECT_STEP_CNT };
#undef INJECT_STEP_ID

/* Called after each step if not NULL. For tests. */
extern void (*inject_step_hook)(enum inject_step step);

static inline void inject_step(enum inject_step step)
{
	if (inject_step_hook)
		inject_step_hook(step);
}

#endif
