// Lists the jobs of this user that run on this host.

package job

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/launch"
)

// Listed is a job in a list.
type Listed struct {
	Target  string // the argument of attach
	Program string // of its ranks
	Ranks   string // how many
}

// maxPidsListed bounds the ranks that are named one by one in Listed.Target.
const maxPidsListed = 16

// List returns the jobs of this user on this host that can be attached to. If /proc does not answer before ctx ends, it
// is an error; a goroutine then remains until it does.
func List(ctx context.Context) ([]Listed, error) {
	done := make(chan []launch.Running, 1)
	go func() { done <- launch.RankFrom{}.RunningJobs(isStarterExe, isOurs) }()
	select {
	case found := <-done:
		var all []Listed
		for _, j := range found {
			if l, some := listed(j); some {
				all = append(all, l)
			}
		}
		return all, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the jobs of this host are not known: %w", context.Cause(ctx))
	}
}

func isStarterExe(exe string) bool { return slices.Contains(Starters, StarterName(exe)) }

// isOurs reports whether a process is one of sdm: what is below it has a session.
func isOurs(exe string) bool {
	name := filepath.Base(exe)
	return name == "sdm" || name == "sdm-server" || name == "sdm-master"
}

// listed describes a job; some is false if there is no way to name it.
func listed(j launch.Running) (l Listed, some bool) {
	l = Listed{Program: j.Program, Ranks: fmt.Sprintf("%d here", len(j.Ranks))}
	switch {
	case j.Size != launch.Unknown && j.Size > len(j.Ranks):
		l.Ranks += fmt.Sprintf(" of %d", j.Size)
	case len(j.Ranks) == 0:
		l.Ranks = "none here"
	}
	switch {
	case j.Starter != 0:
		l.Target = strconv.Itoa(j.Starter)
	case strings.HasPrefix(j.Name, "torchrun:"):
		l.Target = j.Name
	case len(j.Ranks) <= maxPidsListed:
		l.Target, _ = named(j.Ranks)
	default:
		return l, false
	}
	return l, true
}
