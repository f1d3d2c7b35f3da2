// Debug information in files.

package image

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"
)

// mostUnpacked bounds the debug information of a file in which it is compressed, in bytes: it is
// unpacked as a whole.
const mostUnpacked = 128 << 20

// dwarf returns the debug information; nil: there is none. Sections that are not compressed are used
// as they lie in the file.
func (f *file) dwarf() (*dwarf.Data, error) {
	sections, whole := map[string][]byte{}, true
	for i := range f.sections {
		s := &f.sections[i]
		name, ok := strings.CutPrefix(s.name, ".debug_")
		if !ok && !strings.HasPrefix(s.name, ".zdebug_") {
			continue
		}
		if _, twice := sections[name]; !ok || twice || s.flags&elf.SHF_COMPRESSED != 0 || elf.Type(f.data[16]) == elf.ET_REL {
			whole = false
		}
		sections[name] = f.contents(s)
	}
	if !whole {
		return f.unpackedDWARF()
	}
	if len(sections["info"]) == 0 {
		return nil, nil
	}
	d, err := dwarf.New(sections["abbrev"], nil, nil, sections["info"], sections["line"], nil, sections["ranges"], sections["str"])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err := d.AddSection(".debug_"+name, sections[name]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// unpackedDWARF reads compressed debug information.
func (f *file) unpackedDWARF() (*dwarf.Data, error) {
	total := uint64(0)
	e, err := elf.NewFile(bytes.NewReader(f.data))
	if err != nil {
		return nil, err
	}
	if e.Section(".debug_info") == nil && e.Section(".zdebug_info") == nil {
		return nil, nil
	}
	for _, s := range e.Sections {
		total += s.Size
	}
	if total > mostUnpacked {
		return nil, fmt.Errorf("debug information of more than %d bytes", mostUnpacked)
	}
	return e.DWARF()
}

// DebugFrame returns a copy of the section .debug_frame of an ELF file, unpacked; nil: there is none.
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

// unpackedSection returns a compressed section; nil: it is too large, or damaged.
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
