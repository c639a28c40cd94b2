/* Source: System V ABI, AMD64 supplement, section 4.4 (relocation). */
#include "architecture.h"

#include <cstring>
#include <elf.h>

namespace aiopt {
namespace {

Reference reference(uint32_t type) {
  switch (type) {
  case R_X86_64_NONE:
    return Reference::kNone;
  case R_X86_64_64:
  case R_X86_64_PC64:
  case R_X86_64_PC32:
  case R_X86_64_32:
  case R_X86_64_32S:
    return Reference::kSymbol;
  case R_X86_64_PLT32:
    return Reference::kCall;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    return Reference::kSlot;
  default:
    return Reference::kUnknown;
  }
}

size_t width(uint32_t type) { return type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4; }

bool is_relative(uint32_t type) { return type != R_X86_64_64 && type != R_X86_64_32 && type != R_X86_64_32S; }

bool apply(const Relocation &r) {
  uint64_t value = r.target + static_cast<uint64_t>(r.addend) - (is_relative(r.type) ? r.place : 0);
  if (width(r.type) == 4) {
    bool fits = r.type == R_X86_64_32 ? value == static_cast<uint32_t>(value)
                                      : static_cast<int64_t>(value) == static_cast<int32_t>(value);
    if (!fits)
      return false;
  }
  std::memcpy(r.at, &value, width(r.type)); /* little-endian: the low bytes come first */
  return true;
}

/* jmp *slot(%rip), then traps */
bool write_stub(uint8_t *at, uint64_t address, uint64_t slot) {
  constexpr uint8_t kJump[] = {0xff, 0x25};
  constexpr size_t kLength = 6, kBytes = 16;
  int64_t distance = static_cast<int64_t>(slot - (address + kLength));
  if (distance != static_cast<int32_t>(distance))
    return false;
  std::memset(at, 0xcc, kBytes);
  std::memcpy(at, kJump, sizeof kJump);
  std::memcpy(at + sizeof kJump, &distance, 4);
  return true;
}

} // namespace

const Architecture kX86 = {EM_X86_64, 16, reference, width, apply, write_stub};

} // namespace aiopt
