// sdm dap, driven as an editor does.

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The user finds the bug of ring.c in an editor, on four ranks of mpirun.
func TestDAPFindsTheBugOfRing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := starters[0]
	e := s.edit()
	e.ask("initialize", `{"adapterID":"sdm","linesStartAt1":true,"columnsStartAt1":true}`, nil)
	if bad := e.send("launch", `{"program":"/nonsense"}`); bad.Success || !strings.Contains(bad.Message, "/nonsense") {
		t.Errorf("a program that is not there: %+v", bad)
	}
	e.ask("launch", fmt.Sprintf(`{"starter":"%s --oversubscribe --allow-run-as-root -n 4","program":%q}`, m.command, m.program("ring")), nil)
	e.await("initialized", "")
	source, err := filepath.Abs(filepath.Join(sources, "ring.c"))
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Breakpoints []struct {
			Verified bool
			Line     int
		}
	}
	at := lineOf(t, "ring.c", "s += i;")
	e.ask("setBreakpoints", fmt.Sprintf(`{"source":{"path":%q},"breakpoints":[{"line":%d}]}`, source, at), &set)
	if len(set.Breakpoints) != 1 || !set.Breakpoints[0].Verified || set.Breakpoints[0].Line != at {
		t.Errorf("breakpoints %+v", set)
	}
	var code struct{ Breakpoints []struct{ Line int } }
	e.ask("breakpointLocations", fmt.Sprintf(`{"source":{"path":%q},"line":%d,"endLine":%d}`, source, at-3, at+1), &code)
	if want := fmt.Sprintf("[{%d} {%d} {%d} {%d} {%d}]", at-3, at-2, at-1, at, at+1); fmt.Sprint(code.Breakpoints) != want {
		t.Errorf("lines with code: %v", code.Breakpoints)
	}
	e.ask("configurationDone", `{}`, nil)
	thread := e.stopped("breakpoint")
	var threads struct {
		Threads []struct {
			ID   int
			Name string
		}
	}
	s.eventually(patience, func() string {
		e.ask("threads", `{}`, &threads)
		if len(threads.Threads) != 1 || threads.Threads[0].Name != fmt.Sprintf("[0-3] (4) sum ring.c:%d", at) {
			return fmt.Sprintf("threads %+v", threads)
		}
		return ""
	})
	frames := e.frames(thread)
	if len(frames) < 2 || frames[0].Name != "sum" || frames[0].Line != at || frames[1].Name != "main" {
		t.Fatalf("frames %+v", frames)
	}
	if got := e.value(frames[0].ID, "mine->last - mine->first"); got != "24 [3], 25 [0-2]" {
		t.Errorf("the shares are %s", got)
	}
	if bad := e.send("evaluate", fmt.Sprintf(`{"context":"hover","frameId":%d,"expression":"s = 1"}`, frames[0].ID)); bad.Success {
		t.Errorf("a hover has changed the program: %+v", bad)
	}
	var said struct{ Result string }
	e.ask("evaluate", `{"context":"repl","expression":"[2-3] print mine->first"}`, &said)
	if said.Result != "[2] mine->first = 51\n[3] mine->first = 76" {
		t.Errorf("the debug console says %q", said.Result)
	}
	begin := e.target(source, lineOf(t, "ring.c", "long s = 0;"))
	if bad := e.goTo(thread, e.target(source, lineOf(t, "ring.c", "long token;"))); !strings.Contains(bad.Message, "is in receive") {
		t.Errorf("goto another function: %+v", bad)
	}
	if m := e.goTo(thread, begin); !m.Success {
		t.Errorf("goto: %s", m.Message)
	}
	thread = e.stopped("goto")
	e.ask("next", fmt.Sprintf(`{"threadId":%d}`, thread), nil)
	e.await("stopped", `"reason":"step"`) // ranks may have come to the breakpoint one after the other
	if bad := e.send("stackTrace", fmt.Sprintf(`{"threadId":%d}`, thread)); bad.Success || !strings.Contains(bad.Message, "is no more") {
		t.Errorf("a thread that is no more: %+v", bad)
	}
	e.ask("setBreakpoints", fmt.Sprintf(`{"source":{"path":%q},"breakpoints":[]}`, source), nil)
	e.ask("continue", `{"threadId":1}`, nil)
	e.await("output", "total 4950, expected 5050: wrong")
	e.await("exited", `"exitCode":0`)
	e.await("terminated", "")
	e.ask("disconnect", `{}`, nil)
	if m, ok := <-e.got; ok {
		t.Errorf("after the answer to disconnect: %+v", m)
	}
}

// Eight ranks of mpirun stop in groups, one after the other: the first one keeps the view and its thread, and none is
// continued. Then one rank is shown in a session of its own.
func TestDAPGroupsOfEightRanks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := starters[0]
	e := s.edit()
	e.ask("initialize", `{"adapterID":"sdm","supportsStartDebuggingRequest":true}`, nil)
	e.ask("launch", fmt.Sprintf(`{"starter":"%s --oversubscribe --allow-run-as-root -n 8","program":%q,"stopOnEntry":true}`,
		m.command, m.program("ring")), nil)
	e.ask("setFunctionBreakpoints", `{"breakpoints":[{"name":"pass"}]}`, nil)
	e.ask("configurationDone", `{}`, nil)
	e.ask("continue", fmt.Sprintf(`{"threadId":%d}`, e.stopped("entry")), nil)
	first := e.stopped("function breakpoint") // rank 0; the others wait for it
	for _, ranks := range []string{"1-3", "4-7"} {
		e.ask("evaluate", fmt.Sprintf(`{"context":"repl","expression":"[%s] interrupt"}`, ranks), nil)
		if body := e.await("stopped", ""); strings.Contains(body, "allThreadsStopped") || !strings.Contains(body, `"reason":"pause"`) {
			t.Errorf("a stop that takes the view from rank 0: %s", body)
		}
	}
	s.eventually(patience, func() string { // those that were about to call receive get there by interrupts only
		if got := e.threads(); !strings.HasPrefix(got[first], "[0] pass ring.c:") || strings.Contains(fmt.Sprint(got), "running") {
			return fmt.Sprintf("threads %v", got)
		}
		return ""
	})
	e.ask("sdm/pin", `{"ranks":"0"}`, nil)
	var child struct{ Configuration json.RawMessage }
	if err := json.Unmarshal([]byte(e.await("startDebugging", "")), &child); err != nil {
		t.Fatal(err)
	}
	pinned := s.edit()
	pinned.ask("initialize", `{"adapterID":"sdm"}`, nil)
	pinned.ask("attach", string(child.Configuration), nil)
	pinned.ask("configurationDone", `{}`, nil)
	pinned.ask("next", fmt.Sprintf(`{"threadId":%d}`, pinned.stopped("entry")), nil)
	at := pinned.stopped("step")
	if got := pinned.threads(); len(got) != 1 || !strings.HasPrefix(got[at], "[0] pass ring.c:") {
		t.Errorf("threads of the pinned rank: %v", got)
	}
	if frames := pinned.frames(at); pinned.value(frames[0].ID, "rank") != "0" {
		t.Errorf("frames of the pinned rank: %+v", frames)
	}
	pinned.ask("disconnect", `{}`, nil)
	e.await("output", "(dap) has left")
	if got := fmt.Sprint(e.threads()); strings.Contains(got, "running") || strings.Contains(got, "exited") {
		t.Errorf("threads after the pinned rank was left: %v", got)
	}
	e.ask("disconnect", `{}`, nil)
}

// An adapter that is killed leaves a session that ends by its own rule, and no rank.
func TestDAPAdapterIsKilled(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	e := s.edit()
	e.ask("initialize", `{"adapterID":"sdm"}`, nil)
	e.ask("launch", fmt.Sprintf(`{"program":%q,"np":2,"stopOnEntry":true,"flags":["--keep","2s"]}`, program("spin")), nil)
	e.ask("configurationDone", `{}`, nil)
	e.stopped("entry")
	if err := e.adapter.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.eventually(10*time.Second, func() string {
		if left := s.named("spin"); len(left) > 0 {
			return fmt.Sprintf("ranks are left: %v", left)
		}
		return ""
	})
}

var adapterEnds = flag.Int("adapter-ends", 4, "random ends of adapters of editors")

// TestDAPAdapterEnds kills adapters while they attach to ranks, and work with them. After each of them the ranks must
// run untraced, by the rule of the session, and no process of sdm may be left. The seed is that of TestRandomEnds.
func TestDAPAdapterEnds(t *testing.T) {
	t.Parallel()
	seed := seedOf(*endSeed)
	t.Run(fmt.Sprintf("-end-seed=%d", seed), func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 23))
		v := newVictims(t, "processes")
		for range *adapterEnds {
			if t.Failed() {
				return
			}
			v.endAdapter(time.Duration(random.Int64N(int64(1500 * time.Millisecond))))
		}
	})
}

// endAdapter begins to attach, and kills the adapter after some time.
func (v *victims) endAdapter(after time.Duration) {
	v.t.Helper()
	e := v.edit()
	e.write(`"type":"request","command":"initialize","arguments":{"adapterID":"sdm"}`)
	e.write(fmt.Sprintf(`"type":"request","command":"attach","arguments":{"attach":%q,"flags":["--keep","2s"]}`, v.target))
	<-time.After(after)
	if err := e.adapter.Process.Signal(syscall.SIGKILL); err != nil {
		v.t.Fatal(err)
	}
	v.eventually(10*time.Second, func() string {
		what := fmt.Sprintf("kill -9 of the adapter after %v: ", after)
		for _, name := range []string{"sdm", "sdm-server"} {
			if left := v.named(name); len(left) > 0 {
				return what + "left are " + fmt.Sprint(left)
			}
		}
		if trouble := v.trouble(); trouble != "" {
			return what + trouble
		}
		return ""
	})
}

// A console joins the session of an editor, and each sees what the other does.
func TestDAPBesideAConsole(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	e := s.edit()
	e.ask("initialize", `{"adapterID":"sdm"}`, nil)
	e.ask("launch", fmt.Sprintf(`{"program":%q,"np":4,"stopOnEntry":true}`, program("spin")), nil)
	e.ask("configurationDone", `{}`, nil)
	e.stopped("entry")
	if said := s.joined("-e", "[0-1] continue &"); strings.Contains(said, "refused") {
		t.Error(said)
	}
	e.await("sdm/command", `"line":"continue"`)
	e.await("continued", `"allThreadsContinued":false`)
	other := s.edit()
	other.ask("initialize", `{"adapterID":"sdm"}`, nil)
	other.ask("attach", `{"session":""}`, nil)
	other.ask("configurationDone", `{}`, nil)
	other.stopped("entry")
	e.await("output", "(dap) has come")
	other.ask("disconnect", `{}`, nil)
	e.await("output", "(dap) has left")
	e.ask("pause", `{"threadId":1}`, nil)
	e.stopped("pause")
	e.ask("disconnect", `{"terminateDebuggee":true}`, nil)
}
