package mpi

import (
	"testing"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/unwind"
)

// code is an image with functions of 256 bytes from 0x1000 to 0x2fff, and its memory.
type code struct {
	names map[string]uint64
	links map[uint64]string
	bytes [0x3000]byte
}

func (c *code) Module() *image.Module                   { return &image.Module{First: 0x1000, End: 0x3000} }
func (c *code) Link(slot uint64) string                 { return c.links[slot] }
func (c *code) Section(string) (addr, n uint64, o bool) { return 0, 0, false }
func (c *code) Function(pc uint64) (string, uint64, bool) {
	return "", pc &^ 0xff, true
}
func (c *code) Address(symbol string) (uint64, bool) {
	addr, ok := c.names[symbol]
	return addr, ok
}
func (c *code) Read(addr uint64, b []byte) bool {
	return addr < uint64(len(c.bytes)) && copy(b, c.bytes[addr:]) == len(b)
}

// jump puts a jump to an address.
func (c *code) jump(at, to int) {
	by := to - at - 5
	copy(c.bytes[at:], []byte{0xe9, byte(by), byte(by >> 8), byte(by >> 16), byte(by >> 24)})
}

// TestJumper has functions of MPI that end in jumps, one behind a check as in Open MPI.
func TestJumper(t *testing.T) {
	c := &code{names: map[string]uint64{"PMPI_Finalize": 0x1000, "PMPI_Send": 0x1100, "PMPI_Ssend": 0x1200, "PMPI_Barrier": 0x1300, "PMPI_Wait": 0x1500, "internal_wait": 0x2400},
		links: map[uint64]string{0x2ff8: "internal_wait"}}
	for i := range c.bytes {
		c.bytes[i] = 0x90 // NOP
	}
	copy(c.bytes[0x1000:], []byte{0x83, 0xf8, 0x02, 0x77, 0x09}) // cmp $2,%eax; ja to behind the jump
	c.jump(0x1005, 0x2000)
	c.jump(0x100e, 0x2000)
	c.jump(0x1100, 0x2110) // a stub
	c.jump(0x2110, 0x2200)
	c.jump(0x1200, 0x2200)
	c.jump(0x1300, 0x1340) // within the function
	c.jump(0x1400, 0x2300) // of another function behind it
	c.jump(0x1500, 0x2120)
	copy(c.bytes[0x2120:], []byte{0xff, 0x25, 0xd2, 0x0e, 0, 0}) // jmp *0x2ff8, which is not filled yet
	var m cfi.Memory = c
	l := &Library{cache: &Cache{}, process: &snapshot.Process{Walker: unwind.Walker{Memory: m}, Images: []snapshot.Image{c}}}
	l.machine.image = c
	for first, want := range map[uint64]string{0x2000: "Finalize", 0x2200: "", 0x2300: "", 0x2400: "Wait", 0x1300: "", 0x2100: ""} {
		if got := l.jumper(c, first); got != want {
			t.Errorf("to %#x jumps %q, want %q", first, got, want)
		}
	}
}
