package gdbtext

import (
	"slices"
	"strings"
	"testing"
)

// What gdb writes for users may be anything: a line of x keeps its value, and never an address before a
// name.
func FuzzMemoryLine(f *testing.F) {
	for _, line := range []string{
		"0x555555558020 <table>:\t0\t1\t4\t9", "=> 0x555555555151 <helper+4>:\tmov    %edi,-0x14(%rbp)", "   0x1:\tcall   0x555555555030 <puts@plt>",
		"0x7ffe:", "Cannot access memory at address 0x0", "",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		row, addr, value := ParseMemoryLine(line)
		switch {
		case addr == "" && (value != line || row != MemoryRow{}):
			t.Errorf("%q: a line without address gives %+v, %q", line, row, value)
		case addr != "" && (!strings.HasPrefix(addr, "0x") || !strings.Contains(line, addr)):
			t.Errorf("%q: address %q", line, addr)
		case len(value) > len(line):
			t.Errorf("%q: value %q", line, value)
		}
	})
}

// Every line of disassemble but the first and the last is in the answer, up to its bound.
func FuzzAssembly(f *testing.F) {
	f.Add("Dump of assembler code for function main:\n   0x0000555555555139 <+0>:\tpush   %rbp\n=> 0x000055555555513a <+1>:\tmov    %rsp,%rbp\nEnd of assembler dump.\n")
	f.Add("Dump of assembler code from 0x1 to 0x2:\n   0x1:\tnop\n")
	f.Add("5\tint x;\n")
	f.Fuzz(func(t *testing.T, text string) {
		body, current, addr := ParseAssembly(text)
		if n := strings.Count(text, "\n") + 1; len(body.Lines) > min(n, MaxInstructions) {
			t.Errorf("%d lines of %d", len(body.Lines), n)
		}
		if addr != "" && !strings.Contains(text, addr) || !strings.Contains(text, current) {
			t.Errorf("address %q, current %q", addr, current)
		}
		if strings.Contains(text, "Dump of") {
			return
		}
		if got, want := len(body.Lines), strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1; text != "" && !strings.Contains(text, "End of") && got != min(want, MaxInstructions) {
			t.Errorf("%q: %d lines, not %d", text, got, want)
		}
	})
}

// Addresses that have no symbol count from the start of the function, so that equal code is equal on all ranks.
func TestAssemblyOfPartedFunction(t *testing.T) {
	text := "Dump of assembler code for function main:\nAddress range 0x5560 to 0x5590:\n7\tx = 1; // # 0x5570\n   0x5560 <+0>:\tmovsd  0x10(%rip),%xmm1        # 0x6570\n" +
		"=> 0x5564 <+4>:\tcall   0x5510 <exit@plt>\n   0x5568 <+8>:\tadrp\tx0, 0x7000\nAddress range 0x5540 to 0x5550:\n   0x5540 <-32>:\tret\nEnd of assembler dump.\n"
	body, current, addr := ParseAssembly(text)
	want := []AssemblyLine{{"", "Address range <+0> to <+48>:"}, {"", "7\tx = 1; // # 0x5570"}, {"+0", "movsd  0x10(%rip),%xmm1        # <+4112>"},
		{"+4", "call   <exit@plt>"}, {"+8", "adrp\tx0, <+6816>"}, {"", "Address range <-32> to <-16>:"}, {"-32", "ret"}}
	if !slices.Equal(body.Lines, want) || current != "+4" || addr != "0x5560" {
		t.Errorf("%q, current %s, first %s", body.Lines, current, addr)
	}
}
