package launch

import (
	"fmt"
	"strings"
	"testing"

	"sdm/protocol"
)

func TestReadPids(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "0 node1 100\n1 node2 200\n", "[{0 node1 100 } {1 node2 200 }]"},
		{"comments and blanks", "# all\n\n 1\tnode1  5 # five\n", "[{1 node1 5 }]"},
		{"no end of line", "0 a 1", "[{0 a 1 }]"},
		{"empty", "", "no processes"},
		{"short", "0 a\n", `line 1: "0 a" is not RANK HOST PID`},
		{"rank", "x a 1\n", `line 1: "x" is not a rank`},
		{"negative rank", "-1 a 1\n", "is not a rank"},
		{"pid", "0 a 0\n", `line 1: "0" is not a process id`},
		{"twice", "0 a 1\n0 b 2\n", "rank 0 appears twice"},
		{"one process", "0 a 7\n1 b 7\n2 a 7\n", "process 7 of a appears twice, as ranks 0 and 2"},
		{"long", strings.Repeat("x", 5000), "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := ReadPids(strings.NewReader(c.in))
			got := fmt.Sprint([]protocol.Process(table))
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestParsePids(t *testing.T) {
	table, err := ParsePids("7, 8", "here")
	if err != nil || len(table) != 2 || table[1] != (protocol.Process{Rank: 1, Host: "here", PID: 8}) {
		t.Errorf("%v, %v", table, err)
	}
	for _, bad := range []string{"", "7,", "0", "-3", "x", "7 8", "7,7"} {
		if _, err := ParsePids(bad, "here"); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// FuzzReadPids checks that a table that is accepted is valid, and is the same when it is written
// and read again.
func FuzzReadPids(f *testing.F) {
	f.Add("0 node1 100\n1 node2 200\n")
	f.Add("# x\n5 a 1 # y")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ReadPids(strings.NewReader(text))
		if err != nil {
			return
		}
		if err := table.Check(); err != nil {
			t.Fatalf("%q gives a bad table: %v", text, err)
		}
		var b strings.Builder
		for _, p := range table {
			fmt.Fprintf(&b, "%d %s %d\n", p.Rank, p.Host, p.PID)
		}
		again, err := ReadPids(strings.NewReader(b.String()))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(table) {
			t.Fatalf("%q: %v, then %v, %v", text, table, again, err)
		}
	})
}
