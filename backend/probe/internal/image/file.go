// Files of programs and libraries.

package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
)

// file is an ELF file with its sections. Its bytes may be a mapped file, so code that reads them runs within
// protect.
type file struct {
	data     []byte
	sections []section
	table    sectionTable
}

// sectionTable is the headers of the sections of a file as they are there, and their names. The zero value has none.
type sectionTable struct {
	headers, names []byte
}

// allocated calls f with the headers of the sections that are in the memory of processes and have a name, until f
// returns false.
func (t sectionTable) allocated(f func(header, name []byte) bool) {
	le := binary.LittleEndian
	for b := t.headers; len(b) >= sectionHeader; b = b[sectionHeader:] {
		if elf.SectionFlag(le.Uint64(b[8:]))&elf.SHF_ALLOC == 0 {
			continue
		}
		if name := textAt(t.names, le.Uint32(b), maxSectionName); len(name) > 0 && !f(b, name) {
			return
		}
	}
}

// find returns the place of a section with a name by the addresses of the file.
func (t sectionTable) find(name string) (addr, size uint64, ok bool) {
	t.allocated(func(header, found []byte) bool {
		if ok = string(found) == name; ok {
			addr, size = binary.LittleEndian.Uint64(header[16:]), binary.LittleEndian.Uint64(header[32:])
		}
		return !ok
	})
	return addr, size, ok
}

// lowest returns the lowest address of a section; ok is false if there are none.
func (t sectionTable) lowest() (addr uint64, ok bool) {
	t.allocated(func(header, _ []byte) bool {
		if x := binary.LittleEndian.Uint64(header[16:]); !ok || x < addr {
			addr, ok = x, true
		}
		return true
	})
	return addr, ok
}

// section is a section of a file.
type section struct {
	name         string
	kind         elf.SectionType
	flags        elf.SectionFlag
	addr         uint64
	offset, size uint64 // in the file
	link, info   uint32
}

const (
	maxSections    = 1 << 16
	maxSectionName = 256 // bytes
	sectionHeader  = 64  // Elf64_Shdr
)

var (
	errNotELF  = errors.New("not a 64-bit little-endian ELF file")
	errDamaged = errors.New("damaged ELF file")
)

// protect calls f and returns a panic of f as an error: neither debug/elf nor debug/dwarf is hardened
// against damaged files, and a mapped file may become shorter.
func protect(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged file: %v", r)
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f()
	return nil
}

// parseFile reads the headers of sections (ELF specification, Sections).
func parseFile(data []byte) (*file, error) {
	le := binary.LittleEndian
	if len(data) < 64 || string(data[:6]) != "\x7fELF\x02\x01" {
		return nil, errNotELF
	}
	f := &file{data: data}
	at, n, names := le.Uint64(data[40:]), uint64(le.Uint16(data[60:])), uint32(le.Uint16(data[62:]))
	if at == 0 {
		return f, nil
	}
	if le.Uint16(data[58:]) != sectionHeader {
		return nil, errDamaged
	}
	first := f.bytes(at, sectionHeader)
	if first == nil {
		return nil, errDamaged
	}
	if n == 0 { // the number does not fit into e_shnum
		n = le.Uint64(first[32:])
	}
	if names == uint32(elf.SHN_XINDEX) {
		names = le.Uint32(first[40:])
	}
	if n > maxSections {
		return nil, fmt.Errorf("%d sections", n)
	}
	headers := f.bytes(at, n*sectionHeader)
	if headers == nil {
		return nil, errDamaged
	}
	f.sections = make([]section, n)
	for i := range f.sections {
		b := headers[i*sectionHeader:]
		f.sections[i] = section{
			kind: elf.SectionType(le.Uint32(b[4:])), flags: elf.SectionFlag(le.Uint64(b[8:])), addr: le.Uint64(b[16:]),
			offset: le.Uint64(b[24:]), size: le.Uint64(b[32:]), link: le.Uint32(b[40:]), info: le.Uint32(b[44:]),
		}
	}
	text := f.contents(f.number(names))
	f.table = sectionTable{headers, text}
	for i := range f.sections {
		f.sections[i].name = string(textAt(text, le.Uint32(headers[i*sectionHeader:]), maxSectionName))
	}
	return f, nil
}

// bytes returns n bytes from an offset on; nil: the file has fewer.
func (f *file) bytes(offset, n uint64) []byte {
	if offset > uint64(len(f.data)) || n > uint64(len(f.data))-offset {
		return nil
	}
	return f.data[offset : offset+n : offset+n]
}

// number returns a section by its number; nil: there is none.
func (f *file) number(n uint32) *section {
	if uint64(n) >= uint64(len(f.sections)) {
		return nil
	}
	return &f.sections[n]
}

// section returns a section by its name; nil: there is none.
func (f *file) section(name string) *section {
	for i := range f.sections {
		if f.sections[i].name == name {
			return &f.sections[i]
		}
	}
	return nil
}

// contents returns the bytes of a section as they are in the file; nil: it has none.
func (f *file) contents(s *section) []byte {
	if s == nil || s.kind == elf.SHT_NOBITS || s.kind == elf.SHT_NULL {
		return nil
	}
	return f.bytes(s.offset, s.size)
}

// textAt returns the zero-terminated text at an offset; nil: it has most bytes or more, or there is none.
func textAt(text []byte, offset uint32, most int) []byte {
	if uint64(offset) >= uint64(len(text)) {
		return nil
	}
	b := text[offset:]
	end := bytes.IndexByte(b[:min(len(b), most)], 0)
	if end < 0 {
		return nil
	}
	return b[:end:end]
}

// buildID returns the build-id of the notes that program headers describe; "": there is none. Notes that are
// in sections only, which some linkers write, are not in the memory of processes and do not count.
func (f *file) buildID() string {
	head := make([]byte, headSize)
	copy(head, f.data)
	m, _ := parse(head, 0)
	return m.BuildID
}

// noteID returns the build-id of the note sections; "": there is none. The program headers of separate debug
// files do not describe their notes.
func (f *file) noteID() string {
	for i := range f.sections {
		if s := &f.sections[i]; s.kind == elf.SHT_NOTE && s.size <= headSize {
			if id := buildID(f.contents(s)); id != "" {
				return id
			}
		}
	}
	return ""
}

// hashOf returns the hash table of the symbol table that is section n; nil: there is none.
func (f *file) hashOf(n uint32) *gnuHash {
	for i := range f.sections {
		if s := &f.sections[i]; s.kind == typeGNUHash && s.link == n {
			return parseGNUHash(f.contents(s))
		}
	}
	return nil
}

// sharedName returns DT_SONAME; "": there is none.
func (f *file) sharedName() string {
	le := binary.LittleEndian
	for i := range f.sections {
		s := &f.sections[i]
		if s.kind != elf.SHT_DYNAMIC {
			continue
		}
		b := f.contents(s)
		for n := 0; len(b) >= 16 && n < maxDynamic; n, b = n+1, b[16:] {
			if elf.DynTag(le.Uint64(b)) == elf.DT_SONAME {
				return string(textAt(f.contents(f.number(s.link)), uint32(le.Uint64(b[8:])), maxSymbolName))
			}
		}
	}
	return ""
}
