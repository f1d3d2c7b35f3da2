package protocol

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// fieldNames returns the JSON names of the fields of a struct.
func fieldNames(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

func TestCommandsTable(t *testing.T) {
	known := fieldNames(reflect.TypeFor[Args]())
	used := map[string]bool{}
	seen := map[string]bool{}
	for _, c := range Commands {
		if c.Name == "" || c.Help == "" || seen[c.Name] {
			t.Errorf("command %q has no name, no help or stands there twice", c.Name)
		}
		seen[c.Name] = true
		for _, a := range c.Args {
			used[a] = true
			if !slices.Contains(known, a) {
				t.Errorf("%s reads %q, which Args does not have", c.Name, a)
			}
		}
		if c.Resumes && c.Name != "run" && (c.Place != AtTarget || c.Need != NeedStopped) {
			t.Errorf("%s resumes ranks, but not stopped ones by their back end", c.Name)
		}
		if c.Forward && !c.Resumes || c.Effect != Shows && c.Object == NoObject || (c.Lacks == nil) != (c.Asks == "") {
			t.Errorf("columns of %s contradict one another", c.Name)
		}
		if c.Lacks != nil && !c.Lacks(Args{}) {
			t.Errorf("%s lacks nothing without arguments", c.Name)
		}
		if as, ok := LookupCommand(c.As); c.As != "" && (!ok || as.Place != AtTarget) {
			t.Errorf("ranks receive %s as %q, which they do not execute", c.Name, c.As)
		}
		if c.NoRanks && c.Place == AtTarget {
			t.Errorf("ranks execute %s, which addresses none", c.Name)
		}
		if got, ok := LookupCommand(c.Name); !ok || got.Help != c.Help {
			t.Errorf("%s is looked up as %v, %v", c.Name, got, ok)
		}
		if c.Help != strings.TrimSuffix(c.Help, ".") || strings.Contains(c.Help, "\n") {
			t.Errorf("help of %s is not one line without a full stop: %q", c.Name, c.Help)
		}
	}
	// The master sets some arguments: the number of a new breakpoint or display,
	// earlier commands, and the number of ranks.
	used["breakpoint"], used["display"], used["before"], used["size"] = true, true, true, true
	used["compare"], used["stat"] = true, true // of internal prints of the master
	used["patience"] = true                    // of all commands
	for _, name := range known {
		if !used[name] {
			t.Errorf("no command reads %q", name)
		}
	}
	if _, ok := LookupCommand("no such command"); ok {
		t.Error("a command is found that is not there")
	}
}

// TestUnread gives each argument to each command.
func TestUnread(t *testing.T) {
	args := reflect.TypeFor[Args]()
	for _, c := range Commands {
		for i, name := range fieldNames(args) {
			var a Args
			switch f := reflect.ValueOf(&a).Elem().Field(i); f.Kind() {
			case reflect.Pointer:
				f.Set(reflect.New(f.Type().Elem()))
			case reflect.Slice:
				f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			case reflect.String:
				f.SetString("x")
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Float64:
				f.SetFloat(1)
			case reflect.Uint32:
				f.SetUint(1)
			case reflect.Int:
				f.SetInt(1)
			default:
				f.Set(reflect.ValueOf(RequestID(1)))
			}
			if got := c.Unread(a); slices.Contains(got, name) == (c.Takes(name) || name == "limit" || name == "patience") || len(got) > 1 {
				t.Errorf("%s does not read %v of %q", c.Name, got, name)
			}
		}
	}
	apply, _ := LookupCommand("thread apply")
	if got := apply.Unread(Args{Threads: "all", Apply: "print", Expr: "n", Event: "fork"}); !slices.Equal(got, []string{"event"}) {
		t.Errorf("thread apply all print does not read %v", got)
	}
}

func TestCanWait(t *testing.T) {
	for _, c := range []struct {
		command string
		args    Args
		want    bool
	}{
		{"break", Args{Location: "f"}, true},
		{"break", Args{}, false}, // where the rank has stopped
		{"barrier", Args{Location: "f"}, false},
		{"rbreak", Args{Expr: "^f"}, false},
		{"watch", Args{Expr: "n"}, true},
		{"catch", Args{Event: "throw"}, true},
		{"clear", Args{}, false},
		{"delete", Args{}, true},
		{"info breakpoints", Args{}, true},
		{"handle", Args{Signal: "SIGUSR1"}, false},
		{"display", Args{Expr: "n"}, true},
		{"display", Args{}, false},
		{"undisplay", Args{}, true},
		{"print", Args{Expr: "n"}, false},
	} {
		if info, _ := LookupCommand(c.command); info.CanWait(c.args) != c.want {
			t.Errorf("%s %+v: can wait: %v", c.command, c.args, !c.want)
		}
	}
}

func TestCommandJSON(t *testing.T) {
	frame := 2
	c := Command{Name: "launch", Args: Args{
		Expr: "<x & y>", Frame: &frame, Breakpoints: []int{1, 2}, Data: []byte{0, 255}, Limit: -1,
		Job:  &Job{Program: "a.out", Args: []string{"-x"}, Env: []EnvDirective{{Op: "set", Name: "A", Value: "1"}}, Stdin: rank.Of(0)},
		Pids: []Pid{{Rank: 3, PID: 99}},
	}}
	const want = `{"command":"launch","args":{"frame":2,"expr":"<x & y>","limit":-1,"breakpoints":[1,2],"data":"AP8=",` +
		`"job":{"program":"a.out","args":["-x"],"env":[{"op":"set","name":"A","value":"1"}],"stdin":"0"},"pids":[{"rank":3,"pid":99}]}}`
	if got := string(canonical.JSON(c)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var again Command
	if err := json.Unmarshal([]byte(want), &again); err != nil {
		t.Fatal(err)
	}
	sets := cmp.Comparer(func(a, b rank.Set) bool { return a.Equal(b) })
	if diff := cmp.Diff(c, again, sets); diff != "" {
		t.Errorf("-sent +got:\n%s", diff)
	}
	if got := string(canonical.JSON(Command{Name: "finish"})); got != `{"command":"finish","args":{}}` {
		t.Errorf("without arguments: %s", got)
	}
}

func TestRouteTableJSON(t *testing.T) {
	table := RouteTable{Shape: "binomial", Size: 2, Routes: []Route{
		{Server: 0, Host: "node01", Addrs: []string{"10.0.0.1:7000"}, Ports: 4, Ranks: rank.Range(0, 63)},
		{Server: 1, Host: "node02", Ranks: rank.Range(64, 127)},
	}}
	const want = `{"shape":"binomial","size":2,"routes":[` +
		`{"server":0,"host":"node01","addrs":["10.0.0.1:7000"],"ports":4,"ranks":"0-63"},{"server":1,"host":"node02","ranks":"64-127"}]}`
	if got := string(canonical.JSON(table)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		kind        Kind
		name        string
		output, end bool
	}{
		{KindResult, "reply", false, false},
		{KindFault, "error", false, false},
		{KindMissing, "missing", false, false},
		{KindLost, "lost", false, true},
		{KindStarted, "started", false, false},
		{KindRunning, "running", false, false},
		{KindStopped, "stopped", false, false},
		{KindExited, "exited", false, true},
		{KindSignalled, "signalled", false, true},
		{KindDetached, "detached", false, true},
		{KindStdout, "output", true, false},
		{KindStderr, "output", true, false},
		{KindNote, "note", false, false},
		{0, "unknown", false, false},
		{255, "unknown", false, false},
	} {
		if c.kind.String() != c.name || c.kind.IsOutput() != c.output || c.kind.IsEnd() != c.end {
			t.Errorf("kind %d is %q, output %v, end %v", c.kind, c.kind, c.kind.IsOutput(), c.kind.IsEnd())
		}
	}
}

func TestFaultError(t *testing.T) {
	for want, f := range map[string]*Fault{
		"no symbol table": {Kind: FaultGDB, Message: "no symbol table"},
		"insert breakpoint: no symbol table (compile with -g)": {
			Kind: FaultGDB, Op: "insert breakpoint", Message: "no symbol table", Hint: "compile with -g"},
	} {
		if got := error(f).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGroupString(t *testing.T) {
	for _, c := range []struct {
		group Group
		want  string
	}{
		{Group{}, "unknown []"},
		{Group{Kind: KindStopped, Ranks: rank.Of(0, 1, 3), Body: []byte(`{"reason":"entry"}`),
			Columns: []column.Column{column.New("thread", 3, "1", 0)}}, `stopped [0-1,3] {"reason":"entry"} thread=1[3]`},
		{Group{Kind: KindStderr, Ranks: rank.Of(2), Body: []byte("{\n")}, `output stderr [2] "{\n"`},
		{Group{Kind: KindResult, Ranks: rank.Of(2), Stack: stack.New(2, []stack.Frame{{Func: "main", File: "w.c", Line: 5}})}, `reply [2] {main w.c:5 [2]}`},
	} {
		if got := c.group.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
