// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include "frameworks/framework.h"

extern const struct framework framework_mindspore;
extern const struct framework framework_mxnet;
extern const struct framework framework_paddle;
extern const struct framework framework_pytorch;

static const struct framework *const frameworks[] = {
	&framework_pytorch, &framework_mindspore, &framework_mxnet, &framework_paddle, NULL,
};

const struct framework *const *frameworks__all(void)
{
	return frameworks;
}

const struct framework *frameworks__find(const char *name)
{
	for (size_t i = 0; frameworks[i]; i++)
		if (!strcmp(frameworks[i]->name, name))
			return frameworks[i];
	return NULL;
}

static bool has_library(const struct target *t, const struct framework *f)
{
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "%s*", f->library);
	return target__find_lib(t, pattern);
}

static void name_others(const struct target *t, struct framework_match *m)
{
	size_t len = 0;

	m->others[0] = '\0';
	for (size_t i = 0; frameworks[i]; i++)
		if (frameworks[i] != m->framework && has_library(t, frameworks[i]))
			len += (size_t)snprintf(m->others + len, sizeof(m->others) - len, "%s%s",
						len ? ", " : "", frameworks[i]->title);
}

int frameworks__recognise(struct target *t, const struct framework *only, struct framework_match *m)
{
	int found = 0;

	m->framework = NULL;
	for (size_t i = 0; frameworks[i] && !found; i++)
		if (!only || frameworks[i] == only)
			found = frameworks[i]->recognise(t, m);
	if (found < 0)
		return found;
	name_others(t, m);
	return 0;
}
