#include "thread_pool.h"

#include "placement.h"
#include "wait.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <pthread.h>
#include <system_error>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace aiopt {
namespace {

/* 30 to 100 us of pauses: more than the gap between two kernels of a run, less than anyone would notice as load. */
constexpr int32_t kSpins = 2000;

/* Rounding and flushing of subnormals, without the sticky exception flags. The workers take them over from the caller
 * of a region, so that a result does not depend on which thread computed it. */
uint64_t float_mode() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~static_cast<unsigned>(_MM_EXCEPT_MASK);
#else
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#endif
}

void set_float_mode(uint64_t mode) {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(mode));
#else
  asm volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

/* Blocks the signals of the process in this thread and in the threads it starts: an application handles them in
 * threads of its own. Those that an instruction raises stay open. */
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
      sigdelset(&blocked, signal);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;

private:
  sigset_t before_;
};

std::atomic<ThreadPool *> the_pool{nullptr};

void start_empty_in_child() { the_pool.store(new ThreadPool); }

ThreadPool *make_pool() {
  if (int error = pthread_atfork(nullptr, nullptr, start_empty_in_child))
    throw std::system_error(error, std::generic_category());
  auto *pool = new ThreadPool;
  the_pool.store(pool);
  return pool;
}

} // namespace

struct alignas(64) ThreadPool::Worker {
  std::atomic<uint32_t> turn{0}; /* counts the regions this worker was called to */
  std::atomic<uint32_t> asleep{0};
};

ThreadPool &ThreadPool::instance() {
  static ThreadPool *const first = make_pool();
  (void)first; /* after a fork it is another one */
  return *the_pool.load(std::memory_order_acquire);
}

void ThreadPool::grow(int32_t threads) {
  while (in_use_.exchange(true, std::memory_order_acquire))
    std::this_thread::yield();
  struct Release {
    std::atomic<bool> &flag;
    ~Release() { flag.store(false, std::memory_order_release); }
  } release{in_use_};

  if (cpus_.empty())
    cpus_ = cpus_in_order();
  workers_.reserve(threads - 1);
  while (static_cast<int32_t>(workers_.size()) < threads - 1)
    start_worker();
}

void ThreadPool::start_worker() {
  auto worker = std::make_unique<Worker>();
  auto part = static_cast<int32_t>(workers_.size()) + 1;
  SignalsBlocked blocked;
  std::thread thread(&ThreadPool::work, this, std::ref(*worker), part);
  pthread_setname_np(thread.native_handle(), "aiopt-worker");
  if (part < static_cast<int32_t>(cpus_.size()))
    pin(thread.native_handle(), cpus_[part]);
  thread.detach();
  workers_.push_back(std::move(worker)); /* reserved: cannot throw once the thread runs */
}

void ThreadPool::work(Worker &worker, int32_t part) noexcept {
  int32_t spins = 0;
  for (uint32_t turn = 0;; ++turn) {
    wait_while_equal(worker.turn, turn, worker.asleep, spins);
    spins = region_.spins; /* the next region is most likely like this one */
    if (float_mode() != region_.float_mode)
      set_float_mode(region_.float_mode);
    run_part(part);
    if (pending_.fetch_sub(1, std::memory_order_seq_cst) == 1)
      wake_if_asleep(pending_, caller_asleep_);
  }
}

void ThreadPool::run_part(int32_t part) const noexcept {
  int64_t size = region_.count / region_.parts;
  int64_t longer = region_.count % region_.parts; /* this many parts, the first ones, have one more */
  int64_t begin = part * size + std::min<int64_t>(part, longer);
  region_.task(region_.args, begin, begin + size + (part < longer ? 1 : 0));
}

bool ThreadPool::try_run(int32_t threads, aiopt_task task, void *const *args, int64_t count) noexcept {
  if (in_use_.load(std::memory_order_relaxed) || in_use_.exchange(true, std::memory_order_acquire))
    return false;
  auto most = std::min<int64_t>(count, std::min<int64_t>(threads, static_cast<int64_t>(workers_.size()) + 1));
  if (most < 2) {
    in_use_.store(false, std::memory_order_release);
    return false;
  }
  auto parts = static_cast<int32_t>(most);
  /* With fewer CPUs than threads a spinning thread keeps from work the one it waits for. */
  int32_t spins = most > static_cast<int64_t>(cpus_.size()) ? 0 : kSpins;
  region_ = {task, args, count, parts, spins, float_mode()};
  pending_.store(static_cast<uint32_t>(parts - 1), std::memory_order_relaxed);
  for (int32_t part = 1; part < parts; ++part) {
    Worker &worker = *workers_[part - 1];
    worker.turn.fetch_add(1, std::memory_order_seq_cst);
    wake_if_asleep(worker.turn, worker.asleep);
  }
  run_part(0);
  while (uint32_t left = pending_.load(std::memory_order_acquire))
    wait_while_equal(pending_, left, caller_asleep_, spins);
  in_use_.store(false, std::memory_order_release);
  return true;
}

} // namespace aiopt
