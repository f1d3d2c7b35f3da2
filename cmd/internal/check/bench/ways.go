// Attaching to running jobs, by each way in which sdm finds their ranks and starts its servers.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
)

// wayTimes is how often each way attaches.
const wayTimes = 7

// known is a running job, and how its launcher knows it.
type known struct {
	what   string          // of the row
	target string          // argument of sdm attach
	nodes  []protocol.Node // with their ranks
	env    []string        // of all commands; nil: that of this process
	on     []string        // words before each command, to run it where sdm runs; nil: here
	lists  [][]string      // the commands of the launcher that list the ranks
	starts func() []string // the command of the launcher that starts another one on each node; nil: all ranks are here
	end    func()          // ends the job; nil: the caller ends it
}

// wayLimit is the target of these rows.
var wayLimit = limit{ratio: 1.3}

// ways are the jobs of one host. Those of several hosts, and of other systems, have sections of
// their own.
var ways = []func(*bench) *known{startOpenMPI, startMPICH, startTorchrun, startFlux, startPALS}

// benchWays measures attaching to each of the ways' jobs.
func benchWays(b *bench) {
	for _, start := range ways {
		if k := start(b); k != nil {
			b.attachTo(k)
			k.end()
		}
	}
}

// attachTo measures the time from the start of sdm attach until all ranks are attached, against
// the launcher's own lists, its own start of a process on each other node, and as many bare gdbs.
func (b *bench) attachTo(k *known) {
	b.progress("%s: %d times each way", k.what, wayTimes)
	_, _, gdbs := b.attachBySDM(pidsOf(k.nodes[0]))
	per, ranks := (len(k.nodes[0].Pids)+gdbs-1)/gdbs, 0
	for _, n := range k.nodes {
		ranks += len(n.Pids)
	}
	line := k.attachLine(b)
	c := compare(wayTimes, 1, func(int) time.Duration { return k.bySDM(line, ranks) },
		func(int) time.Duration { return k.byGDBs(b, per) })
	b.table.add(row{what: k.what, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1],
		limit: wayLimit})
}

// attachLine returns the command that attaches with sdm, for bySDM.
func (k *known) attachLine(b *bench) *exec.Cmd {
	return k.command(b.console(), "attach", "--no-rc", "--format", "ndjson", "-b", "-e", "ranks", k.target)
}

// pidsOf returns the process IDs of the ranks of a node.
func pidsOf(n protocol.Node) (pids []int) {
	for _, p := range n.Pids {
		pids = append(pids, p.PID)
	}
	return pids
}

// command returns a command as sdm is run.
func (k *known) command(line ...string) *exec.Cmd {
	line = slices.Concat(k.on, line)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = k.env
	return cmd
}

// bySDM attaches with sdm and returns the time until all ranks are attached. They run on.
func (k *known) bySDM(cmd *exec.Cmd, ranks int) time.Duration {
	cmd = k.again(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		fatal(k.what, err)
	}
	cmd.Stderr = os.Stderr
	began, took := time.Now(), time.Duration(0)
	if err := cmd.Start(); err != nil {
		fatal(k.what, err)
	}
	for text := bufio.NewScanner(out); text.Scan(); {
		var e struct {
			Event, Command   string
			Answered, Faults int
		}
		if json.Unmarshal(text.Bytes(), &e) == nil && e.Event == "done" && e.Command == "attach" {
			if took = time.Since(began); e.Answered != ranks || e.Faults != 0 {
				fatal(k.what, fmt.Errorf("attached to %d of %d ranks", e.Answered-e.Faults, ranks))
			}
		}
	}
	if err := cmd.Wait(); err != nil || took == 0 {
		fatal(k.what, fmt.Errorf("sdm has not attached: %w", err))
	}
	return took
}

// again returns a copy of a command that has not been started.
func (k *known) again(cmd *exec.Cmd) *exec.Cmd {
	next := exec.Command(cmd.Path, cmd.Args[1:]...)
	next.Env = cmd.Env
	return next
}

// byGDBs is the floor: the lists, and bare gdbs with per ranks each.
func (k *known) byGDBs(b *bench, per int) time.Duration {
	began := time.Now()
	for _, list := range k.lists {
		k.output(list...)
	}
	if k.starts == nil {
		listed := time.Since(began)
		took, _ := attachByGDBs(pidsOf(k.nodes[0]), per)
		return listed + took
	}
	return k.remoteGDBs(b, per, began)
}

// output runs a command of the launcher and returns what it writes.
func (k *known) output(line ...string) string {
	cmd := k.command(line...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		fatal(strings.Join(line, " "), fmt.Errorf("%w: %s", err, said.String()))
	}
	return string(out)
}

// remoteGDBs lets the launcher start this program on the nodes, which attaches bare gdbs. It
// returns the time since began until all have.
func (k *known) remoteGDBs(b *bench, per int, began time.Time) time.Duration {
	meeting, err := net.Listen("unix", filepath.Join(b.dir, "meeting"))
	if err != nil {
		fatal(k.what, err)
	}
	defer meeting.Close()
	cmd := k.command(append(k.starts(), gdbsLine(meeting.Addr().String(), per, k.nodes)...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		fatal(k.what, err)
	}
	took := awaitGDBs(k.what, meeting, len(k.nodes), began)
	if err := cmd.Wait(); err != nil {
		fatal(k.what, fmt.Errorf("%w: %s", err, said.String()))
	}
	return took
}

// awaitGDBs waits until the gdbs of n nodes have attached, lets them leave, and returns the time
// since began until they had.
func awaitGDBs(what string, meeting net.Listener, n int, began time.Time) time.Duration {
	late := time.AfterFunc(patience, func() { fatal(what, fmt.Errorf("bare gdbs have not attached")) })
	defer late.Stop()
	var all []net.Conn
	for len(all) < n {
		c, err := meeting.Accept()
		if err != nil {
			fatal(what, err)
		}
		all = append(all, c)
	}
	took := time.Since(began)
	for _, c := range all {
		c.Close()
	}
	return took
}

// gdbsLine returns the command that attaches bare gdbs to the processes of its host.
func gdbsLine(meeting string, per int, nodes []protocol.Node) []string {
	self, err := os.Executable()
	if err != nil {
		fatal("this program", err)
	}
	line := []string{self, "gdbs", meeting, strconv.Itoa(per)}
	for _, n := range nodes {
		word := n.Host + "="
		for _, pid := range pidsOf(n) {
			word += strconv.Itoa(pid) + ","
		}
		line = append(line, word)
	}
	return line
}

// serveGDBs attaches bare gdbs to the processes that are named for this host, connects to the
// meeting, and leaves them when the connection ends.
func serveGDBs(args []string) {
	host, _ := os.Hostname()
	per, _ := strconv.Atoi(args[1])
	var pids []int
	for _, word := range args[2:] {
		if list, own := strings.CutPrefix(word, host+"="); own {
			for one := range strings.SplitSeq(strings.TrimSuffix(list, ","), ",") {
				pid, _ := strconv.Atoi(one)
				pids = append(pids, pid)
			}
		}
	}
	gdbs := attachBare(pids, per)
	c, err := net.Dial("unix", args[0])
	if err != nil {
		fatal("bare gdbs", err)
	}
	c.Read(make([]byte, 1)) // returns when the connection ends
	for _, g := range gdbs {
		g.leave()
	}
}
