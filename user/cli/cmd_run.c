// SPDX-License-Identifier: BSD-2-Clause
/* `proftrace run -- command`: records a program from its start. */
#include "attach/privilege.h"
#include "capture/processes/freeze.h"
#include "cli/file_limit.h"
#include "cli/job_control.h"
#include "cli/record_checks.h"
#include "cli/record_options.h"
#include "cli/record_run.h"
#include "cli/signals.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/file_client.h"
#include "common/util.h"
#include "device/cupti_find.h"
#include "device/shim_library.h"
#include "device/shim_link.h"
#include "privilege/file_process.h"
#include "privilege/output_process.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

extern const struct command command_run;

/* the library that the CUDA driver loads when it is initialised */
#define INJECTION "CUDA_INJECTION64_PATH"

/* A file that is not here may exist where the program runs, such as in a container. A file that
 * this process cannot read is not judged. */
static int look_into_cupti(void *path)
{
	auto_close int fd = in_file__open(path);
	char own[32];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	return fd >= 0 && !access(own, R_OK) && cupti__check_file(path, fd) ? 1 : 0;
}

/* Checks --cupti before the program runs. A process without rights does it, while this one still
 * has them. */
static int check_cupti(char *path)
{
	struct file_places places = {0};
	int err = file_places__add_read(&places, path);

	if (!err && output_process__run(look_into_cupti, path, &places))
		err = cupti__refuse(path);
	file_places__free(&places);
	return err;
}

/*
 * Makes the shared memory, and sets two variables that make the program's CUDA driver load our
 * library. Without a driver nobody reads these variables.
 */
static int prepare_device(struct record_options *o)
{
	const char *library;
	int err;

	if (o->capture.no_inject)
		return 0;
	if (getenv(INJECTION)) {
		log__warn(MESSAGE_INJECTION_VARIABLE_SET, INJECTION);
		o->capture.no_inject = true;
		return 0;
	}
	library = shim_library__path();
	if (!library)
		return -ENOENT;
	err = shim_link__create(&o->capture.shim);
	if (err)
		return err;
	if (o->capture.cupti) {
		auto_free char *cupti = strdup(o->capture.cupti);

		err = cupti ? check_cupti(cupti) : -ENOMEM;
		if (err)
			return err;
		shim_link__set_cupti(o->capture.shim, o->capture.cupti, 0);
	}
	setenv(INJECTION, library, true);
	setenv(SHIM_ENV, shim_link__path(o->capture.shim), true);
	return 0;
}

static int not_started(const char *program, int exec_err)
{
	switch (exec_err) {
	case ENOENT:
		return err__set(-ENOENT, MESSAGE_PROGRAM_NOT_FOUND, program, strerror(exec_err));
	case EACCES:
		return err__set(-EACCES, MESSAGE_PROGRAM_NOT_PERMITTED, program,
				strerror(exec_err));
	default:
		return err__set(-exec_err, MESSAGE_PROGRAM_NOT_STARTED, program,
				strerror(exec_err));
	}
}

/* Starts the program. A failed exec is reported through a pipe. 0 or a negative errno. */
static int start(struct shim_link *shim, char **argv, pid_t *pid)
{
	int pipefd[2], exec_err = 0;
	ssize_t n;

	if (pipe2(pipefd, O_CLOEXEC))
		return -errno;
	*pid = fork();
	if (*pid < 0)
		return -errno;
	if (!*pid) {
		/* At first Ctrl-C is for proftrace: it ends the window, not the program. */
		setpgid(0, 0);
		/* The program's children may use the device, too, but are not recorded. */
		if (shim)
			shim_link__set_pid(shim, (uint32_t)getpid());
		file_limit__restore();
		execvp(argv[0], argv);
		exec_err = errno;
		n = UNINTERRUPTED(write(pipefd[1], &exec_err, sizeof(exec_err)));
		_exit(n == sizeof(exec_err) ? 127 : 126);
	}
	close(pipefd[1]);
	n = UNINTERRUPTED(read(pipefd[0], &exec_err, sizeof(exec_err)));
	close(pipefd[0]);
	return n == sizeof(exec_err) ? not_started(argv[0], exec_err) : 0;
}

/* A program that is recorded from its begin must not run on while proftrace prepares. */
static bool needs_freeze(const struct capture_opts *o)
{
	return o->no_steps && !o->start_at_ns && !o->start_after_ns;
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(int argc, char **argv)
{
	struct record_options o;
	int rest, err, status = 0, result;
	siginfo_t ended = {0};
	struct freeze *frozen = NULL;
	pid_t pid = 0;

	record_options__init(&o, argv);
	o.tables.beside_program = true;
	err = opts__parse(&command_run, argc, argv, &o, true, &rest);
	if (!err && rest >= argc)
		err = err__set(-EINVAL, MESSAGE_PROGRAM_MISSING);
	if (!err)
		err = record_checks__set_defaults(&o);
	if (!err)
		err = privilege__require(); /* checked early, before the program runs in vain */
	if (!err)
		err = prepare_device(&o);
	if (!err)
		err = start(o.capture.shim, argv + rest, &pid);
	if (!err && needs_freeze(&o.capture))
		frozen = freeze__begin(pid, true);
	if (!err && o.capture.shim)
		err = shim_link__keep_alive(o.capture.shim);
	if (err) {
		shim_link__free(o.capture.shim);
		return cli__fail(err);
	}
	signals__pass_to(pid);
	job_control__begin(pid);
	o.capture.pid = pid;
	o.capture.await_framework = true;
	o.capture.frozen = &frozen;
	result = record_run(&o);
	file_process__leave();
	freeze__thaw(frozen);
	/* The program goes on. proftrace waits for it as a shell would, and returns its exit
	 * status. */
	signals__pass_all();
	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) && errno == EINTR &&
	       signals_stop.asked < 3)
		;
	job_control__end();
	if (waitpid(pid, &status, WNOHANG) == pid && exit_status(status))
		log__warn(MESSAGE_PROGRAM_FAILED, exit_status(status));
	return exit_status(status) ? exit_status(status) : result;
}

static const struct opt opts[] = {
	{OPT_INCLUDE, .include = record_opts},
	{OPT_END},
};

const struct command command_run = {
	.name = "run",
	.usage = "[options] -- COMMAND [ARG...]",
	.summary = "Starts a program and profiles it from its first steps.",
	.details = "The program is started unchanged. Probes are attached while it imports its "
		   "framework. Its first steps show what a step is and what probes cost; step 0 is "
		   "the first whole step after them. The program runs on after the window. If it "
		   "fails, its exit status is passed on. Standard output belongs to the program: "
		   "tables go to standard error, or to --report-file. SIGTERM, SIGHUP, SIGUSR1 and "
		   "SIGUSR2 are passed on to it. Ctrl-C ends the window, and after that reaches "
		   "the program. If the program reads the terminal, Ctrl-C reaches it at once, and "
		   "what was recorded until it ends is kept. Ctrl-Z stops both.",
	.examples = "sudo proftrace run --record 2:10 -- python train.py  # steps 2 to 9\n"
		    "sudo proftrace run --schedule wait=1,warmup=1,active=4,repeat=3 -- python "
		    "train.py",
	.opts = opts,
	.run = run,
};
