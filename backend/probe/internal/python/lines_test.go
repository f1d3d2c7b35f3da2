package python

import (
	"fmt"
	"slices"
	"testing"
)

// Tables of this function, compiled by the versions, with the lines of its instructions that dis shows:
//
//	def f(a):
//	    g(
//	        a
//	    )
//	    return a
func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		minor int
		table []byte
		lines []int // of instructions
	}{
		"signed increments": {9, []byte{0, 1, 2, 1, 2, 0xff, 4, 3}, []int{2, 3, 2, 2, 5, 5}},
		"ranges":            {10, []byte{2, 1, 2, 1, 4, 0xff, 2, 0x80, 2, 3}, []int{2, 3, 2, 2, 0, 5}},
		"locations": {11, []byte{
			0x80 | noLocation<<3,
			0x80 | 11<<3 | 1, 4, 5, // of the next line
			0x80 | longKind<<3, 2, 0, 9, 10,
			0x80 | lineOnly<<3, 3,
			0x80 | 12<<3, 1, 2,
			0x80 | 3<<3, 7,
		}, []int{0, 2, 2, 3, 2, 4, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for i := range c.lines {
				got = append(got, lineAt(c.minor, c.table, 1, int64(2*i)))
			}
			if !slices.Equal(got, c.lines) {
				t.Errorf("%v, want %v", got, c.lines)
			}
			if at := lineAt(c.minor, c.table, 1, -2); at != 1 {
				t.Errorf("before the first instruction: %d", at)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte{0xe8, 3, 0xf0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, int64(40))
	f.Fuzz(func(t *testing.T, table []byte, at int64) {
		for minor := 8; minor <= 15; minor++ {
			lineAt(minor, table, 1, at)
		}
	})
}

// FuzzProcess reads interpreters in hostile memory: the bytes overwrite memory of a process.
func FuzzProcess(f *testing.F) {
	for minor := 8; minor <= 15; minor++ {
		p := newProcess(minor)
		f.Add(minor, 0, p.b)
		f.Add(minor, int(p.frames[0]-heapBase), p.b[p.frames[1]-heapBase:])
		f.Add(minor, int(p.thread-heapBase), []byte("\x10"))
	}
	f.Fuzz(func(t *testing.T, minor, at int, b []byte) {
		if minor < 8 || minor > 15 {
			return
		}
		p := newObjects(minor)
		if minor >= 11 && minor <= 14 {
			p.variables()
		}
		if at < 0 || at > len(p.b) {
			return
		}
		copy(p.b[at:], b)
		in, err := New(p, Images{p}, minor)
		if err != nil {
			return
		}
		s := in.Copy(p, in.Plan(p))
		in.Name(p, s)
		if v := in.Values(p, s); v != nil {
			s.each(func(f *Frame) {
				locals, globals, _ := v.Locals(f)
				v.Find(globals, "a", "x")
				v.Progress(nil, f)
				for _, o := range locals {
					v.Int(o)
					v.Text(o)
				}
			})
		}
		if n := len(s.Threads); n > maxThreads {
			t.Error(fmt.Sprint(n, " threads"))
		}
	})
}
