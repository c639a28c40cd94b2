#include "thread_pool.h"

#include "placement.h"
#include "wait.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace aiopt {
namespace {

/* 30 to 100 us of pauses: more than the gap between two kernels of a run, less than anyone would notice as load. */
constexpr int32_t kSpins = 2000;

/* Of each thread in a region. A thread that is ahead takes over chunks of one that is held up, by another process or
 * by the system: the more there are, the less it waits for at the end; each costs some 10 ns. */
constexpr int32_t kChunks = 4;

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

void start_empty_in_child() { the_pool.store(new ThreadPool(the_pool.load()->affinity())); }

ThreadPool *make_pool() {
  if (int error = pthread_atfork(nullptr, nullptr, start_empty_in_child))
    throw std::system_error(error, std::generic_category());
  auto *pool = new ThreadPool({});
  the_pool.store(pool);
  return pool;
}

} // namespace

struct alignas(64) ThreadPool::Worker {
  std::atomic<uint32_t> turn{0}; /* the number of the last region this worker was called to */
  std::atomic<uint32_t> asleep{0};
  pthread_t thread{};
};

namespace {

/* Where part `number` of `parts` begins when `count` is cut evenly: the first parts are the longer ones. */
int64_t begin_of(int64_t number, int64_t parts, int64_t count) {
  return number * (count / parts) + std::min(number, count % parts);
}

/* A claim: the number of a region, and which chunks of a part of it nobody has taken. */
uint64_t claim_of(uint32_t number, int64_t next, int64_t end) {
  return uint64_t{number} << 32 | static_cast<uint64_t>(end) << 16 | static_cast<uint64_t>(next);
}
int64_t next_of(uint64_t claim) { return static_cast<int64_t>(claim & UINT16_MAX); }
bool is_open(uint64_t claim, uint32_t number) {
  return claim >> 32 == number && (claim & UINT16_MAX) < (claim >> 16 & UINT16_MAX);
}
/* What part `number` of `parts` has of each row, and how many chunks its iterations are cut into, row after row. */
struct Part {
  int64_t width, first, columns, rows, chunks, first_chunk;

  Part(int64_t number, int64_t parts, int64_t chunks_of_all, int64_t count, int64_t row)
      : width(row), first(begin_of(number, parts, row)), columns(begin_of(number + 1, parts, row) - first),
        rows(count / row), chunks(begin_of(number + 1, parts, chunks_of_all) - begin_of(number, parts, chunks_of_all)),
        first_chunk(begin_of(number, parts, chunks_of_all)) {}

  void run(aiopt_task task, void *const *args, int64_t chunk) const {
    int64_t end = begin_of(chunk - first_chunk + 1, chunks, rows * columns);
    for (int64_t i = begin_of(chunk - first_chunk, chunks, rows * columns); i < end;) {
      int64_t at = i / columns * width + first + i % columns;
      int64_t length = std::min(columns - i % columns, end - i);
      task(args, at, at + length);
      i += length;
    }
  }
};

static_assert(ThreadPool::kMaxThreads * kChunks <= UINT16_MAX, "numbers of chunks fit in a claim");

/* Holds a flag that threads take in turns and never for long. */
class Held {
public:
  explicit Held(std::atomic<bool> &flag) : flag_(flag) {
    while (flag_.exchange(true, std::memory_order_acquire))
      std::this_thread::yield();
  }
  ~Held() { flag_.store(false, std::memory_order_release); }
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;

private:
  std::atomic<bool> &flag_;
};

} // namespace

ThreadPool &ThreadPool::instance() {
  static ThreadPool *const first = make_pool();
  (void)first; /* after a fork it is another one */
  return *the_pool.load(std::memory_order_acquire);
}

ThreadPool::ThreadPool(Affinity affinity) : affinity_(std::move(affinity)) {}

void ThreadPool::grow(int32_t threads) {
  Held held(in_use_);
  if (threads > asked_) {
    asked_ = threads;
    set_places();
  }
  auto wanted = std::min<size_t>(threads, cpus_.size()) - 1;
  workers_.reserve(wanted);
  while (workers_.size() < wanted)
    start_worker();
}

void ThreadPool::place(const Affinity &affinity) {
  Held held(in_use_);
  affinity_ = affinity;
  set_places();
}

void ThreadPool::set_places() {
  cpus_ = thread_places(affinity_, asked_);
  for (size_t i = 0; i < workers_.size() && i + 1 < cpus_.size(); ++i)
    bind(workers_[i]->thread, cpus_[i + 1]);
  std::vector<int> distinct;
  for (const std::vector<int> &cpus : cpus_)
    distinct.insert(distinct.end(), cpus.begin(), cpus.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  /* With fewer CPUs than threads a spinning thread keeps from work the one it waits for. */
  spins_.store(distinct.size() < cpus_.size() ? 0 : kSpins, std::memory_order_relaxed);
  places_.store(static_cast<int32_t>(cpus_.size()), std::memory_order_relaxed);
}

void ThreadPool::start_worker() {
  auto worker = std::make_unique<Worker>();
  auto part = static_cast<int32_t>(workers_.size()) + 1;
  SignalsBlocked blocked;
  std::thread thread(&ThreadPool::work, this, std::ref(*worker), part);
  worker->thread = thread.native_handle();
  pthread_setname_np(worker->thread, "aiopt-worker");
  bind(worker->thread, cpus_[part]);
  thread.detach();
  workers_.push_back(std::move(worker)); /* reserved: cannot throw once the thread runs */
}

void ThreadPool::work(Worker &worker, int32_t part) noexcept {
  for (uint32_t number = 0;;) {
    wait_while_equal(worker.turn, number, worker.asleep, number ? spins_.load(std::memory_order_relaxed) : 0);
    number = worker.turn.load(std::memory_order_acquire);
    uint32_t done = run_chunks(part, number);
    if (done && pending_.fetch_sub(done, std::memory_order_seq_cst) == done)
      wake_if_asleep(pending_, caller_asleep_);
  }
}

/* The chunks of a part and then those that are left of others; how many were run. */
uint32_t ThreadPool::run_chunks(int32_t part, uint32_t number) noexcept {
  int32_t parts = region_.parts.load(std::memory_order_relaxed);
  uint32_t done = 0;
  for (int32_t i = 0; i < parts; ++i)
    done += run_part((part + i) % parts, number);
  return done;
}

uint32_t ThreadPool::run_part(int32_t part, uint32_t number) noexcept {
  std::atomic<uint64_t> &word = claims_[part].word;
  uint32_t done = 0;
  for (uint64_t claim = word.load(std::memory_order_acquire); is_open(claim, number);) {
    aiopt_task task = region_.task.load(std::memory_order_relaxed);
    void *const *args = region_.args.load(std::memory_order_relaxed);
    int64_t count = region_.count.load(std::memory_order_relaxed);
    int64_t width = region_.width.load(std::memory_order_relaxed);
    int32_t parts = region_.parts.load(std::memory_order_relaxed);
    int32_t chunks = region_.chunks.load(std::memory_order_relaxed);
    uint64_t mode = region_.float_mode.load(std::memory_order_relaxed);
    /* If the chunk is still to be had, the region is not over, and what was read is of it. */
    if (!word.compare_exchange_weak(claim, claim + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    if (done == 0 && float_mode() != mode)
      set_float_mode(mode);
    Part(part, parts, chunks, count, width).run(task, args, next_of(claim));
    ++done;
    claim = word.load(std::memory_order_acquire);
  }
  return done;
}

void ThreadPool::run(int32_t threads, aiopt_task task, void *const *args, int64_t count, int64_t width) noexcept {
  int32_t others = callers_.fetch_add(1, std::memory_order_relaxed);
  int32_t left = places_.load(std::memory_order_relaxed) - others;
  if (!try_run(std::min(threads, left), task, args, count, width))
    task(args, 0, count);
  callers_.fetch_sub(1, std::memory_order_relaxed);
}

/* False, with nothing run, if another call has the pool (or this one is inside a task), or no worker is to be had. */
bool ThreadPool::try_run(int32_t threads, aiopt_task task, void *const *args, int64_t count, int64_t width) noexcept {
  if (threads < 2 || count < 2)
    return false;
  if (in_use_.load(std::memory_order_relaxed) || in_use_.exchange(true, std::memory_order_acquire))
    return false;
  auto most = std::min<int64_t>(count, std::min<int64_t>(threads, static_cast<int64_t>(workers_.size()) + 1));
  if (most < 2) {
    in_use_.store(false, std::memory_order_release);
    return false;
  }
  auto parts = static_cast<int32_t>(most);
  publish(parts, task, args, count, width < parts ? count : width); /* narrow rows would leave threads without a part */
  for (int32_t part = 1; part < parts; ++part) {
    Worker &worker = *workers_[part - 1];
    worker.turn.store(number_, std::memory_order_seq_cst);
    wake_if_asleep(worker.turn, worker.asleep);
  }
  uint32_t done = run_chunks(0, number_);
  pending_.fetch_sub(done, std::memory_order_acq_rel);
  int32_t spins = spins_.load(std::memory_order_relaxed);
  while (uint32_t left = pending_.load(std::memory_order_acquire))
    wait_while_equal(pending_, left, caller_asleep_, spins);
  in_use_.store(false, std::memory_order_release);
  return true;
}

void ThreadPool::publish(int32_t parts, aiopt_task task, void *const *args, int64_t count, int64_t width) noexcept {
  auto chunks = static_cast<int32_t>(std::min<int64_t>(count, int64_t{parts} * kChunks));
  region_.task.store(task, std::memory_order_relaxed);
  region_.args.store(args, std::memory_order_relaxed);
  region_.count.store(count, std::memory_order_relaxed);
  region_.width.store(width, std::memory_order_relaxed);
  region_.chunks.store(chunks, std::memory_order_relaxed);
  region_.parts.store(parts, std::memory_order_relaxed);
  region_.float_mode.store(float_mode(), std::memory_order_relaxed);
  pending_.store(static_cast<uint32_t>(chunks), std::memory_order_relaxed);
  number_ += number_ == UINT32_MAX ? 2 : 1; /* 0 is what workers begin with */
  for (int32_t part = 0; part < parts; ++part)
    claims_[part].word.store(claim_of(number_, begin_of(part, parts, chunks), begin_of(part + 1, parts, chunks)),
                             std::memory_order_release);
}

} // namespace aiopt
