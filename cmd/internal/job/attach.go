// Attaches to a running job: finds its ranks and starts servers for them.

package job

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/master/frontend/console"
	"sdm/protocol"
)

// Attach finds the ranks of a running job and starts servers for them. target is what the user
// gives: a process id, or one of the prefixed forms that finder.find knows (slurm:JOBID).
func Attach(ctx context.Context, s Spec, io IO, target string) (*Job, error) {
	b := s.builder(io)
	f := finder{b, &s, &io, &counts{}}
	if s.WhenStarted {
		if err := f.awaitStart(ctx, target); err != nil {
			return nil, failed(console.StatusNotStarted, err)
		}
	}
	here := startEarly(b, target)
	p, holder, err := f.find(ctx, target)
	release := func() {
		if holder != nil {
			endLauncher(holder, io.Log)
		}
	}
	p.Whole = p.Table
	if err == nil {
		p.Table, err = s.chosen(p.Whole)
	}
	if err == nil {
		err = refuseOurselves(p.Table)
	}
	if err != nil {
		if here != nil {
			here.Close()
		}
		release()
		return nil, failed(console.StatusNotStarted, err)
	}
	if s.Servers.Backend != "probe" { // a probe holds a rank for about a millisecond
		f.heldTooLong(p.Table)
	}
	b.PackGDB()
	defer b.DropGDB()
	p = coAttach(ctx, b, p, holder)
	t, err := b.Assemble(ctx, p, here)
	if err != nil {
		release()
		return nil, NotBuilt(ctx, err, nil)
	}
	j := attached(t, p.Table, io)
	j.Session = f.counts.over(j.Session)
	if p.BySrun {
		j.checkTasks(p.Table)
	}
	closeTree := j.end
	j.end = func(ctx context.Context, status console.Status) (console.Status, error) {
		defer release()
		return closeTree(ctx, status)
	}
	if holder != nil {
		j.Started = func() { holder.Release() }
	}
	return j, nil
}

// startEarly starts the server of this host before the ranks are known, for the case that all are
// here: it starts while they are looked for. nil: they are probably elsewhere, or the server cannot
// be started, which Assemble tells.
func startEarly(b *servers.Builder, target string) *servers.Local {
	kind, _, named := strings.Cut(target, ":")
	if named && slices.Contains([]string{"slurm", "job", "hostfile"}, kind) || b.Hosts != "" || b.PerServer != 0 || b.IsChosen() {
		return nil
	}
	var more []string
	if b.Backend == "" {
		more = []string{"--gdbs-ahead", strconv.Itoa(gdbsAhead)}
	}
	here, err := b.StartLocal(1, more...)
	if err != nil {
		return nil
	}
	return here
}

// gdbsAhead is how many gdbs are started before the ranks are known. Two ranks or more get at least
// two; a single rank is attached to before the second has started.
const gdbsAhead = 2

// refuseOurselves refuses a job that contains this process, a process started by it, or init.
// Servers make the same check on their hosts.
func refuseOurselves(table protocol.Proctable) error {
	for _, n := range table.Nodes() {
		if !servers.IsHere(n.Host) {
			continue
		}
		for _, p := range n.Pids {
			if err := launch.RefuseOurselves(p.PID); err != nil {
				return fmt.Errorf("rank %d: %w", p.Rank, err)
			}
		}
	}
	return nil
}

// endLauncher ends a launcher and logs an error.
func endLauncher(h launch.Launcher, log *slog.Logger) {
	ctx, cancel := servers.Closing()
	defer cancel()
	if err := h.End(ctx); err != nil {
		log.Warn("the starter", "err", err)
	}
}
