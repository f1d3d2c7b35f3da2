// Commands on other hosts whose output is wanted.

package ssh

import (
	"context"
	"fmt"
	"sync"

	"sdm/protocol"
)

// Answer is the standard output of a command, at most MaxAnswer bytes. Err is nil or a *Failure.
type Answer struct {
	Host string
	Out  []byte
	Err  error
}

// MaxAnswer bounds an answer, in bytes.
const MaxAnswer = 4 << 20

// Ask runs commands to their ends and returns their answers in the order of Spec.Commands. Commands
// that still run when ctx ends are terminated; their answers have an error. The goroutines, one for
// each of AtOnce shells, end before Ask returns.
func Ask(ctx context.Context, spec Spec) []Answer {
	n := spec.complete()
	answers := make([]Answer, len(spec.Commands))
	next := make(chan int, len(answers))
	for i := range answers {
		next <- i
	}
	close(next)
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			for i := range next {
				answers[i] = spec.ask(ctx, spec.Commands[i])
			}
		})
	}
	group.Wait()
	return answers
}

func (s *Spec) ask(ctx context.Context, c Command) Answer {
	if err := protocol.CheckHost(c.Host); err != nil && !c.Local {
		return Answer{Host: c.Host, Err: &Failure{Host: c.Host, Err: err}}
	}
	cmd := s.command(ctx, c, QuoteAll(c.Argv)+" </dev/null")
	out, said := &bounded{}, &tail{}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	if err == nil && out.over {
		err = fmt.Errorf("its answer is longer than %d bytes", MaxAnswer)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	if err != nil {
		err = &Failure{Host: c.Host, Err: fmt.Errorf("%s: %w", cmd.Args[0], err), Said: said.text()}
	}
	return Answer{Host: c.Host, Out: out.b, Err: err}
}

// bounded keeps the first MaxAnswer bytes that are written to it. One goroutine writes.
type bounded struct {
	b    []byte
	over bool
}

func (o *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), MaxAnswer-len(o.b))
	o.b = append(o.b, p[:keep]...)
	o.over = o.over || keep < len(p)
	return len(p), nil
}
