package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestVariables(t *testing.T) {
	var l log
	b := New(Config{Size: 4, Seed: 7, Variables: []Variable{
		{Name: "load", Expr: "rank * 10", Ranks: rank.Range(0, 3)},
		{Name: "load", Expr: "load + size", Ranks: rank.Of(3)},
		{Name: "ratio", Expr: "load / (rank - 1)", Ranks: rank.Range(0, 3)},
		{Name: "only", Expr: "1", Ranks: rank.Of(2)},
	}}, &l)
	b.Attach(1, held(rank.Range(0, 3)), "main", 0)
	l.take()
	for i, tt := range []struct{ expr, want string }{
		{"load", "value=0[0]|10[1]|20[2]|34[3]"},
		{"ratio", "value=0[0]|<Division by zero>[1]|20[2]|17[3]"},
		{"load + 1", "value=1[0]|11[1]|21[2]|35[3]"},
	} {
		b.Do(command(protocol.RequestID(i+2), rank.Range(0, 3), "print", protocol.Args{Expr: tt.expr, Limit: -1}))
		if got := strings.Join(l.take(), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.expr, got, tt.want)
		}
	}
	b.Do(command(9, rank.Range(0, 3), "print", protocol.Args{Expr: "only"}))
	got := strings.Join(l.take(), "\n")
	if !strings.Contains(got, "reply [2]") || !strings.Contains(got, "error [0-1,3]") {
		t.Errorf("a variable of rank 2 alone: %s", got)
	}
}

func TestVariablesAreRefused(t *testing.T) {
	all := rank.Range(0, 3)
	var many []Variable
	for i := range maxVariables + 1 {
		many = append(many, Variable{fmt.Sprintf("v%d", i), "1", all, 0})
	}
	for _, tt := range []struct {
		name string
		v    []Variable
		want string
	}{
		{"bad name", []Variable{{"2x", "1", all, 0}}, "cannot be the name"},
		{"empty name", []Variable{{"", "1", all, 0}}, "cannot be the name"},
		{"later one", []Variable{{"a", "b", all, 0}, {"b", "1", all, 0}}, `No symbol "b"`},
		{"syntax", []Variable{{"a", "1 +", all, 0}}, "syntax error"},
		{"too long", []Variable{{"a", "i", all, maxElements + 1}}, "elements are not from 1"},
		{"no index", []Variable{{"a", "i", all, 0}}, `No symbol "i"`},
		{"too many", many, "at most 100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := (Config{Variables: tt.v}).Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestVariablesDoNotExplode evaluates a hundred variables, each of which uses the previous one
// twice; a naive evaluation takes 2 to the 100 steps.
func TestVariablesDoNotExplode(t *testing.T) {
	vs := []Variable{{"v0", "1", rank.Of(0), 0}}
	for i := 1; i < maxVariables; i++ {
		vs = append(vs, Variable{fmt.Sprintf("v%d", i), fmt.Sprintf("v%d * 1 + v%d * 0", i-1, i-1), rank.Of(0), 0})
	}
	s := scope{program: newProgram(1), globals: vs}
	if v, ok := s.lookup(fmt.Sprintf("v%d", maxVariables-1)); !ok || v.number != 1 {
		t.Errorf("got %v %v", v, ok)
	}
}

func TestSpread(t *testing.T) {
	seen := map[time.Duration]bool{}
	for r := range rank.ID(1000) {
		d := Spread(time.Millisecond, 2*time.Millisecond, r, 1, 5)
		if d < time.Millisecond || d > 2*time.Millisecond || d != Spread(time.Millisecond, 2*time.Millisecond, r, 1, 5) {
			t.Fatalf("rank %d: %v", r, d)
		}
		seen[d] = true
	}
	if len(seen) < 990 {
		t.Errorf("1000 ranks have only %d times", len(seen))
	}
}
