// Package servers starts the servers of a session, on this host and on others, and builds the tree
// over them.
package servers

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sdm/cmd/internal/gdbflags"
	"sdm/cmd/internal/startup"
	"sdm/launch/secret"
	"sdm/launch/slurm"
	"sdm/master"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Spec says how the servers of a session and its master are configured.
type Spec struct {
	GDB         gdbflags.Values
	Backend     string // engine of the servers; "": gdb
	LogFlags    startup.Log
	Linger      time.Duration // how long servers keep their ranks after the loss of the master
	WhenLost    string        // what they do then: kill or detach
	Output      string        // where the output of the ranks goes: OutputConsole or OutputStarter
	ConnectWait time.Duration // limit of the start, see Clock; 0: none
	PerServer   int           // ranks of one server on this host; 0: one server has all

	Tree      string        // shape; "": binomial
	Wait      time.Duration // limit of a command's answers
	Heartbeat time.Duration // 0: none
	Silence   time.Duration // time without a heartbeat answer after which a server is lost

	Way               // to other hosts
	Listen     string // host or address at which servers register; "": all of this host
	SecretFile string // "": the user's
	Stage      string // directory on the nodes to which servers are copied; "": none
	StageGDB   bool   // gdb is copied there, too

	Hosts    string // hosts of the ranks, for job.ReadHosts; "": not named
	RankFrom string // variables of an unknown starter, for launch.ParseRankFrom

	Env        []string // of sdm
	StarterEnv []string // of commands that start servers
}

// Values of Spec.Output.
const (
	OutputConsole = "console"
	OutputStarter = "starter"
)

// Builder starts the servers of one session.
type Builder struct {
	Spec
	Clock    *Clock
	Log      *slog.Logger
	Stderr   *os.File     // for commands that start servers
	Remark   func(string) // shows a message to the user
	Progress io.Writer    // shows progress; nil: there is no terminal
	// Components are the components of a heterogeneous job of Slurm, for its srun; nil: the job has
	// none.
	Components []slurm.Component

	archive *archive // of gdb, for the nodes; nil: none
}

// Shape returns the shape of the tree.
func (s *Spec) Shape() string {
	if s.Tree == "" {
		return "binomial"
	}
	return s.Tree
}

// Count returns the number of servers for ranks on this host.
func (s *Spec) Count(ranks int) int {
	if s.PerServer == 0 {
		return 1
	}
	return (ranks + s.PerServer - 1) / s.PerServer
}

// Key returns the secret of the user, or the one in the file that the user has named.
func (s *Spec) Key() (secret.Key, error) {
	if s.SecretFile != "" {
		return secret.File(s.SecretFile)
	}
	return secret.User()
}

// secretPath returns the absolute path of the file of the secret, which servers on other hosts read,
// too.
func (s *Spec) secretPath() (path string, err error) {
	if path = s.SecretFile; path == "" {
		if path, err = secret.UserPath(); err != nil {
			return "", err
		}
	}
	return filepath.Abs(path)
}

// Lookup returns the value of a variable in our environment; "": it is not set.
func (s *Spec) Lookup(name string) string {
	for _, e := range s.Env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// masterConfig returns the configuration of the master. A single server on a socket pair (alone)
// gets no heartbeats: no other server could adopt its ranks, and the kernel reports its end.
func (b *Builder) masterConfig(dial dialer, alone bool) master.Config {
	cfg := master.Config{Dial: dial, Wait: b.Wait, Heartbeat: b.Heartbeat, Silence: b.Silence, Log: b.Log}
	if b.Heartbeat == 0 || alone {
		cfg.Heartbeat = -1
	}
	return cfg
}

// serverArgs returns the arguments that all servers get.
func (s *Spec) serverArgs() []string {
	args := append(s.LogFlags.Args(), "--linger", s.Linger.String(), "--when-lost", s.WhenLost)
	if s.ConnectWait > 0 {
		args = append(args, "--start-wait", s.ConnectWait.String())
	}
	if s.Backend != "" {
		args = append(args, "--backend", s.Backend)
	}
	if s.RankFrom != "" {
		args = append(args, "--rank-from", s.RankFrom)
	}
	return append(args, s.GDB.Line()...)
}

// ShowProgress returns a function that shows on the terminal how many of something are there; nil:
// there is no terminal.
func (b *Builder) ShowProgress(what string) func(have, want int) {
	if b.Progress == nil {
		return nil
	}
	return func(have, want int) {
		fmt.Fprintf(b.Progress, "\rsdm: %d of %d %s are there", have, want, what)
		if have == want {
			fmt.Fprint(b.Progress, "\r\x1b[K")
		}
	}
}

// GracePeriod is the time for an orderly end of a session: killing the ranks that sdm has started
// and detaching from the others. Then all is ended by force.
const GracePeriod = 10 * time.Second

// Closing returns the context for work that must be done even after all others are cancelled.
func Closing() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), GracePeriod)
}

// CloseInTime closes a session, or what ends like one, within GracePeriod.
func CloseInTime(c interface{ Close(context.Context) error }) error {
	ctx, cancel := Closing()
	defer cancel()
	return c.Close(ctx)
}

// Named returns "rank 3" or "ranks 4-7".
func Named(s rank.Set) string {
	if s.Len() == 1 {
		return "rank " + s.String()
	}
	return "ranks " + s.String()
}

// where names nodes and their ranks: up to nine of them, or eight and the number of the others.
func where(nodes []protocol.Node) string {
	const most = 8
	var names []string
	for i, n := range nodes {
		if i == most && len(nodes) > most+1 {
			names = append(names, fmt.Sprintf("and %d more", len(nodes)-most))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", n.Host, Named(n.Ranks)))
	}
	return strings.Join(names, ", ")
}
