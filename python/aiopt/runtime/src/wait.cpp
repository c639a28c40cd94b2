#include "wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aiopt {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel reads the word itself");

long futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, value, nullptr, nullptr, 0);
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("isb"); /* `yield` takes no time on most cores */
#endif
}

} // namespace

void wait_while_equal(std::atomic<uint32_t> &word, uint32_t value, std::atomic<uint32_t> &asleep, int32_t spins) {
  for (int32_t spin = 0; spin < spins; ++spin) {
    if (word.load(std::memory_order_acquire) != value)
      return;
    pause_briefly();
  }
  /* Either this side sees the new word or the other side sees `asleep`: both accesses are seq_cst on both sides. */
  asleep.store(1, std::memory_order_seq_cst);
  while (word.load(std::memory_order_seq_cst) == value)
    futex(word, FUTEX_WAIT_PRIVATE, value); /* returns at once if the word has changed; may wake for nothing */
  asleep.store(0, std::memory_order_relaxed);
}

void wake_if_asleep(std::atomic<uint32_t> &word, std::atomic<uint32_t> &asleep) {
  if (asleep.load(std::memory_order_seq_cst))
    futex(word, FUTEX_WAKE_PRIVATE, 1);
}

} // namespace aiopt
