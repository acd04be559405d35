#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the C that the simulated libraries cannot do without and that nobody should type: one
exported function per function that the real library exports.

    generate.py WHEELS OUT [MAJOR]   WHEELS is .../site-packages/nvidia, OUT a folder for the C files

Of an older MAJOR than 13 nothing is written for the driver: that of 13 serves it, as NVIDIA's do.

Read: the headers in the wheels (argument types and names from the structures that CUPTI passes to
callbacks, ids from the *_cbid.h headers) and the dynamic symbols of the real libraries. An export
whose body is in this tree (rt_NAME for the runtime, dr_NAME for the driver) is wrapped, any other
reports "not supported". Nothing that is written here may be committed: it is derived from the
vendor's files.
"""
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
UNSUPPORTED = {"cuda": 801, "cudart": 801, "cupti": 27, "cublas": 15, "cublasLt": 15, "cudnn": 3000,
               "nccl": 5, "curand": 999, "cusparse": 10, "cusolver": 9, "cufft": 16}


def read(path):
    return Path(path).read_text(errors="replace")


def sources(folder, pattern="*.c"):
    return "\n".join(read(p) for p in sorted((HERE / folder).glob(pattern)))


def exports(library):
    """Names of the functions that the real library exports."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                         check=True).stdout
    symbols = (line.split() for line in out.splitlines())
    names = {name.split("@")[0] for _, kind, name in symbols if kind in "TtWi"}
    return sorted(n for n in names if re.match(r"(__)?(cu|nccl|pnccl)[a-zA-Z]|Init", n))


def callback_ids(header, prefix):
    """{name as in the header, without prefix: id}"""
    return {n: int(i) for n, i in re.findall(prefix + r"(\w+)\s*=\s*(\d+)\s*,", read(header))}


def parameter_structs(header):
    """{structure's stem: [(type, name, array suffix)]} of one generated_*_meta.h"""
    out = {}
    for stem, body in re.findall(r"typedef struct (\w+)_params_st \{(.*?)\} \w+_params;",
                                 read(header), re.S):
        fields = [" ".join(f.split()) for f in body.split(";") if f.strip()]
        out[stem] = [re.match(r"(.*?)(\w+)((?:\[[^\]]*\])*)$", f).groups() for f in fields]
    return out


def defined(text, prefix=""):
    """Functions that a C text defines at the left margin."""
    beginning = r"^(?!static|extern|#|return|typedef)\w[\w \t*]*?\b"
    return set(re.findall(beginning + prefix + r"(\w+)\(", text, re.M))


def write(path, text):
    """Only what changed is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


class Wheels:
    """Where the wheels of a CUDA major have their files: one folder for all of 13, one for each library before."""

    def __init__(self, root, major):
        self.root, self.major = root, major

    def include(self, part):
        return self.root / ("cu13" if self.major >= 13 else part) / "include"

    def files(self, part, stem):
        folder = part if self.major < 13 or part in ("cudnn", "nccl") else "cu13"
        return sorted((self.root / folder / "lib").glob(f"{stem}.so.*"))

    def has(self, part):
        return bool(self.files(part, f"lib{part}"))

    def library(self, part, stem):
        found = self.files(part, stem)
        if len(found) != 1:
            sys.exit(f"simgpu: {len(found)} files {stem}.so.* for {part} in {self.root}")
        return found[0]


class Writer:
    """One generated C file."""

    def __init__(self, path, *includes):
        self.path = path
        self.lines = ["/* Generated: see generate.py. */", *(f"#include {i}" for i in includes), ""]

    def add(self, *lines):
        self.lines += lines

    def save(self):
        write(self.path, "\n".join(self.lines) + "\n")


def wrapper(out, prototypes, domain, result, name, cbid, struct, fields, body, per_thread=False):
    """A traced export: parameters in CUPTI's structure, enter, body or 'not supported', leave."""
    signature = ", ".join(f"{t} {n}{a}" for t, n, a in fields) or "void"
    arguments = [n for _, n, _ in fields]
    if per_thread:
        arguments = [f"{n} ? {n} : ({t})2" if t in ("cudaStream_t", "CUstream") else n
                     for t, n, _ in fields]
    out.add(f"{result} {name}({signature})", "{")
    if fields:
        out.add(f"\t{struct}_params sim_params = {{ {', '.join(n for _, n, _ in fields)} }};")
    out.add(f"\tstruct sim_frame sim_frame = {{ .domain = {domain}, .cbid = {cbid},",
            f"\t\t.name = \"{name}\", .params = {'&sim_params' if fields else 'NULL'} }};",
            "\tint sim_result = sim_enter(&sim_frame);", "",
            "\tif (!sim_result)")
    if body:
        prototypes[body] = f"{result} {body}({signature});"
        out.add(f"\t\tsim_result = (int){body}({', '.join(arguments)});")
    else:
        out.add(f'\t\tsim_result = sim_unsupported("{name}", 801);')
    out.add(f"\treturn ({result})sim_leave(&sim_frame, sim_result);", "}")


def stubs(path, names, error):
    out = Writer(path, '"engine/engine.h"')
    for n in names:
        out.add(f'int {n}(void) {{ return sim_unsupported("{n}", {error}); }}')
    out.save()


def version_script(path, node, names):
    write(path, node + " {\nglobal:\n" + "".join(f"\t{n};\n" for n in names) + "local:\n\t*;\n};\n")


def prototypes_header(path, prototypes, *includes):
    out = Writer(path, *includes)
    out.add(*prototypes.values())
    out.save()


# Interoperability with graphics, and one structure that the headers do not define.
UNWRAPPED = re.compile(r"GL|EGL|VDPAU|NvSci|D3D|cudaGetExportTable|cudaGraphMemFreeNodeGetParams"
                       r"|TexRef|Graphics|Cupti")
# They touch the error state or have other results: written by hand, and not traced by CUPTI either.
RUNTIME_PLAIN = {"cudaGetErrorString", "cudaGetErrorName", "cudaCreateChannelDesc",
                 "cudaGetLastError", "cudaPeekAtLastError"}


def redirected(header):
    """{old name: new}, where a header sends programs on: #define cudaGetDeviceProperties cudaGetDeviceProperties_v2"""
    pairs = re.findall(r"#\s*define\s+(cuda[A-Z]\w+)\s+(?:__CUDART_API_PT\w+\()?(cuda[A-Z]\w+_v\d+)\)?\s*$",
                       header, re.M)
    return {old: new for old, new in pairs if old != new}


def runtime(wheels, out_dir):
    include, cupti = wheels.include("cuda_runtime"), wheels.include("cuda_cupti")
    library = wheels.library("cuda_runtime", "libcudart")
    header = read(include / "cuda_runtime_api.h")
    newest = redirected(header)
    structs = {}
    for stem, fields in parameter_structs(cupti / "generated_cuda_runtime_api_meta.h").items():
        m = re.match(r"(\w+)_v(\d+)$", stem)
        if m:
            structs.setdefault(m.group(1), {})[int(m.group(2))] = fields
    ids = {}
    header_ids = callback_ids(cupti / "cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_")
    for name, i in header_ids.items():
        m = re.match(r"(\w+)_v(\d+)$", name)
        if m:
            ids.setdefault(m.group(1), {})[int(m.group(2))] = i

    text = sources("cudart")
    bodies, by_hand = defined(text, "rt_"), defined(text)
    names = exports(library)
    # Of what has parameters, but no structure of them for CUPTI, a wrapper would have another type.
    unknown = set(re.findall(r"CUDARTAPI\s+(\w+)\s*\((?!\s*(?:void)?\s*\))", header)) - set(structs)
    out = Writer(out_dir / "cudart_wrap.c", '"engine/engine.h"', "<cuda_runtime_api.h>",
                 "<generated_cuda_runtime_api_meta.h>")
    prototypes, plain = {}, []
    for name in names:
        base = re.sub(r"_(ptsz|ptds)$", "", name)
        if name in by_hand:
            continue
        if name.startswith("__cuda") or name in RUNTIME_PLAIN or UNWRAPPED.search(name) or \
                base in newest or name in unknown or name not in structs and name not in ids:
            plain.append(name)
            continue
        versions = structs.get(name, {max(ids.get(name, {0: 0})): []})
        version = max(versions)
        body = re.sub(r"_v\d+$", "", base)
        if base in bodies or newest.get(body) != base:
            body = base
        wrapper(out, prototypes, "SIM_RUNTIME", "cudaError_t", name,
                ids.get(name, {}).get(version) or max(ids.get(name, {0: 0}).values()),
                f"{name}_v{version}", versions[version],
                f"rt_{body}" if body in bodies else None, per_thread=base != name)
    out.save()
    prototypes_header(out_dir / "cudart_impl.h", prototypes, "<cuda_runtime_api.h>")
    stubs(out_dir / "cudart_stub.c", plain, UNSUPPORTED["cudart"])
    version_script(out_dir / "cudart.map", library.name, names)
    print(f"  cudart: {len(names)} exports, {len(prototypes)} bodies,",
          len(by_hand & set(names)), "by hand")


def driver(include, out_dir):
    structs = parameter_structs(include / "generated_cuda_meta.h")
    ids = callback_ids(include / "cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_")
    header = read(include / "cuda.h")
    # cuda.h redirects names of old interfaces to the newest: #define cuMemAlloc cuMemAlloc_v2
    newest = {}
    redirection = r"#\s*define\s+(cu[A-Z]\w+)\s+(?:__CUDA_API_PT\w+\()?(cu[A-Z]\w+)\)?\s*$"
    for old, new in re.findall(redirection, header, re.M):
        if not re.search(r"_(ptsz|ptds)$", new):
            newest.setdefault(old, new)
    declared = set(re.findall(r"CUDAAPI\s+(cu[A-Z]\w+)\s*\(", header))
    names = sorted(n for n in set(structs) | set(ids)
                   if not re.search(r"_(ptsz|ptds)$|64", n) and not UNWRAPPED.search(n)
                   and (n in structs or n in declared) and newest.get(n, n) == n)

    bodies = defined(sources("driver"), "dr_")
    out = Writer(out_dir / "cuda_wrap.c", '"engine/engine.h"')
    undefine = [f"#undef {old}" for old in newest]
    out.add("#include <cuda.h>", *undefine, "#include <generated_cuda_meta.h>", *undefine)
    prototypes = {}
    for name in names:
        base = re.sub(r"_v\d+$", "", name)
        body = name if name in bodies else None
        if not body and base in bodies and newest.get(base, base) == name:
            body = base
        wrapper(out, prototypes, "SIM_DRIVER", "CUresult", name, ids.get(name, 0), name,
                structs.get(name, []), body and f"dr_{body}")
    table = {n: n for n in names}
    table.update({old: new for old, new in newest.items() if new in names})
    out.add("const struct sim_entry sim_entries[] = {",
            *(f'\t{{ "{n}", (void *){f} }},' for n, f in sorted(table.items())), "\t{ 0, 0 }", "};")
    out.save()
    # The real library exports the older forms, too, and programs are linked to some.
    by_hand = defined(sources("driver"))
    stubs(out_dir / "cuda_stub.c", sorted(set(newest) - set(names) - by_hand), UNSUPPORTED["cuda"])
    prototypes_header(out_dir / "driver_impl.h", prototypes, "<cuda.h>")
    print(f"  cuda: {len(names)} exports, {len(prototypes)} bodies")


def versions(wheels, out_dir):
    out = Writer(out_dir / "versions.h")
    cupti = read(wheels.include("cuda_cupti") / "cupti_version.h")
    number = re.search(r"#define CUPTI_API_VERSION\s+(\d+)", cupti).group(1)
    runtime_api = read(wheels.include("cuda_runtime") / "cuda_runtime_api.h")
    cudart = re.search(r"#define CUDART_VERSION\s+(\d+)", runtime_api).group(1)
    out.add(f"#define SIM_CUPTI_VERSION {number}", f"#define SIM_CUDART_VERSION {cudart}",
            f"#define SIM_CUDA_MAJOR {wheels.major}")
    out.save()


def error_names(include, out_dir):
    out = Writer(out_dir / "error_names.h")
    for array, header, prefix in (("sim_cuda_errors", "cuda.h", "CUDA_(?:SUCCESS|ERROR_)"),
                                  ("sim_cudart_errors", "driver_types.h", "cuda(?:Success|Error)")):
        out.add(f"static const struct sim_error {array}[] = {{")
        enumerator = rf"^\s*({prefix}\w*)\s*=\s*(\d+)"
        for name, value in re.findall(enumerator, read(include / header), re.M):
            out.add(f'\t{{ {value}, "{name}" }},')
        out.add("};")
    out.save()


def callback_names(include, out_dir):
    out = Writer(out_dir / "callback_names.h")
    for array, header, prefix in (
            ("runtime_names", "cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_"),
            ("driver_names", "cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_")):
        out.add(f"static const char *const {array}[1024] = {{")
        out.add(*(f'\t[{i}] = "{n}",' for n, i in callback_ids(include / header, prefix).items()
                  if i < 1024))
        out.add("};")
    out.save()


def plain_library(key, library, text, out_dir, automatic=None, node=True):
    """A library of which part is written by hand; the rest is automatic kernels or stubs."""
    names = exports(library)
    by_macro = set(re.findall(r"\w+", " ".join(re.findall(r"^[A-Z_]+\(([^{;]*)", text, re.M))))
    rest = [n for n in names if n not in defined(text) | by_macro]
    if automatic:
        out = Writer(out_dir / f"{key}_auto.c", '"math/auto.h"')
        chosen = {n: macro for n in rest if (macro := automatic(n))}
        out.add(*(f"{macro}({n})" for n, macro in chosen.items()))
        out.save()
        rest = [n for n in rest if n not in chosen]
    stubs(out_dir / f"{key}_stub.c", rest, UNSUPPORTED[key])
    if node:
        version_script(out_dir / f"{key}.map", library.name, names)
    print(f"  {key}: {len(names)} exports, {len(rest)} stubs")


CUBLAS_COMPUTE = re.compile(
    r"cublas(I?[SDCZH][a-z]\w+|\w*Ex\w*|Cherk\w*|Gemm\w+|[A-Z][a-z]*Batched\w*)$")


def cublas_automatic(name):
    """Compute entry points take the handle first: one kernel named after the function."""
    if re.match(r"cublas(Set|Get|Create|Destroy|Shutdown|Init|Free|Alloc|Log|Xt|Xerbla|Migrate)",
                name):
        return None
    return "AUTO_KERNEL" if CUBLAS_COMPUTE.match(name) else None


CUDNN_COMPUTE = re.compile(
    r"cudnn((Batch)?Normalization(Forward|Backward)|Convolution(Forward|Backward|Bias)|Pooling|"
    r"RNN(Forward|Backward)|SpatialTf|Softmax|LRN|(Activation|Dropout)(Forward|Backward)|"
    r"(Op|Add|Scale|Reduce|Transform)Tensor)")


def cudnn_automatic(name):
    for prefix, macro in (("cudnnCreate", "AUTO_CREATE"), ("cudnnDestroy", "AUTO_DESTROY"),
                          ("cudnnSet", "AUTO_SUCCESS"), ("cudnnRestore", "AUTO_SUCCESS"),
                          ("cudnnDerive", "AUTO_SUCCESS")):
        if name.startswith(prefix):
            return macro
    return "AUTO_KERNEL" if CUDNN_COMPUTE.match(name) else None


def main():
    root, out_dir = Path(sys.argv[1]), Path(sys.argv[2])
    wheels = Wheels(root, int(sys.argv[3]) if len(sys.argv) > 3 else 13)
    out_dir.mkdir(parents=True, exist_ok=True)
    versions(wheels, out_dir)
    runtime(wheels, out_dir)
    if wheels.major >= 13:
        driver(wheels.include("cuda_runtime"), out_dir)
        error_names(wheels.include("cuda_runtime"), out_dir)
        callback_names(wheels.include("cuda_cupti"), out_dir)
    plain_library("cupti", wheels.library("cuda_cupti", "libcupti"), sources("cupti"), out_dir)
    plain_library("cublas", wheels.library("cublas", "libcublas"), sources("math", "cublas.c"), out_dir,
                  cublas_automatic)
    plain_library("cublasLt", wheels.library("cublas", "libcublasLt"), sources("math", "cublaslt.c"), out_dir)
    plain_library("cudnn", wheels.library("cudnn", "libcudnn"), sources("math", "cudnn*.c"), out_dir,
                  cudnn_automatic)
    plain_library("nccl", wheels.library("nccl", "libnccl"), sources("nccl"), out_dir, node=False)
    for key in ("curand", "cusparse", "cusolver", "cufft"):
        if wheels.has(key):
            plain_library(key, wheels.library(key, f"lib{key}"), sources("math", f"{key}.c"), out_dir)


if __name__ == "__main__":
    main()
