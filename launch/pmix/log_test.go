package pmix

import (
	"os/exec"
	"testing"
)

// TestFaultsAreLogged checks that faults of the session's job are written to the log of the system,
// if that was asked for, and that the reader of events does not wait for it.
func TestFaultsAreLogged(t *testing.T) {
	c, w, _ := pair(t)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	l := newConnection(ServerSpec{Log: true})
	l.helper = &Helper{Conn: c, cmd: ended, exited: make(chan struct{})}
	close(l.helper.exited)
	l.server.Version = Version{7, 0, 0}
	if err := l.checkLog(); err != nil {
		t.Fatal(err)
	}
	l.addOwn("job@1")
	l.note(Message{Event: -402, Text: "of another", Info: []Info{OfProc(AffectedProc, Proc{"job@2", 3})}})
	for range 2 * maxFaults {
		l.note(Message{Event: -402, Text: "PROC ABORTED", Info: []Info{OfProc(AffectedProc, Proc{"job@1", 3})}})
	}
	r := w.reads()
	if v, _ := Find(r.Info, LogSyslog); r.Call != CallLog || v.Text != "sdm: job job@1, rank 3: PROC ABORTED" {
		t.Errorf("%+v", r)
	}
	w.conn.Close()
	<-c.Done()
	l.writing.Wait()

	l = newConnection(ServerSpec{Log: true})
	l.server.Version = Version{5, 0, 7}
	if err := l.checkLog(); err == nil {
		t.Error("a server that cannot is not refused")
	}
}
