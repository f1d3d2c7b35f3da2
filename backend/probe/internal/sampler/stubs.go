// Stubs of the linker, by which functions of other images are called.

package sampler

import (
	"encoding/binary"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/unwind"
)

// stubSections are the sections that contain stubs, and stubSizes the sizes of stubs in bytes.
var (
	stubSections = []string{".plt", ".plt.sec", ".plt.got"}
	stubSizes    = []uint64{16, 8}
)

// stubName returns the name of the stub at an address of the file, as gdb names it: "poll@plt"; "": there is
// none.
func (s *shared) stubName(m *image.Module, pid int, addr uint64) string {
	if hold.Machine.PC != unwind.AMD64.PC || !s.inStubs(addr) {
		return ""
	}
	s.from, s.bias = hold.Memory(pid), m.Bias
	for _, size := range stubSizes {
		var code [16]byte
		at := addr &^ (size - 1)
		if !s.Read(at, code[:]) {
			continue
		}
		if slot, ok := slotOf(code[:], at); ok {
			if name := s.linkOf(m, pid, slot); name != "" {
				return name + "@plt"
			}
		}
	}
	return ""
}

func (s *shared) inStubs(addr uint64) bool {
	for _, name := range stubSections {
		if first, size, ok := s.symbols.Section(name); ok && addr-first < size {
			return true
		}
	}
	return false
}

// slotOf returns the address of the slot from which a stub loads the target of its jump; at is the address of
// the stub. ENDBR64 and the prefix BND may precede the jump.
func slotOf(code []byte, at uint64) (slot uint64, ok bool) {
	n := uint64(0)
	if string(code[:4]) == "\xf3\x0f\x1e\xfa" {
		n = 4
	}
	if code[n] == 0xf2 {
		n++
	}
	if code[n] != 0xff || code[n+1] != 0x25 {
		return 0, false
	}
	return at + n + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(code[n+2:])))), true
}

// linkOf returns the name of the function or variable whose address the dynamic linker stores at an address of
// the file; "": it stores none there.
func (s *shared) linkOf(m *image.Module, pid int, slot uint64) string {
	name, known := s.linkNames[slot]
	if !known {
		if s.links == nil {
			s.links = m.Links(hold.Memory(pid))
		}
		if len(s.linkNames) == maxPlaces {
			clear(s.linkNames)
		}
		name = s.links.Name(slot, &s.pages)
		s.linkNames[slot] = name
	}
	return name
}
