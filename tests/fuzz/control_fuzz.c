// SPDX-License-Identifier: BSD-2-Clause
/* A control client's messages. The input is a list of messages, each behind its length. */
#include <string.h>
#include <sys/socket.h>
#include "capture/control/control_socket.h"
#include "common/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Connects a client that sends this message. */
static void say(struct control_listener *l, const uint8_t *message, size_t len, int *ours)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		abort();
	if (send(ends[1], message, len, MSG_NOSIGNAL) < 0)
		abort();
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (!l->clients[i].fd) {
			l->clients[i] = (struct control_client){ends[0], UINT64_MAX};
			*ours = ends[1];
			return;
		}
	abort();
}

/* A verb alone, or `start` with a number. */
static void check_answer(const uint8_t *message, size_t len, enum control_verb verb, uint64_t at_ns)
{
	const char *word = control_verbs[verb];
	const size_t word_len = strlen(word);

	if (len < word_len || memcmp(message, word, word_len) != 0 || (len == word_len && at_ns))
		__builtin_trap();
	if (len > word_len && (verb != CONTROL_START || message[word_len] != ' '))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_listener l = {.fd = -1};

	while (size > 1) {
		const size_t len = data[0] < size - 1 ? data[0] : size - 1;
		enum control_verb verb = CONTROL_CNT;
		char answer[CONTROL_MAX];
		uint64_t at_ns = 0;
		int client = -1, ours = -1;

		say(&l, data + 1, len, &ours);
		if (control_socket__next(&l, &verb, &at_ns, &client)) {
			check_answer(data + 1, len, verb, at_ns);
			control_socket__answer(client, true, "so it is");
		}
		recv(ours, answer, sizeof(answer), MSG_DONTWAIT);
		close(ours);
		data += len + 1;
		size -= len + 1;
	}
	control_socket__close(&l);
	return 0;
}
