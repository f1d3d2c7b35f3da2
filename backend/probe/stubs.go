// Stubs of the linker, by which functions of other images are called.

package probe

import (
	"encoding/binary"

	"sdm/backend/probe/hold"
	"sdm/backend/probe/image"
	"sdm/backend/probe/unwind"
)

// stubSections are where they are, and stubSizes their sizes in bytes.
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

// slotOf returns the address from which a stub loads where it jumps to: ENDBR64 and BND may be before the jump.
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

// linkOf returns the name of what the dynamic linker stores at an address of the file; "": nothing.
func (s *shared) linkOf(m *image.Module, pid int, slot uint64) string {
	if s.links == nil {
		s.links = map[uint64]string{}
		for at, name := range m.Links(hold.Memory(pid)) {
			s.links[at-m.Bias] = name
		}
	}
	return s.links[slot]
}
