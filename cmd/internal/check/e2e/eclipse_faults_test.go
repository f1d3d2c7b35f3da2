package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// tracer returns the gdb of a rank.
func (s *scene) tracer(r int, program string) int {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.rankOf(program, r)))
	if err != nil {
		s.t.Fatal(err)
	}
	var pid int
	if _, rest, ok := strings.Cut(string(status), "TracerPid:"); !ok {
		s.t.Fatal("no tracer")
	} else if _, err := fmt.Sscan(rest, &pid); err != nil || pid == 0 {
		s.t.Fatalf("rank %d is not traced: %v", r, err)
	}
	return pid
}

// A gdb that hangs holds back no value of other ranks, and its own come when it goes on; one that is
// killed is replaced.
func TestEclipseFaultyGDB(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.eclipse(program("spin"))
	p.ask(ptp.EventBreak, ptp.FuncBreak, four, "7", "0", "0", "", "main", "", "0", "0")
	p.ask(ptp.EventOK, ptp.Go, four)
	p.await(ptp.EventSuspend, four)
	p.ask(ptp.EventData, ptp.Evaluate, four, "stop")

	hung := s.tracer(2, "spin")
	var same, others rank.Set // that share the hung gdb, and that do not
	for r := range four.All() {
		if s.tracer(int(r), "spin") == hung {
			same = same.Union(rank.Of(r))
		} else {
			others = others.Union(rank.Of(r))
		}
	}
	if others.IsEmpty() {
		t.Skip("all ranks share one gdb")
	}
	s.kill(hung, syscall.SIGSTOP)
	begin := time.Now()
	p.must(p.Send(ptp.Evaluate, p.Set(four), "stop + 1"))
	p.await(ptp.EventData, others)
	p.must(p.Send(ptp.ListFrames, p.Set(four), "0", "0"))
	p.await(ptp.EventFrames, others)
	if waited := time.Since(begin); waited > 5*time.Second {
		t.Errorf("a gdb that hangs holds back the others for %v", waited)
	}
	s.kill(hung, syscall.SIGCONT)
	for _, x := range p.await(ptp.EventData, same) {
		if x.Args[1] != "is4" {
			t.Errorf("a late value: %v", x)
		}
	}
	p.await(ptp.EventFrames, same)

	s.kill(s.tracer(2, "spin"), syscall.SIGKILL)
	s.eventually(patience, func() string {
		if found := p.ask(ptp.EventData, ptp.Evaluate, rank.Of(2), "stop"); found[0].Args[1] != "is4" {
			return fmt.Sprint(found)
		}
		return ""
	})
	p.must(p.Send(ptp.Terminate, p.Set(four)))
	p.await(ptp.EventOK, four)
	p.quit()
}

// A master that is killed takes its servers, their gdbs and the ranks with it.
func TestEclipseKilledMaster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.eclipse(program("spin"))
	p.all(ptp.EventOK, "", ptp.Go, four)
	p.master.signal(syscall.SIGKILL)
	for _, server := range p.servers {
		server.status(patience)
	}
	s.nothingIsLeft()
	if _, err := p.Await(ptp.EventOK, four); err == nil {
		t.Error("a dead master answers")
	}
}
