/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that are too long for the ring's records. Each is read once from the programs' table. */
#ifndef PROFTRACE_LONG_NAMES_USER_H
#define PROFTRACE_LONG_NAMES_USER_H

#include "bpf/long_names.h"
#include <stdbool.h>
#include <stdint.h>

struct long_names;

struct long_name {
	char *text;  /* with its domain, which ends in "::" */
	bool is_cut; /* the rest of the name is unknown */
};

/* table_fd: a map of row_cnt rows, -1: only long_names__put() adds names. The programs count the rows that they add in
 * *in_table. */
struct long_names *long_names__new(int table_fd, uint32_t row_cnt, uint32_t *in_table);
void long_names__free(struct long_names *n);

/* The name of the key; NULL: it is not there, or no memory. Valid until the next call of one of these functions. */
const struct long_name *long_names__at(struct long_names *n, uint64_t key);
/* Adds a text. Returns 0 or -ENOMEM. */
int long_names__put(struct long_names *n, uint64_t key, const struct pt_long_name *name);

/* If the table is half full, moves all names out of it. Returns 0 or -ENOMEM. */
int long_names__drain(struct long_names *n);

#endif
