/* Source: bits of AT_HWCAP and AT_HWCAP2 as in the Linux kernel's arch/arm64/include/uapi/asm/hwcap.h (by number: the
 * headers of older systems lack some names); names as in LLVM 22's AArch64 target. */
#if defined(__aarch64__)
#include "cpu_features.h"

#include <sys/auxv.h>

namespace aiopt {
namespace {

bool first(unsigned long mask) { return (getauxval(AT_HWCAP) & mask) == mask; }
bool second(unsigned long mask) { return (getauxval(AT_HWCAP2) & mask) == mask; }
constexpr unsigned long bit(int number) { return 1UL << number; }

} // namespace

const Feature *cpu_features() {
  static const Feature features[] = {
      {"fp-armv8", true}, /* the AArch64 ABI on Linux requires both */
      {"neon", true},
      {"aes", first(bit(3) | bit(4))}, /* AES and PMULL */
      {"sha2", first(bit(5) | bit(6))},
      {"crc", first(bit(7))},
      {"lse", first(bit(8))},
      {"fullfp16", first(bit(9) | bit(10))},
      {"rdm", first(bit(12))},
      {"jsconv", first(bit(13))},
      {"complxnum", first(bit(14))},
      {"rcpc", first(bit(15))},
      {"sha3", first(bit(17) | bit(21))},
      {"sm4", first(bit(18) | bit(19))},
      {"dotprod", first(bit(20))},
      {"sve", first(bit(22))},
      {"fp16fml", first(bit(23))},
      {"sve2", second(bit(1))},
      {"i8mm", second(bit(13))},
      {"bf16", second(bit(14))},
      {nullptr, false},
  };
  return features;
}

} // namespace aiopt
#endif
