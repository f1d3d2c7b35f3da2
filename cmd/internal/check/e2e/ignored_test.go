package e2e

import (
	"regexp"
	"testing"
)

// ignores runs a line in a shell that ignores some signals, and returns the mask of ignored signals
// that a rank reports.
func (s *scene) ignores(signals string, line ...string) string {
	s.t.Helper()
	p := s.start("sh", append([]string{"-c", `trap '' ` + signals + `; exec "$@"`, "sh"}, line...)...)
	if status := p.status(patience); status != 0 {
		s.t.Errorf("status %d%s", status, p.said())
	}
	found := regexp.MustCompile(`SigIgn:\s*([0-9a-f]{16})`).FindStringSubmatch(p.out.text())
	if found == nil {
		s.t.Fatalf("the rank says nothing%s", p.said())
	}
	return found[1]
}

// TestIgnoredSignalsStayIgnored checks that signals that are ignored when sdm is started are
// ignored in the ranks, as without sdm, whatever starts them.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	t.Parallel()
	const all = "HUP INT QUIT USR1 USR2 TERM PIPE"
	look := []string{"sh", "-c", `grep SigIgn /proc/self/status; exec "$0"`}
	for _, c := range []struct {
		name    string
		signals string
		before  []string // flags of sdm
		line    []string
	}{
		{"local", all, []string{"-n", "1", "--stop-at", "none"}, append(look, "true")},
		{"two", "USR1 PIPE", []string{"-n", "1", "--stop-at", "none"}, append(look, "true")},
		{"none that ends anybody", "WINCH", []string{"-n", "1", "--stop-at", "none"}, append(look, "true")},
		{"slot of Open MPI", all, []string{"--launcher", "slot", "--stop-at", "none", "--"}, append([]string{openMPI.command, "-n", "1"}, append(look, openMPI.program("ring"))...)},
		{"slot of MPICH", "HUP USR1 USR2 PIPE", []string{"--launcher", "slot", "--stop-at", "none", "--"}, append([]string{starters[1].command, "-n", "1"}, append(look, "true")...)},
		{"MPIR", all, []string{"--"}, append([]string{openMPI.command, "-n", "1"}, append(look, openMPI.program("ring"))...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			want := s.ignores(c.signals, c.line...)
			do := "wait"
			if c.before[0] == "--" { // the ranks are stopped in MPI_Init
				do = "continue"
			}
			sdm := append(append([]string{program("sdm"), "run", "-b", "-e", do}, c.before...), c.line...)
			if got := s.ignores(c.signals, sdm...); got != want {
				t.Errorf("with sdm the rank ignores %s, without %s", got, want)
			}
		})
	}
}
