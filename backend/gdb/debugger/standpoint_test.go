package debugger

import (
	"testing"

	"sdm/backend"
	"sdm/backend/mi"
)

func TestOwnStandpoints(t *testing.T) {
	const head, gone, end = "Program stopped at 0x1.\n", "It stopped at a breakpoint that has since been deleted.\n", "Type \"info stack\".\n"
	at := func(n string) string { return "It stopped at breakpoint " + n + ".\n" }
	for _, c := range []struct {
		name       string
		ranks      int
		text, want string
	}{
		{"alone", 1, head + at("7") + gone + gone + end, head + at("2") + gone + gone + end},
		{"alone, set through gdb", 1, head + at("9") + end, head + at("9") + end},
		{"shared", 2, head + at("6") + at("7") + end, head + at("2") + end},
		{"shared, deleted", 2, head + gone + gone + end, head + gone + end},
		{"shared, those of others are deleted", 2, head + gone + at("7") + gone + end, head + at("2") + end},
		{"a step", 2, head + end, head + end},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(c.ranks)
			for range c.ranks {
				d.Add(NewMachine(backend.Target{}, Host{}))
			}
			m := d.Machines[0]
			m.points.Claim(2, "f", mi.Tuple{{Name: "number", Value: mi.Value{Str: "7"}}})
			if got := m.commands.lines.ownStandpoints(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
