package pmix

import (
	"strings"
	"testing"
)

// TestHarmless has a row for each request that is known to end a server, and for each of the same
// kind that does not. A refused request is not sent.
func TestHarmless(t *testing.T) {
	apps := func(infos ...Info) []App { return []App{{Argv: []string{"a"}, Procs: 1, Info: infos}} }
	big := make([]byte, MaxPush+1)
	for name, c := range map[string]struct {
		r    Request
		want string // part of the error; "": none
	}{
		"input of all":         {Request{Call: CallSpawn, Apps: apps(), Info: []Info{String(StdinTarget, "all")}}, ""},
		"input of a number":    {Request{Call: CallSpawn, Apps: apps(), Info: []Info{Number(StdinTarget, RankT, 0)}}, "pmix.stdin: type rank"},
		"input of a process":   {Request{Call: CallSpawn, Apps: apps(OfProc(StdinTarget, All("a")))}, "pmix.stdin: type proc"},
		"small push":           {Request{Call: CallPush, Targets: []Proc{{}}, Data: big[:MaxPush]}, ""},
		"large push":           {Request{Call: CallPush, Targets: []Proc{{}}, Data: big}, "4096 is the limit"},
		"map":                  {Request{Call: CallSpawn, Apps: apps(), Info: []Info{String(MapBy, "slot:oversubscribe")}}, ""},
		"unknown word of map":  {Request{Call: CallSpawn, Apps: apps(), Info: []Info{String(MapBy, "moon")}}, `map by "moon"`},
		"unknown word of rank": {Request{Call: CallSpawn, Apps: apps(), Info: []Info{String(RankBy, "moon")}}, `rank by "moon"`},
		"unknown word of bind": {Request{Call: CallSpawn, Apps: apps(), Info: []Info{String(BindTo, "core:moon")}}, `unknown modifier "moon"`},
		"policy of a program":  {Request{Call: CallSpawn, Apps: apps(String(BindTo, "moon"))}, `bind to "moon"`},
		"policy as a number":   {Request{Call: CallSpawn, Apps: apps(Number(MapBy, Int, 1))}, "pmix.mapby: type int"},
		"hosts":                {Request{Call: CallSpawn, Apps: apps(String(Hosts, "n0,n1.x.org:4"))}, ""},
		"no list of hosts":     {Request{Call: CallSpawn, Apps: apps(String(Hosts, "n0;reboot"))}, "not a comma list"},
		"not a spawn":          {Request{Call: CallQuery, Info: []Info{String(MapBy, "moon")}}, ""},
	} {
		c.r.ID = 1
		line, err := AppendLine(nil, c.r)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{c.r.check(), second(ParseRequest(line))} {
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
	}
}

func second(_ Request, err error) error { return err }
