package routefile

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sdm/protocol"
)

func TestParse(t *testing.T) {
	got, err := Parse(strings.NewReader("# made by hand\n\n3\n2 10.0.0.3 65000\n0 node01 24000\r\n 1\tfe80::1 24000"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range got.Routes {
		lines = append(lines, r.Host+" "+strings.Join(r.Addrs, ",")+" "+r.Ranks.String())
	}
	want := []string{"node01 node01:24000 0", "fe80::1 [fe80::1]:24000 1", "10.0.0.3 10.0.0.3:65000 2"}
	if got.Size != 3 || !slices.Equal(lines, want) {
		t.Errorf("size %d, routes %q\nwant %q", got.Size, lines, want)
	}
	if got.Routes[0].Ports != Ports || got.Routes[2].Ports != 536 {
		t.Errorf("ports %d and %d, want %d and what is left of 65536", got.Routes[0].Ports, got.Routes[2].Ports, Ports)
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty", "# nothing\n", "the first line is the number of servers"},
		{"no number", "two\n", `line 1: "two" is not a number of servers`},
		{"no server", "0\n", `line 1: "0" is not a number of servers`},
		{"huge", "99999999999\n", "line 1"},
		{"negative", "-1\n", "line 1"},
		{"route first", "0 node01 24000\n", "line 1"},
		{"fields", "1\n0 node01\n", "line 2: 2 fields, want three"},
		{"server beyond", "1\n1 node01 24000\n", `line 2: server "1" is not a number from 0 to 0`},
		{"host", "1\n0 a/b 1\n", `line 2: "a/b" is not a host name`},
		{"port", "1\n0 node01 65536\n", `line 2: port "65536"`},
		{"doubled", "2\n0 a 1\n0 b 1\n", "line 3: server 0 is given twice"},
		{"missing", "3\n1 a 1\n", "1 of 3 servers given, missing: 0, 2"},
		{"many missing", "1000000\n", "missing: 0, 1, 2, 3, 4, 5, 6, 7, ..."},
		{"long line", "1\n0 " + strings.Repeat("x", maxLine) + " 1\n", "line 2: longer than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestPrintRefuses(t *testing.T) {
	for name, r := range map[string]protocol.Route{
		"no address": {}, "no port": {Addrs: []string{"node01"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Print(&bytes.Buffer{}, protocol.RouteTable{Size: 1, Routes: []protocol.Route{r}}); err == nil {
				t.Error("no error")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2\n0 node01 24000\n1 node02 24000\n")
	f.Add("1\n0 ::1 1\n")
	f.Add("1\n0 a:b]c 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := Print(&once, table); err != nil {
			t.Fatalf("cannot print what was parsed from %q: %v", text, err)
		}
		again, err := Parse(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("cannot parse what was printed, %q: %v", once.String(), err)
		}
		if err := Print(&twice, again); err != nil || once.String() != twice.String() {
			t.Fatalf("printed %q, then %q (%v)", once.String(), twice.String(), err)
		}
	})
}
