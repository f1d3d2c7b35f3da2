package e2e

import "testing"

// TestPythonFrontEnd controls MPI ranks with the example front end of the documentation, a Python
// script that needs only the standard library, over TLS.
func TestPythonFrontEnd(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			secret := s.secret("secret", "a")
			script := s.start("python3", absolute(t, "../../../../testdata/frontend/drive.py"), secret, "127.0.0.1:0", "-", "sum", "*mine")
			port := script.after(script.out, "listening on port ")
			master, meet := s.rendezvous("127.0.0.1:"+port, "--secret-file", secret)
			starter := s.mpirun(m, 3, "sdm-server", "--secret-file", secret, "--rendezvous", meet, "--", m.program("ring"))
			script.exits(0)
			master.exits(0)
			// It quits while the ranks are stopped, so they are killed. MPICH returns
			// the status of a rank, or its own if it notices the end of PMI first.
			starter.fails()
			script.says(`initialize {"version": 1, "build": `, `"servers": 3, "ranks": "0-2"`,
				`event {"event": "job", "ranks": "", "n": 0, "state": "starting"`, `"n": 3, "state": "held"`, `"n": 3, "state": "running"`,
				`"reason": "breakpoint-hit", "breakpoint": 1,`,
				`{"value": "{first = 1, last = 34}", "ranks": "0"}`, `{"value": "{first = 67, last = 100}", "ranks": "2"}`,
				`"command": "quit", "asked": 3, "answered": 3`)
		})
	}
}
