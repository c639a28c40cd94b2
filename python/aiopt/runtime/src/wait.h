/* Waiting for another thread to change a word: a short spin, then a futex. No fences, so ThreadSanitizer follows. */
#ifndef AIOPT_WAIT_H
#define AIOPT_WAIT_H

#include <atomic>
#include <cstdint>

namespace aiopt {

/* Returns once `word` is seen not to hold `value`. `asleep` tells the other side that it has to call the kernel. */
void wait_while_equal(std::atomic<uint32_t> &word, uint32_t value, std::atomic<uint32_t> &asleep, int32_t spins);

/* To be called after a seq_cst write to `word`: wakes the thread that sleeps on it, if one does. */
void wake_if_asleep(std::atomic<uint32_t> &word, std::atomic<uint32_t> &asleep);

} // namespace aiopt

#endif
