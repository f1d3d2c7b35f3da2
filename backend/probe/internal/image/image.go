// Package image provides programs and libraries as they are in the memory of processes: their unwind
// tables, build-ids, symbols and lines. It does no I/O of its own.
package image

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"sdm/backend/probe/internal/cfi"
	"sdm/protocol/digest"
)

// Module is an image at its place in a process.
type Module struct {
	First, End uint64 // of all its segments
	Bias       uint64 // address in the process minus that in the file
	Path       string
	File       string // as in Mapping
	BuildID    string // hexadecimal; "": none
	// Header is the mapping of the ELF header.
	Header Mapping
	// Sum is a hash of the first SumSize bytes, which identify an image: they contain the headers and
	// the build-id.
	Sum     uint64
	frames  uint64 // address of .eh_frame_hdr in the file; 0: none
	dynamic uint64 // address of the dynamic section in the file; 0: none
}

const (
	headSize = 4096 // bytes of an image that are read for its headers
	// SumSize is the number of bytes of which Sum is a hash.
	SumSize = 1024
)

// Head is the beginning of a mapping.
type Head struct {
	Addr  uint64
	Bytes []byte
	Read  bool // Bytes have been filled
}

// Modules returns the images of a process, ascending. read fills the heads from the memory of the process.
// scratch is reused memory for the heads; it grows as needed.
func Modules(maps []Mapping, read func([]Head), scratch *[]byte) []Module {
	var heads []Head
	var from []Mapping
	code, times := haveCode(maps), map[string]int{}
	for i, m := range maps {
		vdso := m.Path == "[vdso]"
		if m.Offset != 0 || m.File == "" && !vdso || !vdso && !code[i] || times[m.File] == maxTimes {
			continue
		}
		times[m.File]++
		from, heads = append(from, m), append(heads, Head{Addr: m.Start})
	}
	if need := headSize * len(heads); len(*scratch) < need {
		*scratch = make([]byte, need)
	}
	for i := range heads {
		heads[i].Bytes = (*scratch)[i*headSize:][:headSize]
	}
	read(heads)
	var all []Module
	for i, m := range from {
		if x, ok := parse(heads[i].Bytes, m.Start); heads[i].Read && ok {
			x.Path, x.File, x.Header, x.Sum = m.Path, m.File, m, digest.Of(heads[i].Bytes[:SumSize])
			all = append(all, x)
		}
	}
	return all
}

// maxTimes bounds how often a file is an image of a process. A library that is loaded into other namespaces
// (dlmopen(3)) is there up to 16 times; more mappings are of programs that read the file as data.
const maxTimes = 64

// haveCode reports for each mapping whether it, or a following one of the same file, is executable. Other files
// are not images.
func haveCode(maps []Mapping) []bool {
	code := make([]bool, len(maps))
	file, some := "", false // of the mappings from i on: the first file, and whether its mappings in sequence have code
	for i := len(maps) - 1; i >= 0; i-- {
		m := &maps[i]
		if m.File != "" && m.File != file {
			file, some = m.File, false
		}
		some = some || m.File == file && m.Executable
		code[i] = some && m.File == file
	}
	return code
}

// maxHeaders bounds the program headers; real images have 9 to 14.
const maxHeaders = 64

// parse reads the ELF and program headers of a 64-bit, little-endian image at an address. head has headSize
// bytes.
func parse(head []byte, at uint64) (m Module, ok bool) {
	le := binary.LittleEndian
	if string(head[:6]) != "\x7fELF\x02\x01" {
		return m, false
	}
	offset, size, n := le.Uint64(head[32:]), uint64(le.Uint16(head[54:])), uint64(le.Uint16(head[56:]))
	if size < 56 || n > maxHeaders || offset > headSize || offset+n*size > headSize {
		return m, false
	}
	first, end := ^uint64(0), uint64(0)
	m.Bias = at
	for i := range n {
		b := head[offset+i*size:]
		from, addr, length := le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[32:])
		switch elf.ProgType(le.Uint32(b)) {
		case elf.PT_LOAD:
			first, end = min(first, addr&^4095), max(end, addr+le.Uint64(b[40:]))
			if from&^4095 == 0 { // the segment that holds the ELF header
				m.Bias = at - addr&^4095
			}
		case elf.PT_GNU_EH_FRAME:
			m.frames = addr
		case elf.PT_DYNAMIC:
			m.dynamic = addr
		case elf.PT_NOTE:
			if m.BuildID == "" && from < headSize && length <= headSize-from {
				m.BuildID = buildID(head[from : from+length])
			}
		}
	}
	m.First, m.End = m.Bias+first, m.Bias+end
	return m, first < end && m.First < m.End
}

// buildID returns the build-id in a sequence of notes (NT_GNU_BUILD_ID, type 3); "": there is none.
func buildID(notes []byte) string {
	le := binary.LittleEndian
	for len(notes) >= 12 {
		name, data := uint64(le.Uint32(notes)), uint64(le.Uint32(notes[4:]))
		from := 12 + (name+3)&^3
		if from+data > uint64(len(notes)) {
			return ""
		}
		if le.Uint32(notes[8:]) == 3 && name == 4 && string(notes[12:16]) == "GNU\x00" {
			return hex.EncodeToString(notes[from : from+data])
		}
		notes = notes[min(from+(data+3)&^3, uint64(len(notes))):]
	}
	return ""
}

// Key identifies the file of a module for all processes of a host.
func (m *Module) Key() string {
	if m.BuildID != "" {
		return m.BuildID
	}
	return m.File + " " + m.Path
}

// Name returns the last part of the path.
func (m *Module) Name() string {
	path := strings.TrimSuffix(m.Path, " (deleted)")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// Table returns the unwind tables with an index of the module; nil: there are none. mem is the memory of
// the image by the addresses of its file.
func (m *Module) Table(mem cfi.Memory) *cfi.Table {
	if m.frames == 0 {
		return nil
	}
	t, err := cfi.NewTable(mem, m.frames)
	if err != nil {
		return nil
	}
	return t
}
