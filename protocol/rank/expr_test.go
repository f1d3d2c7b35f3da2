package rank

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// An expression with sets that become known later has the same value as one in which they are known
// from the start.
func TestExpr(t *testing.T) {
	all := Range(0, 9)
	r := rand.New(rand.NewSource(1))
	names := []string{"fn:f", "fn:g", "bp:1", "expr{x > 1}"}
	var text func(depth int) string
	text = func(depth int) string {
		if depth == 0 {
			return []string{"@" + names[r.Intn(len(names))], fmt.Sprint(r.Intn(10)), "2-7", "0-9:3", "all", "@fn:f{0..4}"}[r.Intn(6)]
		}
		switch n := r.Intn(6); n {
		case 0:
			return "!(" + text(depth-1) + ")"
		case 1:
			return "(" + text(depth-1) + ")"
		default:
			return text(depth-1) + []string{",", ",!", "!", "^", "&", ","}[n] + text(depth-1)
		}
	}
	for range 5000 {
		known := map[string]Set{}
		for _, n := range names {
			for id := range all.All() {
				if r.Intn(2) == 0 {
					known[n] = known[n].Union(Of(id))
				}
			}
		}
		s := text(r.Intn(5))
		want, err := Parse(s, Env{All: all, Live: func(n string) (Set, error) { return known[n], nil }})
		if err != nil {
			t.Fatal(err)
		}
		x, err := ParseExpr(s, Env{All: all, Live: func(n string) (Set, error) {
			if n == "bp:1" {
				return known[n], nil
			}
			return Set{}, ErrOpen
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Eval(known); !got.Equal(want) {
			t.Fatalf("%s: %v, want %v", s, got, want)
		}
		for _, n := range names {
			open := strings.Contains(strings.Join(x.Open(), ";"), n)
			if open != (n != "bp:1" && strings.Contains(s, "@"+n)) {
				t.Fatalf("%s: the open sets are %q", s, x.Open())
			}
		}
	}
}

func TestOpenSetsAreBounded(t *testing.T) {
	env := Env{All: Range(0, 9), Live: func(string) (Set, error) { return Set{}, ErrOpen }}
	if _, err := ParseExpr(strings.Repeat("@fn:f,", maxOperators-1)+"@fn:f", env); err != nil {
		t.Error(err)
	}
	if _, err := ParseExpr(strings.Repeat("@fn:f,", maxOperators)+"@fn:f", env); err == nil {
		t.Error("more are accepted")
	}
}
