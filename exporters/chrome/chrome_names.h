/* SPDX-License-Identifier: BSD-2-Clause */
/* The text that the Chrome exporter prints for a name, made once per name instead of per event. */
#ifndef PROFTRACE_CHROME_NAMES_H
#define PROFTRACE_CHROME_NAMES_H

#include "recording/recording.h"

enum chrome_dialect { DIALECT_KINETO, DIALECT_TB };

/* What Kineto prints for a parameter that is no described tensor. */
enum chrome_param { PARAM_OTHER, PARAM_TENSOR, PARAM_TENSOR_LIST, PARAM_SCALAR, PARAM_SCALAR_LIST };

/* Which args an event of the name gets. */
enum chrome_role { ROLE_ANNOTATION, ROLE_OPERATOR, ROLE_LAUNCH, ROLE_DEVICE, ROLE_SYNC };

struct chrome_name {
	char *head; /* `{"ph":"X","cat":...,"name":"..."`; the quoted name starts at head + quoted
		     */
	size_t head_len, quoted;
	enum chrome_role role;
	uint8_t category; /* enum span_category */
	uint8_t *params;  /* enum chrome_param by position in the schema */
	size_t param_cnt;
	char *full;	  /* quoted full name of an operator; NULL: unknown */
	const char *collective; /* for a kernel of a collective library: "nccl:all_reduce"; or
				   NULL */
};

struct chrome_names {
	struct chrome_name *names; /* by name id; 0 is for events without a name */
	uint32_t cnt;
	char **dtypes; /* quoted, by the recording's dtype */
	size_t dtype_cnt;
	bool shapes; /* tensors are described */
	bool values; /* so are other arguments */
};
/* Does its signature have arguments, but no tensors? The recording has none of these. */
bool chrome_name__takes_no_tensor(const struct chrome_name *n);

int chrome_names__make(const struct recording *r, enum chrome_dialect dialect,
		       struct chrome_names *out);
void chrome_names__free(struct chrome_names *n);

/* Parameters of a signature `ns::op(Tensor self, int[2] x=[1, 1], *, bool y) -> Tensor`. Returns
 * their count, writes at most max; 0 if it is no signature. */
size_t chrome_schema__params(const char *schema, uint8_t *params, size_t max);

#endif
