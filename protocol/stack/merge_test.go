package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol/decode"
	"sdm/protocol/rank"
)

// where returns the paths of each rank in the tree, with its number of threads there.
func where(s *Tree) map[rank.ID]map[string]int {
	out := map[rank.ID]map[string]int{}
	var walk func(nodes []*Node, path string)
	walk = func(nodes []*Node, path string) {
		for _, n := range nodes {
			here := path + "/" + n.Frame.String()
			for _, c := range n.Counts {
				for r := range c.Ranks.All() {
					if out[r] == nil {
						out[r] = map[string]int{}
					}
					out[r][here] += c.Threads
				}
			}
			walk(n.Children(), here)
		}
	}
	walk(s.Roots(), "")
	return out
}

func drawTree(t *rapid.T, name string) *Tree {
	var s *Tree
	for r := range rank.ID(6) {
		for range rapid.IntRange(0, 2).Draw(t, fmt.Sprintf("threads of %d in %s", r, name)) {
			var frames []Frame
			for range rapid.IntRange(1, 4).Draw(t, "depth") {
				frames = append(frames, Frame{Func: rapid.SampledFrom([]string{"f", "g"}).Draw(t, "func")})
			}
			s = s.Merge(New(r, frames))
		}
	}
	return s
}

func TestStackSamplesAgreeWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTree(t, "a"), drawTree(t, "b")
		atA, atB := where(a), where(b)
		moved, both := a.Moved(b), where(a.Merge(b))
		only := where(a.Only(rank.Range(1, 3)))
		for r := range rank.ID(6) {
			same := fmt.Sprint(atA[r]) == fmt.Sprint(atB[r])
			if moved.Contains(r) == same {
				t.Fatalf("rank %d: moved is %v\n%v\n%v", r, moved, a, b)
			}
			sum := maps.Clone(atA[r])
			for path, n := range atB[r] {
				if sum == nil {
					sum = map[string]int{}
				}
				sum[path] += n
			}
			if fmt.Sprint(sum) != fmt.Sprint(both[r]) {
				t.Fatalf("rank %d is at %v, want %v", r, both[r], sum)
			}
			if want := atA[r]; 1 <= r && r <= 3 && fmt.Sprint(want) != fmt.Sprint(only[r]) || (r < 1 || r > 3) && only[r] != nil {
				t.Fatalf("of rank %d only %v is left of %v", r, only[r], want)
			}
		}
		one, other := a.Merge(b).AppendWire(nil), b.Merge(a).AppendWire(nil)
		if !bytes.Equal(one, other) {
			t.Fatal("the order of samples shows")
		}
		again, rest, err := Decode(one)
		if err != nil || len(rest) > 0 || fmt.Sprint(where(again)) != fmt.Sprint(both) {
			t.Fatalf("decoded as %v, rest %d, %v", again, len(rest), err)
		}
		text, err := json.Marshal(again)
		var fromText Tree
		if err != nil || json.Unmarshal(text, &fromText) != nil || !bytes.Equal(fromText.AppendWire(nil), one) {
			t.Fatalf("%s is read as %v, %v", text, &fromText, err)
		}
	})
}

// exported returns a tree with the special cases of exports: threads, a mark, names
// with characters that are special elsewhere.
func exported() *Tree {
	main := Frame{Func: "main", File: "work.c", Line: 55}
	crash := Frame{Func: `operator"";<a>`, File: `c:\x.cpp`, Line: 3, Mark: "SIGSEGV"}
	s := Of(rank.Range(0, 6), []Frame{main, {Func: "compute", File: "work.c", Line: 31}})
	s = s.Merge(New(7, []Frame{main, crash}))
	s = s.Merge(New(7, []Frame{{From: "libc.so.6"}}))
	return s.Merge(New(7, []Frame{{From: "libc.so.6"}}))
}

func TestFolded(t *testing.T) {
	const want = `main work.c:55;compute work.c:31 7
main work.c:55;operator"",<a> c:\x.cpp:3 SIGSEGV 1
?? libc.so.6 2
`
	if got := exported().Folded(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := (*Tree)(nil).Folded(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestDOT(t *testing.T) {
	const want = `digraph stacks {
	node [shape=box];
	start [shape=point];
	n1 [label="main work.c:55"];
	start -> n1 [label="[0-7] (8)"];
	n2 [label="compute work.c:31"];
	n1 -> n2 [label="[0-6] (7)"];
	n3 [label="operator\"\";<a> c:\\x.cpp:3 SIGSEGV", color=red];
	n1 -> n3 [label="[7] (1)"];
	n4 [label="?? libc.so.6"];
	start -> n4 [label="[7] (1, 2 threads)"];
}
`
	if got := exported().DOT(false); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Two samples of two ranks: rank 0 has moved from f to g, rank 1 has two threads.
func sampledTwice() *Tree {
	at := func(r rank.ID, names ...string) *Tree {
		var frames []Frame
		for _, n := range names {
			frames = append(frames, Frame{Func: n})
		}
		return New(r, frames)
	}
	one := at(0, "main", "f").Merge(at(1, "main", "g")).Merge(at(1, "start"))
	return one.Merge(at(0, "main", "g").Merge(at(1, "main", "g")).Merge(at(1, "start")))
}

func TestShares(t *testing.T) {
	s := sampledTwice()
	const json = `[{"func":"main","ranks":"0-1","n":2,"hits":4,"percent":100.0,"children":[` +
		`{"func":"g","ranks":"0-1","n":2,"hits":3,"percent":75.0,"counts":[{"hits":1,"ranks":"0"},{"hits":2,"ranks":"1"}]},` +
		`{"func":"f","ranks":"0","n":1,"hits":1,"percent":50.0}]},` +
		`{"func":"start","ranks":"1","n":1,"hits":2,"percent":100.0}]`
	if got := string(s.SampledJSON()); got != json {
		t.Errorf("got\n%s\nwant\n%s", got, json)
	}
	if got, want := s.Folded(), "main;g 3\nmain;f 1\nstart 2\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, want := range []string{`"[0-1] (2, 100 %)"`, `"[0-1] (2, 75 %: 50 to 100 % of a rank)"`, `"[0] (1, 50 %)"`} {
		if got := s.DOT(true); !strings.Contains(got, want) {
			t.Errorf("got\n%swant %s", got, want)
		}
	}
	for part, want := range map[float64]string{0: "0 %", 0.2: "<1 %", 1: "1 %", 98.6: "99 %", 99.2: ">99 %", 100: "100 %"} {
		if got := percent(part); got != want {
			t.Errorf("%v is %s, want %s", part, got, want)
		}
	}
}

// Having does not search below a wanted frame, however large its rank set is, but
// everywhere else.
func TestHaving(t *testing.T) {
	s := exported()
	for fn, want := range map[string]string{"main": "0-7", "compute": "0-6", "": "7", "absent": ""} {
		if got := s.Having(func(f Frame) bool { return f.Func == fn }); got.String() != want {
			t.Errorf("%q: %v, want %s", fn, got, want)
		}
	}
}

// Trees with any received number of threads can be merged repeatedly.
func TestThreadsOfAStackAreBounded(t *testing.T) {
	b := joined(1, 8, 2, "f", 0, 0, 0, 0, 0, 0, 0, rank.Of(5).AppendWire(nil), bytes.Repeat([]byte{0xff}, 4), 7)
	s, _, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Merge(s).Merge(s).Roots()[0].Threads; n != decode.MaxCount {
		t.Errorf("%d threads, want %d", n, decode.MaxCount)
	}
}
