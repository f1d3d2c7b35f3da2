package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/rank"
)

// path converts words to frames: "main:55 compute:31".
func path(words string) []Frame {
	var frames []Frame
	for _, w := range strings.Fields(words) {
		f := Frame{File: "w.c"}
		name, mark, _ := strings.Cut(w, "!")
		f.Mark = mark
		if _, err := fmt.Sscanf(strings.Replace(name, ":", " ", 1), "%s %d", &f.Func, &f.Line); err != nil {
			panic(err)
		}
		frames = append(frames, f)
	}
	return frames
}

func crash() *Tree {
	var s *Tree
	for r := range rank.ID(8) {
		if r == 3 {
			s = s.Merge(New(r, path("main:55 compute:29 helper:18!SIGSEGV")))
			continue
		}
		s = s.Merge(New(r, path("main:55 compute:31")))
	}
	return s
}

func TestStackString(t *testing.T) {
	var none *Tree
	twice := crash().Merge(New(3, path("main:55 wait:5")))
	for _, c := range []struct {
		name  string
		stack *Tree
		want  string
	}{
		{"nil", none, ""},
		{"nil and nil", none.Merge(nil), ""},
		{"no frames", New(1, nil), ""},
		{"one thread", New(1, path("main:55 compute:31")), "{main w.c:55 [1] {compute w.c:31 [1]}}"},
		{"one rank differs", crash(),
			"{main w.c:55 [0-7] {compute w.c:31 [0-2,4-7]} {compute w.c:29 [3] {helper w.c:18 SIGSEGV [3]}}}"},
		{"two threads of a rank", twice,
			"{main w.c:55 [0-7] x9 {compute w.c:31 [0-2,4-7]} {compute w.c:29 [3] {helper w.c:18 SIGSEGV [3]}} {wait w.c:5 [3]}}"},
		{"one thread deeper", New(0, path("main:1")).Merge(New(1, path("main:1 f:2"))), "{main w.c:1 [0-1] {f w.c:2 [1]}}"},
		{"two roots", New(5, path("start:1")).Merge(New(4, path("main:1"))), "{main w.c:1 [4]} {start w.c:1 [5]}"},
		{"frames of all kinds", New(0, []Frame{{Func: "f", File: "w.c"}, {Func: "g", Addr: "0x5", From: "libc.so"}, {Line: 3}}),
			"{f w.c [0] {g 0x5 libc.so [0] { :3 [0]}}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.stack.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestStackNodes(t *testing.T) {
	roots := crash().Roots()
	if len(roots) != 1 || roots[0].Ranks.String() != "0-7" || roots[0].Threads != 8 || roots[0].Here() != 0 {
		t.Fatalf("roots: %v", crash())
	}
	children := roots[0].Children()
	if len(children) != 2 || children[0].Frame.Line != 31 || children[0].Here() != 7 || children[1].Here() != 0 {
		t.Errorf("children of main: %v", crash())
	}
}

func TestStackJSON(t *testing.T) {
	const want = `[{"func":"main","file":"w.c","line":55,"ranks":"0-7","n":8,"threads":8,"children":[` +
		`{"func":"compute","file":"w.c","line":31,"ranks":"0-2,4-7","n":7,"threads":7},` +
		`{"func":"compute","file":"w.c","line":29,"ranks":"3","n":1,"threads":1,"children":[` +
		`{"func":"helper","file":"w.c","line":18,"mark":"SIGSEGV","ranks":"3","n":1,"threads":1}]}]}]`
	if got, err := json.Marshal(crash()); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if got, err := json.Marshal(&Tree{}); err != nil || string(got) != "[]" {
		t.Errorf("an empty tree is %s, %v", got, err)
	}
}

func TestStackJSONErrors(t *testing.T) {
	deep := strings.Repeat(`[{"func":"f","ranks":"0","children":`, MaxDepth+1) + "[]" + strings.Repeat("}]", MaxDepth+1)
	for text, want := range map[string]string{
		`{}`:                           "cannot unmarshal",
		`[{"func":"f"}]`:               `frame "f" has no ranks`,
		`[{"func":"f","ranks":"x"}]`:   `"x" is not a rank`,
		`[{"ranks":"0","line":-1}]`:    "a number is out of bounds",
		`[{"ranks":"0","threads":-1}]`: "a number is out of bounds",
		`[{"ranks":"0-1","threads":5,"counts":[{"threads":1,"ranks":"0"},{"threads":3,"ranks":"1"}]}]`: "not those of its ranks",
		`[{"ranks":"0-1","threads":3,"counts":[{"threads":3,"ranks":"1"}]}]`:                           "not those of its ranks",
		`[{"ranks":"0"},{"ranks":"1"}]`: `frame "" appears twice`,
		deep:                            "deeper than 512 frames",
	} {
		var s Tree
		if err := json.Unmarshal([]byte(text), &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s: %v; want %q in it", text, err, want)
		}
	}
}

func TestStackKeepsTheEndsOfADeepOne(t *testing.T) {
	frames := []Frame{{Func: "main"}}
	for range 100_000 {
		frames = append(frames, Frame{Func: "again"})
	}
	frames = append(frames, Frame{Func: "crash"})
	s := New(0, frames)
	var names []string
	for nodes := s.Roots(); len(nodes) > 0; nodes = nodes[0].Children() {
		names = append(names, nodes[0].Frame.Func)
	}
	if len(names) != MaxDepth || names[0] != "main" || names[len(names)-1] != "crash" || !slices.Contains(names, "...") {
		t.Errorf("%d frames, from %q to %q", len(names), names[0], names[len(names)-1])
	}
	if _, _, err := Decode(s.AppendWire(nil)); err != nil {
		t.Error(err)
	}
}

// drawStacks draws stacks of threads of some ranks.
func drawStacks(t *rapid.T) []*Tree {
	var out []*Tree
	words := rapid.SampledFrom([]string{"a:1", "a:2", "b:1", "c:3", "c:3!SIGABRT"})
	for i := range rapid.IntRange(1, 20).Draw(t, "threads") {
		frames := rapid.SliceOfN(words, 0, 5).Draw(t, "frames")
		out = append(out, New(rank.ID(i/2), path(strings.Join(frames, " "))))
	}
	return out
}

func TestStackMergesTheSameInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := drawStacks(t)
		var want *Tree
		for _, s := range stacks {
			want = want.Merge(s)
		}
		for len(stacks) > 1 {
			i := rapid.IntRange(0, len(stacks)-2).Draw(t, "i")
			j := rapid.IntRange(i+1, len(stacks)-1).Draw(t, "j")
			stacks[i] = stacks[j].Merge(stacks[i])
			stacks = slices.Delete(stacks, j, j+1)
		}
		wire := stacks[0].AppendWire(nil)
		if !bytes.Equal(wire, want.AppendWire(nil)) {
			t.Fatalf("in one order  %v\nin another one %v", want, stacks[0])
		}
		again, rest, err := Decode(append(wire, "rest"...))
		if err != nil || string(rest) != "rest" || again.String() != want.String() {
			t.Fatalf("decoded as %v, rest %q, %v; want %v", again, rest, err, want)
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var fromText Tree
		if err := json.Unmarshal(text, &fromText); err != nil || !bytes.Equal(fromText.AppendWire(nil), wire) {
			t.Fatalf("%s is read as %v, %v", text, &fromText, err)
		}
	})
}

// Every path of the tree has exactly the ranks and threads with that stack.
func TestStackAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"a:1", "a:2", "b:1"})
		threads := map[string]int{}
		ranks := map[string][]rank.ID{}
		var s *Tree
		for i := range rapid.IntRange(0, 20).Draw(t, "threads") {
			frames := rapid.SliceOfN(words, 0, 4).Draw(t, "frames")
			s = s.Merge(New(rank.ID(i/2), path(strings.Join(frames, " "))))
			for n := 1; n <= len(frames); n++ {
				way := strings.Join(frames[:n], " ")
				threads[way]++
				ranks[way] = append(ranks[way], rank.ID(i/2))
			}
		}
		var walk func(nodes []*Node, above string)
		walk = func(nodes []*Node, above string) {
			for _, n := range nodes {
				way := strings.TrimSpace(fmt.Sprintf("%s %s:%d", above, n.Frame.Func, n.Frame.Line))
				if n.Threads != threads[way] || !n.Ranks.Equal(rank.Of(ranks[way]...)) {
					t.Fatalf("%q: %d threads of %v, want %d of %v", way, n.Threads, n.Ranks, threads[way], ranks[way])
				}
				delete(threads, way)
				walk(n.Children(), way)
			}
		}
		walk(s.Roots(), "")
		if len(threads) > 0 {
			t.Fatalf("ways that are not in the tree: %v", threads)
		}
	})
}

func FuzzStack(f *testing.F) {
	f.Add(crash().AppendWire(nil))
	f.Add((*Tree)(nil).AppendWire(nil))
	f.Add(crash().Merge(crash().Only(rank.Range(2, 4))).Merge(New(3, path("main:55"))).AppendWire(nil))
	f.Add(New(5, path("start:1")).Merge(New(4, path("main:1"))).AppendWire(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, after, err := Decode(b)
		if err != nil {
			return
		}
		wire := s.AppendWire(nil)
		if !bytes.Equal(wire, b[:len(b)-len(after)]) {
			t.Fatalf("%v was %x, and is %x", s, b[:len(b)-len(after)], wire)
		}
		again, rest, err := Decode(wire)
		if err != nil || len(rest) > 0 || !bytes.Equal(again.AppendWire(nil), wire) {
			t.Fatalf("%v is decoded as %v, rest %d, %v", s, again, len(rest), err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var fromText Tree
		if err := json.Unmarshal(text, &fromText); err != nil || !bytes.Equal(fromText.AppendWire(nil), wire) {
			t.Fatalf("%s is read as %v, %v", text, &fromText, err)
		}
		s.Merge(again)
		s.Moved(s.Only(rank.Range(0, 3)))
	})
}

func BenchmarkStack(b *testing.B) {
	deep := path("main:1 a:2 b:3 c:4 d:5 e:6 f:7 g:8")
	s, t := New(0, deep), New(1, deep)
	wire := crash().AppendWire(nil)
	var many [2]*Tree // 1,024 ranks each, 200 different stacks
	for i := range rank.ID(2048) {
		many[i/1024] = many[i/1024].Merge(New(i, path(fmt.Sprintf("main:1 phase:%d helper:8", i%200))))
	}
	for name, do := range map[string]func(){
		"new":    func() { New(0, deep) },
		"merge":  func() { s.Merge(t) },
		"many":   func() { many[0].Merge(many[1]) },
		"append": func() { wire = crash().AppendWire(wire[:0]) },
		"decode": func() {
			if _, _, err := Decode(wire); err != nil {
				b.Fatal(err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// TestShareOfThreadsThatWereNotRead: their share is of all threads, so that shares do not add up to more than 100 %.
func TestShareOfThreadsThatWereNotRead(t *testing.T) {
	of := func(name string) *Tree { return Of(rank.Range(0, 1), []Frame{{Func: name}}) }
	s := of("main").Merge(of("main")).Merge(of("main")).Merge(of(NotRead + "traced by gdb)"))
	roots := s.Roots()
	for _, root := range roots {
		want := "100 %"
		if root.Frame.Func != "main" {
			want = "25 %"
		}
		if got := root.ShareOf(Base(roots, root)).String(); got != want {
			t.Errorf("%s: %s, want %s", root.Frame.Func, got, want)
		}
	}
}
