// SPDX-License-Identifier: BSD-2-Clause
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

int frameworks__recognise(struct target *t, struct framework_match *m)
{
	for (size_t i = 0; frameworks[i]; i++) {
		int found = frameworks[i]->recognise(t, m);

		if (found)
			return found < 0 ? found : 0;
	}
	m->framework = NULL;
	return 0;
}
