package rpc

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
)

// commandRow returns the row of a command in docs/protocol.md.
func commandRow(c protocol.CommandInfo) string {
	var args []string
	for _, a := range c.Args {
		args = append(args, "`"+a+"`")
	}
	return fmt.Sprintf("| `%s` | %s | %s |", c.Name, strings.Join(args, ", "), c.Help)
}

// The manual must be complete and correct: it lists every command, and its example lines of events
// are as encoded.
func TestManual(t *testing.T) {
	b, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(b)
	for _, c := range protocol.Commands {
		if row := commandRow(c); !strings.Contains(manual, "\n"+row+"\n") {
			t.Errorf("the manual lacks:\n%s", row)
		}
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
