/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library in the target is wanted to do, and whether it does: a command goes out at once,
 * the answer is waited for by looking.
 */
#ifndef PROFTRACE_SHIM_WISH_H
#define PROFTRACE_SHIM_WISH_H

#include "device/shim_link.h"

/* Zeroed at first, but for the link, which is borrowed. */
struct shim_wish {
	struct shim_link *link;
	bool recording, asked; /* wanted is that it records; a command for it went out */
	uint32_t seq;
	uint64_t asked_ns;
	bool late;	   /* it was asked to record, and did not in time */
	char refused[256]; /* why it does not record, since it was asked to last */
};

/* Asks it to be recording (or not), unless that was asked last. */
void shim_wish__want(struct shim_wish *w, bool recording);
/* It ends at once if it was wanted to record, and leaves CUPTI to another tool, with the activity
 * kinds, a bit each, that this one has enabled. */
void shim_wish__yield(struct shim_wish *w, uint64_t kinds);
/* It records no more, or has less, for a reason of ours, a clause. */
void shim_wish__give_up(struct shim_wish *w, const char *why);
/* True if the wish has come true or cannot: nothing is to be waited for. now: CLOCK_MONOTONIC ns. */
bool shim_wish__settled(struct shim_wish *w, uint64_t now);
/* Why it does not record, as a clause; NULL: it does, or nothing speaks against it. */
const char *shim_wish__refusal(const struct shim_wish *w);

#endif
