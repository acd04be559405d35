// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/idle.h"
#include "capture/arming/arm.h"
#include "capture/control/control_socket.h"
#include "common/util.h"
#include "device/device_source.h"
#include <poll.h>

/* A job that becomes so many times faster while we sleep still has its probes in time. */
#define FASTER 20
/* Probes that count steps come back 2 leads before the window (probeless.c). */
#define LEADS 4

/* While it records, another tool that calls CUPTI waits for us. */
static bool is_busy(struct device_source *device)
{
	return device && (device_source__is_recording(device) ||
			  !device_source__settled(device, clock__monotonic_ns()));
}

int idle__ms(const struct session *s)
{
	const uint64_t left_ns = arm__until_window_ns(s), lead_ns = LEADS * arm__lead_ns(s);
	const uint64_t most = s->opts->progress ? IDLE_SHOWN_MS : IDLE_MOST_MS;
	uint64_t ms;

	if (s->residency == RESIDENCY_FULL || s->window.writer)
		return 0;
	/* A child that forked gets its probes soon. */
	if (is_busy(s->device) || s->children.newborn_cnt || left_ns <= lead_ns)
		return IDLE_LEAST_MS;
	ms = (left_ns - lead_ns) / FASTER / 1000000;
	if (ms > most)
		return (int)most;
	return ms < IDLE_LEAST_MS ? IDLE_LEAST_MS : (int)ms;
}

void idle__sleep(const struct session *s, int ms)
{
	struct pollfd fds[2 + CONTROL_CLIENTS] = {
		{.fd = ring__poll_fd(s->records.ring), .events = POLLIN},
		{.fd = s->control.fd > 0 ? s->control.fd : -1, .events = POLLIN},
	};

	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		const int fd = s->control.clients[i].fd;

		fds[2 + i] = (struct pollfd){.fd = fd > 0 ? fd : -1, .events = POLLIN};
	}
	poll(fds, sizeof(fds) / sizeof(*fds), ms);
}
