package rpc

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
)

var rewrite = flag.Bool("rewrite", false, "write the table of commands in docs/protocol.md anew")

// commandRow returns the row of a command in docs/protocol.md.
func commandRow(c protocol.CommandInfo) string {
	var args []string
	for _, a := range c.Args {
		args = append(args, "`"+a+"`")
	}
	return fmt.Sprintf("| `%s` | %s | %s |", c.Name, strings.Join(args, ", "), c.Help)
}

// The table of commands in the manual is between these two lines.
const (
	tableHead = "| method | arguments | what it does |\n|---|---|---|\n"
	tableEnd  = "| `shutdown` |"
)

// The manual must be complete and correct: it lists every command, and its example lines of events
// are as encoded.
func TestManual(t *testing.T) {
	const path = "../../../docs/protocol.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	manual := string(b)
	before, rest, _ := strings.Cut(manual, tableHead)
	table, after, ok := strings.Cut(rest, tableEnd)
	if !ok {
		t.Fatalf("%s has no table of commands", path)
	}
	var want strings.Builder
	for _, c := range protocol.Commands {
		row := commandRow(c) + "\n"
		want.WriteString(row)
		if !strings.Contains(table, row) {
			t.Logf("the manual lacks:\n%s", row)
		}
	}
	switch {
	case *rewrite:
		if err := os.WriteFile(path, []byte(before+tableHead+want.String()+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case table != want.String():
		t.Error("the table of commands differs from protocol.Commands; -rewrite writes it anew")
	}
	n := 0
	for line := range strings.Lines(manual) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, `{"event":`) {
			continue
		}
		n++
		var e session.Event
		if err := e.UnmarshalJSON([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		} else if again := string(e.AppendJSON(nil)); again != line {
			t.Errorf("the manual shows:\n%s\nand it is written:\n%s", line, again)
		}
	}
	if n < 10 {
		t.Errorf("only %d events in the manual", n)
	}
}
