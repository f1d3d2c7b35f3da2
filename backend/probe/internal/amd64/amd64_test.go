package amd64_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// TestLengthsAsObjdump decodes a library and compares the lengths of its instructions.
func TestLengthsAsObjdump(t *testing.T) {
	path, err := exec.Command("gcc", "-print-file-name=libgcc_s.so.1").Output()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-dw", strings.TrimSpace(string(path))).Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		f := strings.Split(s.Text(), "\t") // address, bytes, text
		if len(f) < 3 {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(f[0]), ":"), 16, 64)
		code, err2 := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(f[1]), " ", ""))
		if err != nil || err2 != nil {
			continue
		}
		n++
		if strings.HasPrefix(f[2], "rdssp") || strings.HasPrefix(f[2], "incssp") { // shadow stacks: not known
			continue
		}
		if i := amd64.Decode(append(code, 0x90, 0x90, 0x90), addr); i == nil || i.Len != len(code) {
			t.Errorf("%s: %v", s.Text(), i)
		}
	}
	if n < 5000 {
		t.Errorf("only %d instructions", n)
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, code string
		op         x86asm.Op
		length     int
		memory     x86asm.Mem // an operand, if it has one
	}{
		{"endbr64", "f30f1efa", x86asm.NOP, 4, x86asm.Mem{}},
		{"vzeroupper", "c5f877", x86asm.NOP, 3, x86asm.Mem{}},
		{"negative displacement", "488b857cffffff", x86asm.MOV, 7, x86asm.Mem{Base: x86asm.RBP, Disp: -0x84}},
		{"notrack", "3effe0", x86asm.JMP, 3, x86asm.Mem{}},
		{"stack protector", "64488b042528000000", x86asm.MOV, 9, x86asm.Mem{Segment: x86asm.FS, Disp: 0x28}},
		{"prefetch", "410f0d8040020000", x86asm.NOP, 8, x86asm.Mem{}},
		{"femms", "0f0e", x86asm.NOP, 2, x86asm.Mem{}},
		{"vfmaddpd", "c4c3d9692700", x86asm.VFMADD213PD, 6, x86asm.Mem{}},
		{"vector move", "c5fa7f4424f0", x86asm.VMOVDQU, 6, x86asm.Mem{Base: x86asm.RSP, Disp: -0x10}},
	} {
		code, _ := hex.DecodeString(c.code)
		i := amd64.Decode(code, 0x1000)
		if i == nil || i.Len != c.length || i.Op != c.op {
			t.Errorf("%s: %v", c.name, i)
			continue
		}
		for _, arg := range i.Args {
			if m, ok := arg.(x86asm.Mem); ok {
				m.Scale = 0
				if m != c.memory {
					t.Errorf("%s: %+v", c.name, m)
				}
			}
		}
	}
	if i := amd64.Decode([]byte{0xe8, 0xfb, 0xff, 0xff, 0xff}, 0x1000); i == nil {
		t.Error("no call")
	} else if to, ok := i.Target(); !ok || to != 0x1000 {
		t.Errorf("leads to %#x", to)
	}
	if i := amd64.Decode([]byte{0x06}, 0); i != nil {
		t.Errorf("%v in 64-bit code", i)
	}
}

func TestRegisters(t *testing.T) {
	for _, c := range []struct {
		reg     x86asm.Reg
		n, size int
		second  bool
	}{
		{x86asm.RAX, amd64.RAX, 8, false}, {x86asm.R15L, amd64.R15, 4, false}, {x86asm.DI, amd64.RDI, 2, false},
		{x86asm.AH, amd64.RAX, 1, true}, {x86asm.DIB, amd64.RDI, 1, false}, {x86asm.X3, -1, 0, false},
	} {
		if n, size, second := amd64.General(c.reg); n != c.n || size != c.size || second != c.second {
			t.Errorf("%v: %d, %d, %v", c.reg, n, size, second)
		}
	}
}

// FuzzDecode decodes any bytes.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x62, 0xf1, 0x7c, 0x48, 0x28, 0x44, 0x24, 1})
	f.Add([]byte{0x3e, 0x41, 0xff, 0xe3})
	f.Fuzz(func(t *testing.T, code []byte) {
		if i := amd64.Decode(code, 1<<63); i != nil && (i.Len < 1 || i.Len > len(code)) {
			t.Errorf("%d of %d bytes", i.Len, len(code))
		}
	})
}

// code is memory that begins at 4096.
type code []byte

func (c code) Read(addr uint64, b []byte) bool {
	return addr >= 4096 && addr-4096 < uint64(len(c)) && copy(b, c[addr-4096:]) == len(b)
}

func TestJump(t *testing.T) {
	for _, c := range []struct {
		name, code string
		to, slot   uint64
		ok         bool
	}{
		{"stub", "ff2510000000", 0, 4096 + 6 + 16, true},
		{"stub with endbr64", "f30f1efaff25f0ffffff", 0, 4096 + 10 - 16, true},
		{"stub with the prefix of bounds", "f30f1efaf2ff2500000000", 0, 4096 + 11, true},
		{"to an address", "eb10", 4096 + 2 + 16, 0, true},
		{"to a register", "ffe0", 0, 0, false},
		{"through a register", "ff20", 0, 0, false},
		{"call", "e800000000", 0, 0, false},
		{"other code", "55ebfe", 0, 0, false},
		{"no code", "", 0, 0, false},
		{"cut", "f30f1efaff25", 0, 0, false},
	} {
		b, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if to, slot, ok := amd64.Jump(code(b), 4096); to != c.to || slot != c.slot || ok != c.ok {
			t.Errorf("%s: %#x, %#x, %v", c.name, to, slot, ok)
		}
	}
}
