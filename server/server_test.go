package server

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
)

func TestLaunchTellsThenHandsOver(t *testing.T) {
	b := newBench(t, nil)
	job := &protocol.Job{Program: "sh", Args: []string{"-c", "echo $SDM_RANK of $SDM_SIZE in $A"}, StopAt: "entry", Size: 2,
		Env: []protocol.EnvDirective{{Op: "set", Name: "A", Value: "b c"}, {Op: "set", Name: "SDM_RANK", Value: "no"}}}
	b.give(2, "launch", protocol.Args{Job: job})
	b.give(2, "continue", protocol.Args{}) // at once: it must find the ranks there
	b.up.until(t, "both ended", func() bool { return b.up.kinds[protocol.KindExited] == 2 })
	pids := fmt.Sprintf("pid=%d[0]|%d[1]", b.find(0).child.PID, b.find(1).child.PID)
	if b.find(1).child.PID < b.find(0).child.PID { // values of columns are sorted
		pids = fmt.Sprintf("pid=%d[1]|%d[0]", b.find(1).child.PID, b.find(0).child.PID)
	}
	if got, want := b.up.lines()[0], `started [0-1] {"program":"sh"} host=node07[0-1] `+pids; got != want {
		t.Errorf("first came %s, want %s", got, want)
	}
	for r := range 2 {
		var mine []string
		for _, l := range b.up.lines() {
			if strings.Contains(l, fmt.Sprintf(" [%d] ", r)) || strings.HasPrefix(l, fmt.Sprintf("out %d ", r)) {
				mine = append(mine, l)
			}
		}
		want := []string{
			fmt.Sprintf("1: reply [%d] {}", r),
			fmt.Sprintf(`stopped [%d] {"reason":"attached"}`, r),
			fmt.Sprintf("running [%d] {}", r),
			fmt.Sprintf("2: reply [%d] {}", r),
			fmt.Sprintf("out %d \"%d of 2 in b c\\n\"", r, r),
			fmt.Sprintf(`exited [%d] {"code":0}`, r),
		}
		if !slices.Equal(mine, want) {
			t.Errorf("rank %d:\n%s\nwant\n%s", r, strings.Join(mine, "\n"), strings.Join(want, "\n"))
		}
	}
	if got := b.backend.calls[0]; got != "attach 2 entry" {
		t.Errorf("first call %q", got)
	}
}

func TestLaunchAgainAfterTheEnd(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 1, "exit 3", rank.Set{})
	b.up.untilLine(t, `exited [0] {"code":3}`)
	b.shell(t, 1, "exit 4", rank.Set{})
	b.up.untilLine(t, `exited [0] {"code":4}`)
	b.shell(t, 1, "sleep 1000", rank.Set{})
	got := b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "true"}})
	if !strings.Contains(got[0], "the rank is there already") {
		t.Errorf("a second launch of a live rank: %v", got)
	}
}

// TestHosts asks for debugger and processes of ranks, also of ranks that have not been started.
func TestHosts(t *testing.T) {
	b := newBench(t, nil)
	b.cfg.Engine = func() string { return "gdb 99.1" }
	b.shell(t, 1, "sleep 1000", rank.Set{})
	got := b.ask(t, 2, "info hosts", protocol.Args{Limit: -1})
	sh := b.find(0)
	want := []string{
		fmt.Sprintf(`reply [0] {"engine":"gdb 99.1","program":%q} pid=%d[0]`, sh.child.Program, sh.child.PID),
		`reply [1] {"engine":"gdb 99.1"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEndedRankHasNoProcess asks for the processes of a rank that has ended: another process may have
// its number.
func TestEndedRankHasNoProcess(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 1, "exit 3", rank.Set{})
	b.up.untilLine(t, `exited [0] {"code":3}`)
	for _, command := range []string{"info hosts", "usage"} {
		if got := b.ask(t, 1, command, protocol.Args{Limit: -1}); len(got) != 1 || strings.Contains(got[0], "=") {
			t.Errorf("%s: %q", command, got)
		}
	}
}

// A live rank is killed and started again, and only the new start is reported.
func TestRunAgain(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 2, "echo $SDM_RANK; sleep 1000", rank.Set{})
	b.up.until(t, "output", func() bool { return len(b.up.out["out 0"]) > 0 && len(b.up.out["out 1"]) > 0 })
	first := b.find(0).child
	if got := b.ask(t, 2, "run", protocol.Args{}); len(got) != 2 || !strings.HasPrefix(got[0], "reply [") {
		t.Fatalf("run: %v", got)
	}
	if exit := first.Wait(); exit.Signal != "SIGKILL" {
		t.Errorf("the first process: %+v", exit)
	}
	if second := b.find(0).child; second == first {
		t.Error("it has the same process")
	}
	told := 0
	b.up.until(t, "two starts", func() bool {
		told = b.up.kinds[protocol.KindSignalled]
		return b.up.kinds[protocol.KindStarted] == 4
	})
	if told != 0 {
		t.Errorf("%d ends were told: %v", told, b.up.lines())
	}
	// Other arguments stay for the next run. A rank that has ended can be run again.
	b.ask(t, 2, "run", protocol.Args{Arguments: []string{"-c", "exit 5"}})
	b.give(2, "continue", protocol.Args{})
	b.up.until(t, "both ended", func() bool { return b.up.kinds[protocol.KindExited] == 2 })
	b.ask(t, 2, "run", protocol.Args{})
	b.give(2, "continue", protocol.Args{})
	b.up.until(t, "both ended again", func() bool { return b.up.kinds[protocol.KindExited] == 4 })
	b.up.untilLine(t, `exited [0] {"code":5}`)
}

func TestRunAgainRefuses(t *testing.T) {
	t.Run("not launched", func(t *testing.T) {
		b := newBench(t, nil)
		if got := b.ask(t, 1, "run", protocol.Args{}); !strings.Contains(got[0], "the rank has not been started") {
			t.Errorf("got %v", got)
		}
	})
	t.Run("in a slot", func(t *testing.T) {
		b := newBench(t, func(c *Config) { c.Slot = &protocol.Job{Program: "sleep", Args: []string{"1000"}} })
		b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "true"}})
		child := b.find(0).child
		if got := b.ask(t, 1, "run", protocol.Args{}); !strings.Contains(got[0], "a starter (mpirun, srun, ...) has given the rank its place in a job") {
			t.Errorf("got %v", got)
		}
		if b.find(0).child != child || b.find(0).isEnded() {
			t.Error("the rank is not what it was")
		}
	})
}

func TestRefusals(t *testing.T) {
	job := func(j protocol.Job) protocol.Args { return protocol.Args{Job: &j} }
	cases := []struct {
		name, command string
		args          protocol.Args
		want          string
	}{
		{"unknown", "dance", protocol.Args{}, `"kind":"usage","op":"dance","message":"servers do not know the command \"dance\""`},
		{"of the master", "focus", protocol.Args{}, "servers do not know the command"},
		{"launch nothing", "launch", protocol.Args{}, "no job is given"},
		{"launch what is not there", "launch", job(protocol.Job{Program: "./none"}), `"kind":"launch","op":"launch","message":"./none: no such program"`},
		{"launch with a bad environment", "launch", job(protocol.Job{Program: "true", Env: []protocol.EnvDirective{{Op: "set"}}}), "not the name of a variable"},
		{"back end refuses", "launch", job(protocol.Job{Program: "true", StopAt: "nowhere"}), `"kind":"gdb"`},
		{"attach without a process", "attach", protocol.Args{}, "no process is named for the rank"},
		{"attach to the dead", "attach", protocol.Args{Pids: []protocol.Pid{{Rank: 0, PID: 1 << 30}}}, "there is no such process, or no longer"},
		{"core of nothing", "core", protocol.Args{}, "no core file, or no program, is named for the rank"},
		{"core that is not there", "core", protocol.Args{Cores: []protocol.Core{{File: "./none", Program: "./a"}}}, "./none: no such file or directory on node07"},
		{"send before the start", "send", protocol.Args{Data: []byte("x")}, "the rank has not been started"},
		{"expand nothing", "expand", protocol.Args{Of: 77}, "at most the last 64 are"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			got := b.ask(t, 1, c.command, c.args)
			if len(got) != 1 || !strings.HasPrefix(got[0], "error [0]") || !strings.Contains(got[0], c.want) {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
	t.Run("not JSON", func(t *testing.T) {
		b := newBench(t, nil)
		b.deliver(tree.Deliver{ID: 1, Ranks: one(0), Body: []byte("{")})
		if got := b.answers(t, 1, 1); !strings.Contains(got[0], "cannot be read") {
			t.Errorf("got %v", got)
		}
	})
}

func TestRefusedRankIsNotLeftBehind(t *testing.T) {
	b := newBench(t, nil)
	b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "sleep", Args: []string{"1000"}, StopAt: "nowhere"}})
	if exit := b.find(0).child.Wait(); exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", exit)
	}
}

func TestCore(t *testing.T) {
	file := t.TempDir() + "/core.0" // a server reads only the beginning of a core file
	if err := os.WriteFile(file, []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil)
	got := b.ask(t, 1, "core", protocol.Args{Cores: []protocol.Core{{Rank: 0, File: file, Program: "./a"}}})
	if got[0] != "reply [0] {}" {
		t.Errorf("got %v", got)
	}
	if got, want := b.up.lines()[0], `started [0] {"program":"./a","core":true} core=`+file+"[0] host=node07[0]"; got != want {
		t.Errorf("first came %s, want %s", got, want)
	}
	if target := b.backend.targets[0]; target.Core != file || target.Held || target.PID != 0 {
		t.Errorf("target %+v", target)
	}
	got = b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "true"}})
	if !strings.Contains(got[0], "the rank is there already") {
		t.Errorf("a launch of a rank that is a core file: %v", got)
	}
}

func TestSimulatedRanksNeedNoProcess(t *testing.T) {
	b := newBench(t, func(c *Config) {
		c.Forker.Close()
		c.Forker, c.SimulatedPID = nil, func(r rank.ID) int { return 1<<30 + int(r) }
	})
	if got := b.ask(t, 3, "launch", protocol.Args{Job: &protocol.Job{Program: "script"}}); got[2] != "reply [2] {}" {
		t.Errorf("answers %v", got)
	}
	b.up.untilLine(t, `started [0-2] {"program":"script"} host=node07[0-2] pid=1073741824[0]|1073741825[1]|1073741826[2]`)
}

func TestQuitEndsAllRanks(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 3, "sleep 1000 & echo $!; wait", rank.Set{})
	b.up.until(t, "three lines", func() bool { return len(b.up.pieces) == 3 })
	var pids []int
	for r := range 3 {
		var pid int
		fmt.Sscan(b.up.output(fmt.Sprintf("out %d", r)), &pid)
		pids = append(pids, pid, b.find(rank.ID(r)).child.PID)
	}
	if got := b.ask(t, 3, "quit", protocol.Args{}); got[0] != "reply [0-2] {}" {
		t.Errorf("answers %v", got)
	}
	if got := b.ask(t, 1, "continue", protocol.Args{}); !strings.Contains(got[0], "the session is over") {
		t.Errorf("after quit: %v", got)
	}
	b.close(t.Context())
	for _, pid := range pids {
		// The kernel ends a killed orphaned process some time later.
		eventually(t, "end of a process", func() bool { return isGone(pid) })
	}
}

func TestDetachedRankRunsOn(t *testing.T) {
	let := make(chan struct{})
	b := newBench(t, func(c *Config) { c.LetGo = func() { close(let) } })
	dir := t.TempDir()
	b.ask(t, 2, "launch", protocol.Args{Job: &protocol.Job{Program: "sh", Args: []string{"-c",
		"mkfifo f$SDM_RANK; read line <f$SDM_RANK; echo this is not read; echo $line >got$SDM_RANK"}, Cwd: dir}})
	b.ask(t, 1, "detach", protocol.Args{})
	b.up.untilLine(t, "detached [0]")
	ended := make(chan struct{})
	go func() { defer close(ended); b.close(context.Background()) }()
	<-let
	if isGone(b.find(0).child.PID) {
		t.Error("the rank that was let go is gone")
	}
	writeTo(t, dir+"/f0", "on its own\n")
	<-ended
	if got, _ := os.ReadFile(dir + "/got0"); string(got) != "on its own\n" {
		t.Errorf("it wrote %q", got)
	}
	if pid := b.find(1).child.PID; !isGone(pid) {
		t.Error("the other rank lives on")
	}
}

func TestDetachedRankDoesNotHoldUpAnEndThatIsWanted(t *testing.T) {
	b := newBench(t, nil)
	b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "sleep", Args: []string{"1000"}}})
	b.ask(t, 1, "detach", protocol.Args{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.close(ctx)
	if pid := b.find(0).child.PID; !isGone(pid) {
		t.Error("the rank lives on")
	}
}

func TestSlotRunsItsOwnProgram(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Slot = &protocol.Job{Program: "sh", Args: []string{"-c", "kill -TERM $$"}} })
	b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "false"}})
	b.ask(t, 1, "continue", protocol.Args{})
	b.up.untilLine(t, `signalled [0] {"code":0,"signal":"SIGTERM","meaning":"Terminated"}`)
	if got := b.status(); got != 128+int(syscall.SIGTERM) {
		t.Errorf("status %d", got)
	}
}

func TestSlotOfARankThatCannotStart(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Slot = &protocol.Job{Program: "./nowhere"} })
	b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "true"}})
	if got := b.status(); got != local.NotStarted {
		t.Errorf("status %d", got)
	}
}

func TestExpand(t *testing.T) {
	b := newBench(t, nil)
	b.ask(t, 3, "launch", protocol.Args{Job: &protocol.Job{Program: "sleep", Args: []string{"1000"}}})
	first := b.give(3, "print", protocol.Args{Count: 1, Limit: 1})
	for range 6 {
		b.ask(t, 3, "print", protocol.Args{Count: 2})
	}
	big := b.give(3, "print", protocol.Args{Count: keptBytes})
	b.ask(t, 3, "continue", protocol.Args{}) // an empty answer, which is not kept
	want := []string{
		`reply [0] {"expr":"x"} value=v0[0]`, `reply [1] {"expr":"x"} value=v1[1]`, `reply [2] {"expr":"x"} value=v2[2]`,
	}
	if got := b.ask(t, 3, "expand", protocol.Args{Of: first, Limit: -1}); !slices.Equal(got, want) {
		t.Errorf("expand: %v", got)
	}
	if got := b.ask(t, 1, "expand", protocol.Args{Of: big}); !strings.Contains(got[0], "longer than the 64 KiB") {
		t.Errorf("expand of what was too big: %v", got)
	}
	if got := b.ask(t, 4, "expand", protocol.Args{Of: first})[0]; !strings.Contains(got, "error [3]") || !strings.Contains(got, "had no part") {
		t.Errorf("expand of a rank that was not asked: %v", got)
	}
	for range keptAnswers - 7 {
		b.ask(t, 3, "print", protocol.Args{Count: 1})
	}
	if got := b.ask(t, 3, "expand", protocol.Args{Of: first}); !strings.Contains(got[0], "error [0-2]") || !strings.Contains(got[0], "not kept any more") {
		t.Errorf("expand of what is gone: %v", got)
	}
}
