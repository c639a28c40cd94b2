/* Application threads run parallel loops on contexts of differing thread counts while contexts come and go
 * and the affinity changes. Built with
 * -fsanitize=thread together with the runtime's sources. Exits 1 if a sum is wrong. */
#include "aiopt.h"

#include <atomic>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kCount = 1000, kRounds = 150, kCallers = 4;
const int32_t kCpus[] = {0, 0, 0, 0, 0}; /* places for five threads on any machine */
std::atomic<bool> wrong{false};

struct Job {
  const aiopt_ctx *ctx;
  std::vector<int> hits;
};

void touch(void *const *args, int64_t begin, int64_t end) {
  auto *hits = static_cast<int *>(args[0]);
  for (int64_t i = begin; i < end; ++i)
    ++hits[i];
}

/* A loop inside a loop: its threads must not wait for each other. */
void nest(void *const *args, int64_t begin, int64_t end) {
  auto *ctx = static_cast<const aiopt_ctx *>(args[1]);
  for (int64_t i = begin; i < end; ++i) {
    void *inner[] = {static_cast<int *>(args[0]) + i * 10};
    ctx->parallel_for(ctx, touch, inner, 10, 5);
  }
}

void call(int caller) {
  aiopt_net_info info{};
  info.abi_version = AIOPT_ABI_VERSION;
  info.arena_bytes = 1 << caller;
  for (int round = 0; round < kRounds; ++round) {
    aiopt_ctx *ctx = nullptr;
    if (aiopt_context_create(&info, nullptr, 1 + (caller + round / 50) % 4, &ctx) != AIOPT_OK) {
      wrong = true;
      return;
    }
    int count = round % 7 == 0 ? round % 5 : kCount;
    std::vector<int> hits(kCount);
    void *args[] = {hits.data(), ctx};
    ctx->parallel_for(ctx, touch, args, count, count % 8 ? count : count / 8);
    ctx->parallel_for(ctx, nest, args, count / 10, count / 10);
    for (int i = 0; i < kCount; ++i)
      if (hits[i] != (i < count ? 1 : 0) + (i < count / 10 * 10 ? 1 : 0))
        wrong = true;
    if (round % 16 == caller)
      aiopt_set_affinity(AIOPT_AFFINITY_LIST, kCpus, 4 + caller % 2);
    if (round % 40 == 0)
      usleep(2000); /* long enough for the workers to fall asleep */
    aiopt_context_destroy(ctx);
  }
}

} // namespace

int main() {
  if (aiopt_set_affinity(AIOPT_AFFINITY_LIST, kCpus, 4) != AIOPT_OK)
    wrong = true;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back(call, caller);
  for (std::thread &caller : callers)
    caller.join();
  std::puts(wrong ? "wrong" : "right");
  return wrong ? 1 : 0;
}
