// Servers that a resource manager starts beside a running job.

package servers

import (
	"context"
	"errors"
	"strconv"

	"sdm/launch/ssh"
)

// Beside is how a resource manager starts our servers beside a running job, one on each of its
// nodes.
type Beside struct {
	// Start starts a command on each node. With Pushes, the command finds input at its standard
	// input.
	Start func(command []string, input []byte) (Started, error)
	// Pushes says that the secret of the session, and with --stage the server itself, reach the
	// nodes by the standard input. Otherwise servers read the user's secret.
	Pushes bool
	// Copy copies a program to a path on each node for --stage; nil: with Pushes it need not,
	// otherwise the nodes copy the shared program themselves.
	Copy func(ctx context.Context, program, to string) error
}

// Started is a command that was started on the nodes.
type Started interface {
	// Done returns a channel that is closed when the command has ended on all nodes.
	Done() <-chan struct{}
	// Failed returns why servers that have not registered will not come, after Done.
	Failed() error
	// End waits until the command has ended on all nodes, and ends it there when ctx ends.
	End(ctx context.Context)
}

// startBeside starts a server on each of n nodes. A server finds its number by the name of its
// host.
func (r *Rendezvous) startBeside(ctx context.Context, by *Beside, server []string, n int) (Started, error) {
	server = append(server, "--size", strconv.Itoa(n), "--by-host", "--like-ranks", "--background")
	if by.Pushes {
		one := []ssh.Command{{Argv: server}}
		one, input, err := r.carried(one)
		if err != nil {
			return nil, err
		}
		return by.Start(moved(one[0].Argv), input)
	}
	if by.Copy != nil {
		server = r.copyServer(server, func(to string) error { return by.Copy(ctx, server[0], to) })
	}
	return by.Start(server, nil)
}

// besideFailed returns why missing servers will not register; nil: they still may.
func besideFailed(s Started) error {
	select {
	case <-s.Done():
	default:
		return nil
	}
	if err := s.Failed(); err != nil {
		return err
	}
	return errors.New("the server has ended")
}
