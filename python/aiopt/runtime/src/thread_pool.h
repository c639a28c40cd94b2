/* The one thread pool of the process: pinned workers that run parts of parallel loops. */
#ifndef AIOPT_THREAD_POOL_H
#define AIOPT_THREAD_POOL_H

#include "aiopt.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace aiopt {

class ThreadPool {
public:
  static constexpr int32_t kMaxThreads = 1024;

  /* The pool of this process. It is never destroyed: its workers live as long as the process. A fork has none of the
   * parent's threads, so the child starts with an empty pool. */
  static ThreadPool &instance();

  /* Sees to it that `threads - 1` workers exist. Throws std::system_error or std::bad_alloc if they cannot be made. */
  void grow(int32_t threads);

  /* Runs task over 0 <= i < count on the caller and up to `threads - 1` workers. Returns false, with nothing run, if
   * another call has the pool (or this one is inside a task), or if there are no workers. Allocates nothing. */
  bool try_run(int32_t threads, aiopt_task task, void *const *args, int64_t count) noexcept;

private:
  struct Worker;

  /* What the workers of the current region are to do; written before their turn comes and then left alone. */
  struct Region {
    aiopt_task task;
    void *const *args;
    int64_t count;
    int32_t parts;
    int32_t spins; /* before a thread that waits goes to sleep */
    uint64_t float_mode;
  };

  void start_worker();
  void work(Worker &worker, int32_t part) noexcept;
  void run_part(int32_t part) const noexcept;

  std::atomic<bool> in_use_{false}; /* guards what follows */
  Region region_{};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int> cpus_; /* where the caller and the workers belong, in this order */
  alignas(64) std::atomic<uint32_t> pending_{0}; /* workers still at the current region */
  std::atomic<uint32_t> caller_asleep_{0};
};

} // namespace aiopt

#endif
