package oracle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sdm/master/language"
	"sdm/protocol"
)

// TestEveryWordHasARow finds words of the console that have neither arguments nor a reason.
func TestEveryWordHasARow(t *testing.T) {
	there := map[string]bool{}
	for _, w := range language.Words() {
		there[w.Name] = true
		row, ok := Words[w.Name]
		if !ok || (row.Args == nil) == (row.Own == "") {
			t.Errorf("%q needs a row in written, with arguments for gdb and sdm or with the reason why they are not compared", w.Name)
		}
	}
	for name := range Words {
		if !there[name] {
			t.Errorf("the console has no word %q", name)
		}
	}
}

// excluded are the commands of the protocol that no session can have.
var excluded = map[string]string{
	"launch": "begins each session", "attach": "sessions begin with a launch", "core": "has no process", "stage": "brings a gdb to other hosts",
	"memory write": "as memory read", "focus": "sent by the console for sets", "expand": "gdb folds nothing",
	"hash": "sent by the master for diff", "quit": "ends each session", "cancel": "sent by front ends; the console has Ctrl-C",
	"lines": "asked by editors", "assert at": "assert with a location",
}

// TestEveryCommandIsCompared finds commands of the protocol that no word of the table leads to.
func TestEveryCommandIsCompared(t *testing.T) {
	led := map[string]bool{}
	for _, w := range language.Words() {
		if Words[w.Name].Own != "" {
			led[w.Command()] = true
		}
	}
	g := &gen{r: rand.New(rand.NewPCG(1, 1)), program: &Program{Language: "c", Symbols: &Symbols{Functions: []Function{{Name: "f", File: "f.c", Lines: []int{1}}}}}}
	for _, w := range compared {
		for range 50 {
			if c, ok, err := language.Parse(g.line(w).Text); ok && err == nil {
				led[c.Do] = true
			}
		}
	}
	for _, c := range protocol.Commands {
		if !led[c.Name] && excluded[c.Name] == "" {
			t.Errorf("no word of the table leads to %q", c.Name)
		}
	}
}

// TestPlansHaveAllWords finds words that sessions of consecutive seeds do not have.
func TestPlansHaveAllWords(t *testing.T) {
	left := slices.Clone(compared)
	for i := range rounds() {
		for _, w := range sure(uint64(i)) {
			left = slices.DeleteFunc(left, func(x string) bool { return x == w })
		}
	}
	if len(left) > 0 {
		t.Errorf("no session has %q", left)
	}
}
