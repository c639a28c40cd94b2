/* Contexts: an arena, the weights and the way to the thread pool. */
#include "aiopt.h"
#include "placement.h"
#include "thread_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <system_error>

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

/* Never null for a size of 0: the compiled code may form addresses in the arena. */
void *allocate_arena(size_t bytes) {
  size_t alignment = bytes < kHugePage ? kAlignment : kHugePage;
  size_t size = round_up(bytes ? bytes : 1, alignment);
  void *arena = std::aligned_alloc(alignment, size);
  if (arena && alignment == kHugePage)
    madvise(arena, size, MADV_HUGEPAGE); /* advice: where it is refused, small pages do */
  return arena;
}

void parallel_for(const aiopt_ctx *ctx, aiopt_task task, void *const *args, int64_t count, int64_t width) noexcept {
  if (count <= 0)
    return;
  if (ctx->threads > 1 && count > 1)
    aiopt::ThreadPool::instance().run(ctx->threads, task, args, count, width);
  else
    task(args, 0, count);
}

/* Writes a byte of each page begin <= i < end, so that the system takes it from memory near this thread. */
void touch(void *const *args, int64_t begin, int64_t end) noexcept {
  for (int64_t page = begin; page < end; ++page)
    static_cast<volatile char *>(args[0])[page * kPage] = 0;
}

bool arguments_fit(const aiopt_net_info *info, const void *weights, int32_t threads, aiopt_ctx **out) {
  bool aligned = reinterpret_cast<uintptr_t>(weights) % kAlignment == 0;
  return out && threads >= 1 && threads <= aiopt::ThreadPool::kMaxThreads && info->arena_bytes >= 0 &&
         info->weights_bytes >= 0 && (info->weights_bytes == 0 || (weights && aligned));
}

} // namespace

extern "C" int32_t aiopt_abi_version(void) { return AIOPT_ABI_VERSION; }

extern "C" int32_t aiopt_context_create(const aiopt_net_info *info, const void *weights, int32_t threads,
                                        aiopt_ctx **out) {
  if (!info)
    return AIOPT_ERROR_ARGUMENT;
  if (info->abi_version != AIOPT_ABI_VERSION)
    return AIOPT_ERROR_ABI;
  if (!arguments_fit(info, weights, threads, out))
    return AIOPT_ERROR_ARGUMENT;
  if (aiopt_missing_cpu_feature(info->cpu_features))
    return AIOPT_ERROR_CPU;
  try {
    if (threads > 1)
      aiopt::ThreadPool::instance().grow(threads);
  } catch (const std::system_error &) {
    return AIOPT_ERROR_MEMORY;
  } catch (const std::bad_alloc &) {
    return AIOPT_ERROR_MEMORY;
  }
  void *arena = allocate_arena(static_cast<size_t>(info->arena_bytes));
  auto *ctx = new (std::nothrow) aiopt_ctx{AIOPT_ABI_VERSION, threads, arena, weights, parallel_for, nullptr, nullptr};
  if (!arena || !ctx) {
    std::free(arena);
    delete ctx;
    return AIOPT_ERROR_MEMORY;
  }
  /* A loop over a buffer of the arena is cut as this one: a part of it lies where the thread is that works on it. */
  auto pages = static_cast<int64_t>(static_cast<size_t>(info->arena_bytes) / kPage);
  parallel_for(ctx, touch, &arena, pages, pages);
  *out = ctx;
  return AIOPT_OK;
}

extern "C" int32_t aiopt_set_affinity(int32_t affinity, const int32_t *cpus, int32_t count) {
  if (affinity < AIOPT_AFFINITY_AUTO || affinity > AIOPT_AFFINITY_LIST)
    return AIOPT_ERROR_ARGUMENT;
  bool is_list = affinity == AIOPT_AFFINITY_LIST;
  if (is_list && (!cpus || count < 1 || count > aiopt::ThreadPool::kMaxThreads))
    return AIOPT_ERROR_ARGUMENT;
  try {
    std::vector<int> wanted(cpus, cpus + (is_list ? count : 0));
    std::vector<int> allowed = aiopt::allowed_cpus();
    for (int cpu : wanted)
      if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end())
        return AIOPT_ERROR_ARGUMENT;
    aiopt::ThreadPool::instance().place({affinity, wanted});
  } catch (const std::bad_alloc &) {
    return AIOPT_ERROR_MEMORY;
  } catch (const std::system_error &) {
    return AIOPT_ERROR_MEMORY;
  }
  return AIOPT_OK;
}

extern "C" int32_t aiopt_cpu_count(void) {
  try {
    return std::min(static_cast<int32_t>(aiopt::allowed_cpus().size()), aiopt::cpu_quota());
  } catch (const std::bad_alloc &) {
    return 1;
  }
}

extern "C" void aiopt_context_destroy(aiopt_ctx *ctx) {
  if (!ctx)
    return;
  std::free(ctx->arena);
  delete ctx;
}
