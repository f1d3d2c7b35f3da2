// Sessions whose ranks real PMIx servers start on three hosts, which are made in the roots.

package e2e

import (
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// onThreeHosts is a script that makes three hosts in a root and runs its arguments on the first. The
// hosts have directories for temporary files of their own.
const onThreeHosts = `
$HOSTS/up n 3 || exit 99
export TMPDIR=/tmp/node PRTE_MCA_plm_ssh_agent=$HOSTS/remsh OMPI_MCA_btl_tcp_if_include=eth0
export REMSH_ENV="$FOR_PRRTE TMPDIR=$TMPDIR OMPI_MCA_btl_tcp_if_include=eth0 $MARK"
exec $HOSTS/on n0 "$@"
`

// onHosts runs a script on the first of three hosts in a root.
func (s *scene) onHosts(r *launchtest.Root, script string) *process {
	s.t.Helper()
	s.env = append(s.env, "HOSTS="+launchtest.Scripts(), "MARK="+s.env[0], "FOR_PRRTE="+strings.Join(launchtest.ForPRRTE(), " "), "RING="+openMPI.program("ring"), "WAIT="+openMPI.program("mpiwait"))
	argv := r.Argv(s.t, []string{bench, s.dir, launchtest.Scripts()}, "bash", "-c", onThreeHosts, "hosts", "bash", "-c", script)
	return s.start(argv[0], argv[1:]...)
}

// TestPMIxHosts starts jobs on three hosts by a server that runs already and by a starter, attaches
// to one, and has one server of sdm on each host.
func TestPMIxHosts(t *testing.T) {
	t.Parallel()
	onePRRTE(t, "trixie", func(s *scene, r *launchtest.Root) {
		p := s.onHosts(r, `
hunt="-b -e 'info hosts' -e 'break sum' -e continue -e 'print mine->last' -e delete -e continue"
prte --daemonize --host n0:4,n1:4,n2:4 || exit 99
server=$(cat $TMPDIR/prte.*/pmix.n0.tool.[0-9]* | sed -n 3p)
eval sdm run --launcher pmix -n 6 --map-by ppr:2:node --bind-to none $hunt $RING || echo "direct: status $?"
TMPDIR=/nowhere sdm run --launcher pmix -n 2 --pmix-server $server --pmix-hosts n2 -b -e 'info hosts' -e continue $RING || echo "elsewhere: status $?"
kill $server
sdm run --launcher pmix --pmix-indirect spawn -b -e 'info hosts' -e continue -- mpirun.openmpi --map-by ppr:1:node --host n1:1,n2:1 -n 2 $RING || echo "spawn: status $?"
eval sdm run --launcher pmix $hunt -- mpirun.openmpi --map-by ppr:2:node --host n0:2,n1:2,n2:2 -n 6 $RING || echo "indirect: status $?"
`)
		p.exits(0)
		p.hides(" status ", "was to start")
		for i, want := range []string{"n0: server 0,", "(2) n1: server 1,", "n2: server 2,"} {
			if n := strings.Count(p.out.text(), want); n != 2 {
				p.t.Errorf("%d times server %d%s", n, i, p.said())
			}
		}
		p.says("[0-1] n2: server 0,", "[0] n1: server 0,", "[1] n2: server 1,")
		if n := strings.Count(p.out.text(), "total "); n != 4 {
			p.t.Errorf("%d jobs have ended%s", n, p.said())
		}
	})
}

// TestPMIxHostsAttach attaches to a job on three hosts whose PMIx server starts our servers, and then
// to one where these fail: a remote shell starts them. The jobs end, and write, as without a debugger.
func TestPMIxHostsAttach(t *testing.T) {
	t.Parallel()
	onePRRTE(t, "forky", func(s *scene, r *launchtest.Root) {
		s.file("setsid", "#!/bin/sh\ncase $1 in *sdm-server) exit 7 ;; esac\nexec /usr/bin/setsid \"$@\"\n", 0o700)
		p := s.onHosts(r, `
try() {
	rm -f job.out
	mpirun.openmpi --map-by ppr:2:node --host n0:2,n1:2,n2:2 -n 6 $WAIT $PWD/$1 >job.out 2>job.err &
	job=$!
	until [ "$(grep -c ' waits$' job.out 2>/dev/null)" = 6 ]; do
		kill -0 $job || { cat job.out job.err; exit 99; }
		sleep 0.1
	done
	sdm attach --connect-wait 20s -b -e 'info hosts' -e 'print 6 * 7' $2$job || echo "attach: status $?"
	: >$1
	wait $job || echo "job: status $?"
	cat job.out
	grep -v -x -e 'rank [0-5] waits' -e '6 of 6 ranks counted' job.out && echo "job: status unknown: it has written more"
	return 0
}
try whole
REMSH_ENV="$REMSH_ENV PATH=$PWD:/usr/bin:/bin" try broken pmix:
`)
		p.exits(0)
		p.hides(" status ")
		p.says("(prterun) has no MPIR; 6 ranks were found by PMIx")
		if n := strings.Count(p.err.text(), "not all servers that PMIx was to start have registered: server on n1,n2: "); n != 1 {
			p.t.Errorf("%d times no server%s", n, p.said())
		}
		for _, want := range []string{"n0: server 0,", "n1: server 1,", "n2: server 2,", "[0-5] 6 * 7 = 42", "6 of 6 ranks counted"} {
			if n := strings.Count(p.out.text(), want); n != 2 {
				p.t.Errorf("%d times %s%s", n, want, p.said())
			}
		}
	})
}
