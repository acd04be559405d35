// SPDX-License-Identifier: BSD-2-Clause
/*
 * The phase of operators by their place in the network. The metadata "scopes" lists begins of full
 * names with their phases; the first that fits counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/marks.h"

static enum span_category phase_category(const char *key)
{
	if (!key)
		return CAT_NONE;
	if (!strcmp(key, "backward"))
		return CAT_BACKWARD_NODE;
	if (!strcmp(key, "optimization"))
		return CAT_OPTIMIZER_OP;
	return strcmp(key, "forward") ? CAT_NONE : FORWARD_OP;
}

static enum span_category category_of(const json_t *scopes, const char *full)
{
	const json_t *scope;
	size_t i;

	json_array_foreach(scopes, i, scope)
	{
		const char *prefix = json_string_value(json_array_get(scope, 0));

		if (prefix && !strncmp(full, prefix, strlen(prefix)))
			return phase_category(json_string_value(json_array_get(scope, 1)));
	}
	return CAT_NONE;
}

int scopes__load(struct model *m)
{
	const json_t *scopes = json_object_get(recording__meta(m->r), "scopes");
	const uint32_t cnt = recording__name_cnt(m->r);

	if (!json_array_size(scopes))
		return 0;
	m->scopes = calloc((size_t)cnt + 1, sizeof(*m->scopes));
	if (!m->scopes)
		return -ENOMEM;
	for (uint32_t id = 1; id <= cnt; id++) {
		const char *full = recording__full_name(m->r, id);

		m->scopes[id] = full ? (uint8_t)category_of(scopes, full) : CAT_NONE;
		m->has_scopes |= m->scopes[id] != CAT_NONE;
	}
	return 0;
}

enum span_category scopes__category(const struct model *m, const struct span *s)
{
	const enum span_category cat = model__category(m, s);
	enum span_category scope = CAT_NONE;

	if (m->has_scopes && s->ev.overload <= recording__name_cnt(m->r))
		scope = m->scopes[s->ev.overload];
	if (cat == CAT_OPTIMIZER_OP || !scope)
		return cat; /* that it updates parameters says more than its place */
	return cat == CAT_OPERATOR || cat == CAT_BACKWARD_NODE || cat == CAT_COMMUNICATION ? scope
											   : cat;
}
