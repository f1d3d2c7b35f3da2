// Debug information in files.

package image

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// mostUnpacked bounds compressed debug information after decompression, in bytes: it is decompressed as a
// whole.
const mostUnpacked = 128 << 20

// dwarf returns the debug information, and the contents of .debug_info; d is nil if there is none. Sections
// that are not compressed are used in place, without a copy.
func (f *file) dwarf() (d *dwarf.Data, info []byte, err error) {
	sections, plain := map[string][]byte{}, true // plain: no section is compressed, relocatable or duplicate
	for i := range f.sections {
		s := &f.sections[i]
		name, ok := strings.CutPrefix(s.name, ".debug_")
		if !ok && !strings.HasPrefix(s.name, ".zdebug_") {
			continue
		}
		if _, twice := sections[name]; !ok || twice || s.flags&elf.SHF_COMPRESSED != 0 || elf.Type(f.data[16]) == elf.ET_REL {
			plain = false
		}
		sections[name] = f.contents(s)
	}
	if !plain {
		return f.unpackedDWARF()
	}
	if len(sections["info"]) == 0 {
		return nil, nil, nil
	}
	d, err = dwarf.New(sections["abbrev"], nil, nil, sections["info"], sections["line"], nil, sections["ranges"], sections["str"])
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err := d.AddSection(".debug_"+name, sections[name]); err != nil {
			return nil, nil, err
		}
	}
	return d, sections["info"], nil
}

// firstEntries returns where the first entries of units are in .debug_info, which follow the unit headers
// (DWARF 5, 7.5.1). Only compilation units are returned, not type or partial units of DWARF 5.
func firstEntries(info []byte) (offsets []dwarf.Offset) {
	le := binary.LittleEndian
	for at := uint64(0); at+4 <= uint64(len(info)); {
		b, size, header := info[at:], uint64(le.Uint32(info[at:])), uint64(4)
		wide := size == 0xffffffff // the 64-bit format
		if wide {
			if len(b) < 12 {
				return offsets
			}
			size, header = le.Uint64(b[4:]), 12
		}
		if size > uint64(len(b))-header {
			return offsets
		}
		offset := uint64(4) // size of debug_abbrev_offset
		if wide {
			offset = 8
		}
		if body := b[header : header+size]; size > 2 {
			switch version := le.Uint16(body); {
			case version >= 2 && version <= 4:
				offsets = append(offsets, dwarf.Offset(at+header+2+offset+1))
			case version == 5 && body[2] == 1: // DW_UT_compile
				offsets = append(offsets, dwarf.Offset(at+header+2+2+offset))
			}
		}
		at += header + size
	}
	return offsets
}

// unpackedDWARF reads debug information by package debug/elf, which decompresses and relocates it.
func (f *file) unpackedDWARF() (d *dwarf.Data, info []byte, err error) {
	total := uint64(0)
	e, err := elf.NewFile(bytes.NewReader(f.data))
	if err != nil {
		return nil, nil, err
	}
	s := e.Section(".debug_info")
	if s == nil {
		return nil, nil, nil
	}
	for _, s := range e.Sections {
		total += s.Size
	}
	if total > mostUnpacked {
		return nil, nil, fmt.Errorf("debug information of more than %d bytes", mostUnpacked)
	}
	if info, err = s.Data(); err != nil {
		return nil, nil, err
	}
	d, err = e.DWARF()
	return d, info, err
}

// DebugFrame returns a copy of the section .debug_frame of an ELF file, decompressed; nil: there is none.
func DebugFrame(data []byte) (b []byte) {
	err := protect(func() {
		f, err := parseFile(data)
		if err != nil {
			return
		}
		s := f.section(".debug_frame")
		switch {
		case s == nil || s.size > mostUnpacked:
		case s.flags&elf.SHF_COMPRESSED == 0:
			b = bytes.Clone(f.contents(s))
		default:
			b = unpackedSection(f.data, s.name)
		}
	})
	if err != nil {
		return nil
	}
	return b
}

// unpackedSection decompresses a section; nil: it is too large, or damaged.
func unpackedSection(data []byte, name string) []byte {
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	s := e.Section(name)
	if s == nil || s.Size > mostUnpacked {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}
