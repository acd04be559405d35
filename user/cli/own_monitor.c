// SPDX-License-Identifier: BSD-2-Clause
#include "cli/own_monitor.h"
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include "attach/privilege.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/message_table.h"
#include "common/mounts.h"
#include "common/util.h"
#include "monitor/monitor.h"

/* SIGHUP keeps the options. */
static int keep_options(void *ctx, void (*apply)(void *to, const struct monitor_opts *opts),
			void *to)
{
	return err__set(-ENOENT, MESSAGE_OWN_MONITOR_WITHOUT_CONFIG);
}

static void set_opts(struct monitor_opts *o, const struct own_monitor *m, const struct rules *allow,
		     bool device_times)
{
	/* Somebody watches the job, so it records more than a permanent monitor does. */
	*o = (struct monitor_opts){
		.store = m->directory,
		.listen = m->socket,
		.token = m->token,
		.keep_bytes = 256u << 20,
		.window_steps = 20,
		.series_max = 5000,
		.ranks_max = 64,
		.budget = 0.02,
		.max_duty = 0.1,
		.device_times = device_times,
		.limits = {.cpu = 1, .memory_bytes = 1ul << 30, .pressure = 1},
		.reload = keep_options,
		.discovery = {.allow = *allow, .scan_ns = 1000000000},
	};
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static void remove_directory(const struct own_monitor *m)
{
	nftw(m->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int watch(const struct own_monitor *m, const struct monitor_opts *o, pid_t parent)
{
	const int none = open("/dev/null", O_RDWR | O_CLOEXEC);
	int err;

	/* Ctrl-C is for the process that draws. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || none < 0 || m->log < 0) {
		remove_directory(m);
		return 1;
	}
	dup2(none, STDIN_FILENO);
	dup2(none, STDOUT_FILENO);
	dup2(m->log, STDERR_FILENO);
	log_level = 0;
	log__set_json(false); /* top prints the monitor's last messages, as text */
	err = monitor__run(o);
	if (err)
		log__error(err);
	remove_directory(m);
	return err ? 1 : 0;
}

static int make_token(struct own_monitor *m)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err__set(-EIO, MESSAGE_OWN_MONITOR_TOKEN_NOT_MADE, strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(m->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int make_files(struct own_monitor *m)
{
	snprintf(m->directory, sizeof(m->directory), "/tmp/proftrace-top.XXXXXX");
	m->log = memfd_create("log", MFD_CLOEXEC);
	if (m->log < 0 || !mkdtemp(m->directory))
		return err__set(-errno, MESSAGE_OWN_MONITOR_DIRECTORY_NOT_MADE, strerror(errno));
	/* Several processes append to it. */
	fcntl(m->log, F_SETFL, O_APPEND);
	snprintf(m->socket, sizeof(m->socket), "%s/socket", m->directory);
	return 0;
}

int own_monitor__start(struct own_monitor *m, const struct rules *allow, bool device_times)
{
	const pid_t parent = getpid();
	struct monitor_opts o;
	sigset_t ending, before;
	int err = mounts__check_proc("/proc");

	*m = (struct own_monitor){.log = -1};
	if (!err)
		err = privilege__require();
	if (!err)
		err = make_token(m);
	if (!err)
		err = make_files(m);
	if (err)
		return err;
	set_opts(&o, m, allow, device_times);
	descriptors__allow_most();
	/* The monitor reads these signals later. Until then they are blocked. */
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, &before);
	fflush(NULL);
	m->pid = fork();
	if (!m->pid)
		_exit(watch(m, &o, parent));
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (m->pid > 0)
		return 0;
	err = -errno;
	m->pid = 0;
	remove_directory(m);
	return err__set(err, MESSAGE_PROCESS_NOT_STARTED, strerror(-err));
}

void own_monitor__stop(struct own_monitor *m)
{
	if (m->pid) {
		kill(m->pid, SIGTERM);
		UNINTERRUPTED(waitpid(m->pid, NULL, 0));
		remove_directory(m); /* it may have been killed before it did so */
	}
	if (m->log >= 0)
		close(m->log);
	*m = (struct own_monitor){.log = -1};
}
