/* The parts of a relocatable ELF64 file, every offset and index in it checked. */
#ifndef AIOPT_ELF_READER_H
#define AIOPT_ELF_READER_H

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace aiopt {

/* An object that cannot be loaded; what() is one line. */
struct LoadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/* Throws a LoadError with a text in printf's manner. */
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

class ElfReader {
public:
  /* The bytes must outlive the reader. Throws LoadError if they are no relocatable file for `machine` (EM_...). */
  ElfReader(const void *data, size_t size, uint16_t machine);

  const std::vector<Elf64_Shdr> &sections() const { return sections_; }
  const std::vector<Elf64_Sym> &symbols() const { return symbols_; }

  const char *section_name(const Elf64_Shdr &section) const;
  const char *symbol_name(const Elf64_Sym &symbol) const;

  /* The bytes of a section that has some in the file. */
  const uint8_t *contents(const Elf64_Shdr &section) const;

  /* The entries of a SHT_RELA section; each symbol index is one of symbols(). */
  std::vector<Elf64_Rela> relocations(const Elf64_Shdr &section) const;

private:
  void read_header(uint16_t machine);
  void read_sections();
  void read_symbols();
  const char *string(const Elf64_Shdr &table, uint32_t offset) const;
  const uint8_t *range(uint64_t offset, uint64_t size) const;
  template <typename Entry> std::vector<Entry> table(const Elf64_Shdr &section) const;

  const uint8_t *data_;
  size_t size_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  Elf64_Shdr symbol_names_{};
};

} // namespace aiopt

#endif
