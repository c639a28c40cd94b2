/* What linking depends on the architecture for. Nothing here runs the code, so each host can link for both. */
#ifndef AIOPT_ARCHITECTURE_H
#define AIOPT_ARCHITECTURE_H

#include <cstddef>
#include <cstdint>

namespace aiopt {

/* What a relocation refers to in place of its symbol. */
enum class Reference {
  kNone,     /* nothing */
  kSymbol,   /* the symbol itself */
  kCall,     /* the symbol, or a stub that jumps to it if it lies outside the image */
  kSlot,     /* the symbol's slot in the table of addresses (GOT) */
  kUnknown,  /* this architecture has no such relocation, or this loader does not know it */
};

struct Relocation {
  uint32_t type;    /* R_... of the psABI */
  uint8_t *at;      /* the bytes to change */
  uint64_t place;   /* their address at run time (P) */
  uint64_t target;  /* the address referred to (S, or that of the stub or slot) */
  int64_t addend;   /* A */
};

struct Architecture {
  uint16_t machine;    /* EM_... */
  size_t stub_bytes;   /* a multiple of 16 */
  Reference (*reference)(uint32_t type);
  size_t (*width)(uint32_t type);  /* bytes that the relocation changes */
  bool (*apply)(const Relocation &relocation); /* false: the target is out of reach */
  /* Code at `address`, written to `at`, that jumps where the slot says; false: the slot is out of reach. */
  bool (*write_stub)(uint8_t *at, uint64_t address, uint64_t slot);
};

extern const Architecture kX86;
extern const Architecture kAArch64;

/* The architecture this runtime was built for. */
const Architecture &host_architecture();

} // namespace aiopt

#endif
