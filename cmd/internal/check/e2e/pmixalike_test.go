// Jobs of a starter without MPIR, held by its PMIx server or started in its slots: what happens to
// them must be alike.

package e2e

import (
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// alike is a script that has the same sessions by each launcher. The oracle is the starter alone.
const alike = `
line="mpirun.openmpi --map-by slot:oversubscribe -n 2"
$line $EXIT 7 >out 2>&1
own=$?
for launcher in slot pmix; do
	sdm run --launcher $launcher -b -e continue -- $line $EXIT 7 >out 2>&1
	status=$?
	[ $status = $own ] || { echo "$launcher: status $status, not $own"; cat out; }
	for signal in TERM KILL; do
		rm -f out
		sdm run --launcher $launcher -b -e continue -- $line $WAIT $PWD/never >out 2>&1 &
		sdm=$!
		until [ "$(grep -c ' waits$' out 2>/dev/null)" = 2 ]; do
			kill -0 $sdm || { cat out; exit 99; }
			sleep 0.1
		done
		kill -$signal $sdm
		wait $sdm
		for i in $(seq 200); do
			left=$(pgrep -l 'mpiwait|prte|sdm')
			[ -n "$left" ] || break
			sleep 0.1
		done
		echo "$launcher $signal: left:$left"
	done
done 2>/dev/null
echo "-n 2 $RING" >app
sdm run -b -e continue -- mpirun.openmpi --map-by slot:oversubscribe --app app || echo "file: status $?"
sdm run --launcher pmix --pmix-indirect spawn -b -e 'break sum' -e continue -e continue -- $line $RING || echo "spawn: status $?"
sdm run --launcher pmix --pmix-indirect spawn -b -e continue -- $line $ECHO
echo "spawn: it ends with $?"
sdm run --launcher pmix --pmix-indirect spawn -b -e kill -- $line $RING || echo "kill: status $?"
pgrep -l 'ring|prte|sdm'
`

// TestPMIxBesideSlots ends jobs of both launchers by their own exit, and by signals to sdm. A line
// without a place for our servers is held by PMIx, as sdm says.
func TestPMIxBesideSlots(t *testing.T) {
	t.Parallel()
	onePRRTE(t, "forky", func(s *scene, r *launchtest.Root) {
		s.env = append(s.env, "EXIT="+openMPI.program("mpiexit"), "RING="+openMPI.program("ring"), "WAIT="+openMPI.program("mpiwait"), "ECHO="+openMPI.program("mpiecho"))
		p := &console{process: s.inRoot(r, "bash", "-c", alike), size: 2}
		p.exits(1) // pgrep finds nothing
		p.says("slot TERM: left:\n", "slot KILL: left:\n", "pmix TERM: left:\n", "pmix KILL: left:\n",
			"has no MPIR, and --app takes the programs from a file", "its PMIx server holds the ranks in MPI_Init\n",
			"end of file after 0 lines\n", "the ranks find the end of standard input at once")
		p.folded("exited with code 9", "")
		p.hides(": status ", "PMIX ERROR", "spawn: it ends with 0\n") // 9, or 1 where libpmix does not tell it
		if n := strings.Count(p.out.text(), "total 4950"); n != 2 {
			p.t.Errorf("%d of 2 jobs have ended%s", n, p.said())
		}
	})
}
