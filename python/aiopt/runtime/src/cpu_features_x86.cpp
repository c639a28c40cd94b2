/* Source: CPUID as in the processor manuals of Intel and AMD; names and conditions as LLVM 22's
 * sys::getHostCPUFeatures (llvm/lib/TargetParser/Host.cpp). */
#if defined(__x86_64__)
#include "cpu_features.h"

#include <array>
#include <cpuid.h>
#include <cstdint>
#include <iterator>

namespace aiopt {
namespace {

enum Register { EAX, EBX, ECX, EDX };

/* Registers the operating system must save on a switch, as bits of XCR0. */
enum State : uint64_t { NONE = 0, AVX = 0x6, AVX512 = 0xe6, AMX = 0x60000 };

struct Bit {
  const char *name;
  uint32_t leaf, subleaf;
  Register where;
  int bit;
  State state;
};

constexpr Bit kBits[] = {
    {"cx8", 1, 0, EDX, 8, NONE},
    {"cmov", 1, 0, EDX, 15, NONE},
    {"mmx", 1, 0, EDX, 23, NONE},
    {"fxsr", 1, 0, EDX, 24, NONE},
    {"sse", 1, 0, EDX, 25, NONE},
    {"sse2", 1, 0, EDX, 26, NONE},
    {"sse3", 1, 0, ECX, 0, NONE},
    {"pclmul", 1, 0, ECX, 1, NONE},
    {"ssse3", 1, 0, ECX, 9, NONE},
    {"fma", 1, 0, ECX, 12, AVX},
    {"cx16", 1, 0, ECX, 13, NONE},
    {"sse4.1", 1, 0, ECX, 19, NONE},
    {"sse4.2", 1, 0, ECX, 20, NONE},
    {"crc32", 1, 0, ECX, 20, NONE},
    {"movbe", 1, 0, ECX, 22, NONE},
    {"popcnt", 1, 0, ECX, 23, NONE},
    {"aes", 1, 0, ECX, 25, NONE},
    {"xsave", 1, 0, ECX, 26, AVX},
    {"avx", 1, 0, ECX, 28, AVX},
    {"f16c", 1, 0, ECX, 29, AVX},
    {"rdrnd", 1, 0, ECX, 30, NONE},
    {"fsgsbase", 7, 0, EBX, 0, NONE},
    {"bmi", 7, 0, EBX, 3, NONE},
    {"avx2", 7, 0, EBX, 5, AVX},
    {"bmi2", 7, 0, EBX, 8, NONE},
    {"invpcid", 7, 0, EBX, 10, NONE},
    {"rtm", 7, 0, EBX, 11, NONE},
    {"avx512f", 7, 0, EBX, 16, AVX512},
    {"avx512dq", 7, 0, EBX, 17, AVX512},
    {"rdseed", 7, 0, EBX, 18, NONE},
    {"adx", 7, 0, EBX, 19, NONE},
    {"avx512ifma", 7, 0, EBX, 21, AVX512},
    {"clflushopt", 7, 0, EBX, 23, NONE},
    {"clwb", 7, 0, EBX, 24, NONE},
    {"avx512cd", 7, 0, EBX, 28, AVX512},
    {"sha", 7, 0, EBX, 29, NONE},
    {"avx512bw", 7, 0, EBX, 30, AVX512},
    {"avx512vl", 7, 0, EBX, 31, AVX512},
    {"avx512vbmi", 7, 0, ECX, 1, AVX512},
    {"pku", 7, 0, ECX, 4, NONE},
    {"waitpkg", 7, 0, ECX, 5, NONE},
    {"avx512vbmi2", 7, 0, ECX, 6, AVX512},
    {"shstk", 7, 0, ECX, 7, NONE},
    {"gfni", 7, 0, ECX, 8, NONE},
    {"vaes", 7, 0, ECX, 9, AVX},
    {"vpclmulqdq", 7, 0, ECX, 10, AVX},
    {"avx512vnni", 7, 0, ECX, 11, AVX512},
    {"avx512bitalg", 7, 0, ECX, 12, AVX512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, AVX512},
    {"rdpid", 7, 0, ECX, 22, NONE},
    {"cldemote", 7, 0, ECX, 25, NONE},
    {"movdiri", 7, 0, ECX, 27, NONE},
    {"movdir64b", 7, 0, ECX, 28, NONE},
    {"avx512vp2intersect", 7, 0, EDX, 8, AVX512},
    {"serialize", 7, 0, EDX, 14, NONE},
    {"amx-bf16", 7, 0, EDX, 22, AMX},
    {"avx512fp16", 7, 0, EDX, 23, AVX512},
    {"amx-tile", 7, 0, EDX, 24, AMX},
    {"amx-int8", 7, 0, EDX, 25, AMX},
    {"sha512", 7, 1, EAX, 0, AVX},
    {"avxvnni", 7, 1, EAX, 4, AVX},
    {"avx512bf16", 7, 1, EAX, 5, AVX512},
    {"amx-fp16", 7, 1, EAX, 21, AMX},
    {"avxifma", 7, 1, EAX, 23, AVX},
    {"avxvnniint8", 7, 1, EDX, 4, AVX},
    {"avxneconvert", 7, 1, EDX, 5, AVX},
    {"amx-complex", 7, 1, EDX, 8, AMX},
    {"avxvnniint16", 7, 1, EDX, 10, AVX},
    {"prefetchi", 7, 1, EDX, 14, NONE},
    {"xsaveopt", 0xd, 1, EAX, 0, AVX},
    {"xsavec", 0xd, 1, EAX, 1, AVX},
    {"xsaves", 0xd, 1, EAX, 3, AVX},
    {"sahf", 0x80000001, 0, ECX, 0, NONE},
    {"lzcnt", 0x80000001, 0, ECX, 5, NONE},
    {"sse4a", 0x80000001, 0, ECX, 6, NONE},
    {"prfchw", 0x80000001, 0, ECX, 8, NONE},
    {"xop", 0x80000001, 0, ECX, 11, AVX},
    {"fma4", 0x80000001, 0, ECX, 16, AVX},
    {"tbm", 0x80000001, 0, ECX, 21, NONE},
    {"mwaitx", 0x80000001, 0, ECX, 29, NONE},
    {"64bit", 0x80000001, 0, EDX, 29, NONE},
    {"clzero", 0x80000008, 0, EBX, 0, NONE},
    {"rdpru", 0x80000008, 0, EBX, 4, NONE},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, NONE},
};

uint64_t saved_states() {
  uint32_t a, b, c, d;
  bool osxsave = __get_cpuid(1, &a, &b, &c, &d) && (c >> 27 & 1);
  if (!osxsave)
    return 0;
  uint32_t low, high; /* by hand: the intrinsic needs -mxsave */
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool is_present(const Bit &bit, uint64_t saved) {
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(bit.leaf, bit.subleaf, &registers[EAX], &registers[EBX], &registers[ECX], &registers[EDX]))
    return false;
  return (registers[bit.where] >> bit.bit & 1) && (saved & bit.state) == bit.state;
}

using Features = std::array<Feature, std::size(kBits) + 1>;

Features detect() {
  Features features{};
  uint64_t saved = saved_states();
  for (size_t i = 0; i < std::size(kBits); ++i)
    features[i] = {kBits[i].name, is_present(kBits[i], saved)};
  return features;
}

} // namespace

const Feature *cpu_features() {
  static const Features features = detect();
  return features.data();
}

} // namespace aiopt
#endif
