/* The C interface of a compiled net and of the aiopt runtime.
 *
 * A compiled object exports, for a net called NET,
 *   const aiopt_net_info aiopt_NET_info;
 *   int32_t aiopt_NET_run(const aiopt_ctx *ctx, const aiopt_tensor *in, aiopt_tensor *out);
 * It has no other undefined symbols than those of libc and libm. A run neither allocates nor calls Python.
 * Code and weights are immutable and may be shared; each call in flight needs a context of its own.
 */
#ifndef AIOPT_H
#define AIOPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AIOPT_ABI_VERSION 4

#define AIOPT_API __attribute__((visibility("default")))

enum aiopt_status {
  AIOPT_OK = 0,
  AIOPT_ERROR_ABI = 1,       /* object, context and runtime are of different ABI versions */
  AIOPT_ERROR_CPU = 2,       /* this CPU lacks a feature the object was compiled for */
  AIOPT_ERROR_MEMORY = 3,    /* the arena or the threads could not be allocated */
  AIOPT_ERROR_ARGUMENT = 4,  /* a null pointer, a thread count not in 1..1024, weights that are not 64-byte aligned */
  AIOPT_ERROR_OBJECT = 5,    /* object code that cannot be loaded */
};

/* Element types of tensors; a bool takes one byte. */
enum aiopt_dtype {
  AIOPT_BOOL = 0,
  AIOPT_I8 = 1,
  AIOPT_I16 = 2,
  AIOPT_I32 = 3,
  AIOPT_I64 = 4,
  AIOPT_U8 = 5,
  AIOPT_U16 = 6,
  AIOPT_U32 = 7,
  AIOPT_U64 = 8,
  AIOPT_F16 = 9,
  AIOPT_F32 = 10,
  AIOPT_F64 = 11,
  AIOPT_BF16 = 12, /* the high half of an f32 */
};

/* Dense, row-major data; shape and dtype are those of the net's info. */
typedef struct aiopt_tensor {
  void *data;
} aiopt_tensor;

typedef struct aiopt_tensor_info {
  const char *name;
  const int64_t *shape;
  int32_t rank;
  int32_t dtype; /* enum aiopt_dtype */
} aiopt_tensor_info;

typedef struct aiopt_net_info {
  int32_t abi_version;
  int32_t input_count;
  int32_t output_count;
  int32_t launch_count; /* kernel launches of a run */
  int64_t arena_bytes;
  int64_t weights_bytes;
  const aiopt_tensor_info *inputs;
  const aiopt_tensor_info *outputs;
  const char *cpu_features; /* what the code needs, comma separated, spelled as LLVM does: "avx2,fma" */
  const char *const *launches; /* the kernel of each launch, in order; one kernel may be launched often */
} aiopt_net_info;

/* A part of a parallel loop: iterations begin <= i < end. */
typedef void (*aiopt_task)(void *const *args, int64_t begin, int64_t end);

/* Called before (after == 0) and after (after == 1) each launch, on the thread that called run. */
typedef void (*aiopt_hook)(void *data, int32_t launch, int32_t after);

/* What a run needs beside its tensors. Filled by aiopt_context_create; the compiled code reads it. */
typedef struct aiopt_ctx {
  int32_t abi_version;
  int32_t threads;
  void *arena;         /* arena_bytes, 64-byte aligned */
  const void *weights; /* weights_bytes, 64-byte aligned */
  /* Runs task over 0 <= i < count, in contiguous chunks, several of them on a thread, and returns when all are done.
   * The iterations are rows of `width`, of which count is a multiple; each thread is given the same part of every row,
   * so that it finds in its cache what it wrote in another loop that is cut alike. width == count: one row. */
  void (*parallel_for)(const struct aiopt_ctx *ctx, aiopt_task task, void *const *args, int64_t count, int64_t width);
  /* Yours to set between runs; no hook is called while `hook` is null, which it is at first. */
  aiopt_hook hook;
  void *hook_data;
} aiopt_ctx;

/* Makes a context for one net; `weights` must outlive it. Returns an aiopt_status; *out is set on AIOPT_OK only.
 * Threads are started here, never during a run. All contexts share them: a parallel loop that finds them busy with
 * another call's, or that begins inside another loop, is run by its caller alone. So is one for which the callers in
 * loops of their own leave no CPU. */
AIOPT_API int32_t aiopt_context_create(const aiopt_net_info *info, const void *weights, int32_t threads,
                                       aiopt_ctx **out);
AIOPT_API void aiopt_context_destroy(aiopt_ctx *ctx);

/* Where the threads of a run may be, beside the one that called it, which stays where its owner put it. */
enum aiopt_affinity {
  AIOPT_AFFINITY_AUTO = 0,    /* COMPACT if runs may want more than half of the CPUs, else NONE; this is so at first */
  AIOPT_AFFINITY_NONE = 1,    /* on any CPU this process may use */
  AIOPT_AFFINITY_COMPACT = 2, /* each bound to a CPU: one of each core, from the caller's on, then hardware siblings */
  AIOPT_AFFINITY_LIST = 3,    /* each bound to the CPU of a list; the first entry stands for the caller */
};

/* Of this process, from now on; `cpus` is for AIOPT_AFFINITY_LIST. A run uses no more threads than the list has entries;
 * without one, than there are CPUs this process may use. Returns AIOPT_ERROR_ARGUMENT for a CPU that is not one of them. */
AIOPT_API int32_t aiopt_set_affinity(int32_t affinity, const int32_t *cpus, int32_t count);

/* CPUs this process may use: by its affinity and by the limits of its cgroups. */
AIOPT_API int32_t aiopt_cpu_count(void);

/* The time of each launch, for the hook aiopt_profile_hook. All memory is yours. */
typedef struct aiopt_profile {
  int64_t *nanoseconds; /* launch_count of them; each run adds its own */
  int64_t started;      /* for the hook alone */
} aiopt_profile;

/* A hook whose data is an aiopt_profile. */
AIOPT_API void aiopt_profile_hook(void *profile, int32_t launch, int32_t after);

/* Object code in memory. */
typedef struct aiopt_object aiopt_object;

typedef struct aiopt_bytes {
  const void *data;
  size_t size;
} aiopt_bytes;

/* Loads relocatable ELF objects (for example those of a net) into this process and links them with each other, with
 * what the process has, and with libm. The bytes are not needed afterwards. Functions to be run at load time,
 * thread-local data and unwinding are not supported. Returns AIOPT_OK, or AIOPT_ERROR_OBJECT with one line in `error`
 * (cut to error_bytes; may be null); *out is set on AIOPT_OK only. */
AIOPT_API int32_t aiopt_object_load(const aiopt_bytes *objects, int32_t count, aiopt_object **out, char *error,
                                    size_t error_bytes);

/* The address of a global symbol of the objects, or NULL. */
AIOPT_API void *aiopt_object_symbol(const aiopt_object *object, const char *name);

/* Frees code and data; nothing of them may be in use. */
AIOPT_API void aiopt_object_unload(aiopt_object *object);

/* One of the features of `cpu_features` this CPU does not have, or NULL; for the error message. */
AIOPT_API const char *aiopt_missing_cpu_feature(const char *cpu_features);

/* Lets nets call a library, "openblas" or "onednn", from its shared object. Those that do have the feature
 * "library-openblas" or "library-onednn", which is missing until then. The library computes on the thread that calls it.
 * Returns AIOPT_ERROR_OBJECT with one line in `error` (as aiopt_object_load) if it cannot be opened,
 * AIOPT_ERROR_ARGUMENT for another name. */
AIOPT_API int32_t aiopt_library_open(const char *name, const char *path, char *error, size_t error_bytes);

/* What such nets call: c [m, n] = a [m, k] * b, f32, dense, row-major; b is [k, n], or [n, k] if columns_first. a, b and
 * c are addresses. */
AIOPT_API void aiopt_openblas_sgemm(int64_t a, int64_t b, int64_t c, int64_t m, int64_t n, int64_t k,
                                    int64_t columns_first);
AIOPT_API void aiopt_onednn_sgemm(int64_t a, int64_t b, int64_t c, int64_t m, int64_t n, int64_t k,
                                  int64_t columns_first);

/* AIOPT_ABI_VERSION of the runtime. */
AIOPT_API int32_t aiopt_abi_version(void);

#ifdef __cplusplus
}
#endif
#endif
