/* The one thread pool of the process: workers that run parts of parallel loops. */
#ifndef AIOPT_THREAD_POOL_H
#define AIOPT_THREAD_POOL_H

#include "aiopt.h"
#include "placement.h"

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

  explicit ThreadPool(Affinity affinity);
  const Affinity &affinity() const { return affinity_; }

  /* Sees to it that `threads - 1` workers exist, but no more than there are places for them. Throws std::system_error
   * or std::bad_alloc if they cannot be made. */
  void grow(int32_t threads);

  /* Moves the workers there are and those to come. Throws std::bad_alloc. */
  void place(const Affinity &affinity);

  /* Runs task over 0 <= i < count, on the caller and, as far as they are free, on workers: `threads` threads at most,
   * and with all callers no more than there are places. The iterations are rows of `width`; each thread begins with the
   * same part of every row. Allocates nothing. */
  void run(int32_t threads, aiopt_task task, void *const *args, int64_t count, int64_t width) noexcept;

private:
  struct Worker;

  /* The chunks of a part of a region that nobody has taken, with the region's number. */
  struct alignas(64) Claim {
    std::atomic<uint64_t> word{0};
  };

  /* The current region. A thread that comes late may read it while the next one is written, but finds no chunk to take
   * then; the fields are atomic for that alone. */
  struct Region {
    std::atomic<aiopt_task> task{nullptr};
    std::atomic<void *const *> args{nullptr};
    std::atomic<int64_t> count{0};
    std::atomic<int64_t> width{0};
    std::atomic<int32_t> parts{0};  /* each row cut evenly: a thread begins with a part of its own */
    std::atomic<int32_t> chunks{0}; /* of all parts together: what one thread claims at a time */
    std::atomic<uint64_t> float_mode{0};
  };

  bool try_run(int32_t threads, aiopt_task task, void *const *args, int64_t count, int64_t width) noexcept;
  void publish(int32_t parts, aiopt_task task, void *const *args, int64_t count, int64_t width) noexcept;
  void set_places();
  void start_worker();
  void work(Worker &worker, int32_t part) noexcept;
  uint32_t run_chunks(int32_t part, uint32_t number) noexcept;
  uint32_t run_part(int32_t part, uint32_t number) noexcept;

  std::atomic<bool> in_use_{false};  /* guards what follows, up to claims_ */
  std::atomic<int32_t> callers_{0};  /* threads in `run` */
  std::atomic<int32_t> places_{0};   /* threads that may run at once; 0 until the first worker is asked for */
  std::atomic<int32_t> spins_{0};    /* before a thread that waits goes to sleep */
  int32_t asked_ = 1;                /* the most threads that runs ask for */
  Affinity affinity_;
  std::vector<std::vector<int>> cpus_; /* where the caller and the workers may run, in this order */
  std::vector<std::unique_ptr<Worker>> workers_;
  uint32_t number_ = 0; /* of the current region */
  Region region_;
  std::unique_ptr<Claim[]> claims_{new Claim[kMaxThreads]};
  alignas(64) std::atomic<uint32_t> pending_{0}; /* chunks of the current region that are not done */
  std::atomic<uint32_t> caller_asleep_{0};
};

} // namespace aiopt

#endif
