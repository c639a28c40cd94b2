/* Runs a compiled net and counts the calls of the allocator, on all threads, between entry and return of each run.
 *
 *   count_mallocs RUNTIME.so NET.so NAME RUNS WEIGHTS INPUT... OUTPUT...
 *
 * NET.so exports aiopt_NAME_info and aiopt_NAME_run; the files hold raw bytes, one per tensor, in the net's order.
 * Prints one JSON object: the calls seen while each function was called on purpose, on this thread and on one of the
 * pool, and while a context was made ("planted"); those seen in RUNS runs with one and with two threads ("runs"); and
 * whether all outputs were equal bit for bit ("same"). Writes the outputs of the first run.
 */
#define _GNU_SOURCE
#include "aiopt.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { MALLOC, CALLOC, REALLOC, ALIGNED_ALLOC, POSIX_MEMALIGN, MEMALIGN, MMAP, KINDS };
static const char *const names[KINDS] = {"malloc",         "calloc",   "realloc", "aligned_alloc",
                                         "posix_memalign", "memalign", "mmap"};
static atomic_long calls[KINDS];
static atomic_bool counting;

static void count(enum kind kind) {
  if (atomic_load(&counting))
    atomic_fetch_add(&calls[kind], 1);
}

/* The program's definitions come before libc's in every library it opens. The real ones go by other names in glibc. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  count(MALLOC);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(CALLOC);
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count(REALLOC);
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(ALIGNED_ALLOC);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  count(POSIX_MEMALIGN);
  void *memory = __libc_memalign(alignment, size);
  if (!memory)
    return ENOMEM;
  *out = memory;
  return 0;
}

void *memalign(size_t alignment, size_t size) {
  count(MEMALIGN);
  return __libc_memalign(alignment, size);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  count(MMAP);
  return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  return mmap(address, length, protection, flags, file, offset);
}

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fputs("count_mallocs: ", stderr);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  exit(2);
}

static void start_counting(void) {
  for (int kind = 0; kind < KINDS; ++kind)
    atomic_store(&calls[kind], 0);
  atomic_store(&counting, true);
}

static void stop_counting(void) { atomic_store(&counting, false); }

static void print_calls(void) {
  for (int kind = 0; kind < KINDS; ++kind)
    printf("%s\"%s\": %ld", kind ? ", " : "{", names[kind], atomic_load(&calls[kind]));
  printf("}");
}

/* Calls each function once, through the symbols a library would find. */
static void plant(void) {
  void *(*volatile one_size)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
  void *(*volatile of_zeros)(size_t, size_t) = calloc;
  void *(*volatile resize)(void *, size_t) = realloc;
  void *(*volatile aligned)(size_t, size_t) = aligned_alloc;
  int (*volatile posix)(void **, size_t, size_t) = posix_memalign;
  void *(*volatile old_aligned)(size_t, size_t) = memalign;
  free(resize(one_size(8), 16));
  free(of_zeros(1, 8));
  free(aligned(64, 64));
  void *memory = NULL;
  if (posix(&memory, 64, 64) == 0)
    free(memory);
  free(old_aligned(64, 64));
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED)
    munmap(page, 4096);
}

/* Does so once, on the thread of the pool, for which the caller waits. */
static void plant_off_thread(void *const *args, int64_t begin, int64_t end) {
  atomic_bool *planted = args[1];
  if (end - begin == 2)
    fail("a loop of two threads ran on one");
  if (gettid() != *(const pid_t *)args[0] && !atomic_exchange(planted, true))
    plant();
  while (!atomic_load(planted))
    sched_yield();
}

static void *find(void *library, const char *format, const char *name) {
  char symbol[256];
  snprintf(symbol, sizeof symbol, format, name);
  void *found = dlsym(library, symbol);
  if (!found)
    fail("there is no %s", symbol);
  return found;
}

static void *open_library(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail("%s", dlerror());
  return library;
}

static size_t bytes_of(const aiopt_tensor_info *info) {
  static const size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8}; /* by aiopt_dtype */
  size_t bytes = sizes[info->dtype];
  for (int axis = 0; axis < info->rank; ++axis)
    bytes *= (size_t)info->shape[axis];
  return bytes;
}

static void *new_block(size_t bytes) {
  void *block = aligned_alloc(64, (bytes / 64 + 1) * 64);
  if (!block)
    fail("no memory for %zu bytes", bytes);
  return block;
}

static void *read_block(const char *path, size_t bytes) {
  void *block = new_block(bytes);
  FILE *file = fopen(path, "rb");
  if (!file || fread(block, 1, bytes, file) != bytes || fgetc(file) != EOF)
    fail("%s does not hold %zu bytes", path, bytes);
  fclose(file);
  return block;
}

static void write_block(const char *path, const void *block, size_t bytes) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(block, 1, bytes, file) != bytes || fclose(file) != 0)
    fail("cannot write %s", path);
}

typedef struct {
  int32_t (*create)(const aiopt_net_info *, const void *, int32_t, aiopt_ctx **);
  void (*destroy)(aiopt_ctx *);
  const aiopt_net_info *info;
  int32_t (*run)(const aiopt_ctx *, const aiopt_tensor *, aiopt_tensor *);
  const void *weights;
  aiopt_tensor *inputs, *outputs;
  void **first_outputs; /* of the first run, or NULL */
  bool same;
} net;

static aiopt_ctx *make_context(const net *net, int32_t threads) {
  aiopt_ctx *ctx = NULL;
  int32_t status = net->create(net->info, net->weights, threads, &ctx);
  if (status != AIOPT_OK)
    fail("aiopt_context_create gave status %d", status);
  return ctx;
}

static void print_planted(const net *net) {
  printf("{\"planted\": {\"main\": ");
  start_counting();
  plant();
  stop_counting();
  print_calls();
  start_counting();
  aiopt_ctx *ctx = make_context(net, 2);
  stop_counting();
  printf(", \"context\": ");
  print_calls();
  pid_t self = gettid();
  atomic_bool planted = false;
  void *args[] = {&self, &planted};
  start_counting();
  ctx->parallel_for(ctx, plant_off_thread, args, 2, 2);
  stop_counting();
  printf(", \"worker\": ");
  print_calls();
  printf("}");
  net->destroy(ctx);
}

/* Remembers the outputs of the first run and compares those of the others with them. */
static void compare_outputs(net *net) {
  bool is_first = !net->first_outputs;
  if (is_first)
    net->first_outputs = calloc((size_t)net->info->output_count + 1, sizeof *net->first_outputs);
  for (int i = 0; i < net->info->output_count; ++i) {
    size_t bytes = bytes_of(&net->info->outputs[i]);
    if (is_first)
      net->first_outputs[i] = memcpy(new_block(bytes), net->outputs[i].data, bytes);
    else if (memcmp(net->first_outputs[i], net->outputs[i].data, bytes) != 0)
      net->same = false;
    memset(net->outputs[i].data, 0xff, bytes); /* the next run must write everything again */
  }
}

static void print_runs(net *net, int32_t threads, int runs) {
  aiopt_ctx *ctx = make_context(net, threads);
  long sum[KINDS] = {0};
  for (int run = 0; run < runs; ++run) {
    start_counting();
    int32_t status = net->run(ctx, net->inputs, net->outputs);
    stop_counting();
    if (status != AIOPT_OK)
      fail("the run gave status %d", status);
    for (int kind = 0; kind < KINDS; ++kind)
      sum[kind] += atomic_load(&calls[kind]);
    compare_outputs(net);
  }
  for (int kind = 0; kind < KINDS; ++kind)
    atomic_store(&calls[kind], sum[kind]);
  printf("{\"threads\": %d, \"runs\": %d, \"calls\": ", threads, runs);
  print_calls();
  printf("}");
  net->destroy(ctx);
}

/* Places for two threads on a machine of one CPU, too. */
static void make_places(void *runtime) {
  int32_t (*set_affinity)(int32_t, const int32_t *, int32_t), cpus[2] = {sched_getcpu(), sched_getcpu()};
  *(void **)&set_affinity = find(runtime, "%s", "aiopt_set_affinity");
  if (set_affinity(AIOPT_AFFINITY_LIST, cpus, 2) != AIOPT_OK)
    fail("CPU %d is refused", cpus[0]);
}

static net load(char **arguments) {
  void *runtime = open_library(arguments[1]), *code = open_library(arguments[2]);
  net net = {.same = true};
  make_places(runtime);
  *(void **)&net.create = find(runtime, "%s", "aiopt_context_create");
  *(void **)&net.destroy = find(runtime, "%s", "aiopt_context_destroy");
  *(void **)&net.run = find(code, "aiopt_%s_run", arguments[3]);
  net.info = find(code, "aiopt_%s_info", arguments[3]);
  return net;
}

int main(int count, char **arguments) {
  if (count < 6)
    fail("expected RUNTIME.so NET.so NAME RUNS WEIGHTS INPUT... OUTPUT...");
  net net = load(arguments);
  int inputs = net.info->input_count, outputs = net.info->output_count, runs = atoi(arguments[4]);
  if (count != 6 + inputs + outputs || runs < 1)
    fail("the net has %d inputs and %d outputs, RUNS is at least 1", inputs, outputs);
  net.weights = read_block(arguments[5], (size_t)net.info->weights_bytes);
  net.inputs = calloc((size_t)inputs + 1, sizeof *net.inputs);
  net.outputs = calloc((size_t)outputs + 1, sizeof *net.outputs);
  for (int i = 0; i < inputs; ++i)
    net.inputs[i].data = read_block(arguments[6 + i], bytes_of(&net.info->inputs[i]));
  for (int i = 0; i < outputs; ++i)
    net.outputs[i].data = new_block(bytes_of(&net.info->outputs[i]));
  print_planted(&net);
  printf(", \"runs\": [");
  print_runs(&net, 1, runs);
  printf(", ");
  print_runs(&net, 2, runs);
  printf("], \"same\": %s}\n", net.same ? "true" : "false");
  for (int i = 0; i < outputs; ++i) /* all runs gave these, or "same" says that they did not */
    write_block(arguments[6 + inputs + i], net.first_outputs[i], bytes_of(&net.info->outputs[i]));
  return 0;
}
