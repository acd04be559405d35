// SPDX-License-Identifier: BSD-2-Clause
/* One row for each command. Each command has its own cmd_*.c. */
#include "cli/help.h"
#include "common/suggest.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include <ctype.h>
#include <string.h>

extern const struct command command_record, command_run, command_report, command_diff,
	command_export, command_ctl, command_doctor, command_cpu, command_monitor, command_top,
	command_completion;

const struct command *const *commands__all(void)
{
	static const struct command *const rows[] = {
		&command_record,  &command_run, &command_report,     &command_diff,
		&command_export,  &command_ctl, &command_doctor,     &command_cpu,
		&command_monitor, &command_top, &command_completion, NULL,
	};

	return rows;
}

/* "record" is another name of the default command. */
const struct command *command__find(const char *name)
{
	if (name && strcmp(name, "record") == 0)
		name = NULL;
	for (const struct command *const *c = commands__all(); *c; c++) {
		const char *own = (*c)->name;

		if (name && own ? strcmp(name, own) == 0 : name == own)
			return *c;
	}
	return NULL;
}

int command__unknown(const char *name)
{
	struct suggestion near = {.word = name, .len = strlen(name)};

	if (isdigit((unsigned char)name[0]))
		return err__set(-EINVAL, MESSAGE_COMMAND_IS_PID, name, name);
	if (strcmp(name, "attach") == 0)
		return err__set(-EINVAL, MESSAGE_COMMAND_IS_RANGE, name);
	if (strstr(name, ".ptrec"))
		return err__set(-EINVAL, MESSAGE_COMMAND_IS_FILE, name, name);
	for (const struct command *const *c = commands__all(); *c; c++)
		if ((*c)->name)
			suggest__offer(&near, (*c)->name);
	if (near.best)
		return err__set(-EINVAL, MESSAGE_COMMAND_UNKNOWN_SUGGESTED, name, near.best);
	return err__set(-EINVAL, MESSAGE_COMMAND_UNKNOWN, name);
}
