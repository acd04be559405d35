/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of names that are too long for the ring's records: read from the programs' table once each.
 */
#ifndef PROFTRACE_LONG_NAMES_USER_H
#define PROFTRACE_LONG_NAMES_USER_H

#include "bpf/long_names.h"
#include <stdbool.h>
#include <stdint.h>

struct long_names;

struct long_name {
	char *text;  /* with its domain, which "::" ends */
	bool is_cut; /* there was more of it */
};

/* A map of row_cnt rows. The programs count what they add in *in_table. table_fd -1: the map has only what
 * long_names__put() adds. */
struct long_names *long_names__new(int table_fd, uint32_t row_cnt, uint32_t *in_table);
void long_names__free(struct long_names *n);

/* NULL: it is not there, or no memory. Valid until the next call of any of these. */
const struct long_name *long_names__at(struct long_names *n, uint64_t key);
/* Keeps a text; 0 or -ENOMEM. */
int long_names__put(struct long_names *n, uint64_t key, const struct pt_long_name *name);

/* Takes all out of the table if it is half full. 0 or -ENOMEM. */
int long_names__drain(struct long_names *n);

#endif
