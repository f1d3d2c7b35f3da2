// Streams in pieces of any size.

package mi

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// feedAll feeds the pieces, and calls Finish if finish is set.
func feedAll(p *Parser, finish bool, pieces ...[]byte) (got []Record) {
	emit := func(r Record) { got = append(got, r) }
	for _, b := range pieces {
		p.Feed(b, emit)
	}
	if finish {
		p.Finish(emit)
	}
	return got
}

func TestFeedPieces(t *testing.T) {
	for name, tape := range tapes(t) {
		whole := feedAll(new(Parser), true, tape)
		if len(whole) != len(lines(tape)) {
			t.Errorf("%s: %d records from %d lines", name, len(whole), len(lines(tape)))
		}
		for _, size := range []int{1, 7, 4096} {
			var p Parser
			var got []Record
			for rest := tape; len(rest) > 0; {
				piece := bytes.Clone(rest[:min(size, len(rest))])
				rest = rest[len(piece):]
				records := feedAll(&p, false, piece)
				got = append(got, records...)
				clear(piece) // the parser must not keep it
			}
			last := feedAll(&p, true)
			if diff := cmp.Diff(whole, append(got, last...)); diff != "" {
				t.Fatalf("%s in pieces of %d (-whole +pieces):\n%s", name, size, diff)
			}
		}
	}
}

func TestFinish(t *testing.T) {
	tests := []struct {
		name, in string
		want     int
	}{
		{"nothing", "", 0},
		{"ended line", "1^done\n", 1},
		{"open line", "1^done\n2^done", 2},
		{"empty line", "\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := feedAll(new(Parser), true, []byte(tt.in)); len(got) != tt.want {
				t.Errorf("%d records, want %d: %v", len(got), tt.want, got)
			}
		})
	}
}

func TestLineTooLong(t *testing.T) {
	long := strings.Repeat("x", 101)
	tests := []struct {
		name   string
		pieces []string
	}{
		{"in one piece", []string{"1^done\n" + long + "\n2^done\n"}},
		{"in two", []string{"1^done\n" + long[:50], long[50:] + "\n2^done\n"}},
		{"skipping begins within", []string{"1^done\n" + long[:90], long[90:], "\n2^done\n"}},
		{"newline alone", []string{"1^done\n" + long, "\n", "2^done\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var pieces [][]byte
			for _, s := range tt.pieces {
				pieces = append(pieces, []byte(s))
			}
			got := feedAll(&Parser{limit: 100}, true, pieces...)
			if len(got) != 3 || got[0].Token != 1 || got[2].Token != 2 {
				t.Fatalf("records %v", got)
			}
			if tooLong := got[1]; tooLong.Class != Console || !strings.Contains(tooLong.Text, "a line of 101 bytes") {
				t.Errorf("of the long line %v", tooLong)
			}
		})
	}
}

// TestLongestLine reads 64 MiB in one answer.
func TestLongestLine(t *testing.T) {
	const frame = len(`1^done,value=""`)
	value := bytes.Repeat([]byte("v"), MaxLine-frame)
	var p Parser
	got := feedAll(&p, false, []byte(`1^done,value="`), value[:1000], value[1000:], []byte("\"\n"))
	if len(got) != 1 || len(got[0].Results.Str("value")) != len(value) {
		t.Fatalf("%d records", len(got))
	}
	if cap(p.partial) > keepBuffer {
		t.Errorf("%d bytes are kept for the next line", cap(p.partial))
	}
	got = feedAll(&p, false, []byte(`12^done,value="`), value, []byte("\"\n"))
	if len(got) != 1 || got[0].Token != 12 || got[0].Name != "error" || !strings.Contains(got[0].Results.Str("msg"), "a line of 67108865 bytes") {
		t.Errorf("one byte more gave %v", got)
	}
}

func TestWant(t *testing.T) {
	var asked []string
	p := Parser{Want: func(c Class, name string) bool {
		asked = append(asked, c.String()+name)
		return name == "stopped"
	}}
	in := "*running,thread-id=\"1\"\n=library-loaded,id=\"x\"\n+download,{}\n12*stopped\n^done\n~\"x\"\n(gdb) \n*not mi\ntext\n"
	got := feedAll(&p, true, []byte(in[:5]), []byte(in[5:]))
	var classes []string
	for _, r := range got {
		classes = append(classes, r.Class.String())
	}
	if want := []string{"*", "^", "~", "prompt", "other"}; !cmp.Equal(classes, want) {
		t.Errorf("got %q, want %q", classes, want)
	}
	if want := []string{"*running", "=library-loaded", "+download", "*stopped", "*not"}; !cmp.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte("1^done\n\n*stopped,reason=\"x\"\r\n(gdb) \n~\"a\\n\"\npartial"), []byte{3, 1, 200})
	f.Add([]byte("a line that is longer than it may be\n^done\n"), []byte{1})
	for _, tape := range tapes(f) {
		f.Add(tape[:min(len(tape), 600)], []byte{100, 7})
	}
	f.Fuzz(func(t *testing.T, stream, cuts []byte) {
		const limit = 30
		for _, p := range []Parser{{}, {limit: limit}} {
			q := p
			whole := feedAll(&p, true, stream)
			var pieces [][]byte
			rest := stream
			for i := 0; len(cuts) > 0 && len(rest) > 0; i++ {
				n := min(int(cuts[i%len(cuts)])+1, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			got := feedAll(&q, true, append(pieces, rest)...)
			if !reflect.DeepEqual(whole, got) {
				t.Errorf("cut by %v (-whole +pieces):\n%s", cuts, cmp.Diff(whole, got))
			}
		}
	})
}

// TestUnwantedIsFree checks that unwanted records allocate nothing: a breakpoint that is hit a
// million times makes a million of them.
func TestUnwantedIsFree(t *testing.T) {
	p := Parser{Want: func(_ Class, name string) bool { return name == "stopped" }}
	line := []byte("=breakpoint-modified,bkpt={number=\"1\"}\n=thread-created,id=\"2\"\n*running,thread-id=\"all\"\n")
	emit := func(r Record) { t.Errorf("got %v", r) }
	if n := testing.AllocsPerRun(100, func() { p.Feed(line, emit) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
