// Sessions with other releases of gdb and MPI, in roots of other systems.

package e2e

import (
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// inRoot starts a program in a root in which the build directory and the directory of the scene are
// visible.
func (s *scene) inRoot(r *launchtest.Root, name string, args ...string) *process {
	s.t.Helper()
	argv := r.Argv(s.t, []string{bench, s.dir}, append([]string{name}, args...)...)
	return s.start(argv[0], argv[1:]...)
}

// attachScript attaches to a job and lets it continue. Its arguments are the line of the job.
const attachScript = `
"$@" -n 4 $PROGRAM $PWD/go >job.out 2>&1 &
job=$!
until [ "$(grep -c ' waits$' job.out)" = 4 ]; do
	kill -0 $job || { cat job.out; exit 99; }
	sleep 0.1
done
sdm attach -b -e stacks -e 'print 6 * 7' $job || echo "attach: status $?"
sdm stacks $job || echo "stacks: status $?"
: >go
wait $job || echo "job: status $?"
cat job.out
`

// TestRoots has short sessions with each MPI of other releases: a job that is held, one that sdm
// attaches to, and the exit status of one that fails.
func TestRoots(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"trixie", "forky"} {
		for k, m := range starters {
			if !inTurn(i, k) {
				continue
			}
			t.Run(name+" "+m.name, func(t *testing.T) {
				t.Parallel()
				root := launchtest.FindRoot(t, name)
				t.Run("run", func(t *testing.T) {
					s := newScene(t)
					line := append([]string{"run", "--launcher", "slot"}, append(hunt, "--", m.command, "-n", "4", m.program("ring"))...)
					front := &console{process: s.inRoot(root, "sdm", line...), size: 4}
					front.exits(0)
					hunted(t, front)
				})
				t.Run("attach", func(t *testing.T) {
					s := newScene(t)
					s.env = append(s.env, "PROGRAM="+m.program("mpiwait"))
					p := s.inRoot(root, "bash", "-c", attachScript, "attach", m.command)
					p.exits(0)
					p.says("[0-3] (4) main mpiwait.c:", "[0-3] 6 * 7 = 42", "4 of 4 ranks counted")
					p.hides(" status ")
					if n := strings.Count(p.out.text(), "main mpiwait.c:"); n != 2 {
						t.Errorf("%d stacks, want 2%s", n, p.said())
					}
				})
				t.Run("status", func(t *testing.T) {
					s := newScene(t)
					front := &console{process: s.inRoot(root, "sdm", "run", "-b", "-e", "continue", "--", m.command, "-n", "2", program("exitcode"), "3"), size: 2}
					front.exits(3)
					front.folded("exited with code 3", "")
				})
			})
		}
	}
}
