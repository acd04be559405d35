// SPDX-License-Identifier: BSD-2-Clause
// scripts/torch-layout compiles this to assembly against PyTorch's own headers. Each line that
// begins with @@ is the offset of a member, as the compiler of that version's binaries saw it.
#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
#include <Python.h>

// Makes all members of the library's classes accessible. The standard library is already included.
#define private public
#define protected public
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/python_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/record_function_ops.h>
#include <torch/csrc/autograd/variable.h>

#define PUT(name, value) asm volatile("\n@@ " name " %c0" ::"i"(static_cast<long>(value)))
#define PLACE(type, member) offsetof(type, member)

using Definition = c10::Dispatcher::OperatorDef;

// PyNode: its PyObject * is its own member or, since 2.14, in Node's slot.
template <typename T> constexpr auto python_object(T *node, int) -> decltype(&node->obj, 0L)
{
	return PLACE(T, obj);
}
template <typename T> constexpr auto python_object(T *node, long) -> decltype(&node->pyobj_slot_, 0L)
{
	return PLACE(T, pyobj_slot_);
}

// c10::optional<Tensor>, before it became another name of std::optional
template <typename T> constexpr auto flag(T *, int) -> decltype(T::init_, 0L)
{
	return PLACE(T, init_);
}
template <typename T> constexpr long flag(T *, long)
{
	return sizeof(at::Tensor);
}
using OptionalTensor = c10::optional<at::Tensor>;

// Where an optional has its value: after the flag in c10::optional, first in std::optional.
template <typename T> constexpr auto value(T *, int) -> decltype(&T::storage_, 0L)
{
	return PLACE(T, storage_);
}
template <typename T> constexpr long value(T *, long)
{
	return 0;
}
using OptionalSchema = decltype(c10::impl::OperatorEntry::schema_);

void layout()
{
	PUT("tensor_sizes", PLACE(c10::TensorImpl, sizes_and_strides_));
	PUT("tensor_dtype", PLACE(c10::TensorImpl, data_type_));
	PUT("tensor_device", PLACE(c10::TensorImpl, device_opt_));
	PUT("node_seq", PLACE(torch::autograd::Node, sequence_nr_));
	PUT("node_pyobj", python_object(static_cast<torch::autograd::PyNode *>(nullptr), 0));
	PUT("record_function", PLACE(torch::autograd::profiler::PythonRecordFunction, record));
	PUT("opt_tensor_flag", flag(static_cast<OptionalTensor *>(nullptr), 0));
	// MaybeOwned<Tensor> has the tensor after a flag
	PUT("python_tensor", PLACE(THPVariable, cdata) + sizeof(THPVariable::cdata) - sizeof(at::Tensor));
	PUT("schema_args", PLACE(Definition, op) + PLACE(c10::impl::OperatorEntry, schema_) +
				   value(static_cast<OptionalSchema *>(nullptr), 0) +
				   PLACE(c10::FunctionSchema, arguments_));
	PUT("argument_size", sizeof(c10::Argument));
	PUT("tensor_autograd", PLACE(c10::TensorImpl, autograd_meta_));
	PUT("autograd_node", PLACE(torch::autograd::AutogradMeta, grad_fn_));
	PUT("scalar_value", PLACE(c10::Scalar, v));
	PUT("scalar_double", c10::Scalar::Tag::HAS_d);
	PUT("scalar_int", c10::Scalar::Tag::HAS_i);
	PUT("scalar_bool", c10::Scalar::Tag::HAS_b);
	PUT("scalar_size", sizeof(c10::Scalar));
	PUT("ivalue_double", c10::IValue::Tag::Double);
	PUT("ivalue_int", c10::IValue::Tag::Int);
	PUT("ivalue_bool", c10::IValue::Tag::Bool);
	PUT("ivalue_list", c10::IValue::Tag::GenericList);
	PUT("list_values", PLACE(c10::detail::ListImpl, list));
	PUT("constant_string", PLACE(c10::ivalue::ConstantString, str_));
	PUT("storage_size", PLACE(c10::StorageImpl, size_bytes_));
	PUT("undefined_dtype", c10::ScalarType::Undefined);
}
