package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
	"sdm/protocol/rank"
)

// TestEclipseLines starts master and servers by the lines that Eclipse PTP's launch scripts write: one
// program for both, with the same arguments. The routing file comes when all wait for it.
func TestEclipseLines(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			e, err := ptptest.Listen(4)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			host, port, _ := net.SplitHostPort(e.Addr())
			routes := filepath.Join(s.dir, "routes_7")
			line := []string{"--port=" + port, "--host=" + host, "--debugger=gdb-mi", "--routing_file=" + routes}
			job := s.mpirun(m, 4, append([]string{"sdm"}, line...)...)
			p := &platform{Eclipse: e, s: s, master: s.start("sdm", append([]string{"--master"}, line...)...)}
			text := "4\n"
			for i := range 4 {
				text += fmt.Sprintf("%d 127.0.0.1 %d\n", i, s.freePort())
			}
			if err := os.WriteFile(routes, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p.must(e.Accept())
			p.must(e.Send(ptp.Start, "work", filepath.Dir(program("work")), s.dir))
			p.await(ptp.EventOK, four)
			p.ask(ptp.EventBreak, ptp.FuncBreak, four, "7", "0", "0", "", "compute", "", "0", "0")
			p.ask(ptp.EventOK, ptp.Go, four)
			p.await(ptp.EventSuspend, four)
			if found := p.ask(ptp.EventData, ptp.Evaluate, four, "n"); len(found) != 4 {
				t.Errorf("n: %v", found)
			}
			p.quit()
			job.status(patience)
			if said := p.master.err.text(); said != "" { // a line there is a failed launch to PTP
				t.Errorf("the master says %s", said)
			}
		})
	}
}

// TestEclipseConnects: without --host the master waits for the front end on this host. It makes the
// routing file, for which the servers look in their directory.
func TestEclipseConnects(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	port := fmt.Sprint(s.freePort())
	server := s.start("sdm", "--host=front.example", "--port=9", "--server=0")
	p := &platform{Eclipse: &ptptest.Eclipse{Tasks: 1}, s: s}
	p.master = s.start("sdm", "--master", "--generate_routes=localhost", "--port="+port)
	var conn net.Conn
	s.eventually(patience, func() string {
		var err error
		if conn, err = net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err != nil {
			return err.Error()
		}
		return ""
	})
	defer conn.Close()
	p.Use(conn)
	one := rank.Of(0)
	p.must(p.Send(ptp.Start, "work", filepath.Dir(program("work")), s.dir))
	p.await(ptp.EventOK, one)
	p.all(ptp.EventOK, "", ptp.Terminate, one)
	p.must(p.Send(ptp.Quit))
	p.master.exits(0)
	server.exits(0)
}

func TestEclipseRefusals(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for line, want := range map[string]string{
		"--master --nonsense": "sdm: unknown flag: --nonsense", "-master --host=h": "sdm: unknown shorthand flag",
		"--host=h --routing_file=r": "sdm: which server is this?", "--master --debugger=x10-gdb-mi --host=h": "gdb-mi only",
	} {
		p := s.start("sdm", strings.Fields(line)...)
		p.exits(1)
		if said := p.err.text(); !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: %s", line, said)
		}
	}
}
