// SPDX-License-Identifier: BSD-2-Clause
/* The callback interface: one subscriber, which gets the calls that it chose. */
#include "fake.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "callback_names.h"

#define DOMAINS 8
#define CBIDS	1024

struct CUpti_Subscriber_st {
	_Atomic(CUpti_CallbackFunc) function;
	void *_Atomic userdata;
};

static struct CUpti_Subscriber_st the_subscriber;
static _Atomic bool subscribed;
static uint8_t enabled[DOMAINS][CBIDS];
static __thread int exit_depth;

bool fake_subscribed(void)
{
	return subscribed;
}

bool fake_in_api_exit(void)
{
	return exit_depth > 0;
}

void fake_unsubscribe(void)
{
	subscribed = false;
	memset(enabled, 0, sizeof(enabled));
}

static CUcontext current_context(void)
{
	const struct sim_thread *t = sim_thread();

	return t->has_context ? (CUcontext)sim_context_of(t->dev) : NULL;
}

/* A launch has its kernel or graph as the first parameter. Only the name decides, once per
 * function. */
static bool is_launch(const struct sim_frame *frame)
{
	enum { UNKNOWN, NO, YES };
	static _Atomic uint8_t known[DOMAINS][CBIDS];
	_Atomic uint8_t *k = &known[frame->domain][frame->cbid & (CBIDS - 1)];

	if (*k == UNKNOWN)
		*k = strstr(frame->name, "LaunchKernel") && !strstr(frame->name, "Ex") ? YES : NO;
	return *k == YES;
}

static const char *symbol_name(const struct sim_frame *frame)
{
	const struct sim_function *f;

	if (frame->symbol || !frame->params || !is_launch(frame))
		return frame->symbol;
	f = sim_function_resolve(*(void *const *)frame->params);
	return f ? f->name : NULL;
}

static void call_client(struct sim_frame *frame, CUpti_ApiCallbackSite site)
{
	CUpti_CallbackFunc function = the_subscriber.function;
	CUpti_CallbackData data = {.callbackSite = site,
				   .functionName = frame->name,
				   .functionParams = frame->params,
				   .functionReturnValue = &frame->result,
				   .contextUid = 1 + (uint32_t)sim_thread()->dev,
				   .correlationData = &frame->tool_data,
				   .correlationId = frame->correlation,
				   .symbolName = symbol_name(frame),
				   .context = current_context()};

	exit_depth += site == CUPTI_API_EXIT;
	function(the_subscriber.userdata, (CUpti_CallbackDomain)frame->domain, frame->cbid, &data);
	exit_depth -= site == CUPTI_API_EXIT;
}

/* Runs on each call. PyTorch asks many times in a step for the current device. */
void fake_callback(struct sim_frame *frame, CUpti_ApiCallbackSite site)
{
	if (subscribed && enabled[frame->domain][frame->cbid & (CBIDS - 1)])
		call_client(frame, site);
}

static void tell_resource(CUpti_CallbackId what, CUpti_ResourceData *data)
{
	CUpti_CallbackFunc function;

	if (!subscribed || !enabled[CUPTI_CB_DOMAIN_RESOURCE][what])
		return;
	data->context = current_context();
	function = the_subscriber.function;
	function(the_subscriber.userdata, CUPTI_CB_DOMAIN_RESOURCE, what, data);
}

void fake_resource(enum sim_resource what, int dev, struct sim_stream *s)
{
	CUpti_ResourceData data = {.resourceHandle.stream = (CUstream)s};

	tell_resource((CUpti_CallbackId)what, &data);
}

void fake_node_created(struct sim_graph *g, enum sim_kind kind)
{
	static const CUgraphNodeType types[] = {
		[SIM_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL, [SIM_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
		[SIM_SET] = CU_GRAPH_NODE_TYPE_MEMSET,	  [SIM_HOST] = CU_GRAPH_NODE_TYPE_HOST,
		[SIM_MARK] = CU_GRAPH_NODE_TYPE_EMPTY,
	};
	CUpti_GraphData graph = {.graph = (CUgraph)g, .nodeType = types[kind]};
	CUpti_ResourceData data = {.resourceDescriptor = &graph};

	tell_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
}

/* ---- the interface ---- */

SIM_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc function,
				      void *userdata)
{
	CUptiResult refused = fake_call("cuptiSubscribe", 0);
	bool before = false;

	if (refused)
		return refused;
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!atomic_compare_exchange_strong(&subscribed, &before, true))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	the_subscriber.userdata = userdata;
	the_subscriber.function = function;
	*out = &the_subscriber;
	fake_attach_if_needed();
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *out, CUpti_CallbackFunc function,
					 void *userdata, CUpti_SubscriberParams *params)
{
	if (params && !params->structSize)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return cuptiSubscribe(out, function, userdata);
}

SIM_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	CUptiResult refused = fake_call("cuptiUnsubscribe", 0);

	if (refused)
		return refused;
	if (subscriber != &the_subscriber || !subscribed)
		return CUPTI_ERROR_INVALID_PARAMETER;
	fake_unsubscribe();
	fake_attach_if_needed();
	return CUPTI_SUCCESS;
}

static bool valid(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
	return subscriber == &the_subscriber && subscribed && domain > CUPTI_CB_DOMAIN_INVALID &&
	       domain < DOMAINS;
}

SIM_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
					   CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult refused = fake_call("cuptiEnableCallback", (long)domain << 16 | (long)cbid);

	if (refused)
		return refused;
	if (!valid(subscriber, domain) || cbid >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	enabled[domain][cbid] = enable != 0;
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
					 CUpti_CallbackDomain domain)
{
	CUptiResult refused = fake_call("cuptiEnableDomain", (long)domain);

	if (refused)
		return refused;
	if (!valid(subscriber, domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(enabled[domain], enable != 0, CBIDS);
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber)
{
	for (int domain = 1; domain < DOMAINS; domain++)
		if (!valid(subscriber, (CUpti_CallbackDomain)domain))
			return CUPTI_ERROR_INVALID_PARAMETER;
	memset(enabled, enable != 0, sizeof(enabled));
	return fake_call("cuptiEnableAllDomains", (long)enable);
}

SIM_EXPORT CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle subscriber,
					     CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (!enable || !valid(subscriber, domain) || cbid >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = enabled[domain][cbid];
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
					    const char **name)
{
	const char *const *names = domain == CUPTI_CB_DOMAIN_DRIVER_API	   ? driver_names
				   : domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_names
									   : NULL;
	CUptiResult refused = fake_frequent_call("cuptiGetCallbackName");

	if (refused)
		return refused;
	if (!name || !names || cbid >= CBIDS || !names[cbid])
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = names[cbid];
	return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiSupportedDomains(size_t *cnt, CUpti_DomainTable *table)
{
	static CUpti_CallbackDomain domains[] = {
		CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE};

	*cnt = 3;
	*table = domains;
	return CUPTI_SUCCESS;
}
