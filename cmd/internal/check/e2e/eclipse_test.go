package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
	"sdm/protocol/rank"
)

// platform is Eclipse with a session of four ranks, with a server and a gdb each.
type platform struct {
	*ptptest.Eclipse
	s       *scene
	master  *process
	servers []*process
}

var four = rank.Range(0, 3)

// eclipse starts a program whose ranks are held.
func (s *scene) eclipse(program string, args ...string) *platform {
	s.t.Helper()
	e, err := ptptest.Listen(4)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { e.Close() })
	p := &platform{Eclipse: e, s: s}
	master, meet := s.rendezvous(e.Addr(), "--frontend", "ptp", "--servers", "4")
	p.master = master
	for i := range 4 {
		p.servers = append(p.servers, s.server(i, 4, "--rendezvous", meet))
	}
	p.must(e.Accept())
	dir, name := filepath.Split(program)
	p.must(e.Send(ptp.Start, append([]string{name, dir, s.dir}, args...)...))
	p.await(ptp.EventOK, four)
	return p
}

func (p *platform) must(err error) {
	p.s.t.Helper()
	if err != nil {
		p.s.t.Fatal(err)
	}
}

func (p *platform) await(code ptp.Code, ranks rank.Set) []ptp.Packet {
	p.s.t.Helper()
	found, err := p.Await(code, ranks)
	p.must(err)
	return found
}

// ask sends a command for ranks, and returns all packets of one code that answer it.
func (p *platform) ask(answer ptp.Code, command ptp.Code, ranks rank.Set, args ...string) []ptp.Packet {
	p.s.t.Helper()
	p.must(p.Send(command, append([]string{p.Set(ranks)}, args...)...))
	return p.await(answer, ranks)
}

// all sends a command that all ranks must answer alike.
func (p *platform) all(answer ptp.Code, want string, command ptp.Code, ranks rank.Set, args ...string) {
	p.s.t.Helper()
	found := p.ask(answer, command, ranks, args...)
	if len(found) != 1 || found[0].Args[0] != p.Set(ranks) || strings.Join(found[0].Args[1:], " ") != want {
		p.s.t.Errorf("command %d %q: heard %v, want %s", command, args, found, want)
	}
}

// quit ends the session and reads the packets that are still on their way.
func (p *platform) quit() {
	p.s.t.Helper()
	p.must(p.Send(ptp.Quit))
	for {
		if _, err := p.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			p.s.t.Fatal(err)
		}
	}
	p.master.exits(0)
}

func TestEclipse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.eclipse(program("work"), strings.Repeat("long ", 100), "a=b") // compressed, as by Java
	line := lineOf(t, "work.c", "int sum = 0;")
	p.all(ptp.EventBreak, fmt.Sprintf("7 1 0 0 0 breakpoint work.c compute  %d 0", line), ptp.FuncBreak, four, "7", "0", "0", "", "compute", "", "0", "0")
	p.ask(ptp.EventOK, ptp.Go, four)
	for _, stop := range p.await(ptp.EventSuspend, four) {
		if got := strings.Join(stop.Args[1:], " "); got != "0 7 1 2 0" {
			t.Errorf("stopped: %v", stop)
		}
	}
	caller := lineOf(t, "work.c", "compute(rank);")
	p.all(ptp.EventFrames, fmt.Sprintf("2 0 work.c compute  %d 1 work.c main  %d", line, caller), ptp.ListFrames, four, "0", "0")
	p.all(ptp.EventVars, "1 sum", ptp.ListLocals, four)
	p.all(ptp.EventArgs, "1 n", ptp.ListArguments, four, "0", "0")
	p.all(ptp.EventType, "struct point", ptp.GetType, four, "corner")
	p.all(ptp.EventData, "{point|x=is4,y=is4;;;} 0000000300000004 struct point ", ptp.Evaluate, four, "corner")
	p.all(ptp.EventData, "is4 00000007 int ", ptp.Evaluate, four, "corner.x + corner.y")
	p.all(ptp.EventData, "f8 3FE0000000000000 double ", ptp.Evaluate, four, "ratio")
	p.all(ptp.EventData, "[r0,10is4]is4 00000000000000010000000400000009000000100000001900000024000000310000004000000051 int [10] var1", ptp.EvaluatePartial, four, "table", "", "1", "0")
	if found := p.ask(ptp.EventData, ptp.Evaluate, four, "n"); len(found) != 4 || found[3].Args[2] != "00000003" {
		t.Errorf("n: %v", found)
	}
	p.all(ptp.EventThreads, "1 0", ptp.ListThreads, four)
	p.all(ptp.EventOK, "", ptp.WriteMemory, four, "4", "&corner", "d", "4", "40 + 2")
	p.all(ptp.EventMemory, addressFree(p.ask(ptp.EventMemory, ptp.ReadMemory, four, "0", "&corner", "d", "4", "1", "2", "")), ptp.ReadMemory, four, "0", "&corner", "d", "4", "1", "2", "")
	p.all(ptp.EventData, "is4 0000002A int ", ptp.Evaluate, four, "corner.y")
	p.ask(ptp.EventOK, ptp.Step, four, "1", "1")
	for _, stop := range p.await(ptp.EventSuspend, four) {
		if got, want := strings.Join(stop.Args[1:], " "), fmt.Sprintf("2 0 work.c compute  %d 1 2 0", line+1); got != want {
			t.Errorf("stepped: %v, want %s", stop, want)
		}
	}

	// A rank is killed: its end is reported, and the others answer.
	s.kill(s.rankOf("work", 2), syscall.SIGKILL)
	if gone := p.await(ptp.EventExit, rank.Of(2)); gone[0].Args[2] != "SIGKILL" {
		t.Errorf("killed: %v", gone)
	}
	p.must(p.Send(ptp.Evaluate, p.Set(four), "corner.x"))
	for _, x := range p.await(ptp.EventData, four) { // an ERROR of one rank would lose the values of the others
		if text, err := ptptest.Show(x.Args[1], x.Args[2]); x.Args[0] == p.Set(rank.Of(2)) && (err != nil || !strings.Contains(text, "ended by a signal")) {
			t.Errorf("a killed rank: %q, %v", text, err)
		}
	}
	rest := four.Minus(rank.Of(2))
	p.all(ptp.EventOK, "", ptp.DeleteBreak, rest, "7")
	p.ask(ptp.EventOK, ptp.Go, rest)
	for _, x := range p.await(ptp.EventExit, rest) {
		if strings.Join(x.Args[1:], " ") != "0 0" {
			t.Errorf("ended: %v", x)
		}
	}
	output := ""
	for _, heard := range p.Received {
		if heard.ID == ptp.EventOutput {
			output += heard.Args[1]
		}
	}
	if !strings.Contains(output, "rank 3: sum 12 factorial 6\n") {
		t.Errorf("output: %q", output)
	}
	p.quit()
}

// addressFree checks an answer except for its addresses, and returns it as the expected answer to
// the same request.
func addressFree(found []ptp.Packet) string {
	if len(found) != 1 || strings.Join(found[0].Args[8:9], "") != "1" || strings.Join(found[0].Args[11:], " ") != "2 3 42" {
		return fmt.Sprintf("2 words, 3 and 42, not %v", found)
	}
	return strings.Join(found[0].Args[1:], " ")
}

// rankOf finds the process of a rank by its environment.
func (s *scene) rankOf(name string, r int) int {
	s.t.Helper()
	for _, p := range s.named(name) {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
		if err == nil && bytes.Contains(append([]byte{0}, env...), fmt.Appendf(nil, "\x00SDM_RANK=%d\x00", r)) {
			return p.pid
		}
	}
	s.t.Fatalf("rank %d is no %s", r, name)
	return 0
}

// Commands are answered while ranks run, and also after a server is lost.
func TestEclipseWhileRanksRun(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.eclipse(program("spin"))
	p.all(ptp.EventOK, "", ptp.Go, four)
	p.must(p.Send(ptp.ListFrames, p.Set(four), "0", "0"))
	for _, running := range p.await(ptp.EventError, four) {
		if running.Args[1] != fmt.Sprint(int(ptp.IsRunning)) {
			t.Errorf("while they run: %v", running)
		}
	}
	two := rank.Range(0, 1)
	for _, stop := range p.ask(ptp.EventSuspend, ptp.Suspend, two) {
		if strings.Join(stop.Args[1:7], " ") != "1 SIGINT 1 1 1 Interrupt" {
			t.Errorf("interrupted: %v", stop)
		}
	}
	s.kill(p.servers[0].cmd.Process.Pid, syscall.SIGKILL)
	if lost := p.await(ptp.EventExit, rank.Of(0)); lost[0].Args[2] != "LOST" || !strings.Contains(lost[0].Args[6], "server 0") {
		t.Errorf("lost: %v", lost)
	}
	p.all(ptp.EventData, "is4 00000000 volatile int ", ptp.Evaluate, rank.Of(1), "stop")
	p.must(p.Send(ptp.Terminate, p.Set(four)))
	p.await(ptp.EventOK, four) // the lost one has ended
	p.quit()
	if exits := p.told(ptp.EventExit); !exits.Equal(rank.Of(0)) { // the OK is the end of the others
		t.Errorf("EXIT of %v", exits)
	}
}

// told returns the ranks for which a code was received.
func (p *platform) told(code ptp.Code) rank.Set {
	var ranks rank.Set
	for _, heard := range p.Received {
		if heard.ID == code {
			told, _, _ := ptp.ParseSet(heard.Args[0])
			ranks = ranks.Union(told)
		}
	}
	return ranks
}

// Nothing is left of the session after an Eclipse that disconnects or speaks another protocol,
// whatever the ranks do.
func TestEclipseThatVanishes(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(p *platform) error{
		"hangs up":         func(p *platform) error { return p.Close() },
		"speaks HTTP":      func(p *platform) error { return p.Raw([]byte("GET / HTTP/1.1\r\n\r\n")) },
		"a packet too big": func(p *platform) error { return p.Raw([]byte{0x7f, 0xff, 0xff, 0xff, 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p := s.eclipse(program("spin"))
			p.all(ptp.EventOK, "", ptp.Go, four)
			p.must(say(p))
			p.master.exits(1)
			p.master.says("the front end is gone")
		})
	}
}
