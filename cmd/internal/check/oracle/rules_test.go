package oracle

import (
	"strings"
	"testing"
)

// TestRulesOfDocs reads the table of rules, also with -short.
func TestRulesOfDocs(t *testing.T) {
	if rules := rulesOfDocs(t); len(rules) < 50 {
		t.Errorf("docs/differences.md has %d rules: are they still in its last column?", len(rules))
	}
}

func TestRules(t *testing.T) {
	rules, err := ReadRules(strings.NewReader("| numbers | `print` | here | reason | `gdb s#^\\$[0-9]+ = ##` `sdm s#^<expr> = ##` |\n"))
	if err != nil {
		t.Fatal(err)
	}
	line := Line{Word: "print", Text: "print/x a + b"}
	for side, said := range map[string]string{"gdb": "$7 = 0x5", "sdm": "a + b = 0x5"} {
		if text := rules.apply(line, side, Block{Text: said}); text != "0x5" {
			t.Errorf("%s: %q", side, text)
		}
	}
}

func TestPlaced(t *testing.T) {
	at := "#0  helper (x=0) at work.c:21\n21\t    total += twice;"
	if text := placed("21\t    total += twice;", at); text != "helper (x=0) at work.c:21\n21\t    total += twice;" {
		t.Errorf("a step within a function: %q", text)
	}
	hit := "Breakpoint 2, helper (x=0) at work.c:21\n21\t    total += twice;"
	if text := placed(hit, at); text != hit {
		t.Errorf("a breakpoint: %q", text)
	}
}

func TestReadRulesRefuses(t *testing.T) {
	for _, rule := range []string{"gdb t#a#b#", "gdb s#a#", "any #(#", "nothing"} {
		if _, err := ReadRules(strings.NewReader("| name | all | here | reason | `" + rule + "` |\n")); err == nil {
			t.Errorf("%q is taken for a rule", rule)
		}
	}
}
