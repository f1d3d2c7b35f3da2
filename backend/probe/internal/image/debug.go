// Debug information in files.

package image

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxUnpacked bounds compressed debug information after decompression, in bytes: it is decompressed as a
// whole.
const maxUnpacked = 128 << 20

// Debug is the debug information of a file.
type Debug struct {
	Data *dwarf.Data
	// Units are the offsets of the first entries of compilation units, ascending.
	Units []dwarf.Offset
	// Addresses is the section .debug_addr; nil: there is none, or it is compressed.
	Addresses []byte

	info    []byte // .debug_info
	strings []byte // .debug_str
	indexed bool   // entries have numbers of strings, or .debug_str is compressed
}

// maxTexts bounds the places of a name among the strings.
const maxTexts = 64

// Having returns those units in which an entry may have a name; it looks for the bytes of the name, or of its place
// among the strings (DW_FORM_string, DW_FORM_strp). Entries that refer to another unit for their names are not found.
func (d *Debug) Having(name string) (units []dwarf.Offset) {
	text := append([]byte(name), 0)
	patterns := [][]byte{text}
	for at := 0; !d.indexed; {
		i := bytes.Index(d.strings[at:], text)
		if i < 0 {
			break
		}
		if len(patterns) == maxTexts {
			return d.Units
		}
		patterns = append(patterns, binary.LittleEndian.AppendUint32(nil, uint32(at+i)))
		at += i + 1
	}
	for i, from := range d.Units {
		end := dwarf.Offset(len(d.info))
		if i+1 < len(d.Units) {
			end = d.Units[i+1]
		}
		may := func(pattern []byte) bool { return bytes.Contains(d.info[from:end], pattern) }
		if d.indexed || slices.ContainsFunc(patterns, may) {
			units = append(units, from)
		}
	}
	return units
}

// ReadDebug returns the debug information of an ELF file; nil if there is none. The bytes are used as long as it is.
// They may be a mapped file, so code that uses it runs within Protect.
func ReadDebug(data []byte) (d *Debug, err error) {
	problem := protect(func() {
		var f *file
		if f, err = parseFile(data); err != nil {
			return
		}
		x, info, e := f.dwarf()
		if err = e; x == nil || err != nil {
			return
		}
		d = &Debug{Data: x, Units: firstEntries(info), info: info, indexed: f.section(".debug_str_offsets") != nil}
		if s := f.section(".debug_str"); s != nil {
			d.strings = f.contents(s)
			d.indexed = d.indexed || s.flags&elf.SHF_COMPRESSED != 0
		}
		d.indexed = d.indexed || f.section(".zdebug_str") != nil
		if s := f.section(".debug_addr"); s != nil && s.flags&elf.SHF_COMPRESSED == 0 {
			d.Addresses = f.contents(s)
		}
	})
	return d, cmp.Or(problem, err)
}

// Protect calls f and returns a panic of f as an error: package debug/dwarf is not hardened against damaged files, and
// a mapped file may become shorter.
func Protect(f func()) error { return protect(f) }

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
	if err := checkAbbreviations(sections["info"], sections["abbrev"]); err != nil {
		return nil, nil, err
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

// header is what the header of a unit in .debug_info says.
type header struct {
	version, kind int // kind as in DWARF 5; 0 before
	abbreviations uint64
	end           uint64 // offset of what follows the header
}

// Kinds of units of DWARF 5 (7.5.1): a compilation unit, and what of one is in the program if its entries are in
// another file (-gsplit-dwarf).
const (
	compileUnit  = 1
	skeletonUnit = 4
)

// headers calls do for each unit until it returns false, or the section ends (DWARF 5, 7.5.1).
func headers(info []byte, do func(h header) bool) {
	le := binary.LittleEndian
	for at := uint64(0); at+4 <= uint64(len(info)); {
		b, size, begin := info[at:], uint64(le.Uint32(info[at:])), uint64(4)
		offset := uint64(4)     // size of debug_abbrev_offset
		if size == 0xffffffff { // the 64-bit format
			if len(b) < 12 {
				return
			}
			size, begin, offset = le.Uint64(b[4:]), 12, 8
		}
		if size > uint64(len(b))-begin {
			return
		}
		if body := b[begin : begin+size]; size >= 4+offset {
			h, from := header{version: int(le.Uint16(body))}, uint64(2)
			if h.version == 5 {
				h.kind, from = int(body[2]), 4
			}
			h.abbreviations, h.end = uint64(le.Uint32(body[from:])), at+begin+from+offset
			if offset == 8 {
				h.abbreviations = le.Uint64(body[from:])
			}
			switch {
			case h.version < 5:
				h.end++ // size of an address
			case h.kind == skeletonUnit:
				h.end += 8 // number that is also in the other file
			}
			if !do(h) {
				return
			}
		}
		at += begin + size
	}
}

// firstEntries returns where the first entries of units are in .debug_info, which follow the unit headers. Only
// compilation units and skeletons of such are returned, not type or partial units of DWARF 5.
func firstEntries(info []byte) (offsets []dwarf.Offset) {
	headers(info, func(h header) bool {
		if h.version >= 2 && h.version <= 4 || h.version == 5 && (h.kind == compileUnit || h.kind == skeletonUnit) {
			offsets = append(offsets, dwarf.Offset(h.end))
		}
		return true
	})
	return offsets
}

// errAbbreviations is returned for units whose tables of abbreviations overlap: package debug/dwarf reads each table
// from its begin to its end, so that the time would be the product of the sizes of two sections.
var errAbbreviations = errors.New("tables of abbreviations overlap")

// checkAbbreviations returns errAbbreviations if the tables of all units together are more than twice as large as
// the section.
func checkAbbreviations(info, abbrev []byte) error {
	known := map[uint64]bool{}
	rest := 2*len(abbrev) + 1<<10
	headers(info, func(h header) bool {
		if !known[h.abbreviations] && h.abbreviations < uint64(len(abbrev)) {
			known[h.abbreviations] = true
			rest -= tableSize(abbrev[h.abbreviations:], rest)
		}
		return rest >= 0
	})
	if rest < 0 {
		return errAbbreviations
	}
	return nil
}

// tableSize returns the size of the table of abbreviations that begins at b (DWARF 5, 7.5.3), or, if it is larger
// than most, a larger number.
func tableSize(b []byte, most int) int {
	const implicit = 0x21 // DW_FORM_implicit_const, which is followed by a value
	at := 0
	number := func() (v uint64) {
		for shift := 0; at < len(b); shift += 7 {
			c := b[at]
			at++
			if shift < 64 {
				v |= uint64(c&0x7f) << shift
			}
			if c < 0x80 {
				return v
			}
		}
		return 0
	}
	for at <= most && number() != 0 {
		number() // tag
		at++     // whether there are children
		for at <= most {
			name, form := number(), number()
			if form == implicit {
				number()
			}
			if name == 0 && form == 0 {
				break
			}
		}
	}
	return at
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
	if total > maxUnpacked {
		return nil, nil, fmt.Errorf("debug information of more than %d bytes", maxUnpacked)
	}
	if info, err = s.Data(); err != nil {
		return nil, nil, err
	}
	if s := e.Section(".debug_abbrev"); s != nil {
		abbrev, err := s.Data()
		if err = cmp.Or(err, checkAbbreviations(info, abbrev)); err != nil {
			return nil, nil, err
		}
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
		case s == nil || s.size > maxUnpacked:
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
	if s == nil || s.Size > maxUnpacked {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}
