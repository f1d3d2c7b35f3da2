package e2e

import (
	"net"
	"strings"
	"testing"
)

// TestPythonFrontEnd drives MPI ranks from the front end of the documentation, a
// script of the standard library. Where this machine has an address besides the
// loopback it listens there, and so speaks TLS.
func TestPythonFrontEnd(t *testing.T) {
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			secret := s.secret("secret", "a")
			host := ownAddress(t)
			t.Logf("the front end listens on %s", host)
			script := s.start("python3", absolute(t, "../../../testdata/frontend/drive.py"), secret, host+":0", "-", "sum", "*mine")
			port := script.after(script.out, "listening on port ")
			master, meet := s.rendezvous(host+":"+port, "--secret-file", secret)
			starter := s.mpirun(m, 3, "sdm-server", "--secret-file", secret, "--rendezvous", meet, "--", m.program("ring"))
			script.exits(0)
			master.exits(0)
			// It quits while the ranks stand: they are killed. MPICH gives the status
			// of a rank, or its own when it sees the end of PMI first.
			starter.fails()
			script.says(`initialize {"version": 1, "build": `, `"servers": 3, "ranks": "0-2"`,
				`event {"event": "job", "ranks": "", "n": 0, "state": "starting"`, `"n": 3, "state": "held"`, `"n": 3, "state": "running"`,
				`"reason": "breakpoint-hit", "breakpoint": 1,`,
				`{"value": "{first = 1, last = 34}", "ranks": "0"}`, `{"value": "{first = 67, last = 100}", "ranks": "2"}`,
				`"command": "quit", "asked": 3, "answered": 3`)
		})
	}
}

// ownAddress is an address of this machine by which others would reach it, or
// the loopback if it has none.
func ownAddress(t *testing.T) string {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip, _, err := net.ParseCIDR(a.String())
		if err == nil && ip.To4() != nil && ip.IsGlobalUnicast() && !strings.HasPrefix(ip.String(), "127.") {
			return ip.String()
		}
	}
	return "127.0.0.1"
}
