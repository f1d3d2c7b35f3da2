package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustShape(t testing.TB, text string, size int) Shape {
	t.Helper()
	s, err := ParseShape(text, size)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseShape(t *testing.T) {
	for _, test := range []struct {
		name, text string
		size       int
		want       string // the text, or part of the error
		wantErr    bool
	}{
		{name: "binomial", text: "binomial", size: 5, want: "binomial"},
		{name: "flat", text: "flat", size: 5, want: "flat"},
		{name: "chain", text: "1", size: 5, want: "1"},
		{name: "leading zero", text: "08", size: 5, want: "8"},
		{name: "no servers", text: "2", size: 0, want: "2"},
		{name: "no children", text: "0", size: 5, want: "number of children from 1", wantErr: true},
		{name: "negative", text: "-2", size: 5, want: `"-2" is not known`, wantErr: true},
		{name: "word", text: "ring", size: 5, want: "binomial, flat, or", wantErr: true},
		{name: "empty", text: "", size: 5, want: "binomial, flat, or", wantErr: true},
		{name: "beyond integers", text: "99999999999999999999", size: 5, want: "is not known", wantErr: true},
		{name: "the number that stands for flat", text: fmt.Sprint(flat), size: 5, want: "is not known", wantErr: true},
		{name: "negative size", text: "flat", size: -1, want: "out of bounds", wantErr: true},
		{name: "huge size", text: "flat", size: MaxSize + 1, want: "out of bounds", wantErr: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := ParseShape(test.text, test.size)
			switch {
			case test.wantErr && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want one with %q", err, test.want)
			case !test.wantErr && err != nil:
				t.Error(err)
			case !test.wantErr && (s.String() != test.want || s.Size() != test.size):
				t.Errorf("got %v of %d, want %s of %d", s, s.Size(), test.want, test.size)
			}
		})
	}
}

func TestChildrenAsDrawn(t *testing.T) {
	for _, test := range []struct {
		shape string
		size  int
		of    NodeID
		want  []NodeID
	}{
		{"binomial", 8, 0, []NodeID{4, 2, 1, 8}}, // the subtree of 8 is incomplete, so it comes last
		{"binomial", 7, 4, []NodeID{6, 5}},
		{"binomial", 6, 6, nil},
		{"flat", 3, 0, []NodeID{1, 2, 3}},
		{"2", 6, 0, []NodeID{1, 4}},
		{"2", 5, 0, []NodeID{1, 4}},
		{"3", 7, 0, []NodeID{1, 4, 6}},
		{"8", 3, 0, []NodeID{1, 2, 3}},
		{"1", 3, 1, []NodeID{2}},
		{"binomial", 0, 0, nil},
	} {
		t.Run(fmt.Sprintf("%s of %d below %d", test.shape, test.size, test.of), func(t *testing.T) {
			if got := mustShape(t, test.shape, test.size).Children(test.of); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// walked is what following Children from the root yields for a vertex: a slow and
// obvious alternative to the arithmetic.
type walked struct {
	parent        NodeID
	depth, height int
	last          NodeID
	count         int
}

func walk(s Shape) []walked {
	seen := make([]walked, s.Size()+1)
	var visit func(v, parent NodeID, depth int)
	visit = func(v, parent NodeID, depth int) {
		if seen[v].count > 0 {
			panic(fmt.Sprintf("%v of %d: vertex %d is met twice", s, s.Size(), v))
		}
		w := walked{parent: parent, depth: depth, last: v, count: 1}
		seen[v].count = 1
		for _, c := range s.Children(v) {
			visit(c, v, depth+1)
			w.count += seen[c].count
			w.last = max(w.last, seen[c].last)
			w.height = max(w.height, seen[c].height+1)
		}
		seen[v] = w
	}
	visit(0, 0, 0)
	return seen
}

// compareWalk checks every vertexand so that subtrees partition the tree: a
// subtree has as many vertices as its interval has numbers, and each is visited
// once.
func compareWalk(t *testing.T, s Shape) {
	t.Helper()
	for i, w := range walk(s) {
		v := NodeID(i)
		parent, ok := s.Parent(v)
		first, last := s.Subtree(v)
		switch {
		case w.count == 0:
			t.Fatalf("%v of %d: vertex %d is not reached", s, s.Size(), v)
		case ok != (v != 0) || parent != w.parent:
			t.Fatalf("%v of %d: parent of %d is %d, %v; want %d", s, s.Size(), v, parent, ok, w.parent)
		case first != v || last != w.last || int(last-first)+1 != w.count:
			t.Fatalf("%v of %d: subtree of %d is %d-%d; want %d vertices to %d", s, s.Size(), v, first, last, w.count, w.last)
		case s.Depth(v) != w.depth:
			t.Fatalf("%v of %d: depth of %d is %d; want %d", s, s.Size(), v, s.Depth(v), w.depth)
		case s.Height(v) != w.height:
			t.Fatalf("%v of %d: height of %d is %d; want %d", s, s.Size(), v, s.Height(v), w.height)
		}
	}
}

func TestAllSmallTrees(t *testing.T) {
	for _, text := range []string{"binomial", "flat", "1", "2", "3", "4", "8", "64"} {
		t.Run(text, func(t *testing.T) {
			for size := range 140 {
				compareWalk(t, mustShape(t, text, size))
			}
		})
	}
}

// anyShape draws a shape, but not a chain, because a walk is as deep as a chain is
// long.
func anyShape(t *rapid.T, maxSize int) Shape {
	size := rapid.IntRange(0, maxSize).Draw(t, "size")
	text := rapid.OneOf(rapid.SampledFrom([]string{"binomial", "flat"}),
		rapid.Map(rapid.IntRange(2, 100), func(k int) string { return fmt.Sprint(k) })).Draw(t, "shape")
	s, err := ParseShape(text, size)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLargeTrees(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := anyShape(r, MaxSize)
		v := NodeID(rapid.IntRange(0, s.Size()).Draw(r, "vertex"))
		checkNeighbours(r, s, v)
	})
}

// checkNeighbours checks one vertex against its parent and children.
func checkNeighbours(t *rapid.T, s Shape, v NodeID) {
	first, last := s.Subtree(v)
	next, height, before := v+1, 0, s.Size()+1
	children := s.Children(v)
	for _, c := range children {
		if p, ok := s.Parent(c); !ok || p != v || s.Depth(c) != s.Depth(v)+1 {
			t.Fatalf("child %d of %d has parent %d and depth %d", c, v, p, s.Depth(c))
		}
		if n := s.count(c); n > before {
			t.Fatalf("child %d of %d has %d vertices, the one before it %d", c, v, n, before)
		} else {
			before = n
		}
		height = max(height, s.Height(c)+1)
	}
	slices.Sort(children)
	for _, c := range children {
		f, l := s.Subtree(c)
		if f != next || l < f {
			t.Fatalf("subtree %d-%d of child %d of %d does not begin at %d", f, l, c, v, next)
		}
		next = l + 1
	}
	if next != last+1 || first != v || height != s.Height(v) {
		t.Fatalf("subtree of %d is %d-%d, height %d; its children end at %d, height %d",
			v, first, last, s.Height(v), next-1, height)
	}
}

// A K-ary tree has the smallest possible height.
func TestKaryIsLow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		k := rapid.IntRange(2, 64).Draw(r, "k")
		s := mustShape(t, fmt.Sprint(k), rapid.IntRange(0, MaxSize).Draw(r, "size"))
		full, level, height := 1, 1, 0
		for full < s.Size()+1 {
			level *= k
			full += level
			height++
		}
		if s.Height(0) != height {
			r.Errorf("%d-ary tree of %d has height %d; %d would do", k, s.Size(), s.Height(0), height)
		}
	})
}

func TestNotAVertex(t *testing.T) {
	s := mustShape(t, "binomial", 3)
	for _, v := range []NodeID{-1, 4} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("vertex %d is taken for one of the tree", v)
				}
			}()
			s.Children(v)
		}()
	}
}

func BenchmarkChildren(b *testing.B) {
	for _, text := range []string{"binomial", "8"} {
		b.Run(text, func(b *testing.B) {
			s := mustShape(b, text, 1000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Children(NodeID(i % 1001))
			}
		})
	}
}
