// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/pusher.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "common/descriptor_message.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/message_table.h"
#include "common/out_path.h"
#include "common/util.h"
#include "monitor/curl_library.h"
#include "monitor/push_queue.h"
#include "privilege/sandbox.h"

#define NOBODY	    65534
#define MEMORY_MAX  (256ul << 20) /* for a queue of the largest bodies, and libcurl */
#define CONNECT_MS  5000L
#define TRANSFER_MS 15000L
/* bytes of an answer that are read; more than ANSWER_MAX ends the transfer */
#define ANSWER_BYTES 4096
#define ANSWER_MAX   (64 << 10)
#define POLL_MS	     60000
#define URL_BYTES    2048

struct pusher {
	struct curl_library curl;
	const char *certificates; /* NULL: libcurl's own */
	const char *url;
	int fd;
	bool is_over; /* the monitor is gone */
	struct push_queue queue;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	unsigned char answer[ANSWER_BYTES];
	size_t answer_len, answer_total;
};

int pusher__check_url(const char *option, const char *url)
{
	const char *host = !strncmp(url, "http://", 7)	  ? url + 7
			   : !strncmp(url, "https://", 8) ? url + 8
							  : NULL;

	if (!host || !*host || *host == '/' || strlen(url) >= URL_BYTES - sizeof(struct push_item))
		return err__set(-EINVAL, MESSAGE_RECEIVER_URL_INVALID, option);
	if (strcspn(host, "@") < strcspn(host, "/"))
		return err__set(-EINVAL, MESSAGE_RECEIVER_URL_HAS_PASSWORD, option);
	for (const char *at = url; *at; at++)
		if (*at <= ' ' || *at >= 0x7f || *at == '#')
			return err__set(-EINVAL, MESSAGE_RECEIVER_URL_NOT_ASCII, option);
	return 0;
}

/* ---- answers to the monitor ---- */

static void report(struct pusher *p, enum push_result result, const char *why)
{
	struct push_answer answer = {.result = result};

	snprintf(answer.why, sizeof(answer.why), "%s", why);
	if (send(p->fd, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
		p->is_over = true;
}

/* ---- bodies ---- */

static int read_body(int fd, struct push_body *body)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > PUSH_BYTES_MAX)
		return -EINVAL;
	body->data = malloc((size_t)st.st_size);
	if (!body->data)
		return -ENOMEM;
	if (UNINTERRUPTED(pread(fd, body->data, (size_t)st.st_size, 0)) != st.st_size) {
		free(body->data);
		return -EIO;
	}
	body->len = (size_t)st.st_size;
	return 0;
}

static void take(struct pusher *p, struct push_body *body, int fd)
{
	body->item.type[sizeof(body->item.type) - 1] = '\0';
	body->item.query[sizeof(body->item.query) - 1] = '\0';
	if (read_body(fd, body))
		report(p, PUSH_DROPPED, "it is too large");
	else if (push_queue__add(&p->queue, body))
		report(p, PUSH_DROPPED, "too many wait");
}

static void listen_to_monitor(struct pusher *p)
{
	for (;;) {
		struct push_body body = {0};
		auto_close int fd = -1;
		const ssize_t n = descriptor_message__receive(p->fd, &body.item, sizeof(body.item),
							      &fd, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n != sizeof(body.item)) {
			p->is_over = true;
			return;
		}
		take(p, &body, fd);
	}
}

/* ---- transfers ---- */

static size_t on_answer(char *data, size_t size, size_t cnt, void *ctx)
{
	struct pusher *p = ctx;
	const size_t room = sizeof(p->answer) - p->answer_len, len = cnt < room ? cnt : room;

	memcpy(p->answer + p->answer_len, data, len);
	p->answer_len += len;
	p->answer_total += cnt;
	return p->answer_total <= ANSWER_MAX ? cnt : 0;
}

static void set_options(struct pusher *p, const struct push_body *body, const char *url)
{
	const struct curl_library *c = &p->curl;
	char type[96];

	snprintf(type, sizeof(type), "Content-Type: %s", body->item.type);
	p->headers = c->slist_append(NULL, type);
	p->headers = c->slist_append(p->headers, "Expect:");
	c->easy_setopt(p->easy, CURLOPT_URL, url);
	c->easy_setopt(p->easy, CURLOPT_POST, 1L);
	c->easy_setopt(p->easy, CURLOPT_POSTFIELDS, body->data);
	c->easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
	c->easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers);
	c->easy_setopt(p->easy, CURLOPT_USERAGENT, "proftrace/" PROFTRACE_VERSION);
	c->easy_setopt(p->easy, CURLOPT_NOSIGNAL, 1L);
	c->easy_setopt(p->easy, CURLOPT_FOLLOWLOCATION, 0L);
	c->easy_setopt(p->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	c->easy_setopt(p->easy, CURLOPT_TIMEOUT_MS, TRANSFER_MS);
	c->easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, on_answer);
	c->easy_setopt(p->easy, CURLOPT_WRITEDATA, p);
	if (p->certificates)
		c->easy_setopt(p->easy, CURLOPT_CAINFO, p->certificates);
}

static void begin(struct pusher *p)
{
	const struct push_body *body = &p->queue.items[0];
	char url[URL_BYTES];

	snprintf(url, sizeof(url), "%s%s", p->url, body->item.query);
	p->curl.easy_reset(p->easy);
	p->answer_len = p->answer_total = 0;
	set_options(p, body, url);
	p->queue.is_sending = true;
	p->curl.multi_add_handle(p->multi, p->easy);
}

static uint64_t random_number(void)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		return clock__monotonic_ns();
	return number;
}

/* A status of 2xx means that it arrived, even if reading the answer's body failed. */
static enum push_result judge(struct pusher *p, CURLcode code, char why[96])
{
	long status = 0;
	enum push_result result;

	p->curl.easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK && code != CURLE_WRITE_ERROR) {
		snprintf(why, 96, "%s", p->curl.easy_strerror(code));
		return PUSH_RETRIED;
	}
	snprintf(why, 96, "HTTP %ld", status);
	result = push_queue__result_of(status);
	return result == PUSH_OK && push_queue__is_partial(p->answer, p->answer_len) ? PUSH_PARTIAL
										     : result;
}

static void end(struct pusher *p, CURLcode code)
{
	char why[96] = "";
	const enum push_result result = judge(p, code, why);
	curl_off_t retry_after_s = 0;

	p->curl.easy_getinfo(p->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
	p->curl.multi_remove_handle(p->multi, p->easy);
	p->curl.slist_free_all(p->headers);
	p->headers = NULL;
	if (result == PUSH_RETRIED)
		push_queue__retry(&p->queue, clock__monotonic_ns(),
				  retry_after_s > 0 ? (uint64_t)retry_after_s : 0, random_number());
	else
		push_queue__finish(&p->queue);
	report(p, result, why);
}

static int timeout_ms(const struct pusher *p)
{
	const uint64_t now_ns = clock__monotonic_ns();

	if (!p->queue.cnt || p->queue.is_sending)
		return POLL_MS;
	return p->queue.due_ns > now_ns ? (int)((p->queue.due_ns - now_ns) / 1000000) + 1 : 0;
}

static void serve(struct pusher *p)
{
	struct curl_waitfd monitor = {.fd = p->fd, .events = CURL_WAIT_POLLIN};
	const CURLMsg *message;
	int running, left;

	while (!p->is_over) {
		p->curl.multi_poll(p->multi, &monitor, 1, timeout_ms(p), NULL);
		listen_to_monitor(p);
		if (push_queue__is_due(&p->queue, clock__monotonic_ns()))
			begin(p);
		p->curl.multi_perform(p->multi, &running);
		while ((message = p->curl.multi_info_read(p->multi, &left)))
			if (message->msg == CURLMSG_DONE)
				end(p, message->data.result);
	}
}

/* ---- the process ---- */

static void limit(void)
{
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};

	setrlimit(RLIMIT_DATA, &memory);
	/* The parent decides when this process ends: it closes its socket. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	setpgid(0, 0);
}

static int prepare(struct pusher *p)
{
	int err = curl_library__load(&p->curl);

	if (err)
		return err;
	p->certificates = curl_library__certificates();
	if (p->curl.global_init(CURL_GLOBAL_DEFAULT))
		return err__set(-EIO, MESSAGE_CURL_NOT_USABLE);
	p->multi = p->curl.multi_init();
	p->easy = p->curl.easy_init();
	if (!p->multi || !p->easy)
		return err__set(-ENOMEM, MESSAGE_CURL_OUT_OF_MEMORY);
	return sandbox__go_on(FILTER_CLIENT, 0);
}

static int run(int fd, const char *url)
{
	struct pusher p = {.url = url};
	int err;

	limit();
	p.fd = descriptors__keep_only(fd, STDERR_FILENO + 1);
	if (p.fd < 0)
		return 1;
	out_path__choose_owner(NOBODY, NOBODY);
	err = prepare(&p);
	if (err) {
		log__error(err);
		return 1;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	serve(&p);
	return 0;
}

pid_t pusher__start(const char *url, int *fd)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err__set(-errno, MESSAGE_SOCKETS_NOT_MADE, strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		_exit(run(ends[1], url));
	}
	close(ends[1]);
	*fd = ends[0];
	if (pid > 0)
		return pid;
	pid = -errno;
	close(ends[0]);
	return err__set(pid, MESSAGE_PROCESS_NOT_STARTED, strerror(-pid));
}
