// SPDX-License-Identifier: BSD-2-Clause
// A small inference server, without a framework: threads that serve requests by layers. Every
// fourth request is bad: it throws an exception through all layers: server LOG THREADS [REQUESTS].
// The log has a line for each request that is done: `served NUMBER` or `failed NUMBER`.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "include/proftrace.h"

namespace server
{

static proftrace::domain domain("server");
static proftrace::counter number(domain, "number"), served(domain, "served");
static proftrace::marker reload(domain, "reload");
// Two that overlap.
static proftrace::task answer(domain, "answer"), cleanup(domain, "cleanup");

struct Request {
	unsigned number;
	bool bad;
	std::vector<float> data;
};

// Out of line, so that there is something to probe.
class Layer
{
      public:
	[[gnu::noinline]] void forward(Request &r) const
	{
		for (auto &x : r.data)
			x = std::tanh(x * 1.5f + 0.1f);
	}
	[[gnu::noinline]] void check(const Request &r) const
	{
		if (r.bad)
			throw std::runtime_error("bad input");
		std::atomic_signal_fence(std::memory_order_seq_cst);
	}
};

class Model
{
      public:
	[[gnu::noinline]] void infer(Request &r)
	{
		for (auto &layer : layers)
			layer.forward(r);
		layers[0].check(r);
		std::atomic_signal_fence(std::memory_order_seq_cst);
	}

      private:
	Layer layers[3];
};

static FILE *log_file;
static std::atomic<unsigned> next{0};
static unsigned last = -1;

static void note(const char *what, unsigned n)
{
	std::fprintf(log_file, "%s %u\n", what, n);
	std::fflush(log_file);
}

static void work(Model &model, unsigned n)
{
	Request r{n, n % 4 == 3, std::vector<float>(4096, 0.5f)};

	{
		proftrace::scope in(domain, "parse");
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
	try {
		proftrace::scope in("infer");
		model.infer(r);
		served += 1;
		note("served", n);
	} catch (const std::exception &) {
		note("failed", n);
	}
}

[[gnu::noinline]] void handle(Model &model, unsigned n)
{
	proftrace::frame_scope in(domain, "request");

	number.set(n);
	work(model, n);
	answer.begin();
	cleanup.begin();
	answer.end();
	if (n % 8 == 0)
		reload.mark();
	cleanup.end();
}

static void worker()
{
	Model model;

	while (next < last) {
		handle(model, next++);
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
	}
}

} // namespace server

int main(int argc, char **argv)
{
	std::vector<std::thread> pool;
	int threads = argc > 2 ? std::atoi(argv[2]) : 1;

	server::log_file = std::fopen(argc > 1 ? argv[1] : "/dev/null", "a");
	if (!server::log_file)
		return 1;
	if (argc > 3)
		server::last = std::atoi(argv[3]);
	for (int i = 0; i < threads; i++)
		pool.emplace_back(server::worker);
	for (auto &t : pool)
		t.join();
	return 0;
}
