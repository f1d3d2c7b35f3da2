// Jobs of PRRTE, in roots of other systems: this program runs a second time in each.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sdm/launch/pmix"
)

// prrteRoots are the systems with PRRTE 3.0.8 and 5.0.0rc1 (testdata/roots/fetch).
var prrteRoots = []string{"trixie", "forky"}

// benchPMIx measures sdm attach pmix:PID, and the start of 8 ranks by a PMIx server.
func benchPMIx(b *bench) {
	dir := filepath.Join(b.dir, "prrte")
	err := b.preparePRRTE(dir)
	for _, root := range prrteRoots {
		why := err
		if why == nil {
			why = b.inRoot(root, dir)
		}
		if why != nil {
			b.progress("%s: left out: %v", root, why)
			b.table.add(row{what: fmt.Sprintf("PMIx, %s: not measured: %v", root, why)})
		}
	}
}

// preparePRRTE makes a folder with all programs that are needed in a root.
func (b *bench) preparePRRTE(dir string) error {
	if out, err := exec.Command("pkg-config", "--modversion", "pmix").CombinedOutput(); err != nil {
		return fmt.Errorf("pkg-config finds no pmix: %s", strings.TrimSpace(string(out)))
	}
	if _, err := exec.LookPath(compiler); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for from, to := range map[string]string{self: "bench", b.console(): "sdm", b.server: "sdm-server"} {
		b.run("cp", from, filepath.Join(dir, to))
	}
	b.run("env", "CGO_ENABLED=1", "go", "build", "-tags", "pmix", "-o", filepath.Join(dir, pmix.Program), "./cmd/sdm-pmix")
	b.run(compiler, "-g", "-O0", "-o", filepath.Join(dir, "mpiwait"), sources+"mpiwait.c")
	return nil
}

// inRoot runs the measurements in a root and adds their rows.
func (b *bench) inRoot(root, dir string) error {
	b.progress("%s: %d ranks of PRRTE", root, heldRanks)
	cmd := exec.Command("testdata/roots/enter", "--rw", dir, root, "--", filepath.Join(dir, "bench"), "prrte", root, dir)
	cmd.Env = append(b.starterEnv(), "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "TMPDIR=/tmp", "HOME=/root",
		"SDM_NO_RC=true", "PATH="+dir+":"+os.Getenv("PATH"))
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var m measured
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			b.progress("%s: %s ms, floor %s ms", m.What, number(m.Ours), number(m.Floor))
			b.table.add(row{what: m.What, unit: "ms", ours: m.Ours, floor: m.Floor, ratio: m.Ratio, limit: wayLimit})
		}
	}
	if err := cmd.Wait(); err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return nil
}

// measured is a row that was measured in a root.
type measured struct {
	What               string
	Ours, Floor, Ratio float64
}

// print writes the row as a line of JSON, for inRoot.
func (m measured) print() {
	text, err := json.Marshal(m)
	if err != nil {
		fatal(m.What, err)
	}
	fmt.Println(string(text))
}

// prrte is the run in a root.
type prrte struct {
	root, dir string
	b         *bench
	per       int // ranks of a gdb of sdm
}

// file returns the path of a file in the folder of the programs.
func (p *prrte) file(name string) string { return filepath.Join(p.dir, name) }

// servePRRTE measures in a root; its arguments are the root's name and the folder of the programs.
func servePRRTE(args []string) {
	p := &prrte{root: args[0], dir: args[1], b: &bench{dir: args[1], server: filepath.Join(args[1], "sdm-server")}}
	p.attach()
	p.direct()
}

// server returns how a server is reached.
func (p *prrte) server(t pmix.Target) pmix.ServerSpec {
	return pmix.ServerSpec{Program: p.file(pmix.Program), Env: os.Environ(), Target: t}
}

// attach measures sdm attach pmix:PID.
func (p *prrte) attach() {
	cmd := exec.Command("mpirun.openmpi", "--map-by", "slot:oversubscribe", "-n", strconv.Itoa(heldRanks), p.file("mpiwait"), p.file("go-"+p.root))
	out := startPiped(cmd, "mpirun")
	defer cmd.Wait()
	defer os.WriteFile(p.file("go-"+p.root), nil, 0o600)
	lines := bufio.NewReader(out)
	for range heldRanks {
		if _, err := lines.ReadString('\n'); err != nil {
			fatal("the job of mpirun", errors.New("it has ended"))
		}
	}
	pids := named(family(cmd.Process.Pid), "mpiwait")
	if len(pids) != heldRanks {
		fatal("the job of mpirun", fmt.Errorf("%d ranks were found", len(pids)))
	}
	_, _, gdbs := p.b.attachBySDM(pids)
	p.per = (heldRanks + gdbs - 1) / gdbs
	k := &known{what: fmt.Sprintf("sdm attach pmix:PID, %d ranks, PRRTE of %s", heldRanks, p.root), target: fmt.Sprintf("pmix:%d", cmd.Process.Pid)}
	line := k.attachLine(p.b)
	c := compare(wayTimes, 1,
		func(int) time.Duration { return k.bySDM(line, heldRanks) },
		func(int) time.Duration { return p.asked(k.what, cmd.Process.Pid, pids) })
	measured{k.what, ms(c.times[0]), ms(c.times[1]), c.ratio[1]}.print()
}

// asked is the floor of attach: libpmix lists the ranks of a starter, and bare gdbs attach.
func (p *prrte) asked(what string, starter int, pids []int) time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	began := time.Now()
	a := pmix.NewAttach(pmix.AttachSpec{ServerSpec: p.server(pmix.Target{PID: starter})})
	if _, err := a.Acquire(ctx, func(string) {}); err != nil {
		fatal(what, err)
	}
	listed := time.Since(began)
	took, _ := attachByGDBs(pids, p.per)
	a.End(ctx)
	return listed + took
}

// direct measures sdm run --launcher pmix until all ranks are attached, against the same spawn by
// libpmix, and a second one of bare gdbs.
func (p *prrte) direct() {
	host, _ := os.Hostname()
	if out, err := exec.Command("prte", "--daemonize", "--host", host+":"+strconv.Itoa(2*heldRanks)).CombinedOutput(); err != nil {
		fatal("prte", fmt.Errorf("%w: %s", err, out))
	}
	what := fmt.Sprintf("sdm run --launcher pmix -n %d, PRRTE of %s, until all are attached", heldRanks, p.root)
	line := []string{"run", "--launcher", "pmix", "--format", "ndjson", "-n", strconv.Itoa(heldRanks), "--map-by", "slot:oversubscribe", "--bind-to", "none", p.file("mpiwait")}
	c := compare(heldStarts, 1,
		func(int) time.Duration { return heldBySDM(p.file("sdm"), line, os.Environ()) },
		func(int) time.Duration { return p.spawned(what) })
	measured{what, ms(c.times[0]), ms(c.times[1]), c.ratio[1]}.print()
}

// spawned is the floor of direct: libpmix starts the ranks, and then this program on their host,
// which attaches bare gdbs.
func (p *prrte) spawned(what string) time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	began := time.Now()
	d := pmix.NewDirect(pmix.DirectSpec{ServerSpec: p.server(pmix.Target{}), Stop: pmix.InInit,
		Directives: pmix.Directives{MapBy: "slot:oversubscribe", BindTo: "none"},
		Apps:       []pmix.App{{Argv: []string{p.file("mpiwait")}, Procs: heldRanks, Dir: p.dir}}})
	table, err := d.Acquire(ctx, func(string) {})
	if err != nil {
		fatal(what, err)
	}
	meeting, err := net.Listen("unix", p.file("meeting"))
	if err != nil {
		fatal(what, err)
	}
	defer meeting.Close()
	if err := d.StartDaemons(ctx, gdbsLine(meeting.Addr().String(), p.per, table.Nodes()), nil,
		[]string{table[0].Host}); err != nil {
		fatal(what, err)
	}
	took := awaitGDBs(what, meeting, 1, began)
	if err := d.End(ctx); err != nil {
		fatal(what, err)
	}
	return took
}
