package emulator_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/backend/probe/internal/emulator"
)

// functions is a program that prints what its functions return for many arguments: the truth about
// the instructions that compilers make of them.
const functions = `
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
typedef uint64_t u64;
typedef int64_t s64;
struct record { u64 a; int b; short c; char d; u64 rest[5]; };
static struct record records[8];
static int table[16] = { 3, -1, 4, 1, -5, 9, 2, -6, 5, 3, -5, 8, 9, -7, 9, 3 };
u64 sums(u64 a, u64 b) { return a + b * 3 - (a >> 7) + (b << 5) + ((a ^ b) & 0xff00ff) + (a | ~b); }
u64 words(u64 a, u64 b) { unsigned x = a, y = b; return (x + y) ^ (x * y) ^ ((int)x >> 3) ^ (unsigned short)(x - y) ^ (signed char)y; }
u64 compares(u64 a, u64 b) { return (a < b) + 2 * ((s64)a < (s64)b) + 4 * ((int)a <= (int)b) + 8 * ((unsigned)a > (unsigned)b) + 16 * ((char)a == (char)b) + 32 * ((short)a >= (short)b); }
u64 divides(u64 a, u64 b) { return a / (b | 1) + a % (b | 1) + (s64)a / ((s64)(b >> 1) + 1) + (unsigned)a / ((unsigned)b | 1) + (int)(a >> 33) / ((int)(b >> 34) + 1); }
u64 loops(u64 a, u64 b) { u64 s = 0; for (unsigned i = 0; i < (a & 63); i++) s = s * 31 + table[(i + b) & 15]; return s; }
u64 switches(u64 a, u64 b) { switch (a & 7) { case 0: return b; case 1: return b * 7; case 2: return b ^ a; case 3: return 99; case 4: return b >> 9; case 5: return ~b; case 6: return b - a; default: return 5; } }
static int __attribute__((noinline)) find(const struct record *r, int n, u64 key) { for (int i = 0; i < n; i++) if ((r[i].a & 15) == (key & 15)) return i; return -1; }
u64 copies(u64 a, u64 b)
{
	struct record r[4];
	for (int i = 0; i < 4; i++) { memset(&r[i], 0, sizeof r[i]); r[i].a = a + i * b; r[i].b = (int)b - i; r[i].c = (short)(a >> i); r[i].d = (char)b; r[i].rest[i] = a ^ i; }
	records[a & 7] = r[b & 3];
	struct record c = records[a & 7];
	return c.a ^ c.b ^ c.c ^ c.d ^ c.rest[b & 3] ^ (u64)find(r, 4, b);
}
u64 bits(u64 a, u64 b) { return (a ? __builtin_ctzll(a) : 64) + (b ? __builtin_clzll(b) : 64) + ((a >> (b & 63)) & 1) + (a << (b & 31) | a >> (64 - (b & 31) - 1)) + (a | 1ull << (b & 63)) + (b & ~(1ull << (a & 63))) + (a ^ 1ull << (b & 63)) + (unsigned)((unsigned)a ^ 1u << (b & 31)); }
static u64 depth(u64 n, u64 a) { return n == 0 ? a : depth(n - 1, a * 5 + n) + 1; }
u64 calls(u64 a, u64 b) { u64 (*f)(u64, u64) = a & 1 ? sums : words; return depth(a & 15, b) + f(b, a); }
u64 texts(u64 a, u64 b) { char t[32]; strncpy(t, "one two three four" + (a & 7), sizeof t - 1); t[31] = 0; return strlen(t) * 1000 + (unsigned char)t[b & 7]; }
u64 prints(u64 a, u64 b)
{
	char t[80];
	u64 s = snprintf(t, 20 + (a & 31), "%s v%d.%u, %c%lx%%%ld", a & 1 ? "one" : "three", (int)a, (unsigned)b, 'x', (long)b, (long)a);
	for (const char *c = t; *c; c++) s = s * 31 + *c;
	return s;
}
static const struct { const char *name; u64 (*f)(u64, u64); } all[] = { { "sums", sums }, { "words", words }, { "compares", compares }, { "divides", divides }, { "loops", loops }, { "switches", switches }, { "copies", copies }, { "bits", bits }, { "calls", calls }, { "texts", texts }, { "prints", prints } };
int main(void)
{
	u64 seed = 88172645463325252u;
	for (unsigned f = 0; f < sizeof all / sizeof *all; f++)
		for (int i = 0; i < 200; i++) {
			u64 v[2];
			for (int k = 0; k < 2; k++) { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; v[k] = i % 5 == k ? seed & 31 : i % 7 == 0 ? (u64)(s64)(int)seed : seed; }
			printf("%s %llu %llu %llu %llu\n", all[f].name, (unsigned long long)(uintptr_t)all[f].f, (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)all[f].f(v[0], v[1]));
		}
	printf("end\n");
	fflush(stdout);
	pause();
}
`

// running is the memory of a process. Its functions of the C library are found by the names of their
// links.
type running struct {
	mem   *os.File
	links map[uint64]string
}

func (p running) Page(n uint64) []byte {
	b := make([]byte, 4096)
	if got, _ := p.mem.ReadAt(b, int64(n*4096)); got < len(b) {
		return nil
	}
	return b
}

func (p running) Code(uint64) *emulator.Code  { return nil }
func (p running) Link(slot uint64) string     { return p.links[slot] }
func (p running) Function(name string) uint64 { return 0 }

// linksOf returns the links of a program that is not position independent.
func linksOf(t *testing.T, path string) map[uint64]string {
	t.Helper()
	out, err := exec.Command("readelf", "-rW", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	links := map[uint64]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.HasPrefix(f[2], "R_X86_64_") {
			continue
		}
		var slot uint64
		if _, err := fmt.Sscanf(f[0], "%x", &slot); err == nil {
			links[slot], _, _ = strings.Cut(f[4], "@")
		}
	}
	return links
}

// TestAsProcessor compares results with what the processor computes.
func TestAsProcessor(t *testing.T) {
	for _, flags := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "functions")
			cc := exec.Command("gcc", flags, "-w", "-no-pie", "-o", path, "-x", "c", "-")
			cc.Stdin = strings.NewReader(functions)
			if text, err := cc.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			p := exec.Command(path)
			out, err := p.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = p.Process.Kill(); _ = p.Wait() }()
			mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			defer mem.Close()
			compared, failed := 0, map[string]bool{}
			var lines []string
			for s := bufio.NewScanner(out); s.Scan() && s.Text() != "end"; {
				lines = append(lines, s.Text())
			}
			m := emulator.New(running{mem, linksOf(t, path)})
			for _, line := range lines {
				var name string
				var f, a, b, want uint64
				if _, err := fmt.Sscan(line, &name, &f, &a, &b, &want); err != nil {
					t.Fatal(err)
				}
				m.Reset()
				switch got, _, err := m.Call(f, a, b); {
				case failed[name]:
				case err != nil:
					failed[name] = true // vectors at -O3 are not known
					if flags != "-O3" {
						t.Errorf("%s(%d, %d): %v", name, a, b, err)
					}
				case got != want:
					failed[name] = true
					t.Errorf("%s(%d, %d) = %d, want %d", name, a, b, got, want)
				default:
					compared++
				}
			}
			if compared < 1000 {
				t.Errorf("only %d results compared", compared)
			}
		})
	}
}

// image is memory that holds some bytes again and again.
type image []byte

func (p image) Page(n uint64) []byte {
	if len(p) == 0 || n > 1<<28 {
		return nil
	}
	b := bytes.Clone(p[n*4096%uint64(len(p)):])
	for len(b) < 4096 {
		b = append(b, p...)
	}
	return b[:4096]
}

func (p image) Code(uint64) *emulator.Code { return nil }

func (p image) Link(slot uint64) string {
	names := []string{"", "malloc", "memcpy", "strlen", "realloc", "__tls_get_addr", "calloc", "memset", "strncpy", "abort"}
	return names[slot%uint64(len(names))]
}

func (p image) Function(string) uint64 {
	return binary.LittleEndian.Uint64(append(p[:min(8, len(p))], make([]byte, 8)...)) % (1 << 40)
}

// FuzzCall executes any code: it ends, and writes nothing but to its copy.
func FuzzCall(f *testing.F) {
	f.Add([]byte{0x48, 0x89, 0xf8, 0xc3}, uint64(1), uint64(2))
	f.Add([]byte{0xf3, 0x48, 0xa5, 0xff, 0x25, 1, 0, 0, 0, 0xeb, 0xf0}, uint64(4096), uint64(1<<33))
	f.Add([]byte{0x48, 0xf7, 0xfe, 0x0f, 0xa2, 0xc4}, uint64(0), uint64(0))
	f.Add([]byte{0x0f, 0xab, 0xf7, 0x0f, 0xbb, 0xfe, 0xff, 0x15, 3, 0, 0, 0, 0xc3}, uint64(9), uint64(3))
	f.Fuzz(func(t *testing.T, code []byte, a, b uint64) {
		before := string(code)
		m := emulator.New(image(code))
		if _, loads, _ := m.Call(4096, a, b, a^b, 7, 8, 9); len(loads) > 4096 {
			t.Errorf("%d loads", len(loads))
		}
		p, err := m.CallUntil([]string{"memset", "abort"}, 4096, a, b)
		if known := p.Name == "memset" || p.Name == "abort"; known != (err == nil) {
			t.Errorf("%+v, %v", p, err)
		}
		m.Undo()
		if string(code) != before {
			t.Error("the process was changed")
		}
	})
}

// TestCallUntil ends a call at a function of another image, and sees what is passed to it.
func TestCallUntil(t *testing.T) {
	code := make(image, 64)
	copy(code, "\xbf\x07\x00\x00\x00\xff\x25\x00\x00\x00\x00") // mov edi, 7; jmp through the address behind it
	slot := uint64(11)                                         // where the link is, in the first 64 bytes
	p := linkedOnce{code, slot}
	m := emulator.New(p)
	got, err := m.CallUntil([]string{"other", "ucp_send"}, 0, 1, 2)
	if err != nil || got.Name != "ucp_send" || got.Args[0] != 7 || got.Args[1] != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := m.CallUntil([]string{"other"}, 0, 1, 2); err == nil {
		t.Errorf("%+v", got)
	}
}

// TestUndo drops what was written, but not what was only read.
func TestUndo(t *testing.T) {
	code := make(image, 8192)
	copy(code, "\xc7\x07\x09\x00\x00\x00\x8b\x06\xc3") // mov dword ptr [rdi], 9; mov eax, [rsi]; ret
	code[4096], code[5000] = 1, 2
	m := emulator.New(code)
	if got, _, err := m.Call(0, 5000, 4096); err != nil || got != 1 {
		t.Fatal(got, err)
	}
	if v, _ := m.Uint(5000, 4); v != 9 {
		t.Error(v)
	}
	m.Undo()
	if v, _ := m.Uint(5000, 4); v != 2 {
		t.Error(v)
	}
}

// TestWritten finds what functions have written into memory of the process, and nothing that was there before.
func TestWritten(t *testing.T) {
	code := make(image, 4096) // each page of the memory
	copy(code[64:], "\x05\x00\x00\x00\x00\x00\x00\x00")
	m := emulator.New(code)
	m.PutUint(4096+8, 5, 8)
	m.PutUint(4096+24, 6, 8)
	m.PutUint(m.Alloc(8), 5, 8)
	if got := m.Written(5); len(got) != 1 || got[0] != 4096+8 {
		t.Errorf("%x", got)
	}
	m.Undo()
	if got := m.Written(5); len(got) != 0 {
		t.Errorf("after Undo: %x", got)
	}
}

// linkedOnce has one link.
type linkedOnce struct {
	image
	slot uint64
}

func (p linkedOnce) Link(slot uint64) string {
	if slot == p.slot {
		return "ucp_send"
	}
	return ""
}
