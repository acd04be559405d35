// SPDX-License-Identifier: BSD-2-Clause
// A small inference server, of no framework: threads that serve requests by layers, each request in
// a range of the user's, every fourth with bad input that throws through all of it. The log has a
// line for each request that is done: `request NUMBER` or `failed NUMBER`.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "include/proftrace.h"

namespace server {

proftrace::domain domain("server");
proftrace::counter waiting(domain, "waiting");
proftrace::counter served(domain, "served");
proftrace::marker reload(domain, "reload");

struct Request {
	unsigned number;
	bool bad;
	std::vector<float> data;
};

class Layer {
public:
	// Out of line, so that there is something to probe.
	[[gnu::noinline]] void forward(Request &r) const
	{
		for (auto &x : r.data)
			x = std::tanh(x * 1.5f + 0.1f);
	}
	[[gnu::noinline]] void check(const Request &r) const
	{
		if (r.bad)
			throw std::runtime_error("bad input");
		asm volatile("" ::: "memory");
	}
};

class Model {
public:
	[[gnu::noinline]] void infer(Request &r)
	{
		for (auto &layer : layers)
			layer.forward(r);
		layers[0].check(r);
	}

private:
	Layer layers[3];
};

static FILE *log_file;
static std::atomic<unsigned> next{0};
static std::atomic<bool> stop{false};

static void note(const char *what, unsigned number)
{
	std::fprintf(log_file, "%s %u\n", what, number);
	std::fflush(log_file);
}

[[gnu::noinline]] void handle(Model &model, unsigned number)
{
	proftrace::frame_scope request(domain, "request");
	Request r{number, number % 4 == 3, std::vector<float>(4096, 0.5f)};

	waiting.set(number % 8);
	{
		proftrace::scope parse(domain, "parse");
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
	try {
		model.infer(r);
		served.add(1);
		note("request", number);
	} catch (const std::exception &) {
		note("failed", number);
	}
	if (number % 8 == 0)
		reload.mark();
}

static void worker()
{
	Model model;

	while (!stop) {
		handle(model, next++);
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
	}
}

} // namespace server

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? std::atoi(argv[2]) : 1;
	std::vector<std::thread> pool;

	server::log_file = std::fopen(argc > 1 ? argv[1] : "/dev/null", "a");
	if (!server::log_file)
		return 1;
	for (unsigned i = 0; i < threads; i++)
		pool.emplace_back(server::worker);
	for (auto &t : pool)
		t.join();
	return 0;
}
