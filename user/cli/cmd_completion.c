// SPDX-License-Identifier: BSD-2-Clause
#include "cli/help.h"
#include "common/err.h"
#include "cli/message_table.h"
#include <errno.h>

extern const struct command command_completion;

static int run(const struct command *const *all, int argc, char **argv)
{
	int rest, err;

	err = opts__parse(&command_completion, argc, argv, NULL, false, &rest);
	if (err)
		return cli__fail(err);
	if (argc - rest != 1)
		return cli__fail(err__set(-EINVAL, MESSAGE_COMPLETION_SHELL_MISSING));
	err = completion__print(all, argv[rest], stdout);
	return err ? cli__fail(err) : 0;
}

const struct command command_completion = {
	.name = "completion",
	.usage = "bash|zsh|fish",
	.summary = "Prints the completion script for a shell.",
	.details = "make install puts the scripts where the shells look for them; this command is "
		   "for everywhere else.",
	.examples = "source <(proftrace completion bash)  # complete in this bash\n"
		    "proftrace completion fish > ~/.config/fish/completions/proftrace.fish  # in "
		    "every fish from now on",
	.run_on_all = run,
};
