package variable

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/image"
)

// loaded is a file as an image, whose memory is that at its start.
type loaded struct {
	names   *Names
	symbols *image.Symbols
	memory  []byte
}

func (l *loaded) Names() *Names           { return l.names }
func (l *loaded) Symbols() *image.Symbols { return l.symbols }
func (l *loaded) Bias() uint64            { return 0 }

func (l *loaded) Read(addr uint64, b []byte) bool {
	if addr > uint64(len(l.memory)) || uint64(len(b)) > uint64(len(l.memory))-addr {
		return false
	}
	copy(b, l.memory[addr:])
	return true
}

const text = `
namespace sim {
struct Base { int b; };
struct Other { int b, o; };
struct Domain : Base, Other { static int cycle; int iter[4]; double h; Domain *next; unsigned a:3, c:20; union { int x; float y; }; };
int Domain::cycle = 17;
}
sim::Domain d = {}, *p = &d, &r = d, all[2][3] = {};
int idx = 2;
static int inside() { static int kept = 4; asm volatile("" : "+m"(kept)); return kept; }
int main() { int local = inside(); asm volatile("" : "+m"(local)); return local; }
`

var expressions = []string{
	"d.iter[2]", "p->next->h", "*p", "r.o", "d.b", "all[1][2].a", "all[1]", "Domain::cycle", "cycle", "sim::Domain::cycle", "kept", "inside::kept",
	"local", "d.iter[idx]", "p->c+1", "d.x", "nosuch", "*all", "d.iter", "'<stdin>'::idx", "::idx", "p->iter[p->iter[0]]",
}

// withoutValue are those that have none: a null pointer, a component of two bases, one in a register, and no variable.
var withoutValue = []string{"p->next->h", "d.b", "local", "nosuch"}

// FuzzEvaluate damages the debug information and the memory of a program.
func FuzzEvaluate(f *testing.F) {
	path := filepath.Join(f.TempDir(), "program")
	cc := exec.Command("g++", "-g", "-O1", "-no-pie", "-fno-pie", "-Wl,-Ttext-segment=0x10000", "-o", path, "-x", "c++", "-")
	cc.Stdin = strings.NewReader(text)
	if said, err := cc.CombinedOutput(); err != nil {
		f.Fatalf("%v: %s", err, said)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	var memory []byte
	x, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range x.Progs {
		if p.Type == elf.PT_LOAD {
			memory = append(memory, make([]byte, max(0, int(p.Vaddr+p.Memsz)-len(memory)))...)
			copy(memory[p.Vaddr:], whole[p.Off:p.Off+p.Filesz])
		}
	}
	first, last := x.Section(".debug_info"), x.Section(".debug_abbrev")
	f.Add(uint32(0), byte(0), byte(0))
	f.Add(uint32(100), byte(4), byte(0xff))
	f.Fuzz(func(t *testing.T, from uint32, n, with byte) {
		b, l := bytes.Clone(whole), &loaded{memory: memory}
		at := int(first.Offset) + int(from)%int(first.Size+last.Size+64)
		for i := range b[at:min(at+int(n%64), len(b))] {
			b[at+i] ^= with
		}
		if d, err := image.ReadDebug(b); err == nil && d != nil {
			l.names = New(d)
		}
		if s, _, err := image.ReadSymbols(b); err == nil {
			l.symbols = s
		}
		var none []string
		for _, text := range expressions {
			e, err := expression.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Evaluate(e, []Image{l}, l)
			if err == nil && (len(v.Bytes) == 0 || len(v.Bytes) > maxBytes) {
				t.Errorf("%s: %d bytes of %d", text, len(v.Bytes), v.Size)
			}
			if err != nil {
				none = append(none, text)
			}
		}
		if with == 0 && !slices.Equal(none, withoutValue) {
			t.Errorf("of the undamaged program %q have no value", none)
		}
	})
}
