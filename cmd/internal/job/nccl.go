// Running jobs of NCCL without a starter: the RAS service within its processes names them.

package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/nccl"
	"sdm/master/peer"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// ncclName begins the name of a job of NCCL: nccl:[HOST[:PORT]][@PID].
const ncclName = "nccl:"

// RunsOn reports whether the ranks of a job must not be held from the begin: NCCL's RAS takes a process that does not
// answer for dead.
func RunsOn(target string) bool { return strings.HasPrefix(target, ncclName) }

// ras is where RAS of a job answers.
type ras struct {
	host string
	port int
	here bool         // the host is this one
	of   nccl.Process // of the job that is meant; PID 0: any
	pid  int          // of it on its host, as the user says; 0: any
}

// parseNCCL reads what follows nccl:. address is NCCL_RAS_ADDR of our own environment.
func parseNCCL(text, address string) (r ras, err error) {
	at, pid, chosen := strings.Cut(text, "@")
	if r.host, r.port = "localhost", nccl.Port; at == "" {
		at = address
	}
	if chosen {
		if r.pid, err = strconv.Atoi(pid); err != nil || r.pid <= 0 {
			return r, fmt.Errorf("%q is no process", pid)
		}
	}
	if at == "" {
		return r, nil
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil { // no port
		host, port = strings.Trim(at, "[]"), strconv.Itoa(nccl.Port)
	}
	if r.port, err = strconv.Atoi(port); err != nil || r.port <= 0 || r.port > 0xffff {
		return r, fmt.Errorf("%q is no port", port)
	}
	if r.host = host; net.ParseIP(host) == nil {
		err = protocol.CheckHost(host)
	}
	return r, err
}

// connectTime bounds the making of a connection.
const connectTime = 3 * time.Second

// ask asks once; any process of any job of the user on the host may answer.
func (r *ras) ask(ctx context.Context) (*nccl.Reply, error) {
	c, err := (&net.Dialer{Timeout: connectTime}).DialContext(ctx, "tcp", net.JoinHostPort(r.host, strconv.Itoa(r.port)))
	if err != nil {
		return nil, fmt.Errorf("NCCL's RAS: %w", err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	reply, err := nccl.Ask(c, time.Now())
	if err == nil && r.here {
		err = peer.OfThisUser(c)
	}
	return reply, err
}

// Bounds of the questions until a process of a certain job answers: the kernel chooses who answers, so that of two jobs
// with 2 and 64 processes the small one is heard in 99.9 % of 256 questions.
const (
	tries    = 256
	triesFor = 5 * time.Second
)

// askJob asks until a process of the job that is meant answers.
func (r *ras) askJob(ctx context.Context) (*nccl.Reply, error) {
	var others []string
	begin := time.Now()
	for i := 0; i == 0 || i < tries && time.Since(begin) < triesFor; i++ {
		reply, err := r.ask(ctx)
		if err != nil || reply.Text != "" || r.pid == 0 && r.of.PID == 0 {
			return reply, err
		}
		all := reply.Processes()
		if slices.ContainsFunc(all, func(p nccl.Process) bool {
			return p == r.of || r.of.PID == 0 && p.PID == r.pid
		}) {
			return reply, nil
		}
		if name := nameOf(all); !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	return nil, fmt.Errorf("NCCL's RAS at port %d of %s answers for other jobs: %s", r.port, r.host,
		strings.Join(others, "; "))
}

// nameOf names a job by its processes.
func nameOf(all []nccl.Process) string {
	if len(all) == 0 {
		return "one without communicators"
	}
	least := slices.MinFunc(all, func(a, b nccl.Process) int { return a.PID - b.PID })
	return fmt.Sprintf("one of %d processes, %d among them", len(all), least.PID)
}

// findNCCL finds the processes of a job of NCCL. Before RAS is asked, it looks who listens there. Other hosts are
// looked at by the user's remote shell if the user has named them, and no others.
func (f finder) findNCCL(ctx context.Context, text string) (servers.Placement, error) {
	at, err := parseNCCL(text, f.Lookup("NCCL_RAS_ADDR"))
	if err != nil {
		return servers.Placement{}, misused("nccl: %w (nccl:HOST, nccl:HOST:PORT, nccl:HOST:PORT@PID)", err)
	}
	hosts, err := f.listening(ctx, &at)
	if err != nil {
		return servers.Placement{}, err
	}
	reply, err := at.askJob(ctx)
	if err == nil && at.pid == 0 {
		err = f.single(ctx, at, reply, hosts)
	}
	if err != nil {
		return servers.Placement{}, err
	}
	p := servers.Placement{ID: "nccl"}
	if reply.Text != "" {
		f.Remark("NCCL's RAS is older than 2.28.7, so that it does not tell counts in a form that is read here; it says:\n" +
			strings.TrimRight(reply.Text, "\n"))
		p.Table, err = f.listeners(hosts)
		return p, err
	}
	numbers := reply.Numbers()
	table, refused := nccl.Join(numbers, at.port, hosts)
	for _, r := range refused {
		f.Remark(fmt.Sprintf("nobody looks at %s: %s", servers.Named(r.Ranks), r.Why))
	}
	if len(table) == 0 {
		return p, fmt.Errorf("NCCL's RAS at port %d of %s names %d processes, none of which is found", at.port, at.host, len(numbers))
	}
	if err := table.Check(); err != nil {
		return p, fmt.Errorf("the processes that NCCL's RAS names: %w", err)
	}
	var all rank.Set
	for process, id := range numbers {
		all = all.Union(rank.Of(id))
		if id == table[0].Rank {
			at.of = process
		}
	}
	*f.counts = counts{at: at, first: reply, numbers: numbers, unseen: all.Minus(table.Ranks()), remark: f.Remark,
		runs: f.job.Servers.Backend == "probe"}
	p.Table = table
	return p, nil
}

// listening returns the processes of the user that listen on the port of RAS: on its host, and on the hosts that the
// user has named.
func (f finder) listening(ctx context.Context, at *ras) (all []launch.Found, err error) {
	at.here = servers.IsHere(at.host)
	names := []string{at.host}
	if f.Hosts != "" {
		more, err := ReadHosts(ctx, f.Hosts)
		if err != nil {
			return nil, err
		}
		for _, name := range more {
			if name != at.host && !(at.here && servers.IsHere(name)) {
				names = append(names, name)
			}
		}
	}
	var others []string
	for _, name := range names {
		if servers.IsHere(name) {
			all = append(all, launch.Listening(at.port, servers.HostName()))
		} else {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		answers, err := f.list(ctx, "", others, "--listens", strconv.Itoa(at.port))
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			found, err := launch.ReadFound(bytes.NewReader(a.Out))
			if err = errors.Join(err, a.Err); err != nil {
				found = append(found, launch.Found{Host: a.Host, Error: err.Error() + " (" + servers.ShellHint + ")"})
			}
			all = append(all, found...)
		}
	}
	known := false
	for _, h := range all {
		owner := h.Host == at.host || at.here && servers.IsHere(h.Host)
		known = known || owner
		switch {
		case h.Error == "":
		case owner: // whoever listens there is not believed
			return nil, fmt.Errorf("%s (NCCL's RAS is there from release 2.24 on, unless NCCL_RAS_ENABLE is 0; NCCL_RAS_ADDR moves it: nccl:HOST:PORT)", h.Error)
		default:
			f.Remark("without " + h.Host + ": " + h.Error)
		}
	}
	if !known {
		return nil, fmt.Errorf("it is not known who listens on port %d of %s", at.port, at.host)
	}
	return slices.DeleteFunc(all, func(h launch.Found) bool { return h.Error != "" }), nil
}

// Bounds of the questions about processes that listen and that the answer does not name.
const (
	moreTries    = 32
	moreTriesFor = 2 * time.Second
)

// single returns an error that names the jobs if several answer at the port: some processes of this host listen that
// the job of the answer does not have, and one of them answers for another job.
func (f finder) single(ctx context.Context, r ras, reply *nccl.Reply, hosts []launch.Found) error {
	if !r.here || reply.Text != "" {
		return nil
	}
	named := map[int]bool{}
	for _, p := range reply.Processes() {
		named[p.PID] = true
	}
	jobs := []string{nameOf(reply.Processes())}
	unnamed := func(x launch.FoundRank) bool { return !named[x.PID] && !named[x.Inner] }
	begin := time.Now()
	for i := 0; slices.ContainsFunc(hosts[0].Ranks, unnamed) && i < moreTries && time.Since(begin) < moreTriesFor; i++ {
		again, err := r.ask(ctx)
		if err != nil {
			return nil // the first answer stands
		}
		all := again.Processes()
		if name := nameOf(all); len(all) > 0 && !slices.Contains(jobs, name) {
			jobs = append(jobs, name)
		}
		for _, p := range all {
			named[p.PID] = true
		}
	}
	switch i := slices.IndexFunc(hosts[0].Ranks, unnamed); {
	case len(jobs) > 1:
		return fmt.Errorf("several jobs answer at port %d: %s (name one by a process: nccl:%s:%d@PID)", r.port,
			strings.Join(jobs, "; "), r.host, r.port)
	case i >= 0:
		f.Remark(fmt.Sprintf("process %d, and perhaps others, listen on port %d, too, and are not in the job that answers (nccl:%s:%d@PID is the job of a process)",
			hosts[0].Ranks[i].PID, r.port, r.host, r.port))
	}
	return nil
}

// listeners makes a table of processes that listen, in the order of their hosts and ids, or by the numbers that their
// environments tell if these are all on this host.
func (f finder) listeners(hosts []launch.Found) (table protocol.Proctable, err error) {
	for _, h := range hosts {
		for _, r := range h.Ranks {
			table = append(table, protocol.Process{Rank: rank.ID(len(table)), Host: h.Host, PID: r.PID})
		}
	}
	if len(hosts) == 1 && servers.IsHere(hosts[0].Host) {
		if numbered, _, err := f.ranks().NumberPids(table, -1); err == nil {
			return numbered, nil
		}
	}
	return table, table.Check()
}
