// Command lines of servers that get the secret at their standard input.

package servers

import (
	"strconv"

	"sdm/launch/ssh"
)

// inputFD is the descriptor from which a server reads the secret, as text for a shell.
var inputFD = strconv.Itoa(ssh.InputFD)

// OpenPushed opens the rendezvous for servers that a resource manager starts on the nodes of a job
// and whose standard input it can write to.
func (b *Builder) OpenPushed() (*Rendezvous, error) { return b.openOwn() }

// PushedLine returns the command line of a server of OpenPushed and what it must find at its
// standard input. A shell moves the input to the descriptor of the secret, so that the server's own
// standard input is empty.
func (r *Rendezvous) PushedLine() (argv []string, input []byte, err error) {
	server, err := r.DaemonLine()
	if err != nil {
		return nil, nil, err
	}
	return moved(append(server, "--background")), r.given, nil
}

// moved returns a command line that executes command with the descriptor of the secret in place of
// the standard input.
func moved(command []string) []string {
	move := `exec "$@" ` + inputFD + `<&0 </dev/null`
	return append([]string{"/bin/sh", "-c", move, "sdm"}, command...)
}

// detached is the script of DetachedLine. The input passes through a pipe, so that the shell ends
// when it has been read, and not before.
var detached = `if command -v setsid >/dev/null 2>&1; then set -- setsid "$@"; fi
cat | { exec ` + inputFD + `<&0; "$@" </dev/null >/dev/null 2>&1 & }
exit 0`

// DetachedLine is PushedLine for servers of a running job. The starter of the job would pass on what
// the servers write, wait for their end, and end with their status. Therefore the shell ends at
// once, with status 0, and the server runs in a session of its own without standard streams. The
// server ends when it loses its connection.
func (r *Rendezvous) DetachedLine() (argv []string, input []byte, err error) {
	server, err := r.DaemonLine()
	if err != nil {
		return nil, nil, err
	}
	return append([]string{"/bin/sh", "-c", detached, "sdm"}, server...), r.given, nil
}
