/* Source: ELF for the Arm 64-bit Architecture (AAELF64), section 5.7 (relocation). */
#include "architecture.h"

#include <cstring>
#include <elf.h>

namespace aiopt {
namespace {

constexpr uint64_t kPage = 4096; /* of ADRP, whatever the kernel's pages are */
constexpr uint32_t kPlt32 = 314; /* R_AARCH64_PLT32: newer than some <elf.h> */

Reference reference(uint32_t type) {
  switch (type) {
  case R_AARCH64_NONE:
    return Reference::kNone;
  case R_AARCH64_ABS64:
  case R_AARCH64_ABS32:
  case R_AARCH64_PREL64:
  case R_AARCH64_PREL32:
  case R_AARCH64_ADR_PREL_LO21:
  case R_AARCH64_ADR_PREL_PG_HI21:
  case R_AARCH64_ADR_PREL_PG_HI21_NC:
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
  case R_AARCH64_LDST16_ABS_LO12_NC:
  case R_AARCH64_LDST32_ABS_LO12_NC:
  case R_AARCH64_LDST64_ABS_LO12_NC:
  case R_AARCH64_LDST128_ABS_LO12_NC:
  case R_AARCH64_TSTBR14:
  case R_AARCH64_CONDBR19:
    return Reference::kSymbol;
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
  case kPlt32:
    return Reference::kCall;
  case R_AARCH64_ADR_GOT_PAGE:
  case R_AARCH64_LD64_GOT_LO12_NC:
    return Reference::kSlot;
  default:
    return Reference::kUnknown;
  }
}

size_t width(uint32_t type) { return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : 4; }

uint64_t page(uint64_t address) { return address & ~(kPage - 1); }

bool fits(int64_t value, int bits) { return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1); }

void put(uint8_t *at, uint32_t mask, uint32_t bits) {
  uint32_t instruction;
  std::memcpy(&instruction, at, sizeof instruction);
  instruction = (instruction & ~mask) | (bits & mask);
  std::memcpy(at, &instruction, sizeof instruction);
}

/* ADR and ADRP: the low two bits of the immediate stand apart. */
bool put_adr(uint8_t *at, int64_t value) {
  if (!fits(value, 21))
    return false;
  auto immediate = static_cast<uint32_t>(value);
  put(at, 0x60ffffe0, (immediate & 3) << 29 | (immediate >> 2 & 0x7ffff) << 5);
  return true;
}

/* A branch over `value` bytes with an immediate of `bits` bits at bit `shift`. */
bool put_branch(uint8_t *at, int64_t value, int bits, int shift) {
  if (value % 4 != 0 || !fits(value / 4, bits))
    return false;
  uint32_t mask = ((uint32_t{1} << bits) - 1) << shift;
  put(at, mask, static_cast<uint32_t>(value / 4) << shift);
  return true;
}

/* The low 12 bits of an address in a load, a store (scaled by the access's bytes) or an addition (scale 1). */
bool put_low(uint8_t *at, uint64_t address, uint32_t scale) {
  auto low = static_cast<uint32_t>(address & (kPage - 1));
  if (low % scale != 0)
    return false;
  put(at, 0xfff << 10, low / scale << 10);
  return true;
}

bool put_data(uint8_t *at, uint64_t value, size_t bytes, bool is_signed) {
  bool in_range = bytes == 8 || fits(static_cast<int64_t>(value), 32) || (!is_signed && value >> 32 == 0);
  if (in_range)
    std::memcpy(at, &value, bytes); /* little-endian: the low bytes come first */
  return in_range;
}

bool apply(const Relocation &r) {
  uint64_t address = r.target + static_cast<uint64_t>(r.addend);
  auto distance = static_cast<int64_t>(address - r.place);
  switch (r.type) {
  case R_AARCH64_ABS64:
  case R_AARCH64_ABS32:
    return put_data(r.at, address, width(r.type), false);
  case R_AARCH64_PREL64:
  case R_AARCH64_PREL32:
  case kPlt32:
    return put_data(r.at, static_cast<uint64_t>(distance), width(r.type), true);
  case R_AARCH64_ADR_PREL_LO21:
    return put_adr(r.at, distance);
  case R_AARCH64_ADR_PREL_PG_HI21:
  case R_AARCH64_ADR_PREL_PG_HI21_NC:
  case R_AARCH64_ADR_GOT_PAGE:
    return put_adr(r.at, static_cast<int64_t>(page(address) - page(r.place)) / static_cast<int64_t>(kPage));
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return put_low(r.at, address, 1);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return put_low(r.at, address, 2);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return put_low(r.at, address, 4);
  case R_AARCH64_LDST64_ABS_LO12_NC:
  case R_AARCH64_LD64_GOT_LO12_NC:
    return put_low(r.at, address, 8);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return put_low(r.at, address, 16);
  case R_AARCH64_TSTBR14:
    return put_branch(r.at, distance, 14, 5);
  case R_AARCH64_CONDBR19:
    return put_branch(r.at, distance, 19, 5);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    return put_branch(r.at, distance, 26, 0);
  default:
    return false;
  }
}

/* adrp x16, slot; ldr x16, [x16, low]; br x16; a trap */
bool write_stub(uint8_t *at, uint64_t address, uint64_t slot) {
  constexpr uint32_t kCode[] = {0x90000010, 0xf9400210, 0xd61f0200, 0xd4200000};
  std::memcpy(at, kCode, sizeof kCode);
  return apply({R_AARCH64_ADR_GOT_PAGE, at, address, slot, 0}) &&
         apply({R_AARCH64_LD64_GOT_LO12_NC, at + 4, address + 4, slot, 0});
}

} // namespace

const Architecture kAArch64 = {EM_AARCH64, 16, reference, width, apply, write_stub};

const Architecture &host_architecture() {
#if defined(__aarch64__)
  return kAArch64;
#else
  return kX86;
#endif
}

} // namespace aiopt
