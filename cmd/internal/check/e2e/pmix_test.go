// Sessions whose ranks a real PMIx server starts: PRRTE 3.0.8 and 5.0.0rc1, in roots of other
// systems.

package e2e

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// withPRRTE is a script that starts a server with eight slots, then runs its arguments.
const withPRRTE = `prte --daemonize --host "$(hostname):8" && "$@"; code=$?
pkill -x prte 2>/dev/null || for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" != prte ] || kill ${p#/proc/}; done
exit $code`

// pmixRun runs sdm run --launcher pmix beside a server in a root.
func (s *scene) pmixRun(r *launchtest.Root, n string, args ...string) *console {
	s.t.Helper()
	return s.pmixBeside(withPRRTE, r, n, args...)
}

// pmixBeside is pmixRun for another script that starts the server.
func (s *scene) pmixBeside(script string, r *launchtest.Root, n string, args ...string) *console {
	s.t.Helper()
	line := append([]string{"-c", script, "sh", "sdm", "run", "--launcher", "pmix", "-n", n, "--map-by", "slot:oversubscribe", "--bind-to", "none"}, args...)
	return &console{process: s.inRoot(r, "sh", line...), size: int(n[0] - '0')}
}

// rootsWithPRRTE have a PMIx server: PRRTE 3 and 5.
var rootsWithPRRTE = []string{"trixie", "forky"}

var allPRRTE = flag.Bool("all-prrte", false, "the long tests of PMIx with each PRRTE; else each with one of them")

// eachPRRTE runs a test in each root that has a PMIx server.
func eachPRRTE(t *testing.T, test func(s *scene, r *launchtest.Root)) {
	inRoots(t, rootsWithPRRTE, test)
}

// onePRRTE is eachPRRTE for a test that takes half a minute. Without -all-prrte it is run in one root.
func onePRRTE(t *testing.T, root string, test func(s *scene, r *launchtest.Root)) {
	if *allPRRTE {
		eachPRRTE(t, test)
		return
	}
	inRoots(t, []string{root}, test)
}

// inRoots runs a test of PMIx in some roots.
func inRoots(t *testing.T, roots []string, test func(s *scene, r *launchtest.Root)) {
	for _, name := range roots {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := launchtest.FindRoot(t, name)
			if why := pmixMissing(); why != "" {
				t.Skip(why)
			}
			s := newScene(t)
			s.env = append(append(s.env, launchtest.ForPRRTE()...), "TMPDIR=/tmp") // of the root: a server does not start where one with its process id has left its directory
			test(s, r)
		})
	}
}

// TestPMIxRun hunts the bug of ring.c in a job that the server starts. A rank that reads standard input
// finds its end.
func TestPMIxRun(t *testing.T) {
	t.Parallel()
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		front := s.pmixRun(r, "4", append(hunt, openMPI.program("ring"))...)
		front.exits(0)
		front.folded("Breakpoint 1, sum (mine=", "")
		front.folded("exited normally", "")
		front.says("[0-2] (3) mine->last - mine->first = 25\n[3] mine->last - mine->first = 24\n", "total 4950, expected 5050: wrong")
		front = s.pmixRun(r, "2", "-b", "-e", "continue", openMPI.program("mpiecho"))
		front.exits(9)
		front.says("end of file after 0 lines", "the ranks find the end of standard input at once")
	})
}

// TestPMIxExit checks that the exit status of a job arrives, and which of the two jobs ends how. Only
// PRRTE 5 holds a plain program, on exec; PRRTE 3 is refused before anything starts.
func TestPMIxExit(t *testing.T) {
	t.Parallel()
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		front := s.pmixRun(r, "2", "--pmix-stop", "exec", "-b", "--format", "ndjson", "-e", "continue", program("exitcode"), "7")
		if strings.HasSuffix(s.t.Name(), "trixie") {
			front.exits(3)
			front.says("stop on exec (pmix.dbg.exec): a server with libpmix 5.0.7 is not known to honour it")
			return
		}
		front.exits(7)
		front.says(`"the job of the ranks has ended"`, `"the job of our servers has ended"`, `"status":7`)
	})
}

// TestPMIxRefusals checks what sdm refuses before anything is started, and that it says why.
func TestPMIxRefusals(t *testing.T) {
	t.Parallel()
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		front := s.pmixRun(r, "2", "-b", "-e", "continue", program("exitcode"), "3")
		front.exits(3)
		front.says("has ended with status 3 before all its ranks came to MPI_Init")
		front = s.pmixRun(r, "2", "--pmix-server", "1", "-b", "-e", "continue", program("exitcode"), "3")
		front.exits(3)
		front.says("no PMIx server of yours was found with process id 1")
		front.hides("tcp4://")
	})
}

// logSpy is a library for a server that writes what it logs to a file.
const logSpy = `
#include <stdarg.h>
#include <stdio.h>
static void note(const char *format, va_list list)
{
    FILE *out = fopen(LOG, "a");
    vfprintf(out, format, list);
    fputc('\n', out);
    fclose(out);
}
void syslog(int p, const char *format, ...) { va_list l; va_start(l, format); note(format, l); va_end(l); }
void __syslog_chk(int p, int flag, const char *format, ...) { va_list l; va_start(l, format); note(format, l); va_end(l); }
`

// TestPMIxLog has the server write start and end of a session to the log of the system, or is refused
// where the server cannot.
func TestPMIxLog(t *testing.T) {
	t.Parallel()
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		log, library := filepath.Join(s.dir, "log"), filepath.Join(s.dir, "libspy.so")
		if err := build([]string{"gcc", "-shared", "-fPIC", "-DLOG=\"" + log + "\"", "-o", library, s.file("spy.c", logSpy, 0o600)}); err != nil {
			s.t.Fatal(err)
		}
		front := s.pmixBeside("LD_PRELOAD="+library+" "+withPRRTE, r, "2", "--pmix-log", "-b", "-e", "continue", openMPI.program("ring"))
		if strings.HasSuffix(s.t.Name(), "trixie") {
			front.exits(3)
			front.says("--pmix-log (PMIx_Log): a server with libpmix 5.0.7 is not known to honour it")
			return
		}
		front.exits(0)
		text, err := os.ReadFile(log)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, want := range []string{"sdm: a debugger is attached to job prte", ", under a debugger, has ended with status 0"} {
			if strings.Count(string(text), want) != 1 {
				s.t.Errorf("not once %q in %s", want, text)
			}
		}
	})
}

// TestPMIxQuit ends a session whose ranks stand at a breakpoint: the job ends with it, where it
// stands. So does one whose server was killed.
func TestPMIxQuit(t *testing.T) {
	t.Parallel()
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		front := s.pmixRun(r, "2", "-b", "-e", "break sum", "-e", "continue", "-e", "quit", openMPI.program("ring"))
		front.exits(0)
		front.folded("Breakpoint 1, sum (mine=", "")
		front.hides("total ")
		s.nothingIsLeft()
		lost := `shell for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != prte ] || kill -9 ${p#/proc/}; done`
		front = s.pmixRun(r, "2", "-b", "-e", "break sum", "-e", "continue", "-e", lost, "-e", "quit", openMPI.program("ring"))
		front.exits(0)
		front.hides("total ")
		s.nothingIsLeft()
	})
}

// pmixNames is a script that starts a job and attaches to it by each of its names; its own output
// and status must be what they are without us.
const pmixNames = `
mpirun.openmpi --map-by slot:oversubscribe -n 2 $PROGRAM $PWD/go >job.out 2>job.err &
job=$!
until [ "$(grep -c ' waits$' job.out)" = 2 ]; do
	kill -0 $job || { cat job.out job.err; exit 99; }
	sleep 0.1
done
space=prterun-$(hostname)-$job
rank=$(for p in /proc/[0-9]*; do case $(cat $p/comm 2>/dev/null) in mpiwait*) echo ${p#/proc/}; esac; done | tail -n 1)
file=$(ls /tmp/*.$job*/pmix.*.tool.$job)
for name in $job pmix:$space@1 pmix:$space pmix:$job pmix:$rank pmix:$file; do
	sdm attach -b -e 'print 6 * 7' $name || echo "$name: status $?"
done
sdm attach -b -e detach pmix:nothing
sdm attach -b -e detach pmix:$space@77
: >go
wait $job || echo "job: status $?"
cat job.out job.err
`

// TestPMIxAttach attaches to a running job by its process, by its namespace, by a rank and by the
// file of the server.
func TestPMIxAttach(t *testing.T) {
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		s.env = append(s.env, "PROGRAM="+openMPI.program("mpiwait"))
		p := s.inRoot(r, "bash", "-c", pmixNames)
		p.exits(0)
		p.says("(prterun) has no MPIR; 2 ranks were found by PMIx", "no PMIx server of yours was found for namespace nothing", "knows no job", "2 of 2 ranks counted")
		p.hides(" status ", "PMIX ERROR")
		if n := strings.Count(p.out.text(), "[0-1] 6 * 7 = 42"); n != 6 {
			p.t.Errorf("%d of 6 names%s", n, p.said())
		}
	})
}

// TestPMIxStarter lets the PMIx server of a starter hold its ranks. Programs that do not call
// MPI_Init are not held by it.
func TestPMIxStarter(t *testing.T) {
	eachPRRTE(t, func(s *scene, r *launchtest.Root) {
		run := func(n int, args ...string) *console {
			return &console{process: s.inRoot(r, "sdm", append([]string{"run", "-b"}, args...)...), size: n}
		}
		front := run(4, "--launcher", "pmix", "-e", "break sum", "-e", "continue", "-e", "continue", "--", "mpirun.openmpi", "--map-by", "slot:oversubscribe", "-n", "4", openMPI.program("ring"))
		front.exits(0)
		front.folded("Breakpoint 1, sum (mine=", "")
		front.folded("exited normally", "")
		front = run(2, "-e", "continue", "--launcher", "pmix", "--", "prterun", "--map-by", "slot:oversubscribe", "-n", "2", program("exitcode"), "5")
		front.exits(3)
		front.says("prterun", "--launcher slot has them start under control")
		front = run(2, "--launcher", "pmix", "-e", "kill", "--", "prterun", "--map-by", "slot:oversubscribe", "-n", "2", openMPI.program("ring"))
		front.status(patience)
		s.nothingIsLeft()
		front = run(1, "--launcher", "pmix", "-e", "continue", "--", "mpirun.openmpi", "--nonsense", "-n", "1", openMPI.program("ring"))
		front.exits(3)
		front.says("has ended before its ranks were held: exit status")
		front.hides("under control")
		front = run(1, "--launcher", "pmix", "-e", "continue", "--", "mpiexec.mpich", "-n", "1", openMPI.program("ring"))
		front.exits(3)
		front.says("is no starter with a PMIx server")
	})
}

// pmixMissing says why there is no libpmix to build sdm-pmix with; "": there is one.
func pmixMissing() string {
	if out, err := exec.Command("pkg-config", "--modversion", "pmix").CombinedOutput(); err != nil {
		return "pkg-config finds no pmix: " + strings.TrimSpace(string(out))
	}
	return ""
}
