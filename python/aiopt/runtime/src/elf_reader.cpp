/* Source: System V ABI, chapter 4 (object files). */
#include "elf_reader.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace aiopt {

void fail(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  throw LoadError(text);
}

namespace {

const char *machine_name(uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "AArch64";
  default:
    return "another architecture";
  }
}

} // namespace

ElfReader::ElfReader(const void *data, size_t size, uint16_t machine)
    : data_(static_cast<const uint8_t *>(data)), size_(size) {
  read_header(machine);
  read_sections();
  read_symbols();
}

const uint8_t *ElfReader::range(uint64_t offset, uint64_t size) const {
  if (offset > size_ || size > size_ - offset)
    fail("the object is cut off: it has %zu bytes, but refers to byte %llu", size_,
         static_cast<unsigned long long>(offset + size));
  return data_ + offset;
}

void ElfReader::read_header(uint16_t machine) {
  if (size_ < sizeof header_ || std::memcmp(data_, ELFMAG, SELFMAG) != 0)
    fail("this is no ELF object");
  std::memcpy(&header_, data_, sizeof header_);
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
    fail("the object is not 64-bit little-endian ELF");
  if (header_.e_machine != machine)
    fail("the object is for %s, this machine is %s", machine_name(header_.e_machine), machine_name(machine));
  if (header_.e_type != ET_REL)
    fail("the ELF file is not a relocatable object (type %d)", header_.e_type);
  if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shnum == 0 || header_.e_shstrndx >= header_.e_shnum)
    fail("the object's section table is broken");
}

void ElfReader::read_sections() {
  size_t bytes = header_.e_shnum * sizeof(Elf64_Shdr);
  const uint8_t *from = range(header_.e_shoff, bytes);
  sections_.resize(header_.e_shnum);
  std::memcpy(sections_.data(), from, bytes);
  for (const Elf64_Shdr &section : sections_)
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL)
      range(section.sh_offset, section.sh_size);
}

void ElfReader::read_symbols() {
  for (const Elf64_Shdr &section : sections_) {
    if (section.sh_type == SHT_SYMTAB_SHNDX)
      fail("the object has too many sections");
    if (section.sh_type != SHT_SYMTAB)
      continue;
    if (!symbols_.empty())
      fail("the object has two symbol tables");
    if (section.sh_link >= sections_.size() || sections_[section.sh_link].sh_type != SHT_STRTAB)
      fail("the object's symbol table has no names");
    symbols_ = table<Elf64_Sym>(section);
    symbol_names_ = sections_[section.sh_link];
  }
}

template <typename Entry> std::vector<Entry> ElfReader::table(const Elf64_Shdr &section) const {
  if (section.sh_entsize != sizeof(Entry) || section.sh_size % sizeof(Entry) != 0)
    fail("a table of the object has entries of a wrong size");
  std::vector<Entry> entries(section.sh_size / sizeof(Entry));
  if (!entries.empty())
    std::memcpy(entries.data(), range(section.sh_offset, section.sh_size), section.sh_size);
  return entries;
}

const char *ElfReader::string(const Elf64_Shdr &table, uint32_t offset) const {
  if (table.sh_type != SHT_STRTAB || offset >= table.sh_size)
    fail("a name lies outside the object's names");
  const uint8_t *start = range(table.sh_offset, table.sh_size) + offset;
  if (!std::memchr(start, 0, table.sh_size - offset))
    fail("a name of the object has no end");
  return reinterpret_cast<const char *>(start);
}

const char *ElfReader::section_name(const Elf64_Shdr &section) const {
  return string(sections_[header_.e_shstrndx], section.sh_name);
}

const char *ElfReader::symbol_name(const Elf64_Sym &symbol) const { return string(symbol_names_, symbol.st_name); }

const uint8_t *ElfReader::contents(const Elf64_Shdr &section) const {
  return range(section.sh_offset, section.sh_size);
}

std::vector<Elf64_Rela> ElfReader::relocations(const Elf64_Shdr &section) const {
  std::vector<Elf64_Rela> entries = table<Elf64_Rela>(section);
  for (const Elf64_Rela &entry : entries)
    if (ELF64_R_SYM(entry.r_info) >= symbols_.size())
      fail("a relocation names a symbol the object does not have");
  return entries;
}

} // namespace aiopt
