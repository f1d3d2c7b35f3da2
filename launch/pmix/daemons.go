// The daemons: processes of ours that a server starts on the nodes of a job.

package pmix

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// hosts returns the hosts of the server. The table without a namespace has the server's own
// processes, one for each host.
func (l *connection) hosts(ctx context.Context) (names []string, err error) {
	m, err := l.helper.Call(ctx, Request{Call: CallQuery, Key: QueryTable})
	if err != nil {
		return nil, fmt.Errorf("the hosts of the server: %w", err)
	}
	v, _ := Find(m.Info, QueryTable)
	for _, row := range v.Table {
		names = append(names, row.Host)
	}
	return names, nil
}

// daemons starts a process on each of the hosts of a job, as a job of its own, and writes input to
// the standard input of each. They are children of the server's processes and have its environment.
// On other hosts than its own, PRRTE 3 gives the input to a process with the same rank there, of any
// job; then all get the input in their environment, and a shell passes it on.
func (l *connection) daemons(ctx context.Context, of string, argv []string, input []byte,
	hosts []string) (nspace string, err error) {
	app, push := App{Argv: argv, Procs: len(hosts)}, true
	if !AbilitiesOf(l.server.Version).InputElsewhere {
		all, err := l.hosts(ctx)
		isElsewhere := func(host string) bool { return host != all[0] }
		if err != nil || len(all) == 0 || slices.ContainsFunc(hosts, isElsewhere) {
			app.Argv, app.Env = withInput(argv, input)
			push = false
		}
	}
	info := []Info{
		True(DebuggerDaemons), OfProc(DebugTarget, All(of)), Number(DaemonsPerNode, Uint16, 1),
		String(StdinTarget, "all"), // a value of another type ends the server
		True(ForwardStderr), True(NotifyCompletion),
	}
	nspace, err = l.spawn(ctx, Request{Call: CallSpawn, Info: info, Apps: []App{app}})
	for n := uint32(0); err == nil && n < uint32(len(hosts)) && push; n++ {
		err = l.push(ctx, Proc{nspace, n}, input)
	}
	return nspace, err
}

// noInput is the directive that no rank has a standard input: each finds its end at once. Without it
// rank 0 waits for input that nobody sends: a server takes it in without bound, and PRRTE 3 may give
// it to another job.
var noInput = String(StdinTarget, "none")

// push writes to the standard input of one process, in small pieces, and ends it. A push to all
// at once does not arrive on PRRTE 3.
func (l *connection) push(ctx context.Context, to Proc, input []byte) error {
	for piece := range slices.Chunk(input, MaxPush) {
		if _, err := l.helper.Call(ctx, Request{Call: CallPush, Targets: []Proc{to}, Data: piece}); err != nil {
			return err
		}
	}
	_, err := l.helper.Call(ctx, Request{Call: CallPush, Targets: []Proc{to}, End: true})
	return err
}

// inputVar is the variable in which a daemon finds its input. Only its user can read it.
const inputVar = "SDM_DAEMON_INPUT"

// withInput returns a command line that gives another one its standard input from the environment,
// and that environment. The shell's printf reads each byte as an octal number.
func withInput(argv []string, input []byte) (line, env []string) {
	const script = `input=$` + inputVar + `; unset ` + inputVar + `; printf "$input" | "$@"`
	var text strings.Builder
	for _, b := range input {
		fmt.Fprintf(&text, `\%03o`, b)
	}
	return slices.Concat([]string{"/bin/sh", "-c", script, "sdm"}, argv), []string{inputVar + "=" + text.String()}
}
