// Servers that one command starts on all nodes: srun, or a command of the site.

package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"

	"sdm/cmd/internal/relay"
	"sdm/launch/slot"
	"sdm/launch/slurm"
	"sdm/protocol"
)

// errNetwork is the error that a step of srun gets none of the interconnect.
var errNetwork = errors.New("srun: error configuring interconnect")

// tool is a running start tool.
type tool struct {
	*slot.Starter
	relay relay.Relay // of standard error, for our own srun
	words *toolWords  // receives standard error; nil: the tool writes to ours
}

// startTool starts all servers by one command of the site. Each server finds its number by the name
// of its host.
func (b *Builder) startTool(ctx context.Context, r *Rendezvous, id string, nodes []protocol.Node,
	server []string) (*tool, error) {
	hosts := make([]string, len(nodes))
	for i, n := range nodes {
		hosts[i] = n.Host
	}
	daemon := append(slices.Clone(server), "--size", strconv.Itoa(len(nodes)), "--by-host", "--like-ranks")
	t := &tool{}
	spec := slot.Spec{Env: b.StarterEnv, Stdout: b.Stderr, Stderr: b.Stderr, Group: true}
	if slurm.IsTool(b.StartTool) {
		daemon = r.Broadcast(ctx, func(file, to string) []string {
			return slurm.BroadcastTo(id, hosts, file, to)
		}, daemon)
		t.words = &toolWords{out: b.Stderr}
		spec.Env, spec.Stderr = slurm.Environ(b.StarterEnv), t.relay.Pipe(t.words)
	}
	spec.Argv = []string{"/bin/sh", "-c", b.toolLine(id, hosts, daemon)}
	var err error
	t.Starter, err = slot.Start(spec)
	t.relay.Inherited()
	if err != nil {
		t.relay.Close()
	}
	return t, err
}

// failed returns why missing servers will not register; nil: they still may.
func (t *tool) failed() error {
	select {
	case <-t.Done():
	default:
		return nil
	}
	if t.Status() == 0 { // the tool may only start the servers and not wait for them
		return nil
	}
	t.relay.Close()
	if t.words != nil && slurm.LacksNetwork(t.words.text()) {
		return errNetwork
	}
	if t.words != nil {
		if failed := slurm.FailedProlog(t.words.text()); failed != "" {
			return fmt.Errorf("a task prolog has failed: %s", failed)
		}
	}
	return fmt.Errorf("--start-tool: %w", t.Ended())
}

// end waits for the end of the tool, and ends it when ctx ends.
func (t *tool) end(ctx context.Context) {
	t.End(ctx)
	t.relay.Close()
}

// maxWords bounds what is kept of the standard error of a tool, in bytes.
const maxWords = 4 << 10

// toolWords passes on the standard error of srun, without the lines that lead to another attempt
// and without useless ones, and keeps its first bytes. Several goroutines may use it.
type toolWords struct {
	out *os.File

	mu   sync.Mutex
	kept []byte // at most maxWords
}

// Write writes one line.
func (w *toolWords) Write(line []byte) (int, error) {
	w.mu.Lock()
	w.kept = append(w.kept, line[:min(len(line), maxWords-len(w.kept))]...)
	w.mu.Unlock()
	if slurm.LacksNetwork(string(line)) || slurm.IsNoise(string(line)) {
		return len(line), nil
	}
	return w.out.Write(line)
}

// text returns what is kept.
func (w *toolWords) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.kept)
}
