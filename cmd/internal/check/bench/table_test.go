package main

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		row  row
		want string
	}{
		{"told only", row{ours: 3, floor: 1}, ""},
		{"ratio met", row{ours: 3, floor: 2, limit: limit{ratio: 1.5}}, "ok"},
		{"ratio missed", row{ours: 3.1, floor: 2, limit: limit{ratio: 1.5}}, "over"},
		{"the ratio of neighbours counts", row{ours: 9, floor: 2, ratio: 1.4, limit: limit{ratio: 1.5}}, "ok"},
		{"most met", row{ours: 15, limit: limit{most: 15}}, "ok"},
		{"most missed", row{ours: 15.1, limit: limit{most: 15}}, "over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.row.verdict(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	table := table{to: &out}
	table.add(row{what: "a command", unit: "ms", ours: 1.836, floor: 1.5, limit: limit{ratio: 1.15}})
	table.add(row{what: "memory", unit: "MB", ours: 12.94, limit: limit{most: 15}})
	blank := strings.Repeat(" ", 67)
	want := "what     " + blank + "        ours       floor  ratio  target             verdict\n" +
		"a command" + blank + "     1.84 ms     1.50 ms   1.22  <= 1.15 x          over\n" +
		"memory   " + blank + "     12.9 MB           -      -  <= 15              ok\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
