// Jobs of Flux.

package job

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"sdm/cmd/internal/servers"
	"sdm/launch/flux"
	"sdm/launch/slot"
	"sdm/protocol"
)

// findByFlux finds the ranks of a job of Flux. flux exec starts the servers.
func (f finder) findByFlux(ctx context.Context, id flux.ID) (servers.Placement, error) {
	inTime, cancel := servers.Bounded(ctx, f.Clock.Left(), "--connect-wait")
	defer cancel()
	table, err := flux.Ranks(inTime, f.Env, id)
	if err != nil {
		return servers.Placement{}, fmt.Errorf("flux:%v: %w", id, err)
	}
	p := servers.Placement{Table: table, ID: id.String()}
	p.Beside, err = besideInFlux(inTime, f.Builder, id, table)
	return p, err
}

// besideInFlux returns how flux exec starts the servers of a job. It returns nil if all ranks are on
// this host, or if the user has chosen another way.
func besideInFlux(ctx context.Context, b *servers.Builder, id flux.ID,
	table protocol.Proctable) (*servers.Beside, error) {
	nodes := table.Nodes()
	if b.IsChosen() || len(nodes) == 1 && servers.IsHere(nodes[0].Host) {
		return nil, nil
	}
	if err := flux.CheckExec(ctx, b.Env); err != nil {
		return nil, err
	}
	return &servers.Beside{Pushes: true, Start: func(command []string, input []byte) (servers.Started, error) {
		return startPushed(flux.Exec(id, command), b.Env, input, b.Stderr)
	}}, nil
}

// pushed is a command that passes its standard input on to commands on the nodes.
//
// Goroutine: one that writes the input; it ends when the command has read the input or has ended.
type pushed struct {
	*slot.Starter
	name  string
	wrote chan struct{}
}

// startPushed starts a command and passes input to it.
func startPushed(argv, env []string, input []byte, stderr *os.File) (servers.Started, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &pushed{name: argv[0] + " " + argv[1], wrote: make(chan struct{})}
	p.Starter, err = slot.Start(slot.Spec{Argv: argv, Env: env, Stdin: r, Stdout: stderr, Stderr: stderr})
	r.Close()
	if err != nil {
		w.Close()
		return nil, err
	}
	go func() {
		defer close(p.wrote)
		defer w.Close()
		bytes.NewReader(input).WriteTo(w) // if it fails, the command has ended
	}()
	return p, nil
}

// Failed returns the error that the command has ended.
func (p *pushed) Failed() error { return fmt.Errorf("%s: %w", p.name, p.Ended()) }

// End ends the command and waits for the goroutine.
func (p *pushed) End(ctx context.Context) {
	p.Starter.End(ctx)
	<-p.wrote
}

// isFlux reports whether a command line is one of Flux.
func isFlux(argv []string) bool { return StarterName(argv[0]) == "flux" }
