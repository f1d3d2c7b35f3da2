// What happens to the job of a real PMIx server when our servers on its hosts fail, or sdm does: nothing.

package e2e

import (
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// noHarm is a script with jobs on three hosts that are debugged while something fails. The end and the
// output of each job must be those without a debugger.
const noHarm = `
# servers HOST...: our servers on hosts
servers() {
	for p in $(pgrep -x sdm-server); do
		case " $* " in *" $(nsenter -t $p -u hostname) "*) echo $p ;; esac
	done
}
# until_true COMMAND...: waits for a command that succeeds
until_true() {
	for i in $(seq 300); do
		"$@" && return
		sleep 0.1
	done
	echo "it has not come to: $*"
	tail -n 20 job.* sdm.*
	exit 99
}
waits() { [ "$(grep -c ' waits$' job.out 2>/dev/null)" = 3 ]; }
traced() { [ "$(for p in $(pgrep mpiwait); do cat /proc/$p/status; done | grep -c '^TracerPid:.[1-9]')" = $1 ]; }
gone() { [ -z "$(pgrep -x "$1")" ]; }
# debug COMMAND...: starts a session whose input stays open, with stopped ranks
debug() {
	rm -f in
	mkfifo in
	"$@" <in >sdm.out 2>sdm.err &
	sdm=$!
	exec 5>in
	echo 'print 6 * 7' >&5
	until_true grep -q '\[0-2\] 6 \* 7 = 42' sdm.out
}
# job GO: starts a job that waits for a file
job() {
	mpirun.openmpi --map-by ppr:1:node --host n0:1,n1:1,n2:1 -n 3 $WAIT $PWD/$1 >job.out 2>job.err &
	job=$!
	until_true waits
}
# ends NAME STATUS: the job ends so while the session is open, and nothing of ours is left
ends() {
	wait $job
	status=$?
	[ $status = $2 ] || echo "$1: the job ends with $status, not $2"
	grep -v -x -e 'rank [0-2] waits' -e '3 of 3 ranks counted' job.out && echo "$1: the job has written that"
	exec 5>&-
	wait $sdm
	echo "$1: sdm ends with $?"
	until_true gone sdm-server
	until_true gone gdb
	until_true gone sdm-pmix
}

job a
debug sdm attach --connect-wait 60s pmix:$job
echo 'continue &' >&5
kill -9 $(servers n1)
until_true grep -q 'n1' sdm.err sdm.out
until_true traced 2
: >a
ends "killed server" 0
cat sdm.out sdm.err

job b
debug sdm attach --connect-wait 60s pmix:$job
kill -9 $sdm
until_true traced 0
: >b
ends "killed sdm" 0

job c
debug sdm attach --connect-wait 60s pmix:$job
kill -9 $(servers n0 n1 n2)
until_true traced 0
: >c
ends "killed servers" 0

job d
debug sdm attach --connect-wait 60s pmix:$job
echo 'continue &' >&5
kill -9 $(pgrep mpiwait | head -n 1)
ends "killed rank" 137

prte --daemonize --host n0:1,n1:1,n2:1 || exit 99
server=$(cat $TMPDIR/prte.*/pmix.n0.tool.[0-9]* | sed -n 3p)
debug sdm run --launcher pmix -n 3 --map-by ppr:1:node --bind-to none $WAIT $PWD/e
echo 'continue &' >&5
kill -9 $(servers n2)
until_true grep -q 'n2' sdm.err sdm.out
until_true traced 0 # the server ends all processes of the job of which one was killed
: >e
until_true grep -q '3 of 3 ranks counted' sdm.out
exec 5>&-
wait $sdm
echo "killed daemon: sdm ends with $?"
cat sdm.out sdm.err
kill -0 $server || echo "the PMIx server has ended"
kill $server
`

// TestPMIxHarmsNoJob kills our servers that PMIx servers have started, sdm, and a rank.
func TestPMIxHarmsNoJob(t *testing.T) {
	t.Parallel()
	onePRRTE(t, "trixie", func(s *scene, r *launchtest.Root) {
		p := s.onHosts(r, noHarm)
		p.exits(0)
		p.hides("the job ends with", "the job has written", "the PMIx server has ended", "are started in another way")
		p.says("killed server: sdm ends with 1\n")
		if n := strings.Count(p.out.text(), "3 of 3 ranks counted"); n != 1 {
			p.t.Errorf("%d jobs%s", n, p.said())
		}
	})
}
