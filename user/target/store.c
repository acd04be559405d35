// SPDX-License-Identifier: BSD-2-Clause
#include "target/store.h"
#include "common/util.h"
#include "target/target_priv.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERVER_THREAD "pt_tcpstore_uv" /* since PyTorch 2.4 */

/* States in /proc/net/tcp. */
enum { TCP_STATE_ESTABLISHED = 0x01, TCP_STATE_LISTEN = 0x0a };

struct connection {
	unsigned int port, remote_port, state;
	unsigned long inode;
};

static bool is_server(const char *comm)
{
	return !strcmp(comm, SERVER_THREAD);
}

static bool has_socket(pid_t pid, unsigned long inode)
{
	char wanted[40], link[300], found[40];
	struct dirent *entry;
	bool has = false;
	DIR *dir = opendir(proc_path(pid, "fd").s);

	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	while (dir && !has && (entry = readdir(dir))) {
		ssize_t len;

		snprintf(link, sizeof(link), "/proc/%d/fd/%s", pid, entry->d_name);
		len = readlink(link, found, sizeof(found) - 1);
		found[len > 0 ? len : 0] = '\0';
		has = !strcmp(found, wanted);
	}
	if (dir)
		closedir(dir);
	return has;
}

static bool parse(const char *line, struct connection *c)
{
	return sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %x %*s %*s %*s %*d %*d %lu",
		      &c->port, &c->remote_port, &c->state, &c->inode) == 4;
}

/* Visits connections in the process's network namespace until fn returns true. */
static bool any_connection(pid_t pid, bool (*fn)(void *ctx, const struct connection *c), void *ctx)
{
	static const char *const files[] = {"net/tcp", "net/tcp6"};
	struct connection c;
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(files) && !found; i++) {
		auto_free char *text = file__read(proc_path(pid, files[i]).s, NULL);
		char *rest = text, *line;

		while (!found && (line = text ? strsep(&rest, "\n") : NULL))
			found = parse(line, &c) && fn(ctx, &c);
	}
	return found;
}

struct listener {
	struct store *store;
	pid_t pid;
};

static bool add_port(void *ctx, const struct connection *c)
{
	const struct listener *l = ctx;

	if (c->state == TCP_STATE_LISTEN && l->store->cnt < STORE_PORTS &&
	    has_socket(l->pid, c->inode))
		l->store->ports[l->store->cnt++] = (uint16_t)c->port;
	return false;
}

void store__add_server(struct store *s, pid_t pid)
{
	if (target_threads__any(pid, is_server))
		any_connection(pid, add_port, &(struct listener){s, pid});
}

struct client {
	const struct store *store;
	pid_t pid, parent;
};

static bool is_own(void *ctx, const struct connection *c)
{
	const struct client *client = ctx;
	bool to_store = false;

	for (size_t i = 0; i < client->store->cnt; i++)
		to_store |= c->remote_port == client->store->ports[i];
	return to_store && c->state == TCP_STATE_ESTABLISHED && has_socket(client->pid, c->inode) &&
	       !has_socket(client->parent, c->inode);
}

bool store__is_client(const struct store *s, pid_t pid, pid_t parent)
{
	return s->cnt && any_connection(pid, is_own, &(struct client){s, pid, parent});
}
